"""What a call has beside its arguments and its result: its client, its progress, and why it failed.

**Failures** of the store have texts that name files, settings and commands for whoever runs the server. A caller who
may read some spaces only does not learn them; they stand in the server's log then.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from mcp_memory.domain.access import CALLER
from mcp_memory.errors import InvalidInput, McpMemoryError, StoreBusy

if TYPE_CHECKING:
    from mcp.server import ServerRequestContext

    from mcp_memory.ports import Progress

_log = logging.getLogger(__name__)


APPS: ContextVar[bool] = ContextVar("APPS", default=False)
"""Whether the client whose call is running shows MCP Apps."""


def progress_of(context: ServerRequestContext[Any]) -> Progress:
    """Return what reports the progress of a call, each time further than before, as the protocol requires."""
    furthest = -1.0

    async def report(done: float, total: float, what: str) -> None:
        nonlocal furthest
        if done > furthest:
            furthest = done
            await context.session.report_progress(done, total, what)

    return report


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
