"""Standing wishes told from requests for one time, habits, reports and facts."""

from pathlib import Path

import pytest

from mcp_memory.language.segments import split
from mcp_memory.language.wishes import find_wishes

LINES = [line for line in (Path(__file__).parent / "wishes.txt").read_text().splitlines() if line[0] in "+-"]


@pytest.mark.parametrize("line", LINES)
def test_a_wish_is_told_from_what_is_none(line: str) -> None:
    text = line[2:]
    found = [wish for wish in find_wishes(text, split(text)) if wish.kind != "withdrawn"]
    assert bool(found) is (line[0] == "+")
