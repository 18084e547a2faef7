"""Replies of write and evolve: counts, and the changes that matter by name."""

import pytest

from mcp_memory.domain.requests import (
    EvolveResult,
    ForgetRequest,
    ForgetResult,
    Improved,
    NewFact,
    Skipped,
    WriteRequest,
    WriteResult,
    WrittenFact,
)
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.language.iso import parse
from mcp_memory.server.tools.evolve import evolve_reply
from mcp_memory.server.tools.forget import forget_reply
from mcp_memory.server.tools.replies import validity
from mcp_memory.server.tools.write import write_reply

DAY = 86_400_000


def test_a_write_counts_its_facts_and_names_those_with_an_end():
    facts = (
        WrittenFact("f_1", "Ann lives in Oslo", "added"),
        WrittenFact("f_2", "Ann likes tea", "added"),
        WrittenFact("f_3", "Ann lives in Rome", "closed", 365 * DAY, 730 * DAY),
        WrittenFact("f_4", "Ann rows", "merged", 365 * DAY, FOREVER),
        WrittenFact("f_5", "Ann is on leave", "merged", 365 * DAY, 730 * DAY),
    )
    request = WriteRequest("default", "s", "statement", (), (NewFact("Ann", "lives_in", "Oslo"),))
    reply = write_reply(request, WriteResult((), 0, 1, (), facts=facts, entities=("Ann",)))
    assert reply.text.splitlines() == [
        "Facts: 2 added, 1 closed, 2 merged.",
        "- closed: Ann lives in Rome (from 1971-01-01 to 1971-12-31)",
        "- merged: Ann is on leave (from 1971-01-01 to 1971-12-31)",
    ]
    times = {"valid_from": "1971-01-01", "valid_to": "1972-01-01", "kind": "state"}
    assert reply.structured["facts"][2] == {"id": "f_3", "text": "Ann lives in Rome", "op": "closed"} | times
    assert reply.structured["entities"] == ["Ann"]


def test_an_evolve_lists_each_change_with_before_and_after_and_the_skipped_steps():
    changes = (
        Improved("feedback", "sentence", "s_1", "I moved\nto Lisbon.", "doubt 1.000", "supports this question"),
        Improved("feedback", "message", "m_1", "Ann lives in Rome.", None, "stored"),
        Improved("feedback", "fact", "f_1", "Ann lives in Rome", None, "merged", 730 * DAY, FOREVER),
        Improved("feedback", "fact", "f_2", "Ann lives in Oslo", None, "closed", BEGINNING, 730 * DAY),
        Improved("merge", "point", "h_3", "Ann, Rome", "h_1 + h_2", "Ann went to Rome."),
    )
    reply = evolve_reply(EvolveResult(changes, (Skipped("confidence", "It is sure."),)))
    assert reply.text.splitlines() == [
        "5 changes.",
        "- feedback: doubt 1.000 -> supports this question: I moved",
        "   to Lisbon.",
        "- feedback: stored: Ann lives in Rome.",
        "- feedback: merged: Ann lives in Rome (since 1972-01-01)",
        "- feedback: closed: Ann lives in Oslo (until 1971-12-31)",
        "- merge: Ann, Rome (h_3): h_1 + h_2 -> Ann went to Rome.",
        "Skipped confidence: It is sure.",
    ]
    assert reply.structured["engine"] == "caller"
    assert [change.get("before") for change in reply.structured["changes"][:2]] == ["doubt 1.000", None]
    assert reply.structured["changes"][3]["valid_to"] == "1972-01-01"
    assert evolve_reply(EvolveResult(())).text == "Nothing changed."


def test_a_preview_of_several_texts_says_how_to_forget_only_some_of_them():
    request = ForgetRequest("default", query="beagle")
    one, several = ("message 'a': A beagle.", "stays: message 'c'"), ("message 'a': A beagle.", "message 'b': Beagles.")
    for lines, told in ((one, False), (several, True)):
        result = ForgetResult({"messages": 1 + told}, lines, dry_run=True, token="0a")
        assert ("To forget only some of it, give their ids" in forget_reply(request, result).text) == told


@pytest.mark.parametrize(
    "affected", [("keeps 1 of 2 sources: Emil lives in Bonn",), ("stays: message m3 names others",)]
)
def test_a_forget_that_leaves_something_says_so(affected):
    request = ForgetRequest("home", entity="Emil", dry_run=False)
    text = forget_reply(request, ForgetResult({"texts": 2}, affected, dry_run=False)).text
    assert "not all of it is gone" in text
    assert "not all" not in forget_reply(request, ForgetResult({"texts": 2}, ("message m1: Hi",), dry_run=False)).text


@pytest.mark.parametrize(
    ("precision", "shown"), [("day", "since 1971-03-01"), ("month", "since 1971-03"), ("year", "since 1971")]
)
def test_a_start_is_shown_as_exactly_as_it_was_told(precision, shown):
    assert validity(parse("1971-03-01")[0], FOREVER, "state", precision) == shown
