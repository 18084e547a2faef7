"""A part of a name means the only person who bears it, unless that one is another person."""

from asserting import asserted

from mcp_memory.domain.facts import Assertion
from mcp_memory.view.facts import Facts

SINGLE = (
    asserted("Oslo", head="Dalva"),
    asserted("Lima", head="Dalva Moor"),
)


def facts_of(*said: Assertion) -> Facts:
    facts = Facts()
    for one in said:
        facts.add([one])
        list(facts.all())  # cached results must not matter
    return facts


def test_two_speakers_are_two_people() -> None:
    facts = facts_of(*SINGLE)
    facts.add_speaker("Dalva")
    assert facts.resolve("Dalva") == "dalva moor"
    facts.add_speaker("Dalva Moor")
    assert facts.resolve("Dalva") == "dalva"
