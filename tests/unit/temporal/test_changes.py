"""Changes of the facts by a write: the difference between the versions before it and after it."""

from __future__ import annotations

from asserting import asserted

from mcp_memory.domain.facts import Assertion
from mcp_memory.temporal.assertions import changes
from mcp_memory.view.facts import Facts


def operations(before: list[Assertion], new: list[Assertion], *, known: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return tail and operation of each change that new assertions make."""
    facts = Facts()
    facts.add([*before, *new])
    return [(change.version.tail, change.op) for change in changes(facts, new, known)]


def test_a_first_statement_adds_and_the_next_one_of_the_same_value_merges() -> None:
    first, again = asserted("Oslo", 2010), asserted("Oslo", 2012)
    assert operations([], [first]) == [("Oslo", "added")]
    assert operations([first], [again]) == [("Oslo", "merged")]


def test_a_new_value_closes_the_old_one_and_reports_it() -> None:
    assert operations([asserted("Oslo", 2010)], [asserted("Rome", 2015)]) == [("Rome", "added"), ("Oslo", "closed")]


def test_a_denial_closes_the_denied_fact_and_changes_nothing_if_nobody_asserted_it() -> None:
    denial = asserted("Oslo", 2015, negated=True)
    assert operations([asserted("Oslo", 2010)], [denial]) == [("Oslo", "closed")]
    assert operations([asserted("Rome", 2010)], [denial]) == []


def test_an_assertion_recorded_before_changes_nothing() -> None:
    first = asserted("Oslo", 2010)
    assert operations([], [first], known=(first.id,)) == [("Oslo", "unchanged")]


def test_two_values_with_the_same_start_contest_each_other() -> None:
    stronger, weaker = asserted("Oslo", 2010, confidence=0.9), asserted("Rome", 2010, confidence=0.95)
    assert operations([stronger], [weaker]) == [("Rome", "added"), ("Oslo", "contested")]
    assert operations([weaker], [stronger]) == [("Oslo", "contested")]


def test_a_plain_statement_of_a_hedged_fact_reports_the_fact_that_it_closes() -> None:
    hedged, plain = asserted("Rome", 2015, confidence=0.45), asserted("Rome", 2016)
    assert operations([asserted("Oslo", 2010), hedged], [plain]) == [("Rome", "merged"), ("Oslo", "closed")]
