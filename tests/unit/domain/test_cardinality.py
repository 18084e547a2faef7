"""How many values a relation has at a time, learnt from assertions (DESIGN W10)."""

import random

import pytest
from asserting import asserted
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.domain.facts import Assertion, count, learnt


@pytest.mark.parametrize(
    ("superseded", "together", "expected"),
    [
        (2, 0, "unknown"),
        (3, 0, "single"),
        (3, 1, "unknown"),
        (1, 4, "multi"),
        (0, 0, "unknown"),
        (0, 3, "multi"),
        (0, 2, "unknown"),
    ],
)
def test_w10_the_counters_determine_the_cardinality(superseded: int, together: int, expected: str) -> None:
    assert learnt(superseded, together) == expected


def counted(*said: Assertion) -> tuple[int, int]:
    return count(said, str.casefold)


def test_each_switch_with_now_is_a_supersession() -> None:
    jobs = [asserted(job, 2010 + n, change=n > 0) for n, job in enumerate(("Acme", "Beta", "Core", "Dune"))]
    assert counted(*jobs) == (3, 0)
    assert learnt(*counted(*jobs)) == "single"


def test_a_switch_stated_together_with_the_old_value_counts_too() -> None:
    used, now = asserted("Acme", 2000, turn="t", intent="EVOLUTION"), asserted("Beta", 2010, turn="t")
    assert counted(used, now) == (1, 0)


def test_a_value_stated_with_the_denial_of_another_supersedes_it() -> None:
    acme = asserted("Acme", 2010)
    left, joined = asserted("Acme", 2012, turn="t", negated=True), asserted("Beta", 2012, turn="t")
    assert counted(acme, left, joined) == (1, 0)
    assert counted(acme, left) == (0, 0)


def test_coming_back_is_a_supersession_and_the_value_is_the_current_one_again() -> None:
    acme, beta = asserted("Acme", 2010), asserted("Beta", 2012, change=True)
    back, still = asserted("Acme", 2014, change=True), asserted("acme", 2015)
    assert counted(acme, beta, back, still) == (2, 0)


def test_saying_the_new_value_again_counts_once() -> None:
    said = [asserted("Acme", 2010), *(asserted("Beta", year, change=True) for year in (2012, 2013, 2014))]
    assert counted(*said) == (1, 0)


def test_lists_in_one_turn_are_simultaneous_values() -> None:
    lists = [asserted(tail, year, turn=f"t_{year}") for year in (1, 2, 3) for tail in (f"chess {year}", f"go {year}")]
    assert counted(*lists) == (0, 3)
    assert learnt(*counted(*lists)) == "multi"


def test_a_list_of_new_values_counts_for_neither() -> None:
    piano = asserted("piano", 1)
    both = [asserted(tail, 2, turn="t_2", change=True) for tail in ("drums", "flute")]
    assert counted(piano, *both) == (0, 0)


def test_the_older_value_stated_again_later_is_simultaneous() -> None:
    assert counted(asserted("tea", 1), asserted("coffee", 2), asserted("tea", 3)) == (0, 1)
    assert counted(asserted("tea", 1), asserted("coffee", 2), asserted("coffee", 3)) == (0, 0)


said = st.builds(
    asserted,
    st.sampled_from(["a", "b", "c"]),
    st.integers(0, 5),
    turn=st.sampled_from(["t_1", "t_2", "t_3", "t_4"]),
    negated=st.booleans(),
    change=st.booleans(),
    intent=st.sampled_from(["FACT", "FACT", "EVOLUTION"]),
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(said, max_size=8, unique_by=lambda a: a.id), st.randoms(use_true_random=False))
def test_the_counters_depend_on_no_order(history: list[Assertion], rng: random.Random) -> None:
    assert counted(*rng.sample(history, len(history))) == counted(*history)
    assert sum(counted(*history)) <= len({a.turn_id for a in history})
