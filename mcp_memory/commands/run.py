"""Run a command for people: open the memory, and call what prints the result."""

from __future__ import annotations

import argparse
import os
import sys

import anyio

from mcp_memory.commands import backup, ingest, listing, search, show, transfer, view
from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.settings import Settings
from mcp_memory.wiring import open_memory, open_unloaded


async def _export(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    await (view.export_page if options.html else transfer.export)(settings, options, terminal)


_WORK = {
    "export": _export,
    "import": transfer.import_,
    "ingest": ingest.ingest,
    "backup": backup.backup,
    "restore": backup.restore_,
    "move": backup.move_,
    "view": view.view,
}


def run(settings: Settings, options: argparse.Namespace) -> int:
    """Run the command that the options name; return 0.

    Raises:
        InvalidInput: there is nothing of that name, or a file cannot be used.
        StoreError: the store cannot be read or written.
    """
    terminal = Terminal()
    try:
        work = _WORK.get(options.command, _look)
        anyio.run(work, settings, options, terminal)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough, as in `mcp-memory list facts | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


async def _look(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    memory = await (open_memory(settings) if options.command == "search" else open_unloaded(settings))
    space = options.space or MEANT_SPACE.get()
    try:
        if options.command == "search":
            await search.search(memory, terminal, options.query, space, options.limit, as_json=options.json)
        elif options.command == "list":
            await listing.listing(memory, terminal, options.what, space, options.limit, as_json=options.json)
        elif options.name is None and options.space is None:
            await show.show_spaces(memory, terminal, options.limit, as_json=options.json)
        else:
            name, reading = (space, "space") if options.name is None else (options.name, options.reading)
            await show.show(memory, terminal, name, reading, space, options.limit, as_json=options.json)
    finally:
        await memory.aclose()
