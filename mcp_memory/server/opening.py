"""The memory behind the server, opened when it is first needed, and not before the client has its list of tools.

Opening imports LanceDB and the model's runtime, which takes seconds, and clients give up on a server that is slow to
greet. So the first replies come from names and schemas alone; then the memory is opened in the background
(``server.warm_up = "first_reply"``) or by the first call that needs it (``"first_call"``: less memory while idle).
Calls that come meanwhile wait for the same opening. Where it fails they fail too, in words; the next call tries again.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

import anyio
from anyio.abc import TaskGroup
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from mcp_memory.errors import McpMemoryError

if TYPE_CHECKING:
    from mcp_memory.memory import Memory

Opener = Callable[[], Awaitable["Memory"]]

log = logging.getLogger(__name__)

UNLISTED_S = 1.0
"""A client that has not asked for the tools so long after its first request may not ask at all."""
REPLY_S = 0.05
"""So long the reply to ``tools/list`` has to leave before imports compete with it for the interpreter."""


class _Attempt:
    """One try at opening, awaited by every call that came meanwhile; it failed unless it says otherwise."""

    def __init__(self) -> None:
        self.done = anyio.Event()
        self.failure: McpMemoryError | None = McpMemoryError("The server is stopping. Call again when it runs.")


class Opening:
    """Holds the memory once it is open.

    Args:
        opener: opens it.
        tasks: outlives the requests, so that a cancelled call does not undo an opening that others wait for; does what
            the memory does in the background, too.
    """

    def __init__(self, opener: Opener, tasks: TaskGroup) -> None:
        self._opener = opener
        self._tasks = tasks
        self._memory: Memory | None = None
        self._attempt: _Attempt | None = None
        self._greeted = anyio.Event()
        self._listed = anyio.Event()

    async def memory(self) -> Memory:
        """Return the memory, opening it if need be.

        Raises:
            McpMemoryError: it cannot be opened now; the words say what to do.
        """
        while self._memory is None:
            if self._attempt is None:
                self._attempt = _Attempt()
                self._tasks.start_soon(self._open, self._attempt)
            attempt = self._attempt
            await attempt.done.wait()
            if attempt.failure is not None:
                raise attempt.failure
        return self._memory

    async def warm_up(self) -> None:
        """Open the memory in the background, once the client has what it asks for first."""
        await self._greeted.wait()
        with anyio.move_on_after(UNLISTED_S):
            await self._listed.wait()
        await anyio.sleep(REPLY_S)
        try:
            await self.memory()
        except McpMemoryError as error:
            log.warning("%s", error)

    async def observe(self, ctx: ServerRequestContext[Opening], call_next: CallNext) -> HandlerResult:
        """Notice, as the server's middleware, what the client has asked for; `warm_up` waits for it."""
        result = await call_next(ctx)
        self._greeted.set()
        if ctx.method == "tools/list":
            self._listed.set()
        return result

    async def aclose(self) -> None:
        """Let the memory's background work drain, and free it."""
        if self._memory is not None:
            await self._memory.aclose()

    async def _open(self, attempt: _Attempt) -> None:
        try:
            self._memory = await self._opener()
            self._tasks.start_soon(self._memory.work)
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
            self._attempt = None
            attempt.done.set()
