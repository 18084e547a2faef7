"""By which names a space calls the things that a question names."""

import pytest
from small_space import message, read

from mcp_memory.language.questions import understand
from mcp_memory.search.called import names_given, rows_by_name

VANISHED, SOUP = message("2", "Bob", "Flash vanished in the hedge."), message("3", "Bob", "We had soup.")


def found(intro: str, question: str = "List everything about the tortoise"):
    space = read(message("1", "Ann", intro), VANISHED, SOUP)
    return [space.text(space.segments[row]) for row in rows_by_name(space, understand(question, space.speakers))]


@pytest.mark.parametrize(
    "intro",
    [
        "Our tortoise is called Flash.",
        "I call my tortoise Flash.",
        "Flash, my tortoise, is old.",
        "My tortoise Flash bit.",
    ],
)
def test_what_is_told_of_a_thing_under_the_name_that_it_was_given_is_found(intro: str):
    assert found(intro) == [intro, "Flash vanished in the hedge."]


def test_what_is_only_asked_or_of_another_thing_gives_no_name():
    assert found("Is your tortoise called Flash?") == []
    assert found("My hen is called Flash.") == []
    assert found("Our tortoise is called Flash.", "List everything about the tortoise Flash") == []


def test_days_and_words_of_small_talk_are_no_names():
    for text in ("I took the boat Friday.", "I love the boat, Thanks!", "The boat. Then Ann came."):
        assert names_given(text, "boat") == []
    assert names_given("We named the boat Ilmatar.", "boats") == ["Ilmatar"]
