"""Standing wishes told from requests for one time, habits, reports and facts."""

from pathlib import Path

import pytest

from mcp_memory.language.segments import split
from mcp_memory.language.wishes import find_wishes, is_small_talk

LINES = [line for line in (Path(__file__).parent / "wishes.txt").read_text().splitlines() if line[0] in "+-"]


@pytest.mark.parametrize("line", LINES)
def test_a_wish_is_told_from_what_is_none(line: str) -> None:
    text = line[2:]
    found = [wish for wish in find_wishes(text, split(text)) if wish.kind != "withdrawn"]
    assert bool(found) is (line[0] == "+")


@pytest.mark.parametrize(
    "text",
    [
        *(f"Never use emojis.{sign}Use short sentences." for sign in "\n\r\t\x0b\x0c\x85\u2028\u2029"),
        "    Never use emojis.",
        "Keep Your Answers Short",
        "NEVER USE EMOJIS",
    ],
)
def test_lines_blocks_and_headings_are_no_wishes(text: str) -> None:
    assert not list(find_wishes(text, split(text)))


@pytest.mark.parametrize(
    ("small", "text"),
    [
        (True, "Thanks a lot!"),
        (True, "Good morning, Claude."),
        (True, "Great, cheers!\nHello!"),
        (False, "No."),
        (False, "Thanks, the boiler works."),
        (False, "Hello from Oslo"),
    ],
)
def test_small_talk_is_thanks_and_greetings_alone(small: bool, text: str) -> None:
    assert is_small_talk(text) is small
