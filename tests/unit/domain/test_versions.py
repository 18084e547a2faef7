"""Versions, their confidence, contradictions, and how many values a relation has, in any order of assertions."""

from dataclasses import replace
from itertools import permutations

import pytest
from asserting import asserted
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.domain.answers import RelationFacts, conflicts
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import CEILING, CERTAIN, STABLE, combined, count, learnt
from mcp_memory.domain.versions import fold

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


@pytest.mark.parametrize(("superseded", "together", "expected"), [
    (2, 0, "unknown"), (3, 0, "single"), (3, 1, "unknown"), (1, 4, "multi"), (0, 0, "unknown"),
    (0, 3, "multi"), (0, 2, "unknown"),
])  # fmt: skip
def test_w10_the_counters_determine_the_cardinality(superseded, together, expected):
    assert learnt(superseded, together) == expected


def counted(*assertions):
    return count(assertions, str.casefold)


SAID = st.builds(
    asserted,
    st.sampled_from(["a", "b", "c"]),
    st.integers(0, 5),
    turn=st.sampled_from(["t_1", "t_2", "t_3", "t_4"]),
    negated=st.booleans(),
    change=st.booleans(),
    intent=st.sampled_from(["FACT", "FACT", "EVOLUTION"]),
)


@settings(max_examples=300, derandomize=True)
@given(st.lists(SAID, max_size=8, unique_by=lambda a: a.id), st.randoms(use_true_random=False))
def test_the_counters_depend_on_no_order(history, rng):
    assert counted(*rng.sample(history, len(history))) == counted(*history)
    assert sum(counted(*history)) <= len({a.turn_id for a in history})


def said(relation, tail, since, *, negated=False):
    return asserted(tail, since, relation=relation, negated=negated, recorded_at=since)


def group(relation, *assertions, single=True):
    versions = fold(assertions, single=single, key=entity_key)
    denials = tuple(one for one in assertions if one.negated)
    return RelationFacts("ann", ("Ann",), relation, True, versions, denials=denials)


def test_two_values_with_one_start_are_reported_as_a_conflict_while_the_winner_holds():
    homes = group("lives_in", said("lives_in", "Rome", 10), replace(said("lives_in", "Turin", 10), sentence=1))
    assert conflicts([homes], 20, 21) == ("Ann lives in Turin, but it was also said: Ann lives in Rome",)
    assert conflicts([homes], 5, 6) == ()


@pytest.mark.parametrize("sure", [(0.95, 0.85), (0.85, 0.95), (0.85, 0.85)])
def test_no_conflict_stands_on_a_fact_that_is_not_certain(sure):
    rome, turin = said("lives_in", "Rome", 10), said("lives_in", "Turin", 10)
    homes = group("lives_in", replace(rome, confidence=sure[0]), replace(turin, confidence=sure[1]))
    assert conflicts([homes], 20, 21) == ()
    denial = replace(said("lives_in", "Turin", 10, negated=True), confidence=sure[1])
    home = group("lives_in", replace(turin, confidence=sure[0]))
    assert conflicts([replace(home, denials=(denial,))], 20, 21) == ()


def test_a_fact_that_is_denied_for_its_own_time_is_reported():
    tea = group("likes", said("likes", "tea", 10), said("likes", "tea", 10, negated=True), single=False)
    assert conflicts([tea], 20, 21) == ("Ann likes tea, but it was also said that this does not hold",)


def test_who_gives_a_thing_up_denies_nothing_of_who_takes_it_over():
    """Seen from the thing, whose owners are the heads of its facts."""
    first = said("owned_by", "rota", 10)
    second = replace(said("owned_by", "rota", 20), head="Bea")
    given_up = said("owned_by", "rota", 20, negated=True)
    versions = fold([second], single=False, key=entity_key)
    owners = RelationFacts("rota", ("rota",), "owned_by", False, versions, denials=(given_up,))
    assert conflicts([owners], 30, 31) == ()
    versions = fold([first], single=False, key=entity_key)
    owners = RelationFacts("rota", ("rota",), "owned_by", False, versions, denials=(replace(given_up, since=10),))
    assert len(conflicts([owners], 15, 16)) == 1
