"""Open the memory when it is first needed: the one that there is, or that of the tenant who calls.

Opening the memory imports LanceDB and the model's runtime, which takes seconds, and clients give up on a server that is
slow to connect. So the first replies come from names and schemas alone. Then the memory is opened in the background
(``server.warm_up = "first_reply"``), or by the first call that needs it (``"first_call"``: less memory while idle).
"""

from __future__ import annotations

import logging
import math
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread
from anyio.abc import TaskGroup

from mcp_memory.domain.access import CALL_BEGAN, CALLER, OWNER
from mcp_memory.errors import McpMemoryError
from mcp_memory.heap import give_back
from mcp_memory.settings import HttpSettings

if TYPE_CHECKING:
    from mcp_memory.memory import Memory

log = logging.getLogger(__name__)

DRAIN_S = 2.0
"""Longest time that background work may go on after the client has left."""
UNLISTED_S = 1.0
"""Time after the first request at which the memory is opened even if the client has not asked for the tools."""
REPLY_S = 0.05
"""Time for the reply to ``tools/list`` to leave before imports compete with it for the interpreter."""
LOOK_S = 5.0
"""Seconds between two looks for memories of tenants that nobody uses."""

Opener = Callable[[], Awaitable["Memory"]]
"""Opens the memory of the caller's tenant; there is one tenant without a name where there is one store."""


def resident_mb() -> float:
    """Return the physical memory of this process in megabytes."""
    import psutil

    return float(psutil.Process().memory_info().rss) / 1e6


class _Attempt:
    """One attempt to open a memory; every call that came meanwhile waits for it."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.failure: McpMemoryError | None = McpMemoryError("The server is stopping. Call again when it runs.")


class _OpenMemory:
    """The memory of one tenant, how many calls use it, and its background work."""

    def __init__(self) -> None:
        self.memory: Memory | None = None
        self.attempt: _Attempt | None = None
        self.users = 0
        self.used = time.monotonic()
        self.work: anyio.CancelScope | None = None


class Opening:
    """Opens memories when they are first needed, and keeps them.

    Calls that come while one opens wait for the same attempt. If the attempt fails they fail with its message, and the
    next call tries again. Of many tenants those used last are kept (``http.tenants``, ``.tenant_mb``,
    ``.tenant_idle_s``).

    Args:
        opener: opens a memory.
        tasks: runs the attempts and the memories' background work. It outlives the requests, so that a cancelled call
            does not cancel an attempt that others wait for.
        settings: how many tenants, and for how long.
    """

    def __init__(self, opener: Opener, tasks: TaskGroup, settings: HttpSettings) -> None:
        self._opener = opener
        self._tasks = tasks
        self._settings = settings
        self._open: OrderedDict[str, _OpenMemory] = OrderedDict()  # by tenant, that used last at the end
        self._greeted = anyio.Event()
        self._listed = anyio.Event()

    def __len__(self) -> int:
        return sum(one.memory is not None for one in self._open.values())

    @asynccontextmanager
    async def use(self) -> AsyncIterator[Memory]:
        """Yield the memory of the caller's tenant, opening it if necessary; it stays open until the block is left.

        Raises:
            McpMemoryError: it cannot be opened now; the message says what to do.
        """
        CALL_BEGAN.set(time.monotonic())
        tenant = CALLER.get().tenant
        one = self._open.setdefault(tenant, _OpenMemory())
        self._open.move_to_end(tenant)
        one.users += 1
        try:
            yield await self._memory(tenant, one)
        finally:
            one.users -= 1
            one.used = time.monotonic()

    async def _memory(self, tenant: str, one: _OpenMemory) -> Memory:
        while one.memory is None:
            if one.attempt is None:
                one.attempt = _Attempt()
                self._tasks.start_soon(self._attempt, tenant, one, one.attempt)
            attempt = one.attempt
            await attempt.done.wait()
            if attempt.failure is not None:
                raise attempt.failure
        return one.memory

    async def warm_up(self) -> None:
        """Open the memory in the background once the client has received what it asks for first."""
        await self._greeted.wait()
        with anyio.move_on_after(UNLISTED_S):
            await self._listed.wait()
        await anyio.sleep(REPLY_S)
        try:
            async with self.use():
                pass
        except McpMemoryError as error:
            log.warning("%s", error)

    def observe(self, method: str) -> None:
        """Note that a request was answered; `warm_up` waits for the first ones."""
        self._greeted.set()
        if method == "tools/list":
            self._listed.set()

    async def close_idle(self) -> None:
        """Close memories of tenants that are too many or too large, or that nobody uses; runs until cancelled."""
        while True:
            await anyio.sleep(LOOK_S)
            await self.close_some()

    async def close_some(self) -> None:
        """Do so once; a memory that a call uses stays open."""
        for tenant, one in list(self._open.items()):  # that used longest ago first
            spare = not one.users and one.memory is not None and tenant != "" and self._open.get(tenant) is one
            if spare and self._is_due(one):
                del self._open[tenant]
                await self._close(one)
                await to_thread.run_sync(give_back)

    def _is_due(self, one: _OpenMemory) -> bool:
        limits = self._settings
        idle = time.monotonic() - one.used > limits.tenant_idle_s
        return idle or len(self) > limits.tenants or 0 < limits.tenant_mb < resident_mb()

    async def aclose(self) -> None:
        """Let background work drain, and close every memory."""
        async with anyio.create_task_group() as closing:
            for one in self._open.values():
                closing.start_soon(self._close, one)

    async def _close(self, one: _OpenMemory) -> None:
        if one.memory is not None:
            await one.memory.aclose()
        if one.work is not None:
            one.work.cancel()

    async def _attempt(self, tenant: str, one: _OpenMemory, attempt: _Attempt) -> None:
        CALLER.set(replace(OWNER, tenant=tenant))  # background work is not that of the caller who came first
        CALL_BEGAN.set(math.inf)
        try:
            one.memory = await self._opener()
            self._tasks.start_soon(self._work, one, one.memory)
            if tenant:
                self._tasks.start_soon(self.close_some)  # it may be one too many
            attempt.failure = None
        except McpMemoryError as error:
            attempt.failure = error
        except Exception as error:
            log.exception("The memory could not be opened.")
            attempt.failure = McpMemoryError(
                f"The memory could not be opened ({type(error).__name__}: {error}). Check storage.uri "
                "(MCP_MEMORY_STORAGE_URI) or run `mcp-memory doctor`; the next call tries again."
            )
        finally:
            one.attempt = None
            attempt.done.set()

    async def _work(self, one: _OpenMemory, memory: Memory) -> None:
        with anyio.CancelScope() as one.work:
            await memory.work()
