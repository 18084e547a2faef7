"""``mcp-memory export`` and ``import``: the files, the progress, and what is said at the end.

``import`` also reads what other programs have exported: it says what it finds, then what it stored.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from anyio import to_thread

from mcp_memory import __version__
from mcp_memory.commands.target import check_target, refuse_in_store, write_aside
from mcp_memory.commands.terminal import ProgressBar, Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.errors import InvalidInput
from mcp_memory.memory import now
from mcp_memory.server.tools.arguments import shown
from mcp_memory.server.tools.replies import quantity
from mcp_memory.services.transfer.exporting import export_lines
from mcp_memory.services.transfer.foreign.sources import source_files
from mcp_memory.services.transfer.importing import Imported, ItemLimits, import_files
from mcp_memory.services.transfer.kinds import READERS, recognise
from mcp_memory.settings import Settings
from mcp_memory.storage.store import LanceStore
from mcp_memory.wiring import choose_embedder, open_extractor, open_store, reading_of

NOTHING_NEW = "Nothing of it is new: nothing was stored."


async def export(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Write the log of the store, or of one space, to a file.

    Raises:
        InvalidInput: the file cannot be written, or there is no such space; the file is as it was.
        StoreError: the store cannot be read.
    """
    file: Path = options.file
    check_target(file, replace=options.replace)
    refuse_in_store(file)
    if options.with_secrets:
        settings = replace(settings, privacy=replace(settings.privacy, secrets="keep"))
    async with aclosing(open_store(settings, choose_embedder(settings), open_extractor(settings))) as store:
        terminal.line(await _export(store, options))
    terminal.tell_of_secrets(kept=settings.privacy.secrets == "keep")


async def _export(store: LanceStore, options: argparse.Namespace) -> str:
    """Write what the store holds now, and return in words what was written."""
    file: Path = options.file
    counts: Counter[str] = Counter()
    async with store.reading() as view:
        names = sorted(name for name, space in view.spaces.items() if space.turns)
        if not names:
            raise InvalidInput("storage.uri", f"nothing is stored in {store.uri!r}", "Nothing was written.")
        if options.space is not None and options.space not in names:
            problem = f"nothing was ever written to a space {shown(options.space)}"
            raise InvalidInput("--space", problem, f"There are: {', '.join(names)}.")

        def lines() -> Iterable[bytes]:
            spaces = names if options.space is None else [options.space]
            for record, line in export_lines(view, spaces, program=f"mcp-memory {__version__}", now=now()):
                counts[record] += record not in ("header", "end")
                yield line

        await to_thread.run_sync(write_aside, file, lines())
    return f"Exported {_in_words(counts)} to {file}. What was learnt is not in it; mcp-memory backup saves that, too."


async def import_(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Store what an export, or a file, folder or archive of another program, holds and the store does not.

    Raises:
        InvalidInput: it cannot be imported.
        StoreError: the store cannot be read or written.
    """
    embedder, extractor, most = choose_embedder(settings), open_extractor(settings), settings.limits
    with source_files(options.file) as files:
        kind = options.kind or await to_thread.run_sync(recognise, files)
        async with aclosing(open_store(settings, embedder, extractor)) as store:
            with ProgressBar("items") as bar:
                found = await import_files(
                    store,
                    reading_of(settings, embedder, extractor),
                    READERS[kind],
                    files,
                    space=options.space,
                    default=MEANT_SPACE.get(),
                    limits=ItemLimits(most.message_bytes, most.document_bytes, most.name_chars),
                    now=now(),
                    again=options.again,
                    dry_run=options.dry_run,
                    progress=bar.show,
                )
    for record in found.skipped:
        terminal.note(f"skipped: {record.place} {record.problem}")
    for line in _outcome(found, f"{options.file} ({kind})", dry_run=options.dry_run):
        terminal.line(line)


def _outcome(found: Imported, what: str, *, dry_run: bool) -> Iterator[str]:
    """Yield what became of the files, in words; ``what`` names them."""
    yield f"{what} holds {_in_words(found.found)} in {quantity(found.sessions, 'session')}."
    if found.bad:
        rest = f"; the first {len(found.skipped)} are listed" if found.bad > len(found.skipped) else ""
        yield f"{quantity(found.bad, 'bad record')} skipped{rest}."
    for (left, why), count in found.unread.items():
        first = found.first[left, why]
        yield f"Not read: {quantity(count, left)} {why}{first and f' (the first: {first})'}."
    if found.replaced:
        revised = quantity(len(found.replaced), "document")
        yield f"New text for {revised} that had another one (the first: {found.replaced[0]})."
    if found.left_out:
        yield f"{quantity(found.left_out, 'item')} left out, forgotten here before; --again stores that too."
    space = f"space{'s'[: len(found.spaces) > 1]} {', '.join(map(repr, sorted(found.spaces)))}"
    if dry_run:
        yield f"Nothing was stored; without --dry-run it goes into {space}, as far as it is new there."
        return
    new, there = found.stored.total(), found.found.total() - found.stored.total() - found.left_out
    known = f" {there:,} of {quantity(found.found.total(), 'item')} are there already." if there > 0 else ""
    yield f"Stored {_in_words(found.stored)} in {space}.{known}" if new else NOTHING_NEW
    if found.masked:
        where = f"{quantity(len(found.masked), 'text')} (the first: {found.masked[0]})"
        yield f"Secrets in {where} are masked wherever they are shown, searched, exported or sent."


def _in_words(counts: Mapping[str, int]) -> str:
    """Return counts of records as "2 messages, 1 fact"; the names may be singular or plural."""
    words = [quantity(count, name.removesuffix("s")) for name, count in counts.items() if count]
    return ", ".join(words) or "nothing"
