"""Whose words a point has, and what is in them: caller before Claude before an extract."""

from dataclasses import replace

import pytest

from mcp_memory.domain.points import Point
from mcp_memory.hypergraph.evolution import add_support, ids_in_description, reword

FIRST = Point(
    "h_1", "default", ("Ann", "Rufus"), "They met.", "", 0, "active", (), None, ("s_1",), ("f_1",), "anthropic", 1
)


def test_what_was_added_to_words_of_claude_afterwards_is_not_in_them():
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


def test_an_extract_has_nothing_in_words_and_those_of_a_caller_have_all():
    grown = add_support(FIRST, ["s_2"], [], 2)
    assert ids_in_description([replace(FIRST, source="embedded")]) == frozenset()
    assert ids_in_description([replace(FIRST, source="caller"), replace(grown, source="caller")]) == {
        "s_1",
        "s_2",
        "f_1",
    }


@pytest.mark.parametrize("source", ["anthropic", "embedded"])
def test_the_words_of_a_caller_are_never_written_anew(source):
    mine = replace(FIRST, source="caller")
    assert reword(mine, "Other words.", source) == mine
