"""``mcp-memory backup`` and ``restore``: a whole store in one file, and back from it."""

from __future__ import annotations

import argparse
import dataclasses
from contextlib import aclosing
from functools import partial
from pathlib import Path

from mcp_memory.commands.target import check_target, refuse_in_store
from mcp_memory.commands.terminal import Terminal
from mcp_memory.memory import now
from mcp_memory.server.tools.replies import quantity
from mcp_memory.settings import Settings
from mcp_memory.storage.backups import back_up, is_backup
from mcp_memory.storage.copies import note_copy
from mcp_memory.storage.forget import forgotten_in
from mcp_memory.storage.forgotten import Book
from mcp_memory.storage.restore import restore
from mcp_memory.storage.settings import StorageSettings
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables
from mcp_memory.wiring import choose_embedder, open_store, place_of


async def backup(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Write the whole store into one file; others may use it meanwhile."""
    file: Path = options.file.expanduser().resolve()  # a link leads to the file that is written
    check_target(file, "backup", is_backup, replace=options.replace)
    refuse_in_store(file)
    async with aclosing(open_store(settings, choose_embedder(settings))) as store:
        await store.forgotten()  # finishes what a process that died had begun to forget
        tables = Tables(store.uri)
        note_copy(tables.folder, file, now())
        tx = await back_up(tables, settings.storage.lock_timeout_s, file, now())
    terminal.line(f"Backed up {quantity(tx, 'commit')} to {file}.")
    terminal.line("The file holds everything in plain text, secrets too.")


async def restore_(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Put the store of a backup in the configured place."""
    chosen, place = settings.storage, place_of(settings)  # not opened: there may be no memory any more
    tx, left_out, saved = await restore(
        options.file,
        place,
        None if options.again else partial(_forget_again, settings),
        replace=options.replace,
        now=now(),
        noted_in=chosen.noted_in,
    )
    terminal.line(f"Restored {quantity(tx, 'commit')} to {Tables(place).folder}.")
    if left_out:
        terminal.line(f"{quantity(left_out, 'text')} left out, which was forgotten here; --again brings back that too.")
    if saved is not None:
        terminal.line(f"What was there is in {saved}; it stays there until you remove it.")


async def _forget_again(settings: Settings, folder: Path, embedder: str, dimension: int, book: Book) -> int:
    """Forget in a restored store what a book holds; return how many texts that were."""
    configured = choose_embedder(settings)
    if (configured.name, configured.dimension) == (embedder, dimension):
        there = dataclasses.replace(settings, storage=StorageSettings(str(folder)))
        store = open_store(there, configured)
    else:
        store = LanceStore(str(folder), embedder=embedder, dimension=dimension)
    async with aclosing(store):
        async with store.reading() as view:
            chosen = [forgotten_in(view.space(name), book) for name in view.spaces]
        for targets in chosen:
            if not targets.empty:
                await store.forget(lambda _view, targets=targets: targets, "mcp-memory restore")  # type: ignore[misc]
    return sum(len(targets.turns) for targets in chosen)
