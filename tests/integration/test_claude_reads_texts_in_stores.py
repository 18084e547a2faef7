"""Claude reads the texts of real stores: two on one folder, a restart, a rebuild; no text is read twice."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from rows_checked import row_problems
from standin.messages_api import Asked, standing_in
from standin.replies import Reply, Silence
from unit.reasoning.anthropic.enriched_memory import KEYS, PORTO, enriching, knowing, numbered, read_all, read_by_claude
from unit.reasoning.anthropic.judged_memory import wired
from unit.rules.answers.small_memory import said

from mcp_memory.domain.requests import WriteRequest
from mcp_memory.domain.status import TextsRead
from mcp_memory.memory import Memory
from mcp_memory.services.ingest import deriver, silent
from mcp_memory.storage.settings import StorageSettings
from mcp_memory.storage.store import LanceStore
from mcp_memory.wiring import open_store

pytestmark = pytest.mark.anyio


def opened(url: str, folder: Path) -> Memory:
    """Return a memory over the real store in a folder, as another process would open it."""
    memory = wired(url, enrich="all")
    config = replace(memory.settings, storage=StorageSettings(uri=str(folder / "store")))
    return replace(memory, settings=config, store=open_store(config, memory.embedder, memory.extractor))


async def texts(memory: Memory) -> TextsRead | None:
    judging = (await memory.status()).judging
    assert judging is not None
    return judging.texts


async def test_two_stores_read_each_text_once_also_after_a_restart_and_a_rebuild(tmp_path: Path) -> None:
    lines = [f"Ann: Number {number} {'word ' * 60}." for number in range(30)]
    read, both = knowing({"keys": PORTO}), anyio.Event()

    def script(asked: Asked) -> Reply | Silence:
        if len(api.requests) == 2:
            both.set()
        return read(asked)

    async with standing_in(script) as api:
        one, two = opened(api.url, tmp_path), opened(api.url, tmp_path)
        await one.write(WriteRequest("default", "talk", "message", tuple(said(*lines, KEYS))))
        api.gate = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read_all, one)
            tasks.start_soon(read_all, two)
            with anyio.fail_after(300):
                await both.wait()
            api.gate.set()
        sent = Counter(line for asked in api.requests for line in numbered(asked).values())
        assert (len(sent), set(sent.values())) == (31, {1})
        assert await texts(one) == await texts(two) == TextsRead(0, 31, 0)
        kept = await read_by_claude(two)
        assert [fact.tail for fact in kept] == ["Porto"]
        for memory in (one, two):
            await memory.aclose()

        store = opened(api.url, tmp_path).store
        assert isinstance(store, LanceStore)
        await store.rebuild(deriver(one.reading, progress=silent))
        assert await row_problems(store) == []
        await store.aclose()
        before, three = len(api.requests), opened(api.url, tmp_path)
        await read_all(three)
        assert (len(api.requests), await texts(three)) == (before, TextsRead(0, 31, 0))
        assert await read_by_claude(three) == kept
        async with three.store.reading() as view:
            facts = view.space("default").facts
            assert [version.text for version in facts.versions(facts.key("Bob"), "lives_in")] == ["Bob lives in Porto"]
        assert not await enriching(three).step()
        await three.aclose()
