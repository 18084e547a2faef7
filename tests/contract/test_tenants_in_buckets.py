"""Tenants with stores on object storage: opened when they call, and closed when they do not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import anyio
import pytest
from object_store import ObjectStore

from mcp_memory.domain.access import CALLER, OWNER
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.server.opening import Opening
from mcp_memory.server.process import opener
from mcp_memory.settings import HttpSettings, Settings

pytestmark = pytest.mark.anyio
EVERY = "s3://bucket/stores/{tenant}"


@pytest.fixture
def objects() -> Iterator[ObjectStore]:
    """An object store that honours conditional writes."""
    with ObjectStore().serving() as served:
        yield served


async def test_memories_of_tenants_are_opened_by_their_calls_and_closed_when_there_are_too_many(
    objects: ObjectStore,
) -> None:
    place = replace(Settings().storage, uri=EVERY, options=objects.options)
    async with anyio.create_task_group() as tasks:
        opening = Opening(opener(replace(Settings(), storage=place)), tasks, HttpSettings(tenants=1))
        for tenant in ("acme", "bolt", "acme"):
            CALLER.set(replace(OWNER, tenant=tenant))
            async with opening.use() as memory:
                text = f"The pump of {tenant} leaks."
                await memory.write(WriteRequest("default", "talk", "message", (NewItem(text),)))
                async with memory.store.reading() as view:
                    found = [turn.text for turn in view.space("default").turns.values()]
                assert found == [text]
            await opening.close_some()
            assert len(opening) == 1
        await opening.aclose()
        tasks.cancel_scope.cancel()
