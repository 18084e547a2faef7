"""So many calls of one caller use the memory at a time; more of them wait, so that other callers need not."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

import anyio

from mcp_memory.domain.access import CALLER, OWNER
from mcp_memory.server.opening import Opening

if TYPE_CHECKING:
    from mcp_memory.memory import Memory


class CallLimit:
    """How many calls of one caller run. The owner, who has a server without tokens alone, waits for nobody.

    Args:
        of_caller: how many calls of one caller use the memory at a time.
    """

    def __init__(self, of_caller: int) -> None:
        self._of_caller = of_caller
        self._free: WeakValueDictionary[tuple[str, str, str], anyio.Semaphore] = WeakValueDictionary()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until the caller may run one call more, and count it as long as this is entered."""
        caller = CALLER.get()
        if caller is OWNER:
            yield
            return
        async with self._free.setdefault(caller.identity, anyio.Semaphore(self._of_caller)):
            yield

    @asynccontextmanager
    async def use(self, opening: Opening) -> AsyncIterator[Memory]:
        """Wait for a `turn`, then yield the caller's memory; see `Opening.use`."""
        async with self.turn(), opening.use() as memory:
            yield memory
