"""A newer extractor reads the texts of a store again, while everything goes on; nothing else in it changes."""

from pathlib import Path

import pytest
from fakes import FakeEmbedder
from rows_checked import row_problems
from written_stores import DIMENSION, NOW, held, unpacked

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.reconstruct.topics import Topics
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.search.candidates import INDEXES
from mcp_memory.services.ingest import Reading, fact_reader
from mcp_memory.settings import Settings
from mcp_memory.storage import rebuild
from mcp_memory.storage.store import LanceStore
from mcp_memory.view.view import View

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("one_key")]
NEWER = 9
"""The version of the extractor that reads again."""


def opened(folder: Path, reader: int = NEWER) -> Memory:
    """Return a memory whose extractor has a version."""
    embedder, extractor = FakeEmbedder(DIMENSION), RuleExtractor()
    store = LanceStore(
        str(folder), embedder=FakeEmbedder.name, dimension=DIMENSION, clock=lambda: NOW, reader=reader,
        make_view=lambda: View((*INDEXES, CueGraph, Topics)),
        read_again=lambda: fact_reader(Reading(embedder, extractor, 200)),
    )  # fmt: skip
    return Memory(Settings(), store, embedder, extractor, lambda: NOW)


def store_of(memory: Memory) -> LanceStore:
    assert isinstance(memory.store, LanceStore)
    return memory.store


async def rows(memory: Memory) -> dict[str, list[dict[str, object]]]:
    async with memory.store.reading() as view:
        return held(view)


async def write(memory: Memory, *texts: str) -> None:
    for text in texts:
        await memory.write(WriteRequest("default", "later", "message", (NewItem(text, text[:9], "Cleo"),)))


async def to_the_end(memory: Memory) -> int:
    steps = 0
    while await store_of(memory).reread():
        steps += 1
    return steps


async def test_only_the_assertions_of_the_rules_are_read_again(tmp_path: Path) -> None:
    memory = opened(unpacked(12, tmp_path))
    before = await rows(memory)
    assert store_of(memory).outdated
    await to_the_end(memory)
    after = await rows(memory)
    assert not store_of(memory).outdated
    assert {kind: made for kind, made in before.items() if kind != "assertions"} == {
        kind: made for kind, made in after.items() if kind != "assertions"
    }
    logged = [[one for one in made["assertions"] if one["extractor"] != "embedded"] for made in (before, after)]
    assert logged[0] == logged[1]
    adopted = [one for one in after["assertions"] if one["relation"] == "adopted" and one["extractor"] == "embedded"]
    assert {one["kind"] for one in adopted} <= {"event"}
    assert await row_problems(store_of(memory)) == []


async def test_it_reads_what_a_rebuild_would_read(tmp_path: Path) -> None:
    from mcp_memory.services.ingest import deriver, silent

    memory = opened(unpacked(12, tmp_path))
    await to_the_end(memory)
    again = await rows(memory)
    await store_of(memory).rebuild(deriver(memory.reading, progress=silent))
    assert (await rows(opened(tmp_path / "store")))["assertions"] == again["assertions"]


async def test_what_is_written_meanwhile_is_read_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuild, "READ", 1)
    memory = opened(unpacked(12, tmp_path))
    assert await store_of(memory).reread()
    await write(memory, "I live in Verona.", "My sister Nele lives in Como.")
    assert (await memory.answer(Query("Where does Cleo live?", "default", 3))).text == "Verona"
    progress = (await store_of(memory).about()).rereading
    assert progress is not None
    assert 0 < progress.done < progress.total
    await to_the_end(memory)
    for one in (memory, opened(tmp_path / "store")):
        made = (await rows(one))["assertions"]
        assert {"Verona", "Como"} <= {row["tail"] for row in made if row["relation"] == "lives_in"}
        assert len(made) == len({row["id"] for row in made})
    assert (await store_of(memory).about()).rereading is None


async def test_only_one_process_reads_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuild, "READ", 1)
    folder = unpacked(12, tmp_path)
    first, second = opened(folder), opened(folder)
    assert await store_of(first).reread()
    assert not await store_of(second).reread()
    await to_the_end(first)
    assert not await store_of(second).reread()
    assert not store_of(second).outdated or (await rows(second))["assertions"]


async def test_a_store_that_was_read_by_this_version_is_left_alone(tmp_path: Path) -> None:
    memory = opened(tmp_path / "new")
    await write(memory, "I live in Verona.")
    assert not store_of(memory).outdated
    assert not await store_of(memory).reread()
    assert (await store_of(memory).about()).tx == 1
