"""``mcp-memory backup`` and ``restore``: a whole store in one file, and back from it."""

from __future__ import annotations

import argparse
from contextlib import aclosing
from pathlib import Path

from mcp_memory.commands.target import check_target, refuse_in_store
from mcp_memory.commands.terminal import Terminal
from mcp_memory.memory import now
from mcp_memory.server.tools.replies import quantity
from mcp_memory.settings import Settings
from mcp_memory.storage.backups import back_up, restore
from mcp_memory.storage.tables import Tables
from mcp_memory.wiring import choose_embedder, open_store, place_of


async def backup(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Write the whole store into one file; others may use it meanwhile."""
    file: Path = options.file.expanduser().resolve()  # a link leads to the file that is written
    check_target(file, replace=options.replace)
    refuse_in_store(file)
    async with aclosing(open_store(settings, choose_embedder(settings))) as store:
        await store.forgotten()  # finishes what a process that died had begun to forget
        tables = Tables(store.uri)
        tx = await back_up(tables, settings.storage.lock_timeout_s, file, now())
    terminal.line(f"Backed up {quantity(tx, 'commit')} to {file}.")
    terminal.line("The file holds everything in plain text, secrets too.")


async def restore_(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Put the store of a backup in the configured place, where nothing may be."""
    place = place_of(settings)  # not opened: a memory may be missed there
    tx = await restore(options.file, place, noted_in=settings.storage.noted_in)
    terminal.line(f"Restored {quantity(tx, 'commit')} to {Tables(place).folder}.")
    terminal.line("What was forgotten after that backup was made is there again.")
