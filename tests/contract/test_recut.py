"""A store whose long texts were cut without regard to their structure is made again in the background."""

from functools import partial
from pathlib import Path

import pytest
from fakes import FakeEmbedder

from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.search.candidates import INDEXES
from mcp_memory.services.background import indexing
from mcp_memory.services.background.indexing import recut
from mcp_memory.services.ingest import Cutter, deriver, silent
from mcp_memory.settings import Settings
from mcp_memory.storage.store import LanceStore
from mcp_memory.view.view import View

pytestmark = pytest.mark.anyio
DIMENSION = 16
STEPS = "".join(f"step({number}, 'water the beds of the garden')\n" for number in range(12))
MARKDOWN = "".join(f"## Part {n}\n\nThe garden has beds.\n\n```python\n{STEPS}```\n\n" for n in range(4))
PLAIN = "The garden has a bed of roses that wants water. " * 60


def opened(folder: Path) -> Memory:
    store = LanceStore(
        str(folder), embedder=FakeEmbedder.name, dimension=DIMENSION, make_view=lambda: View(INDEXES)
    )  # fmt: skip
    return Memory(Settings(), store, FakeEmbedder(DIMENSION), None)


async def segments(memory: Memory) -> list[tuple[int, int]]:
    async with memory.store.reading() as view:
        return [(one.start, one.end) for one in view.space("default").segments]


async def run(memory: Memory, tokens: int = 200) -> bool:
    store = memory.store
    assert isinstance(store, LanceStore)
    anew = partial(store.rebuild, deriver(memory.reading, progress=silent))
    return await recut(store, Cutter(tokens, DIMENSION), anew)


async def write(memory: Memory, *texts: str) -> None:
    items = tuple(NewItem(text, f"m{number}", "Ann") for number, text in enumerate(texts))
    await memory.write(WriteRequest("default", "talk", "message", items))


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Cut texts without their structure, as older programs did."""

    def without(text: str) -> object:
        from mcp_memory.language.segments import Outline

        return Outline()

    for module in ("language.segments", "services.ingest"):
        monkeypatch.setattr(f"mcp_memory.{module}.outline", without)
    return monkeypatch


async def test_a_store_that_was_cut_without_structure_is_cut_again_once(older, tmp_path):
    memory = opened(tmp_path / "store")
    await write(memory, MARKDOWN, PLAIN)
    before = await segments(memory)
    older.undo()
    assert await run(memory)
    after = await segments(memory)
    assert after != before
    assert not await run(memory)
    assert await segments(opened(tmp_path / "store")) == after


async def test_a_store_that_is_cut_so_already_is_left_alone(tmp_path):
    memory = opened(tmp_path / "store")
    await write(memory, MARKDOWN, PLAIN)
    assert not await run(memory)


async def test_a_store_of_another_segment_length_or_of_many_sentences_is_left_alone(older, tmp_path):
    memory = opened(tmp_path / "store")
    await write(memory, MARKDOWN, PLAIN)
    older.undo()
    assert not await run(memory, tokens=90)
    older.setattr(indexing, "MOST", 3)
    assert not await run(memory)
