"""Who is who: names that speakers give themselves."""

import pytest
from unit.rules.facts.reading import read

NAMING = ("named", "also_known_as")


def given(text: str, speaker: str = "user") -> list[tuple[str, str, bool]]:
    return [(one.head, one.tail, one.negated) for one in read(text, speaker=speaker) if one.relation in NAMING]


@pytest.mark.parametrize(
    "text",
    [
        "I'm Torvi.",
        "I’m Torvi",
        "I am Torvi and I bake bread.",
        "Hi there, I'm Torvi, nice to meet you!",
        "My name is Torvi.",
        "Hello! My name's Torvi and I just moved here.",
        "I bake bread and my name is Torvi.",
        "Call me Torvi.",
        "Please call me Torvi!",
        "Everyone calls me Torvi.",
        "I bake bread, but please call me Torvi.",
        "Torvi here, just checking in.",
        "Hi, Torvi here.",
        "Hello, this is Torvi.",
        "This is Torvi speaking.",
        "This is Torvi. I need a recipe.",
    ],
)
def test_a_speaker_gives_a_name(text: str) -> None:
    assert given(text) == [("user", "Torvi", False)]


@pytest.mark.parametrize(
    "text",
    [
        "I'm Danish.",
        "I'm Tired.",
        "I'm tired.",
        "I'm Vegan and happy.",
        "I'm Captain Marlow.",
        "I'm Torvi's mother.",
        "I'm Torvi in this game.",
        "I'm your assistant.",
        "I'm TORVI!",
        "I'm Torvi?",
        "Am I Torvi?",
        '"I\'m Torvi," she said.',
        'She shouted "Wait. I\'m Torvi." and ran.',
        "He wrote “Hello. I'm Torvi.” on the wall.",
        "> I'm Torvi.",
        "If my name is Torvi, you win.",
        "Nobody here.",
        "Call me tomorrow.",
        "Call me Tomorrow.",
        "This is Torvi, my parrot.",
        "Look at the parrot. This is Torvi.",
        "Our wifi name is Torvi14.",
        "My wifi name is Torvi.",
        "My last name is Torvi.",
        "Our company is called Torvi.",
        "Rusk is named Torvi.",
        "We have a dog, Rusk, named after Torvi.",
    ],
)
def test_what_gives_a_speaker_no_name(text: str) -> None:
    assert [line for line in given(text) if line[0] == "user"] == []


def test_a_correction_denies_the_other_name() -> None:
    said = [one for one in read("Sorry, I'm Torvi, not Torva.", speaker="user") if one.relation == "named"]
    assert [(one.tail, one.negated, one.change) for one in said] == [("Torvi", False, True), ("Torva", True, True)]


def test_an_assistant_gives_itself_no_name() -> None:
    assert given("My name is Torvi and I apply for the position.", speaker="assistant") == []


def test_a_speaker_with_a_name_is_given_only_longer_ones() -> None:
    assert given("I'm Torvi.", speaker="Ketil") == []
    assert given("I'm Ketil.", speaker="Ketil") == []
    assert given("I'm Ketil Moor.", speaker="Ketil") == [("Ketil", "Ketil Moor", False)]
    assert given("Call me Kit.", speaker="Ketil") == [("Ketil", "Kit", False)]
