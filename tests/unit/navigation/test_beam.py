"""Beam search: the order of paths, and the effect of each filter and switch."""

from __future__ import annotations

import pytest
from small_graph import NOW, ask, graph, said, year

from mcp_memory.switches import Switches

ANN = (
    *(said("Ann", "lives_in", "Paris", 2010), said("Ann", "lives_in", "London", 2015)),
    *(said("Ann", "works_at", "Acme", 2012), said("Ann", "sibling_of", "Bob", 2000)),
    *(said("Bob", "lives_in", "Rome", 2011), said("Ann", "likes", "jazz", 2011)),
)


def ends(question: str, *rows: object, **how: object) -> list[str]:
    return [path.end for path in ask(graph(*(rows or ANN)), question, **how).paths]  # type: ignore[arg-type]


def test_a_query_about_a_brothers_home_follows_two_steps() -> None:
    best = ask(graph(*ANN), "Where does Ann's brother live?").paths[0]
    assert [step.version.relation for step in best.steps] == ["sibling_of", "lives_in"]
    assert best.end == "rome"


def test_a_query_about_a_year_finds_facts_that_held_then() -> None:
    found = ends("Where did Ann live in 2012?", at=(year(2012), year(2013)))
    assert found[0] == "paris"
    assert "london" not in found


def test_a_query_without_a_time_finds_facts_that_hold_now() -> None:
    found = ends("Where does Ann live?")
    assert found[0] == "london"
    assert "paris" not in found


@pytest.mark.parametrize(
    "question", ["How did Ann's home change?", "When did Ann move?", "Did Ann rather live in Paris?"]
)
def test_queries_for_a_change_a_comparison_or_a_time_include_past_facts(question: str) -> None:  # DESIGN D29
    assert {"paris", "london"} <= set(ends(question))


def test_a_suspected_fact_is_followed_only_if_guesses_are_accepted() -> None:
    rows = (said("Ann", "lives_in", "Oslo", confidence=0.45),)
    assert ends("Where does Ann live?", *rows) == []
    assert ends("Where does Ann live?", *rows, include_uncertain=True) == ["oslo"]


def test_facts_that_match_the_intent_come_first_and_the_others_remain() -> None:  # DESIGN D35
    rows = (said("Ann", "knows", "Bob"), said("Ann", "knows", "rain", intent="CAUSAL"))
    soft = ask(graph(*rows), "Why is Ann here?", switches=Switches(counterfactual=False))
    assert [path.end for path in soft.paths] == ["rain", "bob"]
    assert soft.paths[0].scores.coherence > soft.paths[1].scores.coherence


def test_without_the_beam_only_direct_neighbours_are_found() -> None:
    found = ask(graph(*ANN), "Where does Ann's brother live?", switches=Switches(beam=False))
    assert found.paths
    assert all(len(path.steps) == 1 for path in found.paths)


def test_a_space_without_facts_has_no_roots_and_no_paths() -> None:
    found = ask(graph(), "Where does Ann live?")
    assert (found.roots, found.paths) == ((), ())


def test_hostile_questions_find_nothing_and_break_nothing() -> None:
    for question in ("", " ", "?", "\u202e\u0000", "a" * 50_000, "Ann " * 20_000, "🦉" * 99, "\ud800 Ann"):
        ask(graph(*ANN), question, at=(NOW, NOW + 1))
