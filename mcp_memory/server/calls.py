"""What a call has beside its arguments and its result: its client, its progress, and why it failed.

**Progress** is what the tool reports, and a sign of life while it reports nothing. A client that asks for progress
hears something about once a second, whatever the call: the memory may have to be opened first, and a recall has no
steps to count. Each report is further than the one before, as the protocol requires.

**Failures** of the store have texts that name files, settings and commands for whoever runs the server. A caller who
may read some spaces only does not learn them; they stand in the server's log then.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, TypeVar

import anyio

from mcp_memory.domain.access import CALLER
from mcp_memory.errors import InvalidInput, McpMemoryError, StoreBusy

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

_log = logging.getLogger(__name__)


CLIENT: ContextVar[str] = ContextVar("CLIENT", default="")
"""The name and version of the client whose call is running; empty if it has not said them."""
APPS: ContextVar[bool] = ContextVar("APPS", default=False)
"""Whether the client whose call is running shows MCP Apps."""
BEAT_S = 1.0
ResultT = TypeVar("ResultT")


class CallProgress:
    """The progress of one call."""

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


BUSY = "The memory is busy with something else just now. Try again."
UNABLE = "The memory cannot do this now. Whoever runs the server finds the reason in its log."
DAMAGED = "Something in the memory is damaged or missing. Whoever runs the server finds out by `mcp-memory doctor`."


def error_text(error: McpMemoryError) -> str:
    """Return an error in words for the caller."""
    if CALLER.get().sees_all or isinstance(error, InvalidInput):
        return str(error)
    _log.warning("%s", error)
    return BUSY if isinstance(error, StoreBusy) else UNABLE


def problem_texts(problems: Sequence[str]) -> Sequence[str]:
    """Return problems of the store in words for the caller."""
    return problems if CALLER.get().sees_all or not problems else (DAMAGED,)
