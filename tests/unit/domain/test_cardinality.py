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


SWITCHES = [asserted(job, 2010 + n, change=n > 0) for n, job in enumerate(("Acme", "Beta", "Core", "Dune"))]
ACME = asserted("Acme", 2010)
LISTS = [asserted(tail, year, turn=f"t_{year}") for year in (1, 2, 3) for tail in (f"chess {year}", f"go {year}")]
NEW_LIST = [asserted("piano", 1), *(asserted(tail, 2, turn="t_2", change=True) for tail in ("drums", "flute"))]
LEFT = asserted("Acme", 2012, turn="t", negated=True)
COUNTED = [
    ("each switch with now is a supersession", SWITCHES, (3, 0)),
    (
        "so is one told together with the old value",
        [asserted("Acme", 2000, turn="t", intent="EVOLUTION"), asserted("Beta", 2010, turn="t")],
        (1, 0),
    ),
    ("so is one told with the denial of another", [ACME, LEFT, asserted("Beta", 2012, turn="t")], (1, 0)),
    ("a denial alone is none", [ACME, LEFT], (0, 0)),
    (
        "coming back is one",
        [ACME, asserted("Beta", 2012, change=True), asserted("Acme", 2014, change=True), asserted("acme", 2015)],
        (2, 0),
    ),
    (
        "the new value again counts once",
        [ACME, *(asserted("Beta", year, change=True) for year in (2012, 2013))],
        (1, 0),
    ),
    ("lists in one turn are values at once", LISTS, (0, 3)),
    ("a list of new values counts for neither", NEW_LIST, (0, 0)),
    (
        "the older value again later is one at once",
        [asserted("tea", 1), asserted("coffee", 2), asserted("tea", 3)],
        (0, 1),
    ),
    ("the newer value again is none", [asserted("tea", 1), asserted("coffee", 2), asserted("coffee", 3)], (0, 0)),
]


@pytest.mark.parametrize(("what", "told", "expected"), COUNTED, ids=[case[0] for case in COUNTED])
def test_what_was_told_is_counted(what: str, told: list[Assertion], expected: tuple[int, int]) -> None:
    assert counted(*told) == expected, what


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
