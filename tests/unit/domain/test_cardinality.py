"""How many values a relation has at a time, learnt from assertions (DESIGN W10)."""

import pytest
from asserting import asserted
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.domain.facts import count, learnt


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
def test_w10_the_counters_determine_the_cardinality(superseded, together, expected):
    assert learnt(superseded, together) == expected


def counted(*said):
    return count(said, str.casefold)


said = st.builds(
    asserted,
    st.sampled_from(["a", "b", "c"]),
    st.integers(0, 5),
    turn=st.sampled_from(["t_1", "t_2", "t_3", "t_4"]),
    negated=st.booleans(),
    change=st.booleans(),
    intent=st.sampled_from(["FACT", "FACT", "EVOLUTION"]),
)


@settings(max_examples=300, derandomize=True)
@given(st.lists(said, max_size=8, unique_by=lambda a: a.id), st.randoms(use_true_random=False))
def test_the_counters_depend_on_no_order(history, rng):
    assert counted(*rng.sample(history, len(history))) == counted(*history)
    assert sum(counted(*history)) <= len({a.turn_id for a in history})
