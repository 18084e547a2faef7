"""Which evidence a point's description takes in, by its author: caller, Claude or an extract."""

from dataclasses import replace

import pytest

from mcp_memory.domain.points import Point
from mcp_memory.hypergraph.evolution import add_support, ids_in_description, reword

FIRST = Point(
    "h_1", "default", ("Ann", "Rufus"), "They met.", "", 0, "active", (), None, ("s_1",), ("f_1",), "anthropic", 1
)


def test_support_added_after_claudes_description_is_not_in_it():
    grown = add_support(FIRST, ["s_1", "s_2"], ["f_2"], 2)
    assert (grown.sentences, grown.facts, grown.revision, grown.at) == (("s_1", "s_2"), ("f_1", "f_2"), 1, 2)
    assert ids_in_description([FIRST, grown]) == {"s_1", "f_1"}
    assert ids_in_description(
        [FIRST, grown, reword(add_support(grown, (), (), 3), "They met again.", "anthropic")]
    ) == {
        "s_1",
        "s_2",
        "f_1",
        "f_2",
    }


def test_an_extract_takes_in_nothing_and_a_callers_description_everything():
    grown = add_support(FIRST, ["s_2"], [], 2)
    assert ids_in_description([replace(FIRST, source="embedded")]) == frozenset()
    assert ids_in_description([replace(FIRST, source="caller"), replace(grown, source="caller")]) == {
        "s_1",
        "s_2",
        "f_1",
    }


@pytest.mark.parametrize("source", ["anthropic", "embedded"])
def test_a_callers_description_is_never_rewritten(source):
    mine = replace(FIRST, source="caller")
    assert reword(mine, "Other words.", source) == mine
