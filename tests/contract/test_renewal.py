"""What an older extractor has read is made again in the background, while everything goes on."""

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
from mcp_memory.search.ranking import INDEXES
from mcp_memory.services.indexing import Reading, deriver, silent
from mcp_memory.settings import Settings
from mcp_memory.storage import rebuild
from mcp_memory.storage.store import LanceStore
from mcp_memory.view.space import View

pytestmark = pytest.mark.usefixtures("one_key")
NEWER = 9
"""The version of the extractor that reads again."""


def opened(folder):
    """Return a memory whose extractor is newer than that of any kept store."""
    embedder, extractor = FakeEmbedder(DIMENSION), RuleExtractor()
    reading = Reading(embedder, extractor)
    store = LanceStore(
        str(folder), embedder=FakeEmbedder.name, dimension=DIMENSION, clock=lambda: NOW, reader=NEWER,
        make_view=lambda: View((*INDEXES, CueGraph, Topics), dimension=DIMENSION), embed=embedder.embed,
        derive=lambda: deriver(reading, progress=silent),
    )  # fmt: skip
    return Memory(Settings(), store, embedder, extractor, lambda: NOW), store


async def rows(store):
    async with store.reading() as view:
        return held(view)


async def write(memory, *texts):
    for text in texts:
        await memory.write(WriteRequest("default", "later", "message", (NewItem(text, text[:9], "Cleo"),)))


async def test_what_an_older_extractor_has_read_is_read_again_with_what_is_written_meanwhile(tmp_path, monkeypatch):
    monkeypatch.setattr(rebuild, "CHUNK_TEXTS", 1)
    memory, store = opened(unpacked(12, tmp_path))
    before = await rows(store)
    assert store.outdated
    assert await store.renew()
    await write(memory, "I live in Verona.", "My sister Nele lives in Como.")
    assert (await memory.answer(Query("Where does Cleo live?", "default", 3))).text == "Verona"
    while await store.renew():
        pass
    _, other = opened(tmp_path / "store")
    for one in (store, other):
        after = await rows(one)
        assert not one.outdated
        made = after["assertions"]
        assert {"Verona", "Como"} <= {row["tail"] for row in made if row["relation"] == "lives_in"}
        assert len(made) == len({row["id"] for row in made})
        adopted = [row for row in made if row["relation"] == "adopted" and row["extractor"] == "embedded"]
        assert {row["kind"] for row in adopted} <= {"event"}
        logged = [[row for row in all_["assertions"] if row["extractor"] != "embedded"] for all_ in (before, after)]
        assert logged[0] == logged[1]
    assert await row_problems(store) == []


async def test_only_one_process_makes_tables_again_and_of_a_new_store_none(tmp_path, monkeypatch):
    monkeypatch.setattr(rebuild, "CHUNK_TEXTS", 1)
    folder = unpacked(12, tmp_path)
    (_, first), (_, second) = opened(folder), opened(folder)
    assert (await rows(first)) == (await rows(second))
    assert await first.renew()
    assert not await second.renew()
    while await first.renew():
        pass
    assert not await second.renew()
    await rows(second)
    assert not second.outdated
    memory, new = opened(tmp_path / "new")
    await write(memory, "I live in Verona.")
    assert not new.outdated
    assert not await new.renew()
