"""Forget in a store with everything that a memory does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from exported_store import content, exported, fill, imported, open_at, replies, store_of, tell
from rows_checked import row_problems
from store_contents import holding

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, ForgetRequest, NewItem, PointEdits, PointInsert, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.server.tools.forget import forget_reply
from mcp_memory.services.indexing import Reading, deriver, silent

VALVES = ("Which valve leaks?", "Who mends valve 2 on Friday?", "valve 4", "What does my brother mend?")


async def evidence(memory: Memory, *questions: str, space: str = "work") -> list[list[str]]:
    found = [await memory.reconstruct(Query(question, space)) for question in questions]
    return [[item.id for item in result.evidence] for result in found]


async def test_a_message_goes_from_every_file_and_the_rest_answers_as_before(tmp_path) -> None:
    """And a rebuild of what is left gives the same memory: nothing that is derived still rests on what went."""
    memory = open_at(tmp_path / "store")
    await fill(memory)
    assert holding(tmp_path / "store", ["Braga", "harbour", "Matos"]) == {"Braga", "harbour", "Matos"}
    before = await evidence(memory, *VALVES)
    work = await content(memory, "work")
    found = await memory.forget(ForgetRequest("default", query="Braga"))
    assert found.forgotten["messages"] == 1
    await memory.forget(ForgetRequest("default", query="Braga", dry_run=False, token=found.token))
    await memory.forget(ForgetRequest("default", ids=("tank",), dry_run=False))
    assert holding(tmp_path / "store", ["Braga", "Matos", "harbour"]) == {"harbour"}
    assert await evidence(memory, *VALVES) == before
    assert await content(memory, "work") == work
    assert await row_problems(store_of(memory)) == []
    left = await content(memory)
    reading = Reading(memory.embedder, memory.extractor)
    await store_of(memory).rebuild(deriver(reading, progress=silent))
    assert await content(memory) == left
    assert await content(memory, "work") == work
    await memory.aclose()


@pytest.mark.usefixtures("one_key")
async def test_after_a_forget_a_memory_answers_like_one_that_never_had_what_went(tmp_path) -> None:
    """To the digit, though the rarity of every word is another one than before."""
    memory, other = open_at(tmp_path / "store"), open_at(tmp_path / "other")
    await tell(memory)
    for chosen in ({"query": "octopuses"}, {"ids": ("tank",)}):
        preview = await memory.forget(ForgetRequest("default", **chosen))
        await memory.forget(ForgetRequest("default", **chosen, dry_run=False, token=preview.token))
    await imported(other, await exported(memory))
    for space in ("default", "work"):
        assert await replies(memory, space) == await replies(other, space)
        assert await evidence(memory, *VALVES, space=space) == await evidence(other, *VALVES, space=space)
    await memory.aclose()
    await other.aclose()


async def test_a_preview_names_memory_points_and_questions_that_go_or_change(tmp_path: Path) -> None:
    """One point rests on a text that goes; another one only shares its goal, which may tell of that text."""
    memory = open_at(tmp_path / "store")
    said = ("Ines moved to Oslo with Rafael.", "Ines works with Rafael at Nordlys.", "Ines sings in a choir with Bo.")
    for session, text in zip("abc", said, strict=True):
        await memory.write(WriteRequest("default", session, "message", (NewItem(text),)))
    async with memory.store.reading() as view:
        first, second, third = (sentence.id for sentence in view.space("default").sentences)
    couple, choir = "My own summary: they are a couple.", "They sing every Tuesday."
    points = (PointInsert(("Ines", "Rafael"), couple, (first, second)), PointInsert(("Ines", "Bo"), choir, (third,)))
    await memory.evolve(EvolveRequest("default", goal="What is Ines doing?", points=PointEdits(insert=points)))
    await memory.evolve(EvolveRequest("default", steps=("questions",)))
    request = ForgetRequest("default", session="a")
    preview = await memory.forget(request)
    assert f"a memory point goes: {couple}" in preview.affected
    assert f"a memory point loses its goal: {choir}" in preview.affected
    assert any(line.startswith("a question goes: ") for line in preview.affected)
    done = await memory.forget(replace(request, dry_run=False, token=preview.token))
    assert "No file of the memory" in forget_reply(request, done).text
    async with memory.store.reading() as view:
        left = {one.description: one.scope for one in view.space("default").hypergraph.active()}
    assert couple not in left
    assert left[choir] == ""
    await memory.aclose()
