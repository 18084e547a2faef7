"""A part of a name means the only person who bears it, unless that one is another person."""

from itertools import permutations

import pytest
from asserting import asserted, shown

from mcp_memory.domain.facts import Assertion
from mcp_memory.view.facts import Facts

INF = float("inf")
SINGLE = (
    asserted("Oslo", head="Dalva"),
    asserted("Lima", head="Dalva Moor"),
    asserted("Acme", head="Dalva", relation="works_at"),
    asserted("Beta", head="Dalva Moor", relation="works_at"),
)
BORN = (
    asserted("Nesby", head="Dalva", relation="born_in"),
    asserted("Tarn", head="Dalva Moor", relation="born_in"),
)


def facts_of(*said: Assertion) -> Facts:
    facts = Facts()
    for one in said:
        facts.add([one])
        list(facts.all())  # cached results must not matter
    return facts


def test_two_differences_may_be_changes() -> None:
    assert facts_of(*SINGLE).resolve("Dalva") == "dalva moor"


@pytest.mark.parametrize("order", list(permutations((*SINGLE[:2], *BORN))))
def test_a_different_birth_and_another_difference_tell_people_apart(order: tuple[Assertion, ...]) -> None:
    facts = facts_of(*order)
    assert (facts.resolve("Dalva"), facts.resolve("Dalva Moor")) == ("dalva", "dalva moor")
    assert shown(facts.versions("dalva", "lives_in")) == [("Oslo", 0, INF)]
    assert shown(facts.versions("dalva moor", "lives_in")) == [("Lima", 0, INF)]


def test_two_speakers_are_two_people() -> None:
    facts = facts_of(*SINGLE[:2])
    facts.add_speaker("Dalva")
    assert facts.resolve("Dalva") == "dalva moor"
    facts.add_speaker("Dalva Moor")
    assert facts.resolve("Dalva") == "dalva"
