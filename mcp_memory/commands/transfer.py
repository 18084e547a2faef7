"""``mcp-memory export``, ``import``, ``backup`` and ``restore``: the files, the progress, and what is said at the end.

``import`` also reads what other programs have exported: it says what it finds, then what it stored. A file is never
written into a store, and over another one only if told to.
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
from mcp_memory.commands.terminal import ProgressBar, Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.errors import InvalidInput
from mcp_memory.files import whole_file
from mcp_memory.memory import now
from mcp_memory.server.tools.arguments import shown
from mcp_memory.server.tools.replies import quantity
from mcp_memory.services.transfer.foreign.sources import source_files
from mcp_memory.services.transfer.importing import Imported, import_files
from mcp_memory.services.transfer.kinds import READERS, recognise
from mcp_memory.services.transfer.own import export_lines
from mcp_memory.settings import Settings
from mcp_memory.storage.backups import back_up, restore
from mcp_memory.storage.place import holds_store
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables
from mcp_memory.wiring import choose_embedder, open_extractor, open_store, place_of, reading_of

IN_PLAIN_TEXT = "The file holds everything in plain text, secrets too."
NOTHING_NEW = "Nothing of it is new: nothing was stored."


async def export(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Write the log of the store, or of one space, to a file.

    Raises:
        InvalidInput: the file cannot be written, or there is no such space; the file is as it was.
        StoreError: the store cannot be read.
    """
    file: Path = options.file
    _check_target(file, replace=options.replace)
    if options.with_secrets:
        settings = replace(settings, privacy=replace(settings.privacy, secrets="keep"))
    async with aclosing(open_store(settings, choose_embedder(settings), open_extractor(settings))) as store:
        terminal.line(await _export(store, options))
    kept, masked = IN_PLAIN_TEXT, "Secrets in it are masked; --with-secrets exports them too."
    terminal.line(kept if settings.privacy.secrets == "keep" else masked)


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

        await to_thread.run_sync(_write_aside, file, lines())
    return f"Exported {_in_words(counts)} to {file}. What was learnt is not in it; mcp-memory backup saves that, too."


async def import_(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Store what an export, or a file, folder or archive of another program, holds and the store does not.

    Raises:
        InvalidInput: it cannot be imported.
        StoreError: the store cannot be read or written.
    """
    embedder, extractor = choose_embedder(settings), open_extractor(settings)
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
                    limits=settings.limits,
                    now=now(),
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
        yield f"{quantity(found.left_out, 'item')} left out, forgotten in this space before; --space names another."
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


async def backup(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Write the whole store into one file; others may use it meanwhile."""
    file: Path = options.file.expanduser().resolve()  # a link leads to the file that is written
    _check_target(file, replace=options.replace)
    async with aclosing(open_store(settings, choose_embedder(settings))) as store:
        async with store.reading(whole=False):  # finishes what a process that died had begun to forget
            pass
        tables = Tables(store.uri)
        tx = await back_up(tables, settings.storage.lock_timeout_s, file, now())
    terminal.line(f"Backed up {quantity(tx, 'commit')} to {file}.")
    terminal.line(IN_PLAIN_TEXT)


async def restore_(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Put the store of a backup in the configured place, where nothing may be."""
    place = place_of(settings)  # not opened: a memory may be missed there
    tx = await restore(options.file, place, noted_in=settings.storage.noted_in)
    terminal.line(f"Restored {quantity(tx, 'commit')} to {Tables(place).folder}.")
    terminal.line("What was forgotten after that backup was made is there again.")


def _write_aside(file: Path, lines: Iterable[bytes]) -> None:
    """Write a file beside its place, readable for its owner alone, and move it there when it is complete.

    Raises:
        InvalidInput: it cannot be written; what stood in its place is as it was.
    """
    try:
        with whole_file(file.resolve()) as out:  # a link leads to the file that is written
            out.writelines(lines)
    except OSError as error:
        problem = f"{file} cannot be written ({error.strerror})"
        raise InvalidInput("", problem, "Nothing was exported; make room, or name another place.") from None


def _check_target(file: Path, *, replace: bool) -> None:
    """Refuse a place where no file can be written, or may be: over another one, or in the folder of a store.

    There it could take the name of a file that the store needs.

    Raises:
        InvalidInput: it is such a place.
    """
    if file.is_dir() or not file.resolve().parent.is_dir():
        problem = f"{file} " + ("is a folder" if file.is_dir() else "lies in no folder that exists")
        raise InvalidInput("", problem, "Name a file to write.")
    if file.exists() and not replace:
        raise InvalidInput("", f"{file} is there already", "Name another one, or add --replace.")
    for folder in file.expanduser().resolve().parents:
        if holds_store(folder):
            problem = f"{file} lies in the folder of a memory ({folder})"
            raise InvalidInput("", problem, "Nothing was written. Name a place outside of it.")
