"""Backups: a whole store into one file, and its files out of it again.

**The file** has an exact copy of the tables at one commit, with a sum of each of their files. It is a tar archive
without compression (a store is vectors, which hardly get smaller). Its first member says what it is, its last one has
the SHA-256 of all others, so half a file, a damaged one and one of another program are told apart from a backup before
anything is done with it. It is written beside its place and moved there when it is complete.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import AsyncIterator, Mapping
from contextlib import ExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from anyio import to_thread

from mcp_memory import __version__
from mcp_memory.bounds import RECORD_BYTES, parse_json
from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput, StoreUnwritable
from mcp_memory.files import whole_file
from mcp_memory.storage import lock
from mcp_memory.storage.forgotten import BOOK
from mcp_memory.storage.lock import WriteLock
from mcp_memory.storage.own_files import is_of_log, is_of_table, own_files
from mcp_memory.storage.schema import FORMAT
from mcp_memory.storage.tables import Tables

KIND = "mcp-memory backup"
VERSION = 1
_HEADER, _SUMS = "backup.json", "sums.json"
_PIECE = 1 << 20
_NO_ARCHIVE = (tarfile.TarError, EOFError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError)
"""What tarfile raises over a file that is no archive, or a damaged one."""
_HALF = "it was cut short or changed. Take another backup"


def pack(tables: Tables, file: Path, made: str) -> int:
    """Write a backup of a store as of its last commit, and return the commit's number. Blocking.

    The write lock and the compaction lock must be held: nothing may be written or removed meanwhile.

    Args:
        tables: the tables of the store, a local folder.
        file: the file to write; an earlier one is replaced when this one is complete.
        made: the moment, in ISO 8601.

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
    paths += [path for name in names for path in sorted(own_files(tables.folder / name, name))]
    sums: dict[str, str] = {}
    try:
        with (
            whole_file(file) as out,
            tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive,
        ):
            _add(archive, _HEADER, json.dumps(header).encode())
            for path in paths:
                name = path.relative_to(tables.folder).as_posix()
                with path.open("rb") as content:
                    sums[name] = hashlib.file_digest(content, "sha256").hexdigest()
                    info = tarfile.TarInfo(name)
                    info.size, info.mode = content.tell(), 0o600
                    content.seek(0)
                    archive.addfile(info, content)
            _add(archive, _SUMS, json.dumps(sums).encode())
    except OSError as error:
        raise StoreUnwritable(
            f"the backup {str(file)!r} cannot be written ({error.strerror or error}). Nothing was changed. "
            "Make room, or name another place."
        ) from None
    return last.tx


def is_backup(first: bytes) -> bool:
    """Return whether a file with these first bytes, 2,048 or more, is a backup."""
    return first.startswith(f"{_HEADER}\0".encode()) and KIND.encode() in first


def unpack(file: Path, into: Path) -> Mapping[str, Any]:
    """Write the tables of a backup into an empty folder, check every sum, and return its header. Blocking.

    Raises:
        InvalidInput: it is no backup, or not a whole one; the folder may hold a part of it.
        StoreUnwritable: the folder cannot be written to.
    """
    sums: dict[str, str] = {}
    written: dict[str, str] | None = None
    header: Mapping[str, Any] | None = None
    try:
        with tarfile.open(file, "r:") as archive:
            header = _header(archive, archive.next(), file)
            while (member := archive.next()) is not None:
                content = _content(archive, member)
                if content is None or written is not None:
                    raise _damaged(file, f"{member.name[:80]!r} does not belong there")
                if member.name == _SUMS:
                    written = parse_json(content.read(RECORD_BYTES).decode())
                    continue
                if member.name != BOOK and not is_of_log(member.name) and not is_of_table(member.name):
                    raise _damaged(file, f"{member.name[:80]!r} is no file of a store")
                sums[member.name] = _extract(content, into.joinpath(*member.name.split("/")))
    except _NO_ARCHIVE as error:
        raise (_damaged(file, str(error)) if header else _foreign(file, error)) from None
    except OSError as error:
        if header is None:
            raise _foreign(file, error) from None
        raise StoreUnwritable(
            f"the backup cannot be unpacked into {str(into)!r} ({error.strerror or error}). Nothing was changed. "
            "Make room, or name another place."
        ) from None
    if written is None or written != sums:
        raise _damaged(file, "its sums are missing" if written is None else "its content is not that of its sums")
    return header


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size, info.mode = len(content), 0o600
    archive.addfile(info, io.BytesIO(content))


def _header(archive: tarfile.TarFile, first: tarfile.TarInfo | None, file: Path) -> Mapping[str, Any]:
    content = _content(archive, first) if first is not None and first.name == _HEADER else None
    try:
        header = parse_json(content.read(RECORD_BYTES).decode()) if content is not None else None
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != KIND:
        raise _foreign(file, "its first member does not say so")
    kinds = {"store_format": int, "commit": int, "dimension": int, "embedder": str, "made": str}
    if header.get("version") != VERSION or any(type(header.get(name)) is not kind for name, kind in kinds.items()):
        raise InvalidInput("FILE", f"{file} is a backup of another version", "Use the mcp-memory that wrote it.")
    if header["store_format"] < FORMAT:
        problem = f"{file} holds a store of format {header['store_format']}, this program knows {FORMAT}"
        raise InvalidInput("FILE", problem, "Restore it with the program that wrote it, and export it there.")
    if header["store_format"] > FORMAT:
        problem = f"{file} holds a store of format {header['store_format']}, this program knows {FORMAT}"
        raise InvalidInput("FILE", problem, "Update this program.")
    return header


def _content(archive: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes] | None:
    """Return what a member holds, which is no more than the archive; None for a link, or one of holes."""
    return archive.extractfile(member) if member.isreg() and not member.issparse() else None


def _extract(content: IO[bytes], path: Path) -> str:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    hashed = hashlib.sha256()
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        while piece := content.read(_PIECE):
            hashed.update(piece)
            out.write(piece)
        out.flush()
        os.fsync(out.fileno())
    return hashed.hexdigest()


def _foreign(file: Path, why: object) -> InvalidInput:
    if isinstance(why, OSError) and not file.is_file():
        return InvalidInput("FILE", f"{file} cannot be read ({why.strerror or why})", "Name a backup.")
    return InvalidInput("FILE", f"{file} is no backup of mcp-memory ({why})", "Name a file of `mcp-memory backup`.")


def _damaged(file: Path, why: str) -> InvalidInput:
    return InvalidInput("FILE", f"{file} is no whole backup ({why})", f"{_HALF[0].upper()}{_HALF[1:]}.")


def fold(tables: Tables) -> None:
    """Let every row be in its table; the write lock must be held."""
    with tables.write_errors():
        tables.log.fold(tables.take_over)


@asynccontextmanager
async def still(tables: Tables, writing: WriteLock) -> AsyncIterator[None]:
    """Hold the write lock and the compaction lock of a store: no file of it changes or goes meanwhile."""
    async with writing.hold(), without_compaction(tables):
        yield


@asynccontextmanager
async def without_compaction(tables: Tables) -> AsyncIterator[None]:
    """Hold the compaction lock, see `lock.without_compaction`."""
    with ExitStack() as held:
        await to_thread.run_sync(lambda: held.enter_context(lock.without_compaction(tables.folder)))
        yield


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
    async with still(tables, WriteLock(tables.folder, lock_timeout_s)):
        return await to_thread.run_sync(lambda: pack(tables, file, moment))
