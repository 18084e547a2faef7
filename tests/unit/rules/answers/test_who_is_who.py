"""Who is who, through the services: what is told of a name answers questions about the speaker, and the reverse."""

from __future__ import annotations

import pytest
from small_memory import ask, said

from mcp_memory.domain.requests import NewFact

pytestmark = pytest.mark.anyio


async def answered(lines: tuple[str, ...], question: str, facts: tuple[NewFact, ...] = ()) -> str | None:
    return (await ask(said(*lines), question, read=True, facts=facts)).text


@pytest.mark.parametrize("introduced", ["I'm Torvi.", "My name is Torvi.", "Call me Torvi.", "Torvi here!"])
@pytest.mark.parametrize("question", ["Where does Torvi live?", "Where do I live?"])
async def test_facts_of_the_speaker_and_of_the_name_are_one_persons(introduced: str, question: str) -> None:
    assert await answered((f"user: {introduced}", "user: I live in Braksund."), question) == "Braksund"
    assert await answered((f"user: {introduced}", "Ketil: Torvi lives in Braksund."), question) == "Braksund"


async def test_a_caller_joins_a_speaker_with_a_name() -> None:
    also = (NewFact("user", "also_known_as", "Torvi"),)
    assert await answered(("user: I live in Braksund.",), "Where does Torvi live?", also) == "Braksund"


async def test_what_is_my_name() -> None:
    assert await answered(("user: Hello, I'm Torvi and I bake bread.",), "What is my name?") == "Torvi"
    assert await answered(("user: Our wifi name is Lynd14.",), "What is my name?") is None


async def test_a_corrected_name_is_the_name() -> None:
    lines = ("user: I'm Torva.", "user: I live in Braksund.", "@ 2023-06-01", "user: Actually I'm Torvi, not Torva.")
    assert await answered(lines, "What is my name?") == "Torvi"
    assert await answered(lines, "Where does Torvi live?") == "Braksund"


async def test_a_strangers_facts_are_not_the_speakers() -> None:
    friend = "user: My friend Torvi lives in Nesby."
    assert await answered(("user: I'm Torvi.", "user: I live in Braksund.", friend), "Where do I live?") == "Braksund"
    assert (
        await answered(("user: I'm Torvi.", "user: I live in Braksund.", friend), "Where does Torvi live?") == "Nesby"
    )


@pytest.mark.parametrize(
    "told",
    [
        "My sister Runa bakes bread.",
        "My sister, Runa, bakes bread.",
        "My sister is called Runa.",
        "My sister's name is Runa.",
        "Runa is my sister.",
    ],
)
async def test_a_described_relative_is_one_person_with_the_name(told: str) -> None:
    lines = (f"user: {told}", "user: My sister lives in Nesby.")
    assert await answered(lines, "Where does Runa live?") == "Nesby"


@pytest.mark.parametrize("question", ["Where do I live?", "Where do we live?", "Where is my home?"])
async def test_the_first_person_means_nobody_because_they_speak_alone(question: str) -> None:
    lines = ("Torvi: I live in Braksund.", "assistant: You live by the sea.", "Torvi: My home is Braksund.")
    assert await answered(lines, question) is None


@pytest.mark.parametrize("question", ["Where do I live?", "Tell me where my home is."])
async def test_of_two_people_who_speak_the_first_person_means_neither(question: str) -> None:
    found = await ask(said("Torvi: I live in Braksund.", "Ketil: I live in Nesby."), question, read=True)
    assert found.text is None
    assert any("Torvi, Ketil" in warning for warning in found.recall.warnings)


async def test_of_two_people_who_speak_the_user_is_the_first_person() -> None:
    assert await answered(("Torvi: I live in Braksund.", "user: I live in Nesby."), "Where do I live?") == "Nesby"


async def test_a_request_to_be_told_is_no_question_about_the_first_person() -> None:
    lines = ("Torvi: The ferry to Nesby leaves at noon.", "Ketil: I live in Nesby.")
    found = await ask(said(*lines), "Can you tell me when the ferry leaves?", read=True)
    assert not any("first person" in warning for warning in found.recall.warnings)


@pytest.mark.parametrize(("name", "place"), [("Dalva", "Braksund"), ("Dalva Moor", "Nesby")])
async def test_a_speaker_with_exactly_the_name_is_meant(name: str, place: str) -> None:
    lines = ("Dalva: I live in Braksund.", "Dalva Moor: I live in Nesby.")
    found = await ask(said(*lines), f"Where does {name} live?", read=True)
    assert (found.text, [root.name for root in found.recall.roots]) == (place, [name])
