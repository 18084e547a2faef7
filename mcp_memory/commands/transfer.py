"""``mcp-memory export`` and ``import``: the files, the progress, and what is said at the end.

``mcp-memory export --markdown``: a folder of Markdown, written to a temporary folder that is then renamed.

``mcp-memory import`` also reads what other programs have exported: it says what it finds, then what it stored.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import BinaryIO

from anyio import to_thread

from mcp_memory import __version__
from mcp_memory.commands.target import refuse_in_store, refuse_other_export, without_forgotten
from mcp_memory.commands.terminal import ProgressBar, Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.errors import InvalidInput
from mcp_memory.files import whole_file
from mcp_memory.gain.kalman import Teacher
from mcp_memory.memory import now
from mcp_memory.server.tools.arguments import shown
from mcp_memory.server.tools.replies import quantity
from mcp_memory.services.learn.update import relearner
from mcp_memory.services.transfer.exporting import WHOLE, WRITTEN, export_lines, markdown_files, space_of, values_of
from mcp_memory.services.transfer.foreign.importing import PLACES, ForeignImport, ItemLimits, import_foreign
from mcp_memory.services.transfer.foreign.kinds import OWN, READERS, recognise
from mcp_memory.services.transfer.foreign.sources import source_files
from mcp_memory.services.transfer.format import FORMAT
from mcp_memory.services.transfer.importing import import_file
from mcp_memory.services.write import Derive
from mcp_memory.settings import Settings
from mcp_memory.storage.own_files import remove_empty
from mcp_memory.storage.places import note_place
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables
from mcp_memory.visible import one_line, with_masks
from mcp_memory.wiring import choose_embedder, open_extractor, open_store, reading_of


def is_foreign(file: Path, kind: str | None) -> bool:
    """Return whether a path holds something else than an export of this program.

    Raises:
        InvalidInput: it cannot be read, or is nothing that is known.
    """
    with source_files(file) as files:
        return (kind or recognise(files)) != OWN


async def import_other(
    settings: Settings, options: argparse.Namespace, terminal: Terminal, derived: Derive | None = None
) -> None:
    """Store what a file, folder or archive of another program holds and the store does not.

    Args:
        settings: every setting.
        options: the options of the command.
        terminal: where to say what was done.
        derived: see `import_foreign`.

    Raises:
        InvalidInput: it cannot be imported.
        StoreError: the store cannot be read or written.
    """
    if options.map:
        remedy = "Say where it goes with --space NAME."
        raise InvalidInput("--map", "only an export of mcp-memory has names of spaces", remedy)
    limits = ItemLimits(settings.limits.message_bytes, settings.limits.document_bytes, settings.limits.name_chars)
    embedder, extractor = choose_embedder(settings), open_extractor(settings)
    store = open_store(settings, embedder, extractor)
    progress, space = ProgressBar("items"), options.space or MEANT_SPACE.get()
    try:
        with source_files(options.file) as files:
            kind = options.kind or await to_thread.run_sync(recognise, files)
            result = await import_foreign(
                store,
                reading_of(settings, embedder, extractor),
                READERS[kind],
                files,
                space=space,
                limits=limits,
                now=now(),
                again=options.again,
                dry_run=options.dry_run,
                progress=progress.show,
                derived=derived,
            )
    finally:
        progress.end()
        await store.aclose()
    sessions = quantity(result.sessions, "session")
    terminal.line(f"{options.file} ({kind}) holds {counted(result.found)} in {sessions}.")
    for record in result.skipped:
        terminal.note(f"skipped: {record.place} {record.problem}")
    if result.bad:
        rest = f"; the first {len(result.skipped)} are listed" if result.bad > len(result.skipped) else ""
        terminal.line(f"{quantity(result.bad, 'bad record')} skipped{rest}.")
    for (what, why), (count, places) in result.unread.items():
        more = ", …" if count > PLACES == len(places) else ""
        terminal.line(f"Left out: {quantity(count, what)} {why} ({one_line(', '.join(places))}{more}).")
    terminal.line(_outcome(result, space, dry_run=options.dry_run))
    if result.secrets:
        terminal.line("Secrets in it are masked wherever they are shown, searched, exported or sent.")
    if result.left_out:
        terminal.line(f"{quantity(result.left_out, 'item')} left out, forgotten here before; --again stores that too.")


def _outcome(result: ForeignImport, space: str, *, dry_run: bool) -> str:
    new, total = result.stored.total(), result.found.total()
    if not new:
        return "Nothing of it is new: nothing was stored."
    there = total - new - result.left_out
    known = f" {there:,} of {quantity(total, 'item')} are there already." if there > 0 else ""
    if dry_run:
        return f"Would store {counted(result.stored)} in space {space!r}; without --dry-run it does.{known}"
    return f"Stored {counted(result.stored)} in space {space!r}.{known}"


def counted(counts: Counter[str]) -> str:
    """Return counts as "2 messages, 1 fact"; the names are plural."""
    return ", ".join(quantity(count, name.removesuffix("s")) for name, count in counts.items() if count) or "nothing"


LIST = ".mcp-memory.json"
"""The file in a folder of Markdown that lists what an export has written there: a list of sums for each path."""


def check_folder(folder: Path, new: Iterable[str] = ()) -> dict[str, list[str]]:
    """Refuse a folder in which something else would be lost; hidden files, such as git's, may be there.

    Args:
        folder: the folder to write to.
        new: the paths of the files that are to be written.

    Returns:
        What an earlier export has written there.

    Raises:
        InvalidInput: it holds other things, or lies nowhere; or a file of an earlier export was changed.
    """
    if not folder.exists() and folder.parent.is_dir():
        return {}
    if not folder.is_dir():
        raise InvalidInput("FOLDER", f"{folder} is no folder, or lies in none that exists", "Name a folder to write.")
    try:
        files = json.loads((folder / LIST).read_bytes())["files"].items()
        listed = {name: list(sums) for name, sums in files if WRITTEN.fullmatch(name)}  # others no export wrote
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        listed = {}
    ours = {name.split("/")[0] for name in listed}
    others = sorted(path.name for path in folder.iterdir() if path.name not in ours and not path.name.startswith("."))
    others += [LIST] if not listed and os.path.lexists(folder / LIST) else []
    others += [name for name in sorted({*listed, *new}) if not _may_go(folder, name, listed.get(name, ()))]
    if others:
        problem = f"{folder} holds other things ({', '.join(others[:3])})"
        remedy = "Name an empty folder, a new one, or one of an earlier export in which no file was changed."
        raise InvalidInput("FOLDER", problem, remedy)
    return listed


def _may_go(folder: Path, name: str, sums: Collection[str]) -> bool:
    """Return whether a path is free, or has what an export has written there."""
    path = folder / name
    if any(one.is_symlink() for one in (path, *path.parents) if folder in one.parents):
        return False
    return not path.exists() or (path.is_file() and sha256(path.read_bytes()).hexdigest() in sums)


def write_folder(folder: Path, files: Iterable[tuple[str, str]], whole: Iterable[bytes]) -> int:
    """Write the files of an export into a folder, in place of those of an earlier one, and return how many.

    Raises:
        InvalidInput: they cannot be written.
    """
    folder = folder.resolve()
    try:
        with TemporaryDirectory(".part", f".{folder.name}.", folder.parent, ignore_cleanup_errors=True) as made:
            part, sums = Path(made), dict[str, list[str]]()
            for name, pieces in _contents(files, whole):
                (part / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                hashed = sha256()
                with whole_file(part / name) as out:
                    for piece in pieces:
                        out.write(piece)
                        hashed.update(piece)
                sums[name] = [hashed.hexdigest()]
            former = check_folder(folder, sums)
            folder.mkdir(mode=0o700, exist_ok=True)
            _list(folder, {name: sums.get(name, []) + former.get(name, []) for name in {**former, **sums}})
            for name in sums:
                (folder / name).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                (part / name).replace(folder / name)
            gone = [folder / name for name in former if name not in sums]
            for path in gone:
                path.unlink(missing_ok=True)
            remove_empty({one for path in gone for one in path.parents if folder in one.parents})
            _list(folder, sums)
    except OSError as error:
        problem = f"{folder} cannot be written ({error.strerror or error})"
        raise InvalidInput("FOLDER", problem, "Make room, or name another place.") from None
    return len(sums) - 1


def _contents(files: Iterable[tuple[str, str]], whole: Iterable[bytes]) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield WHOLE, whole
    yield from ((name, (text.encode("utf-8", "surrogatepass"),)) for name, text in files)


def _list(folder: Path, sums: Mapping[str, Sequence[str]]) -> None:
    with whole_file(folder / LIST) as out:
        out.write(json.dumps({"files": sums}, indent=1).encode())


async def export(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Write the log of the store, or of one space, to a file.

    Raises:
        InvalidInput: the file cannot be written, or there is no such space; the file is as it was.
        StoreError: the store cannot be read.
    """
    file: Path = options.file
    (check_folder if options.markdown else check_target)(file)
    refuse_in_store(file)
    refuse_other_export(settings, file, file / LIST if options.markdown else file, replace=options.replace)
    if options.with_secrets:
        settings = replace(settings, privacy=replace(settings.privacy, secrets="keep"))
    store = open_store(settings, choose_embedder(settings), open_extractor(settings))
    try:
        done = await without_forgotten(store, options.file, lambda: _export(store, options))
    finally:
        await store.aclose()
    terminal.line(done)
    terminal.tell_of_secrets(kept=settings.privacy.secrets == "keep")


async def _export(store: LanceStore, options: argparse.Namespace) -> str:
    """Write the log as it is now, and return in words what was written."""
    file: Path = options.file
    notes: list[tuple[str, str]] = []
    async with store.reading() as view:
        log = await store.log()
        if options.markdown:
            chosen = None if options.space is None else {options.space}
            notes = [(path, with_masks(text)) for path, text in markdown_files(view, chosen)]
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

    note_place(Tables(store.uri).folder, "copy", file, now())
    if options.markdown:
        written = await to_thread.run_sync(write_folder, file, notes, lines())
        return f"Exported {_in_words(counts)} to {file}, with {quantity(written, 'file')} of Markdown."
    await to_thread.run_sync(write_aside, file, lines())
    return f"Exported {_in_words(counts)} to {file}."


async def import_(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Store what an export, or a file of another program, holds and the store does not.

    Raises:
        InvalidInput: the file cannot be imported.
        StoreError: the store cannot be read or written.
    """
    file: Path = options.file
    if options.kind is None and (file / WHOLE).is_file():  # a folder of Markdown: the export in it holds all
        file = options.file = file / WHOLE
    if await to_thread.run_sync(is_foreign, file, options.kind):
        await import_other(settings, options, terminal)
        return

    def open_file() -> BinaryIO:
        try:
            return file.open("rb")
        except OSError as error:
            raise InvalidInput("FILE", f"{file} cannot be read ({error.strerror})", "Name a file.") from None

    open_file().close()
    embedder, extractor = choose_embedder(settings), open_extractor(settings)
    store = open_store(settings, embedder, extractor)
    progress = ProgressBar()
    try:
        imported = await import_file(
            store,
            reading_of(settings, embedder, extractor),
            relearner(embedder, Teacher(settings.gain)),
            open_file,
            into=options.space,
            renamed=dict(options.map or ()),
            again=options.again,
            dry_run=options.dry_run,
            progress=progress.show,
        )
    finally:
        progress.end()
        await store.aclose()
    if options.dry_run:
        terminal.line(f"All of {quantity(imported.records, 'record')} can be imported; nothing was stored.")
        return
    stored = sum(imported.stored.values())
    terminal.line(f"Stored {_in_words(imported.stored)}." if stored else "Nothing of it is new: nothing was stored.")
    if imported.missing:
        left = quantity(imported.missing, "record")
        terminal.line(f"{left} not stored: what they rest on was forgotten here, and is not in the file.")
    there = imported.records - stored - imported.left_out - imported.missing
    if stored and there:
        terminal.line(f"{there:,} of {quantity(imported.records, 'record')} were there already.")
    if imported.left_out:
        left = quantity(imported.left_out, "record")
        terminal.line(f"{left} left out, of what was forgotten here; --again stores that too.")


def write_aside(file: Path, lines: Iterable[bytes]) -> None:
    """Write a file beside its place, readable for its owner alone, and move it there when it is complete.

    Raises:
        InvalidInput: it cannot be written; what stood in its place is as it was.
    """
    try:
        with whole_file(file.resolve()) as out:  # a link leads to the file that is written
            out.writelines(lines)
    except OSError as error:
        problem = f"{file} cannot be written ({error.strerror})"
        raise InvalidInput("FILE", problem, "Nothing was exported; make room, or name another place.") from None


def check_target(file: Path, marks: tuple[str, str] = ('{"', f'"{FORMAT}"')) -> None:
    """Refuse a place where no export can be written, or where something else would be lost.

    Args:
        file: the file to be written.
        marks: how an earlier export begins, and what it has near its beginning.
    """
    if file.is_dir() or not file.resolve().parent.is_dir():
        problem = f"{file} " + ("is a folder" if file.is_dir() else "lies in no folder that exists")
        raise InvalidInput("FILE", problem, "Name a file to write.")
    try:
        with file.open("rb") as there:
            first = there.read(2000)
    except FileNotFoundError:
        return
    except OSError as error:
        raise InvalidInput("FILE", f"{file} cannot be read ({error.strerror})", "Name another one.") from None
    begin, mark = (one.encode() for one in marks)
    if first and not (first.startswith(begin) and mark in first):
        raise InvalidInput("FILE", f"{file} exists and is no export", "Name another one, or move it away.")


def _in_words(counts: Mapping[str, int]) -> str:
    """Return counts of records as "2 messages, 1 fact"; the names may be singular or plural."""
    singular = {"aliases": "alias", "alias": "alias"}
    words = [quantity(count, singular.get(name, name.removesuffix("s"))) for name, count in counts.items() if count]
    return ", ".join(words) or "no records"
