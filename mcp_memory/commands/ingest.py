"""``mcp-memory ingest``: store a corpus, with several processes that embed."""

from __future__ import annotations

import argparse
import os

from anyio import to_thread

from mcp_memory.commands.foreign import import_other, is_foreign
from mcp_memory.commands.terminal import Terminal
from mcp_memory.commands.workers import Workers
from mcp_memory.errors import InvalidInput
from mcp_memory.settings import Settings


async def ingest(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Store what a file, folder or archive holds and the store does not.

    Raises:
        InvalidInput: it cannot be stored.
        StoreError: the store cannot be read or written.
    """
    if not await to_thread.run_sync(is_foreign, options.file, options.kind):
        raise InvalidInput("FILE", f"{options.file} is an export of mcp-memory", "Use mcp-memory import.")
    with Workers(settings, options.processes or os.cpu_count() or 1) as workers:
        await import_other(settings, options, terminal, workers.derive)
