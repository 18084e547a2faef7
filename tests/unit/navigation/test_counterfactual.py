"""Repair: when it applies (DESIGN W8), its budget, and an example for each of the five rules."""

from __future__ import annotations

import pytest
from small_graph import TODAY, ask, cosine_by_relation, graph, said, year

from mcp_memory.domain.paths import Path, PathScores, Root, Rule, Step
from mcp_memory.navigation.beam import FoundPaths, continuations
from mcp_memory.navigation.counterfactual import counterfactual_budget, needs_repair
from mcp_memory.switches import Switches


def scores(*pairs: tuple[float, float]) -> list[PathScores]:
    return [PathScores(relevance, coherence, 0.5) for relevance, coherence in pairs]


def guesses(found: FoundPaths, *rules: Rule) -> list[Step]:
    """Return the inferred steps of what was found, or those of some rules."""
    steps = [step for path in found.paths for step in path.steps if step.inferred]
    return [step for step in steps if not rules or step.inferred in rules]


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
    candidates: list[PathScores], called: bool, places: int
) -> None:  # DESIGN W8
    assert needs_repair(candidates) is called
    assert counterfactual_budget(candidates) == places


def test_a_relation_that_implies_the_requested_one_gives_a_guess() -> None:  # symmetry
    facts = graph(said("Ann", "bought", "a red bicycle"))
    (step,) = guesses(ask(facts, "Does Ann own anything?"), "symmetry")
    assert step.version.text == "Ann owns a red bicycle"
    assert (step.inferred, step.forward) == ("symmetry", True)
    assert step.confidence == pytest.approx(0.95 * 0.8)
    assert [assertion.relation for assertion in step.via] == ["bought"]


def test_an_entity_inherits_facts_of_the_whole_that_contains_it() -> None:  # hyponymy
    facts = graph(said("the library", "part_of", "the campus"), said("the campus", "opened_by", "the queen"))
    (step,) = guesses(ask(facts, "Who opened the library?"), "hyponymy")
    assert step.version.text == "the library opened by the queen"
    assert step.confidence == pytest.approx(0.95 * 0.8)
    assert {assertion.relation for assertion in step.via} == {"part_of", "opened_by"}


def test_if_no_value_holds_at_the_time_the_nearest_on_each_side_is_offered() -> None:  # succession
    facts = graph(
        *(said("Ann", "lives_in", "Oslo", 2000, 2002), said("Ann", "lives_in", "Bergen", 2003, 2006)),
        *(said("Ann", "lives_in", "Rome", 2012, 2015), said("Ann", "lives_in", "Paris", 2016)),
    )
    found = guesses(ask(facts, "Where did Ann live in 2009?", at=(year(2009), year(2010))), "succession")
    assert {step.version.tail for step in found} == {"Bergen", "Rome"}
    assert {step.confidence for step in found} == {0.95 * 0.6}
    assert all(step.version.id.startswith("f_") for step in found)


def test_after_an_event_means_after_its_date() -> None:  # succession
    facts = graph(said("the wedding", "after", "the flood"), said("the flood", "happened_on", "3 May 2015", 2015))
    found = guesses(ask(facts, "Tell me about the wedding"), "succession")
    assert [step.version.text for step in found] == ["the wedding comes after 3 May 2015"]


def test_a_cause_of_a_cause_is_a_cause_of_the_effect() -> None:  # causality
    facts = graph(said("heavy rain", "causes", "the flood"), said("the flood", "causes", "the repairs"))
    (step,) = guesses(ask(facts, "Why were the repairs needed?"), "causality")
    assert (step.version.head, step.version.relation, step.version.tail) == ("heavy rain", "causes", "the repairs")
    assert step.confidence == pytest.approx(0.95 * 0.5)


def test_a_fact_about_a_cause_may_hold_for_its_effect() -> None:  # causality
    facts = graph(said("Ann", "has_condition", "flu"), said("flu", "causes", "fever"))
    found = guesses(ask(facts, "Tell me about Ann"), "causality")
    assert [step.version.text for step in found] == ["Ann has the condition fever"]


def test_entities_of_one_sentence_may_be_related_the_most_similar_sentence_first() -> None:  # co-occurrence
    facts = graph(
        said("Ann", "visited", "Oslo", turn="t_1"), said("Bob", "sold", "a boat", turn="t_1"),
        said("Ann", "visited", "Rome", turn="t_2"), said("Cleo", "won", "a race", turn="t_2"),
        said("Dan", "read", "a book", turn="t_2", sentence=1),
    )  # fmt: skip
    found = ask(
        facts,
        "Tell me about Ann",
        near=cosine_by_relation(won=0.1),
        switches=Switches(beam=False),
    )
    ends = [path.end for path in found.paths if path.inferred]
    assert set(ends[:2]) == {"cleo", "race"}
    assert "book" not in ends
    assert {step.confidence for step in guesses(found)} == {0.95 * 0.3}
    assert {step.version.relation for step in guesses(found)} == {"mentioned_with"}


def test_nothing_follows_from_facts_that_never_held_together() -> None:
    facts = graph(said("Ann", "listens_to", "bebop", 2000, 2005), said("bebop", "subclass_of", "jazz", 2010))
    assert guesses(ask(facts, "Tell me about Ann", at=None), "hyponymy") == []


def test_a_path_that_stops_may_be_repaired_too() -> None:  # DESIGN D39
    (fact,) = graph(said("Ann", "visited", "Oslo")).all()

    def path(rule: Rule | None, sufficiency: float) -> Path:
        return Path(Root("ann", "Ann", "FACT"), (Step(fact, True, rule),), "oslo", PathScores(0.9, 0.2, sufficiency))

    guess = path("cooccurrence", 0.6)
    assert continuations(path(None, 0.5), [path(None, 0.4)], [guess]) == [guess]


STORIES = {
    "symmetry": ([said("Ann", "bought", "a red bicycle")], "Does Ann own anything?", TODAY),
    "hyponymy": ([said("Ann", "listens_to", "bebop"), said("bebop", "is_a", "jazz")], "Tell me about Ann", TODAY),
    "succession": ([said("Ann", "lives_in", "Oslo", 2000, 2002)], "Where does Ann live?", TODAY),
    "causality": ([said("a", "causes", "b"), said("b", "causes", "c")], "Why c?", TODAY),
    "cooccurrence": (
        [said("Ann", "visited", "Oslo", turn="t_1"), said("Bob", "sold", "a boat", turn="t_1")],
        "Tell me about Ann",
        TODAY,
    ),
}


@pytest.mark.parametrize("rule", STORIES)
def test_nothing_is_inferred_where_repair_is_switched_off(rule: Rule) -> None:
    rows, question, at = STORIES[rule]
    assert guesses(ask(graph(*rows), question, at=at), rule)
    assert guesses(ask(graph(*rows), question, at=at, switches=Switches(counterfactual=False))) == []
