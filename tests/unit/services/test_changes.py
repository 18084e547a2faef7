"""A caller's facts as statements, and what a write changes: the versions before it and after it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from asserting import asserted

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.requests import NewFact
from mcp_memory.language.iso import parse
from mcp_memory.services.write import changes, statement
from mcp_memory.view.facts import Facts

OSLO, ROME, DENIED = asserted("Oslo", 2010), asserted("Rome", 2015), asserted("Oslo", 2015, negated=True)
SURE, HEDGED = asserted("Rome", 2010, confidence=0.99), asserted("Rome", 2015, confidence=0.45)


@pytest.mark.parametrize(
    ("what", "before", "new", "made"),
    [
        ("a first statement adds", [], OSLO, "Oslo added"),
        ("the next one of the same value merges", [OSLO], asserted("Oslo", 2012), "Oslo merged"),
        ("a new value closes the old one", [OSLO], ROME, "Rome added, Oslo closed"),
        ("a denial closes what it denies", [OSLO], DENIED, "Oslo closed"),
        ("and nothing that nobody asserted", [asserted("Rome", 2010)], DENIED, ""),
        ("of two values with one start the surer one holds", [OSLO], SURE, "Rome added, Oslo contested"),
        ("whichever was told first", [SURE], OSLO, "Oslo contested"),
        ("a hedged fact that is stated closes", [OSLO, HEDGED], asserted("Rome", 2016), "Rome merged, Oslo closed"),
    ],
)
def test_a_write_reports_what_it_changes(what: str, before: list[Assertion], new: Assertion, made: str) -> None:
    facts = Facts()
    facts.add([*before, new])
    assert ", ".join(f"{one.version.tail} {one.op}" for one in changes(facts, [new], ())) == made, what


def test_an_assertion_recorded_before_changes_nothing() -> None:
    facts = Facts()
    facts.add([OSLO])
    assert [change.op for change in changes(facts, [OSLO], (OSLO.id,))] == ["unchanged"]


def test_a_denial_says_from_when_on_a_fact_no_longer_holds() -> None:
    told = NewFact("Ann", "lives_in", "Oslo", valid_from=parse("2020-05-01")[0])
    assert statement(told) == "Ann lives in Oslo from 1 May 2020."
    assert statement(replace(told, negated=True)) == "No longer from 1 May 2020 on: Ann lives in Oslo."
