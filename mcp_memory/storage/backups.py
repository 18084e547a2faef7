"""Backups: a whole store into one file, and its files out of it again.

**The file** has an exact copy of the tables and the log at one commit. It is a zip archive without compression: each
file has its CRC-32, and the list of all stands at the end, so half a file and a damaged one are told from a backup. Its
first member says what it is. It is written beside its place and moved there when it is complete.

**Restoring** goes into an empty or new place: nothing is ever replaced. The file is unpacked in a folder of that place
(`ARRIVING`), checked row by row, and moved to where it belongs. What a process leaves that dies meanwhile is moved in,
or removed, by the next one that opens the place (`settle`). So a restore is done or not begun.
"""

from __future__ import annotations

import json
import os
import shutil
import struct
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anyio import to_thread

from mcp_memory import __version__
from mcp_memory.bounds import RECORD_BYTES, parse_json
from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput, StoreBusy, StoreError, StoreUnwritable
from mcp_memory.files import files_below, whole_file
from mcp_memory.storage.forget import BOOK
from mcp_memory.storage.lock import WriteLock, lock_file, try_lock, without_compaction
from mcp_memory.storage.place import LOCK_FILES, Place, holds_store, is_of_log, is_of_table, others_in
from mcp_memory.storage.rows import FORMAT
from mcp_memory.storage.tables import Tables

KIND = "mcp-memory backup"
VERSION = 2
_HEADER = "backup.json"
_NO_ARCHIVE = (zipfile.BadZipFile, EOFError, ValueError, LookupError, RuntimeError, struct.error)
"""What zipfile raises over a file that is no archive, or a damaged one."""
ARRIVING = "arriving"
_LOCK = "arriving.lock"
_WHOLE = "whole"
"""The file beside a store that was checked: from then on it is moved, whoever ends that."""
_ELSEWHERE = (
    "A restore replaces nothing. Set storage.uri (MCP_MEMORY_STORAGE_URI) to an empty or new folder; or stop what uses "
    "this one, and move what is in it elsewhere."
)


async def back_up(tables: Tables, lock_timeout_s: float, file: Path, made: Millis) -> int:
    """Write a whole store into a file while others use it, and return the number of the commit that it is as of.

    Raises:
        InvalidInput: nothing is stored.
        StoreBusy: others write or compact all the time.
        StoreUnwritable: the file cannot be written.
    """
    if tables.folder is None:
        raise StoreUnwritable(
            f"storage.uri {tables.uri!r} is no local folder. Nothing was written. Use the copies of that service, or "
            "`mcp-memory export`."
        )
    if not tables.exists():  # and there is no folder for a lock
        raise InvalidInput("storage.uri", f"nothing is stored in {tables.uri!r}", "Nothing was written.")
    moment = datetime.fromtimestamp(made / 1000, UTC).isoformat(timespec="seconds")
    async with WriteLock(tables.folder, lock_timeout_s).hold(), without_compaction(tables.place):
        return await to_thread.run_sync(lambda: pack(tables, file, moment))


async def restore(file: Path, uri: str, *, noted_in: str = "") -> int:
    """Put the store of a backup in the place that a uri names, and note that it is there.

    Returns:
        The number of its last commit.

    Raises:
        InvalidInput: it is no whole backup, or something is in that place.
        StoreBusy: another process restores or begins a store there.
        StoreUnwritable: the place cannot be written to, or there is too little room. Nothing was changed.
    """
    tables = Tables(uri)
    folder = tables.folder
    if folder is None:
        raise StoreUnwritable(f"storage.uri {uri!r} is no local folder. Nothing was changed. Import an export there.")
    await to_thread.run_sync(settle, folder)
    await to_thread.run_sync(_refuse_unless_empty, tables, folder)
    async with AsyncExitStack() as held:
        made = held.enter_context(arriving(folder))
        await to_thread.run_sync(unpack, file, made)
        tx = await to_thread.run_sync(check_readable, made)
        await held.enter_async_context(WriteLock(folder, 30.0).hold())
        if tables.log.newest():
            raise StoreBusy(f"Another process began a memory in {str(folder)!r}. Nothing was changed.")
        await to_thread.run_sync(_move_in, made, folder)
        Place(uri, noted_in=noted_in).keep_note()
    tables.reopen()
    return tx


def pack(tables: Tables, file: Path, made: str) -> int:
    """Write a backup of a store as of its last commit, and return the commit's number. Blocking.

    The write lock and the compaction lock must be held: nothing may be written or removed meanwhile.

    Raises:
        InvalidInput: there is nothing to back up.
        StoreUnwritable: the file cannot be written; what stood in its place is as it was.
    """
    last = tables.log.last
    if last is None or tables.folder is None:
        raise InvalidInput("storage.uri", f"nothing is stored in {tables.uri!r}", "Nothing was written.")
    header = {
        "format": KIND,
        "version": VERSION,
        "program": f"mcp-memory {__version__}",
        "made": made,
        "commit": last.tx,
    }
    header |= {"store_format": last.format, "embedder": last.embedder, "dimension": last.dimension}
    paths = [path for path in (tables.folder / BOOK,) if path.exists()]
    names = ["log", "journal", *(f"{name}.lance" for name in sorted(last.tables))]
    folders = [tables.folder / name for name in names if not (tables.folder / name).is_symlink()]
    for path in (path for one in folders for path in sorted(files_below(one))):
        place = path.relative_to(tables.folder).as_posix()
        if (is_of_log(place) or is_of_table(place)) and not path.is_symlink():
            paths.append(path)
    try:
        with whole_file(file) as out, zipfile.ZipFile(out, "w", strict_timestamps=False) as archive:
            archive.writestr(_HEADER, json.dumps(header))
            for path in paths:
                archive.write(path, path.relative_to(tables.folder).as_posix())
    except OSError as error:
        raise StoreUnwritable(
            f"the backup {str(file)!r} cannot be written ({error.strerror or error}). Nothing was changed. "
            "Make room, or name another place."
        ) from None
    return last.tx


def unpack(file: Path, into: Path) -> Mapping[str, Any]:
    """Write the tables of a backup into an empty folder, check every sum, and return its header. Blocking.

    Raises:
        InvalidInput: it is no backup, or not a whole one; the folder may hold a part of it.
        StoreUnwritable: the folder cannot be written to.
    """
    header: Mapping[str, Any] | None = None
    try:
        with zipfile.ZipFile(file) as archive:
            header = _header(archive, file)
            members = archive.infolist()[1:]
            if sum(one.file_size for one in members) > file.stat().st_size:
                raise _no_backup(file, "it says that it holds more than it does")
            for member in members:
                name = member.filename
                if name != BOOK and not is_of_log(name) and not is_of_table(name):
                    raise _no_backup(file, f"{name[:80]!r} is no file of a store")
                _extract(archive, member, into.joinpath(*name.split("/")))
    except _NO_ARCHIVE as error:
        raise _no_backup(file, error) from None
    except OSError as error:
        if header is None:
            problem = f"{file} cannot be read ({error.strerror or error})"
            raise InvalidInput("", problem, "Name a file of `mcp-memory backup`.") from None
        raise StoreUnwritable(
            f"the backup cannot be unpacked into {str(into)!r} ({error.strerror or error}). Nothing was changed. "
            "Make room, or name another place."
        ) from None
    return header


def _header(archive: zipfile.ZipFile, file: Path) -> Mapping[str, Any]:
    first = archive.infolist()[0]
    if first.filename != _HEADER or first.file_size > RECORD_BYTES:
        raise _no_backup(file, "its first member does not say so")
    header = parse_json(archive.read(first).decode())
    if not isinstance(header, dict) or header.get("format") != KIND:
        raise _no_backup(file, "its first member does not say so")
    kinds = {"store_format": int, "commit": int, "dimension": int, "embedder": str, "made": str}
    if header.get("version") != VERSION or any(type(header.get(name)) is not kind for name, kind in kinds.items()):
        raise InvalidInput("", f"{file} is a backup of another version", "Use the mcp-memory that wrote it.")
    if header["store_format"] != FORMAT:
        older = header["store_format"] < FORMAT
        problem = f"{file} holds a store of format {header['store_format']}, this program knows {FORMAT}"
        remedy = "Restore it with the program that wrote it, and export it there." if older else "Update this program."
        raise InvalidInput("", problem, remedy)
    return header


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path) -> None:
    """Write a file of an archive, which must not be there yet."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    with os.fdopen(made, "wb") as out, archive.open(member) as content:
        shutil.copyfileobj(content, out, 1 << 20)
        out.flush()
        os.fsync(out.fileno())


def _no_backup(file: Path, why: object) -> InvalidInput:
    problem = f"{file} is no whole backup of mcp-memory ({why})"
    return InvalidInput("", problem, "Name a file of `mcp-memory backup`, or take another backup.")


def _refuse_unless_empty(tables: Tables, folder: Path) -> None:
    """Refuse a place with a store, whole or not, or with files of others; what processes left there may stay."""
    try:
        there = tables.log.last
    except StoreError:
        there = None
    if there is not None:
        problem = f"there is a memory in {str(folder)!r} already, of {there.tx:,} commits"
        raise InvalidInput("storage.uri", problem, _ELSEWHERE)
    others = [*others_in(folder), *sorted(folder.glob("*.lance")), *(folder / name for name in ("journal", "log"))]
    if found := next((path for path in others if path.exists()), None):
        problem = f"{str(folder)!r} holds other things ({found.relative_to(folder)})"
        raise InvalidInput("storage.uri", problem, _ELSEWHERE)


def check_readable(folder: Path) -> int:
    """Return the number of the last commit of a store, after reading every row of it once. Blocking.

    Raises:
        InvalidInput: it holds none.
        StoreError: a table cannot be read.
    """
    tables = Tables(str(folder))
    last = tables.log.last
    if last is None:
        raise InvalidInput("", "the backup holds no store", "Nothing was changed. Take another backup.")
    for _ in tables.log.entries():
        pass
    for name in last.tables:
        tables.rows(name)
    return last.tx


@contextmanager
def arriving(folder: Path) -> Iterator[Path]:
    """Yield a new folder in that of a store, which is removed in the end.

    Raises:
        StoreBusy: another process does the same.
        StoreUnwritable: it cannot be made.
    """
    made, new = folder / ARRIVING, not folder.exists()
    lock = lock_file(made / _LOCK)
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        settle(folder)
        if made.exists() and any(made.iterdir()):
            raise StoreBusy(
                f"{str(made)!r} is in the way, or another process restores a memory there. Nothing was changed. Wait "
                "for it, or move that folder elsewhere, and try again."
            )
        made.mkdir(mode=0o700, exist_ok=True)
        lock.acquire()
        yield made
    except OSError as error:
        raise StoreUnwritable(
            f"storage.uri {str(folder)!r} cannot be written to ({error.strerror or error}). Nothing was changed. Make "
            "room, give the right to write, or name another folder."
        ) from None
    finally:
        if lock.is_locked:
            lock.release()
            shutil.rmtree(made, ignore_errors=True)
        if new and folder.exists() and {path.name for path in folder.iterdir()} <= {*LOCK_FILES}:
            with suppress(OSError):
                shutil.rmtree(folder)


def _move_in(made: Path, folder: Path) -> None:
    """Move a store that was unpacked and checked to where it belongs, its journal after its tables.

    Raises:
        OSError: it could not be moved.
    """
    (made / _WHOLE).touch()
    for path in sorted(made.iterdir(), key=lambda path: (path.suffix != ".lance", path.name != "journal")):
        if path.name not in (_LOCK, _WHOLE):
            path.rename(folder / path.name)


def settle(folder: Path | None) -> None:
    """End what a process was restoring into a folder when it died, or remove what was not whole."""
    if folder is not None and (folder / ARRIVING / _LOCK).is_file():
        made = folder / ARRIVING
        with suppress(OSError, NotImplementedError):
            if try_lock(lock := lock_file(made / _LOCK)):
                lock.release()
                begun_by_others = (made / "journal").exists() and holds_store(folder)
                if (made / _WHOLE).exists() and not begun_by_others:
                    _move_in(made, folder)
                shutil.rmtree(made)
