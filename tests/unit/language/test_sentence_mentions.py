"""Entities that a sentence names, and those that it is about without naming them."""

import pytest

from mcp_memory.domain.turns import Kind, Turn
from mcp_memory.language.tokens import mentions


def turn(kind: Kind, text: str, speaker: str | None = None, role: str | None = None, title: str | None = None) -> Turn:
    return Turn("t", "x", "s", "1", kind, text, speaker, role, title, 0, 0, 0, 0)


def test_a_sentence_of_a_document_also_mentions_its_title() -> None:
    told = turn("document", "It opened. Ann Lee ran it.", title="The Blue Mill (theatre)")
    assert mentions(told, "It opened.") == ("blue mill",)
    assert mentions(told, "Ann Lee ran it.") == ("blue mill", "Ann Lee")


def test_a_message_mentions_its_speaker() -> None:
    assert mentions(turn("message", "I saw Bob.", speaker="Ann"), "I saw Bob.") == ("Ann", "Bob")
    assert mentions(turn("message", "hello", role="user"), "hello") == ("user",)
    assert mentions(turn("message", "Hi Ann, it is Ann!", speaker="Ann"), "Hi Ann, it is Ann!") == ("Ann",)


def test_a_text_without_names_names_nothing() -> None:
    assert mentions(turn("message", "fine"), "fine") == ()
    assert mentions(turn("document", "in those years it rained."), "in those years it rained.") == ()


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("It opened on Friday, in January.", ()),
        ("Rex ran away in April and came back May 3.", ("Rex",)),
        ("It lasted from May to August, or until next June.", ()),
        ("April met Bob in April.", ("April", "Bob")),
        ("Yesterday June left.", ("Yesterday June",)),
        ("I read Black Friday.", ("Black Friday",)),
    ],
)
def test_a_month_or_a_day_is_not_an_entity_but_may_be_the_name_of_a_person(
    sentence: str, named: tuple[str, ...]
) -> None:
    assert mentions(turn("message", sentence), sentence) == named
