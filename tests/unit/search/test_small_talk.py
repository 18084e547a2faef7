"""Greetings, thanks and cheers tell nothing, and are no evidence where there is anything else."""

import pytest

from mcp_memory.search.placing import is_small_talk

NAMES = ("ann", "bob")


@pytest.mark.parametrize(
    "text", ["Thanks, Ann! That means a lot.", "Bye Bob, take care!", "Wow, that's awesome!", "Hey Ann, how is it?"]
)
def test_greetings_thanks_and_cheers_are_small_talk(text):
    assert is_small_talk(text, NAMES)


@pytest.mark.parametrize(
    "text",
    [
        "Thanks, Ann! The kayak is red.",
        "Great, see you at 7!",
        "She was great.",
        "I think so.",
        "Gracias, Ann!",
        "Wow! " * 40,
        "",
    ],
)
def test_what_tells_anything_is_none(text):
    assert not is_small_talk(text, NAMES)
