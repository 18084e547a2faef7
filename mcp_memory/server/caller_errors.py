"""What a caller is told when the store fails: whoever may read some spaces only does not learn where it lies.

The texts of errors name files, settings and commands for whoever runs the server. They stand in its log then.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from mcp_memory.domain.access import CALLER
from mcp_memory.errors import InvalidInput, McpMemoryError, StoreBusy

BUSY = "The memory is busy with something else just now. Try again."
UNABLE = "The memory cannot do this now. Whoever runs the server finds the reason in its log."
DAMAGED = "Something in the memory is damaged or missing. Whoever runs the server finds out by `mcp-memory doctor`."

log = logging.getLogger(__name__)


def error_text(error: McpMemoryError) -> str:
    """Return an error in words for the caller."""
    if CALLER.get().sees_all or isinstance(error, InvalidInput):
        return str(error)
    log.warning("%s", error)
    return BUSY if isinstance(error, StoreBusy) else UNABLE


def problem_texts(problems: Sequence[str]) -> Sequence[str]:
    """Return problems of the store in words for the caller."""
    return problems if CALLER.get().sees_all or not problems else (DAMAGED,)
