"""Memories of several tenants, opened when they are called and closed when they are not."""

from dataclasses import replace

import anyio
import pytest
from integration.word_memory import WordMemory

from mcp_memory.domain.access import CALLER, OWNER
from mcp_memory.server.opening import Opening
from mcp_memory.settings import HttpSettings

pytestmark = pytest.mark.anyio


class Opened:
    """The memories that were opened, by tenant, in their order."""

    def __init__(self):
        self.memories = []

    async def __call__(self):
        assert CALLER.get() == replace(OWNER, tenant=CALLER.get().tenant)  # whoever called first
        self.memories.append((CALLER.get().tenant, WordMemory()))
        return self.memories[-1][1]


async def used(opening, tenant):
    CALLER.set(replace(OWNER, caller="somebody", tenant=tenant))
    async with opening.use() as memory:
        return memory


async def test_each_tenant_has_a_memory_and_those_used_last_stay_open():
    opened = Opened()
    async with anyio.create_task_group() as tasks:
        opening = Opening(opened, tasks, HttpSettings(tenants=2))
        first = await used(opening, "a")
        assert await used(opening, "a") is first
        assert await used(opening, "b") is not first
        await used(opening, "a")
        await used(opening, "c")
        await opening.close_some()
        assert [(tenant, memory.closed) for tenant, memory in opened.memories] == [
            ("a", False),
            ("b", True),
            ("c", False),
        ]
        assert await used(opening, "b") is not opened.memories[1][1]
        tasks.cancel_scope.cancel()


async def test_an_idle_memory_is_closed_and_one_in_use_is_not():
    opened = Opened()
    async with anyio.create_task_group() as tasks:
        opening = Opening(opened, tasks, HttpSettings(tenant_idle_s=1e-9))
        await used(opening, "a")
        CALLER.set(replace(OWNER, tenant="b"))
        async with opening.use() as memory:
            await opening.close_some()
            assert opened.memories[0][1].closed
            assert not memory.closed
        await opening.aclose()
        assert memory.closed
        tasks.cancel_scope.cancel()
