"""What a write did to the facts: the difference between what was known before it and what is known now."""

from __future__ import annotations

from asserting import asserted

from mcp_memory.domain.facts import Assertion
from mcp_memory.temporal.changes import changes
from mcp_memory.view.facts import Facts


def told(before: list[Assertion], new: list[Assertion], *, known: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    """Return tail and operation of each change that new assertions make."""
    facts = Facts()
    facts.add([*before, *new])
    return [(change.version.tail, change.op) for change in changes(facts, new, known)]


def test_a_first_statement_adds_and_the_next_one_of_the_same_value_merges() -> None:
    first, again = asserted("Oslo", 2010), asserted("Oslo", 2012)
    assert told([], [first]) == [("Oslo", "added")]
    assert told([first], [again]) == [("Oslo", "merged")]


def test_a_new_value_closes_the_old_one_and_says_so() -> None:
    assert told([asserted("Oslo", 2010)], [asserted("Rome", 2015)]) == [("Rome", "added"), ("Oslo", "closed")]


def test_a_denial_closes_what_it_denies_and_of_the_unknown_changes_nothing() -> None:
    denial = asserted("Oslo", 2015, negated=True)
    assert told([asserted("Oslo", 2010)], [denial]) == [("Oslo", "closed")]
    assert told([asserted("Rome", 2010)], [denial]) == []


def test_what_is_known_already_is_unchanged() -> None:
    first = asserted("Oslo", 2010)
    assert told([], [first], known=(first.id,)) == [("Oslo", "unchanged")]


def test_two_values_of_one_start_contest_each_other() -> None:
    kept, lost = asserted("Oslo", 2010, confidence=0.9), asserted("Rome", 2010, confidence=0.95)
    assert told([kept], [lost]) == [("Rome", "added"), ("Oslo", "contested")]
    assert told([lost], [kept]) == [("Oslo", "contested")]


def test_confirming_a_suspicion_tells_what_it_closed() -> None:
    remark, plain = asserted("Rome", 2015, confidence=0.45), asserted("Rome", 2016)
    assert told([asserted("Oslo", 2010), remark], [plain]) == [("Rome", "merged"), ("Oslo", "closed")]
