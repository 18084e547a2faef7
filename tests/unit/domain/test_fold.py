"""The fold: what DESIGN 1.3 promises of versions, for any set of assertions in any order of arrival.

Beside it stands a memory that follows REAL §III-A to the letter. Examples are in ``tests/unit/view/histories.jsonl``.
"""

import random
from collections import defaultdict
from typing import get_args

import pytest
from asserting import asserted, at_once, shown
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mcp_memory.domain.facts import STABLE, ExtractorName, combined
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.versions import fold, fold_by_confidence, retracted

INF = float("inf")
TAILS = ("Oslo", "Paris", "Rome")
INSTANTS = range(9)
thorough = settings(max_examples=200, derandomize=True)


@st.composite
def assertions(draw, confidences=(0.45, 0.65, 0.75, 0.95, 1.0)):
    since = draw(st.sampled_from([*INSTANTS, BEGINNING]))
    ends = [end for end in INSTANTS if end > since]
    return asserted(
        draw(st.sampled_from(TAILS)),
        since,
        draw(st.sampled_from([FOREVER, FOREVER, *ends])),
        negated=draw(st.integers(0, 4)) == 0,
        confidence=draw(st.sampled_from(confidences)),
        said_at=draw(st.sampled_from([*INSTANTS, max(since, 0)])),
        turn=draw(st.sampled_from(["t_1", "t_2", "t_3", "t_4", "t_5", "t_6"])),
        extractor=draw(st.sampled_from(get_args(ExtractorName))),
    )


histories = st.lists(assertions(), max_size=9, unique_by=lambda assertion: assertion.id)
cardinalities = st.booleans()


def live(versions):
    return [version for version in versions if version.status != "contested"]


def values_at(versions, instant):
    return [version.tail for version in versions if version.holds(instant, instant + 1)]


def meaning(versions):
    """Return the content of versions without ids, which depend on the order of arrival."""

    def told(v):
        ids = (sorted(one.id for one in some) for some in (v.assertions, v.ended_by))
        return v.tail, v.since, v.until, v.status, v.stated, v.confidence, v.intent, v.superseded_by is None, *ids

    return sorted(map(told, versions))


def winner(said, start):
    here = [a for a in said if not a.negated and a.since == start]
    return max(here, key=lambda a: (a.confidence, a.said_at, a.extractor == "caller", a.id)).tail


def kept(said):
    """Return what nobody took back."""
    return [a for a in said if a.id not in retracted(said, str)]


# Invariants of DESIGN 1.3


@thorough
@given(histories)
def test_i2_a_single_valued_relation_has_two_values_at_once_only_before_the_first_known_start(said):
    versions = fold(said, single=True, key=str)
    assert not at_once(versions)
    starts = [a.since for a in said if not a.negated and a.since > BEGINNING]
    for instant in INSTANTS:
        assert len(values_at(versions, instant)) <= 1 or instant < min(starts, default=INF)


@thorough
@given(histories, cardinalities)
def test_i3_no_version_ends_before_it_begins_and_only_contested_ones_are_empty(said, single):
    for version in fold(said, single=single, key=str):
        assert version.since <= version.until
        assert (version.since == version.until) == (version.status == "contested")
        assert (version.until == FOREVER) == (version.status == "active") == version.current


@thorough
@given(histories, cardinalities)
def test_i4_every_positive_assertion_supports_exactly_one_version(said, single):
    versions = fold(said, single=single, key=str)
    supported = [assertion.id for version in versions for assertion in version.assertions]
    assert sorted(supported) == sorted(a.id for a in said if not a.negated)
    assert all(assertion.tail == version.tail for version in versions for assertion in version.assertions)
    assert len({version.id for version in versions}) == len(versions)


@thorough
@given(histories, cardinalities, st.randoms(use_true_random=False))
def test_i4_the_order_of_arrival_affects_only_ids(said, single, rng):
    shuffled = rng.sample(said, len(said))
    assert meaning(fold(shuffled, single=single, key=str)) == meaning(fold(said, single=single, key=str))


@thorough
@given(histories)
def test_i5_a_value_holds_when_it_begins_unless_it_is_contested(said):
    versions, said = fold(said, single=True, key=str), kept(said)
    for start in {a.since for a in said if not a.negated and a.since > BEGINNING}:
        assert values_at(versions, start) == [winner(said, start)]


@thorough
@given(histories)
def test_i5_of_values_with_unknown_start_all_ended_ones_and_one_open_one_hold(said):
    versions = fold(said, single=True, key=str)
    untils = defaultdict(list)
    for assertion in said:
        if assertion.since == BEGINNING and not assertion.negated:
            untils[assertion.tail].append(assertion.until)
    over = {tail for tail, ends in untils.items() if max(ends) < FOREVER}
    going_on = {tail for tail, ends in untils.items() if min(ends) == FOREVER}
    held = values_at(versions, BEGINNING)
    assert over <= set(held) <= set(untils)
    assert len(held) == len(set(held))
    assert len(going_on & set(held)) <= 1
    assert bool(held) == bool(untils)


@thorough
@given(histories)
def test_i5_the_value_is_the_latest_to_have_begun_unless_an_end_lies_between(said):
    versions, said = fold(said, single=True, key=str), kept(said)
    for instant in INSTANTS:
        starts = [a.since for a in said if not a.negated and a.since <= instant]
        if not starts:
            assert values_at(versions, instant) == []
            continue
        if max(starts) == BEGINNING:
            for version in (v for v in versions if v.holds(instant, instant + 1)):
                assert not any(a.negated and a.tail == version.tail and BEGINNING < a.since <= instant for a in said)
                assert any(a.until > instant for a in version.assertions)
            continue
        latest = winner(said, max(starts))
        negated = any(a.negated and a.tail == latest and max(starts) < a.since <= instant for a in said)
        held = values_at(versions, instant)
        assert held in ([latest], [])
        if held:
            version = next(v for v in versions if v.holds(instant, instant + 1))
            assert not negated
            assert any(a.until > instant for a in version.assertions)  # somebody says that it lasts so long
        elif not negated:  # then a stated end has passed, and nobody who knew of it says that it went on
            version = next(v for v in versions if v.holds(max(starts), max(starts) + 1))
            told = max(a.said_at for a in version.assertions if a.until == version.until)
            went_on = [a for a in version.assertions if a.until == FOREVER and winner(said, a.since) == a.tail]
            assert all(a.since < version.until for a in went_on)
            assert all(a.said_at < version.until or a.said_at <= told for a in went_on)


@thorough
@given(histories)
def test_i10_a_multi_valued_relation_is_the_sum_of_its_values_and_has_no_contest(said):
    versions = fold(said, single=False, key=str)
    apart = [v for tail in TAILS for v in fold([a for a in said if a.tail == tail], single=True, key=str)]
    assert sorted(versions, key=lambda v: v.id) == sorted(apart, key=lambda v: v.id)
    taken_back = retracted(said, str)
    for version in versions:
        assert version.superseded_by is None
        assert (version.status == "contested") == all(one.id in taken_back for one in version.assertions)


@thorough
@given(histories)
def test_the_successor_of_a_version_begins_where_the_version_ends(said):
    versions = {version.id: version for version in fold(said, single=True, key=str)}
    starts = {version.since for version in live(tuple(versions.values()))}
    for version in live(tuple(versions.values())):
        if version.superseded_by:
            assert versions[version.superseded_by].since == version.until
        assert bool(version.superseded_by) == (version.until in starts)
        assert all(a.since == version.until for a in version.ended_by)


def test_leaving_and_arriving_in_one_statement_names_the_successor():
    paris, london = asserted("Paris", 2010), asserted("London", 2015)
    gone = asserted("Paris", 2015, negated=True)
    left, lives = fold([paris, gone, london], single=True, key=str)
    assert (left.status, left.ended_by, left.superseded_by) == ("closed", (gone,), lives.id)
    (again,) = fold([paris, gone, asserted("Paris", 2015)], single=True, key=str)
    assert again.current


# Layers of confidence


@thorough
@given(histories, cardinalities, st.sampled_from([0.5, STABLE, 0.96]))
def test_every_stable_version_reaches_the_threshold_and_no_assertion_is_lost(said, single, stable):
    sure, suspected = fold_by_confidence(said, single=single, key=str, stable=stable)
    assert all(version.confidence >= stable for version in sure)
    assert all(version.confidence < stable for version in suspected)
    supported = [assertion.id for version in (*sure, *suspected) for assertion in version.assertions]
    assert sorted(supported) == sorted(a.id for a in said if not a.negated)
    assert not (single and at_once(sure))


@thorough
@given(histories, cardinalities, st.randoms(use_true_random=False))
def test_the_layers_depend_on_no_order(said, single, rng):
    shuffled = rng.sample(said, len(said))
    one, other = (fold_by_confidence(each, single=single, key=str, stable=STABLE) for each in (said, shuffled))
    assert [meaning(layer) for layer in one] == [meaning(layer) for layer in other]


@thorough
@given(histories, cardinalities, st.lists(assertions(confidences=(0.45, 0.65, 0.75)), min_size=1, max_size=3))
def test_a_hedged_remark_changes_nothing_before_it_is_confirmed(said, single, hedged):
    remarks = [remark for remark in hedged if remark.tail == hedged[0].tail and not remark.negated]
    assume(remarks and combined(remarks) < STABLE)
    others = [a for a in said if a.tail != hedged[0].tail]
    before, _ = fold_by_confidence(others, single=single, key=str, stable=STABLE)
    after, suspected = fold_by_confidence([*others, *remarks], single=single, key=str, stable=STABLE)
    assert after == before
    assert {a.id for a in remarks} <= {a.id for version in suspected for a in version.assertions}


# The rule of the paper


class Literal:
    """Follows REAL §III-A to the letter (DESIGN 7): merges the same value to [min, ∞), closes others at the start."""

    def __init__(self):
        self.rows = []

    def tell(self, tail, since):
        merged, rows = False, []
        for known, start, end in self.rows:
            if known == tail:
                merged = True
                rows.append((known, min(start, since), INF))
            else:
                rows.append((known, start, since if end > since else end))
        self.rows = rows if merged else [*rows, (tail, since, INF)]


def in_order(rng):
    """Return three to six changes of a city, stated in order; none returns."""
    cities = rng.sample(["Bonn", "Lima", "Oslo", "Paris", "Rome", "Turin"], rng.randint(3, 6))
    starts = sorted(rng.sample(range(1990, 2020), len(cities)))
    return list(zip(cities, starts, strict=True))


@pytest.mark.parametrize("seed", range(50))
def test_in_order_and_without_returns_the_fold_equals_the_rule_of_the_paper(seed):
    literal, told = Literal(), in_order(random.Random(seed))
    for each in told:
        literal.tell(*each)
    assert shown(fold([asserted(*each) for each in told], single=True, key=str)) == literal.rows
