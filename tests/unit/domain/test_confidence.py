"""The confidence of a fact from several turns (DESIGN W9, DESIGN I6)."""

from itertools import permutations

import pytest
from asserting import asserted
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.domain.facts import CEILING, CERTAIN, STABLE, combined

confidences = st.floats(min_value=0, max_value=1, exclude_min=True)
thorough = settings(max_examples=300, derandomize=True)


def turns(*confidences):
    return [asserted("Oslo", confidence=c, turn=f"t_{number}") for number, c in enumerate(confidences)]


@pytest.mark.parametrize(("count", "expected"), [(1, 0.5), (2, 0.625), (3, 0.71875), (4, 0.7890625), (5, 0.841796875)])
def test_w9_hedged_turns_add_up_and_the_fifth_makes_it_stable(count, expected):
    assert combined(turns(*[0.5] * count)) == pytest.approx(expected, abs=1e-12)
    assert (combined(turns(*[0.5] * count)) >= STABLE) == (count == 5)


def test_w9_a_plain_statement_is_stable_at_once_and_a_hedge_beside_it_adds_a_little():
    assert combined(turns(0.95)) == 0.95 >= STABLE
    for order in permutations((0.5, 0.95)):
        assert combined(turns(*order)) == pytest.approx(0.9625, abs=1e-12)


@thorough
@given(st.lists(confidences, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_i6_the_order_of_turns_does_not_matter(said, rng):
    assert combined(turns(*rng.sample(said, len(said)))) == combined(turns(*said))


@thorough
@given(st.lists(confidences, min_size=1, max_size=8), confidences)
def test_i6_another_turn_never_lowers_confidence_and_it_stays_in_its_range(said, new):
    before, after = combined(turns(*said)), combined(turns(*said, new))
    assert 0 < before <= after <= 1
    assert after <= max(CEILING, *said, new)


@thorough
@given(st.lists(st.floats(0.5, CERTAIN, exclude_max=True), min_size=1, max_size=8), st.floats(CERTAIN, 1))
def test_only_a_certain_telling_makes_a_fact_certain(said, sure):
    assert combined(turns(*said)) < CERTAIN <= combined(turns(*said, sure))
