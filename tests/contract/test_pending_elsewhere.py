"""Texts that wait to be indexed, in backups, under masking, and while others work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest
from rows_checked import row_problems
from store_contents import decoded, holding
from unit.services.exported_store import MAY, exported, open_at, store_of

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import ForgetRequest, NewFact, NewItem, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.services.indexing import deriver, index_some, silent

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("one_key")]


async def say(memory: Memory, ref: str, text: str, **more: Any) -> None:
    item = NewItem(text, ref, "Ann", said_at=MAY)
    await memory.write(WriteRequest("default", "s", "message", (item,), wait=False, **more))


async def texts(memory: Memory) -> dict[str, str]:
    async with memory.store.reading() as view:
        return {turn.ref: turn.text for turn in view.space("default").turns.values()}


async def finish(memory: Memory) -> None:
    while await index_some(memory.store, memory.reading) == "more":
        pass
    assert await row_problems(store_of(memory)) == []


@pytest.fixture
async def memory(tmp_path: Path) -> Memory:
    """Return a memory with one text that is indexed, and two that wait."""
    memory = open_at(tmp_path / "store")
    await say(memory, "m0", "The ferry leaves at nine.")
    await say(memory, "m1", "My brother Ivo keeps a lurcher.")
    await say(
        memory, "m2", "The shed is painted vermilion.", facts=(NewFact("shed", "has_color", "vermilion", source="m2"),)
    )
    return memory


async def test_secrets_of_a_pending_text_are_masked_before_and_after_it_is_indexed(tmp_path: Path) -> None:
    secret = "AKIA" + "IOSFODNN7" + "ABCDEFG"
    writer, reader = open_at(tmp_path / "store"), open_at(tmp_path / "store")
    await say(writer, "m0", "Hello.")
    await say(writer, "m1", f"My key is {secret}, keep it.")
    assert secret in decoded(tmp_path / "store")
    for memory in (writer, reader, open_at(tmp_path / "store")):
        assert secret not in (await texts(memory))["m1"]
        assert not any(secret in one.text for one in (await memory.reconstruct(Query("my key"))).evidence)
        assert secret.encode() not in await exported(memory)
    await finish(reader)
    assert secret not in (await texts(writer))["m1"]


async def test_a_rebuild_and_writes_at_once_lose_nothing(memory: Memory, tmp_path: Path) -> None:
    other = open_at(tmp_path / "store")

    async def write() -> None:
        for number in range(10):
            await say(other, f"n{number}", f"Note {number} about the pier.")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        await store_of(memory).rebuild(deriver(memory.reading, progress=silent))
    assert sorted(await texts(memory)) == sorted(["m0", "m1", "m2", *(f"n{number}" for number in range(10))])
    await finish(memory)
    assert await texts(other) == await texts(memory) == await texts(open_at(tmp_path / "store"))


async def test_two_forgets_and_writes_at_once_lose_nothing_and_leave_nothing(memory: Memory, tmp_path: Path) -> None:
    first, second = open_at(tmp_path / "store"), open_at(tmp_path / "store")

    async def write() -> None:
        for number in range(8):
            await say(memory, f"n{number}", f"Note {number} about the pier.")

    async def forget(who: Memory, ref: str) -> None:
        await who.forget(ForgetRequest("default", ids=(ref,), session="s", dry_run=False))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        tasks.start_soon(forget, first, "m1")
        tasks.start_soon(forget, second, "m2")
    assert sorted(await texts(memory)) == sorted(["m0", *(f"n{number}" for number in range(8))])
    assert holding(tmp_path / "store", ["lurcher", "vermilion"]) == set()
    await finish(first)
