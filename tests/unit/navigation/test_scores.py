"""Scores on worked examples: of paths, of those that call for repair, and of the segments that state them."""

from dataclasses import replace
from math import log

import pytest
from small_graph import cosine_by_relation, graph, said, year

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.evidence import Path, PathScores, Root, Step
from mcp_memory.domain.query import Constraint
from mcp_memory.domain.times import FOREVER
from mcp_memory.domain.turns import Segment, Turn
from mcp_memory.language.questions import understand
from mcp_memory.navigation.beam import continuations, score_segments
from mcp_memory.navigation.counterfactual import RELIABLE_COHERENCE, counterfactual_budget, needs_repair
from mcp_memory.navigation.fact_query import FactQuery, content_stems, moment
from mcp_memory.navigation.paths import StatementSimilarity, coherence, relevance, sufficiency
from mcp_memory.view.space import Space


def path(facts, *steps, root="Ann", intent="FACT"):
    version, forward = steps[-1]
    end = facts.key(version.tail if forward else version.head)
    begin = Root(root.lower(), root, intent)
    return Path(begin, tuple(Step(v, f, confidence=v.confidence) for v, f in steps), end, PathScores(0, 0, 0))


def only(facts, head, relation):
    return facts.versions(head, relation)[-1]


def test_the_cosine_is_calibrated_by_the_background():  # DESIGN W15
    likeness = StatementSimilarity(cosine_by_relation(), (0.1, 0.1))
    assert likeness.calibrate(0.35) == pytest.approx(0.625)
    assert likeness.calibrate(0.3) == pytest.approx(0.5)  # two deviations above it
    assert (likeness.calibrate(-1.0), likeness.calibrate(1.0)) == (0.0, 1.0)


def test_relevance_is_the_similarity_raised_by_requested_relations():
    facts = graph(said("Ann", "lives_in", "Oslo"), said("Ann", "sibling_of", "Bob"), said("Bob", "lives_in", "Rome"))
    asking = FactQuery(understand("Where does Ann live?", ()))
    here, brother = only(facts, "ann", "lives_in"), only(facts, "ann", "sibling_of")
    there = only(facts, "bob", "lives_in")
    assert relevance(path(facts, (here, True)), [0.4], asking) == pytest.approx(0.4 + 0.6 * 0.7)
    assert relevance(path(facts, (brother, True)), [0.4], asking) == pytest.approx(0.4)
    both = path(facts, (brother, True), (there, True))
    assert relevance(both, [0.4, 0.2], asking) == pytest.approx(0.3 + 0.7 * 0.7 * 0.5)
    back = path(facts, (here, False), root="Oslo")
    assert relevance(back, [0.4], asking) == pytest.approx(0.4 + 0.6 * 0.7 - 0.05)


def test_coherence_counts_time_intent_and_hubs():
    facts = graph(
        said("Ann", "works_at", "Acme", 2010),
        said("Acme", "located_in", "Oslo", 2000, 2005),
        said("Bob", "likes", "tea"),
    )
    asking = FactQuery(understand("Why is Ann there?", ()))
    first, second = only(facts, "ann", "works_at"), only(facts, "acme", "located_in")
    quiet = 0.2 * (1 - log(2) / log(4))  # Oslo: one fact, of three assertions
    hub = 0.4 * (1 - log(3) / log(4))  # Acme: two; nothing is before the first step
    assert coherence(path(facts, (first, True)), facts, asking) == pytest.approx(0.6 + hub)
    before = path(facts, (first, True), (second, True))  # it was over before she came
    assert coherence(before, facts, asking) == pytest.approx((0.6 + hub + 0.3 + quiet) / 2)
    causal = path(facts, (first, True), intent="CAUSAL")
    assert coherence(causal, facts, asking) == pytest.approx(hub)
    assert hub < RELIABLE_COHERENCE  # so a fact of another kind is not reliable by itself
    employed = FactQuery(understand("Why does Ann work there?", ()))
    assert coherence(causal, facts, employed) == pytest.approx(0.6 + hub)  # it asks for this one by name


def test_sufficiency_is_coverage_weighted_by_idf_plus_the_type_of_the_end():
    facts = graph(said("Ann", "lives_in", "Oslo"), said("Ann", "sibling_of", "Bob"), said("Ann", "likes", "tea"))
    question = understand("Where does Ann's brother live?", ())
    asking, words = FactQuery(question), content_stems(question)
    rarity = {"brother": 3.0, "live": 1.0}

    def score(relation):
        return sufficiency(path(facts, (only(facts, "ann", relation), True)), facts, asking, words, rarity)

    assert score("lives_in") == pytest.approx(0.5 * 1 / 4 + 0.5)  # a place, but not the brother's
    assert score("sibling_of") == pytest.approx(0.5 * 3 / 4)  # a person
    assert score("likes") == pytest.approx(0.25)  # who knows what tea is
    assert sufficiency(Path(Root("ann", "Ann", "FACT"), (), "ann", PathScores(0, 0, 0)), facts, asking, words, {}) == 0


@pytest.mark.parametrize(
    ("question", "relation", "tail", "fits"),
    [
        ("When did Ann visit it?", "visited", "Rome", 1.0),  # any dated fact
        ("Who does Ann like?", "likes", "tea", 0.5),
        ("How many are Ann's?", "owns", "12 boats", 1.0),
        ("How many are Ann's?", "owns", "boats", 0.5),
        ("Where is Ann?", "married_to", "Bob", 0.0),
        ("What about Ann?", "married_to", "Bob", 0.5),
        ("Where did Ann live before Oslo?", "lives_in", "Oslo", 0.0),  # the query states it and does not ask for it
        ("Does Ann live in Oslo?", "lives_in", "Oslo", 0.5),
    ],
)
def test_the_type_of_the_end_matches_the_answer_type(question, relation, tail, fits):
    facts = graph(said("Ann", relation, tail))
    walked = path(facts, (only(facts, "ann", relation), True))
    score = sufficiency(walked, facts, FactQuery(understand(question, ())), frozenset(), {})
    assert score == pytest.approx(0.5 + 0.5 * fits)  # nothing to cover


def test_the_sufficiency_of_a_guess_is_multiplied_by_its_confidence():
    facts = graph(said("Ann", "lives_in", "Oslo"))
    walked = path(facts, (only(facts, "ann", "lives_in"), True))
    guess = replace(walked, steps=(replace(walked.steps[0], inferred="succession", confidence=0.6),))
    asking = FactQuery(understand("Where does Ann live?", ()))
    assert sufficiency(guess, facts, asking, frozenset(), {}) == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("constraint", "expected"),
    [
        (None, (5, 6)),
        (Constraint("now"), (5, 6)),
        (Constraint("within", 10, 20), (10, 20)),
        (Constraint("before", 10, 20), (-FOREVER, 10)),
        (Constraint("after", 10, 20), (20, FOREVER)),
        (Constraint("unknown"), None),
    ],
)
def test_the_time_in_question_is_that_of_the_query_else_now(constraint, expected):
    assert moment(constraint, 5) == expected
    if constraint is None:
        assert moment(None, year(2012)) == (year(2012), year(2012) + 1)


def scores(*pairs):
    return [PathScores(relevance, coherence, 0.5) for relevance, coherence in pairs]


@pytest.mark.parametrize(
    ("candidates", "called", "places"),
    [
        (scores((0.7, 0.9), (0.6, 0.4), (0.4, 0.8), (0.55, 0.6)), False, 3),
        (scores((0.4, 0.9), (0.3, 0.8)), True, 5),
        (scores((0.9, 0.1), (0.1, 0.9)), True, 5),  # DESIGN D33: the paper would not repair
        ([], True, 5),
    ],
)
def test_repair_applies_if_no_candidate_is_reliable_and_fills_the_remaining_places(
    candidates, called, places
):  # DESIGN W8
    assert needs_repair(candidates) is called
    assert counterfactual_budget(candidates) == places


def test_a_path_that_stops_may_be_repaired_too():  # DESIGN D39
    facts = graph(said("Ann", "visited", "Oslo"))
    visit = path(facts, (only(facts, "ann", "visited"), True))

    def scored(sufficient):
        return visit.with_scores(PathScores(0.9, 0.2, sufficient))

    guess = replace(scored(0.6), steps=(replace(visit.steps[0], inferred="cooccurrence"),))
    assert continuations(scored(0.5), [scored(0.4)], [guess]) == [guess]


STATED = (("Ann", "sibling_of", "Bob"), ("Bob", "lives_in", "Rome"), ("Cleo", "likes", "tea"))

ASKED = understand("What does Ann do?", ())


def space(kind="message", *, stated=True):
    """Return a space of three turns of one sentence each that states one fact."""
    turns = [Turn(f"t_{i}", "x", "s", str(i), kind, "words", "Ann", None, None, None, 0, 0, i) for i in range(3)]
    pieces = [Segment(f"g_{turn.id}", "x", turn.id, 0, 0, 5, 0, 0) for turn in turns]
    facts = (said(*words, None, turn=f"t_{i}", stated=stated) for i, words in enumerate(STATED))
    made = Space("x")
    made.add(Batch(turns=tuple(turns), segments=tuple(pieces), assertions=tuple(facts)))
    return made


def walked(made, scores, *rows):
    found = (made.facts.version_of(made.facts.rows[row]) for row in rows)
    return path(made.facts, *((version, True) for version in found if version)).with_scores(scores)


def test_a_sufficient_path_scores_every_text_that_states_it():
    made = space()
    found = score_segments(made, ASKED, [walked(made, PathScores(0.6, 0.9, 0.6), 0, 1)])
    assert found.tolist() == [pytest.approx(0.7 * 0.95), pytest.approx(0.7 * 0.95), 0.0]


@pytest.mark.parametrize(
    ("kind", "stated", "speaks"), [("document", False, False), ("document", True, True), ("message", False, True)]
)
def test_an_undated_fact_of_a_document_scores_nothing_if_the_query_has_a_date(kind, stated, speaks):
    made = space(kind, stated=stated)
    found = [walked(made, PathScores(0.9, 0.9, 0.9), 0)]
    assert score_segments(made, understand("What did Ann do in 2016?", ()), found).any() == speaks
    assert score_segments(made, ASKED, found).any()
