"""``mcp-memory export`` and ``import``: the files, the progress, and what is said at the end.

``import`` also reads what other programs have exported: it says what it finds, then what it stored.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO, cast

from anyio import to_thread

from mcp_memory import __version__
from mcp_memory.commands.target import (
    check_target,
    refuse_in_store,
    refuse_other_export,
    without_forgotten,
    write_aside,
)
from mcp_memory.commands.terminal import ProgressBar, Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.errors import InvalidInput
from mcp_memory.gain.kalman import Teacher
from mcp_memory.memory import now
from mcp_memory.server.tools.arguments import shown
from mcp_memory.server.tools.replies import quantity
from mcp_memory.services.learn.update import relearner
from mcp_memory.services.transfer.exporting import export_lines, values_of
from mcp_memory.services.transfer.foreign.importing import ForeignImport, ItemLimits, import_foreign
from mcp_memory.services.transfer.foreign.kinds import OWN, READERS, recognise
from mcp_memory.services.transfer.foreign.sources import source_files
from mcp_memory.services.transfer.importing import Imported, import_file
from mcp_memory.services.transfer.records import space_of
from mcp_memory.settings import Settings
from mcp_memory.storage.copies import note_copy
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables
from mcp_memory.wiring import choose_embedder, open_extractor, open_store, reading_of

NOTHING_NEW = "Nothing of it is new: nothing was stored."


async def export(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Write the log of the store, or of one space, to a file, or a page that draws a space.

    Raises:
        InvalidInput: the file cannot be written, or there is no such space; the file is as it was.
        StoreError: the store cannot be read.
    """
    if options.html:
        from mcp_memory.commands.view import export_page

        await export_page(settings, options, terminal)
        return
    file: Path = options.file
    check_target(file)
    refuse_in_store(file)
    refuse_other_export(settings, file, replace=options.replace)
    if options.with_secrets:
        settings = replace(settings, privacy=replace(settings.privacy, secrets="keep"))
    async with aclosing(open_store(settings, choose_embedder(settings), open_extractor(settings))) as store:
        done = await without_forgotten(store, file, lambda: _export(store, options))
    terminal.line(done)
    terminal.tell_of_secrets(kept=settings.privacy.secrets == "keep")


async def _export(store: LanceStore, options: argparse.Namespace) -> str:
    """Write the log as it is now, and return in words what was written."""
    file: Path = options.file
    async with store.reading() as view:
        log = await store.log()
    names = sorted({space_of(value) for batch in log for value in values_of(batch)})
    if not names:
        raise InvalidInput("storage.uri", f"nothing is stored in {store.uri!r}", "Nothing was written.")
    if options.space is not None and options.space not in names:
        problem = f"nothing was ever written to a space {shown(options.space)}"
        raise InvalidInput("--space", problem, f"There are: {', '.join(names)}.")
    counts: Counter[str] = Counter()

    def lines() -> Iterable[bytes]:
        spaces = None if options.space is None else {options.space}
        for record, line in export_lines(log, spaces, view=view, program=f"mcp-memory {__version__}", now=now()):
            counts[record] += record not in ("header", "end")
            yield line

    note_copy(Tables(store.uri).folder, file, now())
    await to_thread.run_sync(write_aside, file, lines())
    return f"Exported {_in_words(counts)} to {file}."


async def import_(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Store what an export, or a file, folder or archive of another program, holds and the store does not.

    Raises:
        InvalidInput: it cannot be imported.
        StoreError: the store cannot be read or written.
    """
    embedder, extractor = choose_embedder(settings), open_extractor(settings)
    reading = reading_of(settings, embedder, extractor)
    with source_files(options.file) as files:
        kind = options.kind or await to_thread.run_sync(recognise, files)
        async with aclosing(open_store(settings, embedder, extractor)) as store:
            with ProgressBar("records" if kind == OWN else "items") as bar:
                how = {"again": options.again, "dry_run": options.dry_run, "progress": bar.show}
                if kind == OWN:
                    relearn, stream = relearner(embedder, Teacher(settings.gain)), files[0].open
                    opened = cast("Callable[[], BinaryIO]", stream)
                    imported = await import_file(store, reading, relearn, opened, into=options.space, **how)
                    lines = list(_own_lines(imported, dry_run=options.dry_run))
                else:
                    space, most = options.space or MEANT_SPACE.get(), settings.limits
                    limits = ItemLimits(most.message_bytes, most.document_bytes, most.name_chars)
                    how |= {"space": space, "limits": limits, "now": now()}
                    found = await import_foreign(store, reading, READERS[kind], files, **how)
                    lines = list(_foreign_lines(found, f"{options.file} ({kind})", space, dry_run=options.dry_run))
    if kind != OWN:
        for record in found.skipped:
            terminal.note(f"skipped: {record.place} {record.problem}")
    for line in lines:
        terminal.line(line)


def _own_lines(imported: Imported, *, dry_run: bool) -> Iterator[str]:
    """Yield what became of an export, in words."""
    records, stored = quantity(imported.records, "record"), sum(imported.stored.values())
    if dry_run:
        yield f"All of {records} can be imported; nothing was stored."
        return
    yield f"Stored {_in_words(imported.stored)}." if stored else NOTHING_NEW
    if imported.missing:
        left = quantity(imported.missing, "record")
        yield f"{left} not stored: what they rest on was forgotten here, and is not in the file."
    if stored and (there := imported.records - stored - imported.left_out - imported.missing):
        yield f"{there:,} of {records} were there already."
    if imported.left_out:
        yield f"{quantity(imported.left_out, 'record')} left out, of what was forgotten here; --again stores that too."


def _foreign_lines(found: ForeignImport, what: str, space: str, *, dry_run: bool) -> Iterator[str]:
    """Yield what became of the files of another program, in words; ``what`` names them."""
    yield f"{what} holds {_in_words(found.found)} in {quantity(found.sessions, 'session')}."
    if found.bad:
        rest = f"; the first {len(found.skipped)} are listed" if found.bad > len(found.skipped) else ""
        yield f"{quantity(found.bad, 'bad record')} skipped{rest}."
    for (what, why), count in found.unread.items():
        yield f"Left out: {quantity(count, what)} {why}."
    if dry_run:
        yield f"Nothing was stored; without --dry-run it goes into space {space!r}, as far as it is new there."
        return
    new, there = found.stored.total(), found.found.total() - found.stored.total() - found.left_out
    known = f" {there:,} of {quantity(found.found.total(), 'item')} are there already." if there > 0 else ""
    yield f"Stored {_in_words(found.stored)} in space {space!r}.{known}" if new else NOTHING_NEW
    if found.secrets:
        yield "Secrets in it are masked wherever they are shown, searched, exported or sent."
    if found.left_out:
        yield f"{quantity(found.left_out, 'item')} left out, forgotten here before; --again stores that too."


def _in_words(counts: Mapping[str, int]) -> str:
    """Return counts of records as "2 messages, 1 fact"; the names may be singular or plural."""
    singular = {"aliases": "alias", "alias": "alias"}
    words = [quantity(count, singular.get(name, name.removesuffix("s"))) for name, count in counts.items() if count]
    return ", ".join(words) or "nothing"
