"""Three extractors of the same texts, the caller, Claude and the embedded engine: the invariants of facts hold.

``test_facts.py`` tests the order of arrival (DESIGN I4), with these three as well.
"""

from asserting import asserted
from hypothesis import given, settings
from hypothesis import strategies as st

from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.view.facts import Facts

thorough = settings(max_examples=200, deadline=None, derandomize=True)
TURNS = ("t_1", "t_2", "t_3")


def said_in(turns: st.SearchStrategy[str]) -> st.SearchStrategy[Assertion]:
    return st.builds(
        asserted,
        st.sampled_from(["Oslo", "Lima", "Turin"]),
        st.integers(0, 4),
        relation=st.sampled_from(["lives_in", "visited"]),
        turn=turns,
        sentence=st.integers(0, 1),
        negated=st.sampled_from([False, False, False, True]),
        confidence=st.sampled_from([0.45, 0.75, 0.95]),
        extractor=st.sampled_from(["embedded", "anthropic", "caller"]),
    )


histories = st.lists(said_in(st.sampled_from(TURNS)), max_size=10, unique_by=lambda assertion: assertion.id)


def facts_of(said: list[Assertion]) -> Facts:
    facts = Facts()
    facts.add(said)
    return facts


@thorough
@given(histories)
def test_i4_every_positive_assertion_that_counts_supports_one_version_and_no_other_supports_any(
    said: list[Assertion],
) -> None:
    facts = facts_of(said)
    counting = {one.id for turn in TURNS for one in facts.assertions_in(turn)}
    supports = [one.id for version in facts.all(suspected=True) for one in version.assertions]
    assert sorted(supports) == sorted(one.id for one in said if one.id in counting and not one.negated)
    best = {(one.turn_id, one.sentence): "embedded" for one in said}
    for extractor in ("anthropic", "caller"):
        best |= {(one.turn_id, one.sentence): extractor for one in said if one.extractor == extractor}
    assert counting == {one.id for one in said if one.extractor == best[one.turn_id, one.sentence]}


@thorough
@given(histories, said_in(st.just("t_new")))
def test_i6_another_text_that_states_a_fact_never_lowers_its_confidence_whoever_extracted_it(
    said: list[Assertion], one: Assertion
) -> None:
    """Of the version that it supports; it may split or end other versions."""
    facts = facts_of(said)
    before = _supported(facts, one)
    facts.add([one])
    after = facts.version_of(one)
    assert (after is None) == one.negated
    if after is not None and before is not None and _texts(before) <= _texts(after):
        assert after.confidence >= max(before.confidence, one.confidence)


def _supported(facts: Facts, one: Assertion) -> Version | None:
    """Return the version with the same content and start."""
    same = (version for version in facts.all_versions("ann", one.relation) if version.tail == one.tail)
    return next((version for version in same if version.since == one.since), None)


def _texts(version: Version) -> set[str]:
    return {assertion.id for assertion in version.assertions}
