"""Values of a relation of one value that do not exclude each other are no conflict."""

from __future__ import annotations

import pytest
from unit.rules.answers.small_memory import ask

from mcp_memory.domain.requests import NewFact, NewItem

pytestmark = pytest.mark.anyio


async def conflicts(texts, *tails, kind="message", relation="born_in", facts=()):
    items = [NewItem(text, ref=f"m{place}", speaker="Bob") for place, text in enumerate(texts)]
    told = [NewFact("Ann", relation, tail, source=f"m{min(n, len(texts) - 1)}") for n, tail in enumerate(tails)]
    question = "Where was Ann born?" if relation == "born_in" else "Which team does Ann play for?"
    answered = await ask(items, question, kind, facts=(*told, *facts))
    return answered.recall.conflicts


async def test_two_places_that_lie_apart_are_a_conflict():
    assert await conflicts(
        ["Ann was born in Springfield.", "Ann was born in Lumenbridge."], "Springfield", "Lumenbridge"
    )


async def test_a_place_and_what_one_sentence_says_it_is_in_are_none():
    assert not await conflicts(["Ann was born in Springfield, Avalonia."], "Springfield", "Avalonia")


async def test_a_place_and_what_the_facts_say_it_is_in_are_none():
    texts = ["Ann was born in Springfield.", "Ann was born in Avalonia."]
    within = NewFact("Springfield", "located_in", "Avalonia")
    assert not await conflicts(texts, "Springfield", "Avalonia", facts=[within])


async def test_clubs_that_one_document_tells_of_are_none():
    text = "Ann plays for the Rovers. Before that she was with the Town."
    assert not await conflicts([text], "Rovers", "Town", kind="document", relation="plays_for")
