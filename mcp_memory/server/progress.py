"""Progress of a call: what the tool reports, and a sign of life while it reports nothing.

A client that asks for progress hears something about once a second, whatever the call: the memory may have to be opened
first, and a recall has no steps to count. Each report is further than the one before, as the protocol requires.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import anyio
from mcp.server import ServerRequestContext

BEAT_S = 1.0
ResultT = TypeVar("ResultT")


class CallProgress:
    """The progress of one call.

    Args:
        context: of the call.
    """

    def __init__(self, context: ServerRequestContext[Any]) -> None:
        self._session = context.session
        self._furthest = -1.0
        self._beats = 0

    async def report(self, done: float, total: float, what: str) -> None:
        """Report what the tool has done; after signs of life, as one step more."""
        before = 1 if self._beats else 0
        if done > self._furthest:
            self._furthest = done
            await self._session.report_progress(done + before, total + before, what)

    async def during(self, work: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Do a call's work, with signs of life until it reports something itself."""
        failure: Exception | None = None
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._beat)
            try:
                result = await work()
            except Exception as error:
                failure = error
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure
        return result

    async def _beat(self) -> None:
        while self._furthest < 0:
            await anyio.sleep(BEAT_S)
            if self._furthest < 0:
                self._beats += 1
                await self._session.report_progress(1 - 0.5**self._beats, None, "at work")
