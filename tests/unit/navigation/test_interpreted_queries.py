"""The interpretation of a model in the search through facts."""

from dataclasses import replace

import pytest
from small_graph import ask, cosine_by_relation, graph, said

from mcp_memory.domain.query import Query
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
    return replace(understand(text, ()), **meaning)  # type: ignore[arg-type]


def keys(question: Query, *named: str, settings: NavigationSettings = DEFAULTS) -> list[str]:
    return [root.key for root in select_roots(FACTS, question, named, settings=settings)]


def test_names_from_an_interpretation_are_roots_after_those_in_the_query() -> None:
    assert keys(read("What does she do for money?")) == []
    assert keys(read("What does she do for money?", extra_names=("Ann",))) == ["ann lee"]
    assert keys(read("Does Bob know her?", extra_names=("Ann Lee",)), "Oslo") == ["oslo", "bob", "ann lee"]
    assert keys(read("Does Bob know her?", extra_names=("Ann Lee",)), settings=NavigationSettings(roots=1)) == ["bob"]


def test_an_unknown_name_is_not_a_root() -> None:
    assert keys(read("What does she do?", extra_names=("Zed", "../../etc", "[S1]", "'; DROP TABLE turns"))) == []


def test_a_relation_from_an_interpretation_counts_as_requested() -> None:
    question = "What does Ann Lee do for money?"
    assert FactQuery(understand(question, ())).demand("works_as") == 0
    asking = FactQuery(read(question, relations=("works_as",)))
    assert (asking.demand("works_as"), asking.demand("likes"), asking.relations) == (1, 0, ("works_as",))
    assert asking.allows("works_as")
    assert not asking.allows("likes")


@pytest.mark.parametrize(("meant", "intent"), [("EVOLUTION", "EVOLUTION"), (None, "TEMPORAL"), ("CAUSAL", "CAUSAL")])
def test_the_intent_of_an_interpretation_precedes_that_of_the_lexicon(meant: str | None, intent: str) -> None:
    assert FactQuery(read("When did Ann move?", intent=meant)).intent == intent


def test_an_interpretation_finds_a_chain_that_the_words_do_not_request() -> None:
    near = cosine_by_relation(child_of=0.1, lives_in=0.1)
    plain = ask(FACTS, read("Where is the person at home who raised Bob?"), near=near)
    question = read("Where is the person at home who raised Bob?", relations=("parent_of", "lives_in"))
    interpreted = ask(FACTS, question, near=near)
    assert interpreted.paths[0].end == "oslo"
    assert interpreted.paths[0].scores.relevance > max(path.scores.relevance for path in plain.paths)
