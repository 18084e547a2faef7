"""The interpretation of a model in the search through facts."""

import pytest
from small_graph import ask, cosine_by_relation, graph, said

from mcp_memory.domain.query import Interpretation, Query, with_interpretation
from mcp_memory.language.questions import understand
from mcp_memory.navigation.anchors import select_roots
from mcp_memory.navigation.fact_query import FactQuery
from mcp_memory.navigation.settings import DEFAULTS, NavigationSettings

FACTS = graph(
    said("Ann Lee", "works_as", "baker"),
    said("Ann Lee", "likes", "chess"),
    said("Bob", "child_of", "Carla"),
    said("Carla", "lives_in", "Oslo"),
)


def read(text: str, **meaning: object) -> Query:
    return with_interpretation(understand(text, ()), Interpretation(**meaning))  # type: ignore[arg-type]


def keys(question: Query, *named: str, settings: NavigationSettings = DEFAULTS) -> list[str]:
    return [root.key for root in select_roots(FACTS, question, named, settings=settings)]


def test_names_from_an_interpretation_are_roots_after_those_in_the_query() -> None:
    assert keys(read("What does she do for money?")) == []
    assert keys(read("What does she do for money?", names=("Ann",))) == ["ann lee"]
    assert keys(read("Does Bob know her?", names=("Ann Lee",)), "Oslo") == ["oslo", "bob", "ann lee"]
    assert keys(read("Does Bob know her?", names=("Ann Lee",)), settings=NavigationSettings(roots=1)) == ["bob"]


def test_an_unknown_name_is_not_a_root() -> None:
    assert keys(read("What does she do?", names=("Zed", "../../etc", "[S1]", "'; DROP TABLE turns"))) == []


def test_a_common_noun_with_many_facts_is_not_a_root() -> None:
    facts = graph(*(said(f"Film {number}", "is_a", "film") for number in range(9)), said("Ann", "likes", "tea"))
    question = read("What is on?", names=("film", "tea"))
    assert [root.key for root in select_roots(facts, question, settings=NavigationSettings(specific=8))] == ["tea"]


def test_a_relation_from_an_interpretation_counts_as_requested() -> None:
    question = "What does Ann Lee do for money?"
    assert FactQuery(understand(question, ())).demand("works_as") == 0
    asking = FactQuery(read(question, relations=("works_as",)))
    assert (asking.demand("works_as"), asking.demand("likes"), asking.relations) == (1, 0, ("works_as",))
    assert asking.allows("works_as")
    assert not asking.allows("likes")


def test_a_query_for_a_relation_also_asks_for_its_inverse() -> None:
    asking = FactQuery(read("Who raised Bob?", relations=("parent_of",)))
    assert (asking.demand("child_of"), asking.relations) == (1, ("parent_of",))


def test_the_only_relation_is_requested_by_the_remaining_content_words() -> None:
    one = FactQuery(read("What does Ann Lee do for money?", relations=("works_as",)))
    assert one.words_for("works_as") == {"money"}
    two = FactQuery(read("What does Ann Lee do for money?", relations=("works_as", "works_at")))
    assert two.words_for("works_as") == frozenset()
    by_words = FactQuery(read("What is the job of Ann Lee in the town?", relations=("works_as",)))
    assert by_words.words_for("works_as") == {"job"}


@pytest.mark.parametrize(
    ("said_by_it", "intent"), [("EVOLUTION", "EVOLUTION"), ("FACT", "TEMPORAL"), ("CAUSAL", "CAUSAL")]
)
def test_the_intent_of_an_interpretation_precedes_that_of_the_lexicon(said_by_it: str, intent: str) -> None:
    assert FactQuery(read("When did Ann move?", intent=said_by_it)).intent == intent


def test_guesses_are_accepted_if_the_words_or_an_interpretation_accept_them() -> None:
    assert FactQuery(read("Where does Ann live?", accepts_guesses=True)).accepts_guesses
    assert FactQuery(read("Where might Ann live?")).accepts_guesses
    assert not FactQuery(read("Where does Ann live?")).accepts_guesses


def test_an_interpretation_finds_a_chain_that_the_words_do_not_request() -> None:
    near = cosine_by_relation(child_of=0.1, lives_in=0.1)
    plain = ask(FACTS, read("Where is the person at home who raised Bob?"), near=near)
    question = read("Where is the person at home who raised Bob?", relations=("parent_of", "lives_in"))
    interpreted = ask(FACTS, question, near=near)
    assert interpreted.paths[0].end == "oslo"
    assert interpreted.paths[0].scores.relevance > max(path.scores.relevance for path in plain.paths)
