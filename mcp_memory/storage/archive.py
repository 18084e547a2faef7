"""A backup of a store in one file: an exact copy of its tables at one commit, with a sum of each file.

The file is a tar archive without compression (a store is vectors, which hardly get smaller). Its first member says what
it is, its last one has the SHA-256 of all others, so half a file, a damaged one and one of another program are told
apart from a backup before anything is done with it. It is written beside its place and moved there when it is complete.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import IO, Any

from mcp_memory.errors import InvalidInput, StoreUnwritable
from mcp_memory.storage.commits import last_commit
from mcp_memory.storage.data_files import files_below
from mcp_memory.storage.schema import COMMITS, FORGOTTEN, FORMAT
from mcp_memory.storage.tables import Tables

KIND = "mcp-memory backup"
VERSION = 1
_HEADER, _SUMS = "backup.json", "sums.json"
_MOST = 1 << 20
"""Bytes of the first member at most."""
_PIECE = 1 << 20
_HALF = "it was cut short or changed. Take another backup"


class _Hashing(io.RawIOBase):
    """Reads a file and hashes what it reads."""

    def __init__(self, file: IO[bytes]) -> None:
        self.sum = hashlib.sha256()
        self._file = file

    def read(self, size: int = -1) -> bytes:
        """See `io.RawIOBase`."""
        piece = self._file.read(size)
        self.sum.update(piece)
        return piece


def pack(tables: Tables, file: Path, *, program: str, made: str) -> int:
    """Write a backup of a store as of its last commit, and return the commit's number. Blocking.

    The write lock and the compaction lock must be held: nothing may be written or removed meanwhile.

    Args:
        tables: of the store, a local folder.
        file: to write; an earlier one is replaced when this one is complete.
        program: name and version of this program.
        made: the moment, in ISO 8601.

    Raises:
        InvalidInput: there is nothing to back up.
        StoreUnwritable: the file cannot be written; what stood in its place is as it was.
    """
    last = last_commit(tables)
    if last is None or tables.folder is None:
        raise InvalidInput("storage.uri", f"nothing is stored in {tables.uri!r}", "Nothing was written.")
    header = {"format": KIND, "version": VERSION, "program": program, "made": made, "commit": last.tx}
    header |= {"store_format": last.format, "embedder": last.embedder, "dimension": last.dimension}
    names = {f"{name}.lance" for name in (*last.tables, COMMITS, FORGOTTEN)}
    paths = [path for name in sorted(names) for path in sorted(files_below(tables.folder / name))]
    part = file.with_name(f".{file.name}.{os.getpid()}.part")
    sums: dict[str, str] = {}
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
            with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
                _add(archive, _HEADER, json.dumps(header).encode())
                for path in paths:
                    name = path.relative_to(tables.folder).as_posix()
                    with path.open("rb") as content:
                        hashing = _Hashing(content)
                        info = tarfile.TarInfo(name)
                        info.size, info.mode = os.fstat(content.fileno()).st_size, 0o600
                        archive.addfile(info, hashing)
                    sums[name] = hashing.sum.hexdigest()
                _add(archive, _SUMS, json.dumps(sums).encode())
            out.flush()
            os.fsync(out.fileno())
        part.replace(file)
    except OSError as error:
        raise StoreUnwritable(
            f"the backup {str(file)!r} cannot be written ({error.strerror or error}). Nothing was changed. "
            "Make room, or name another place."
        ) from None
    finally:
        part.unlink(missing_ok=True)
    return last.tx


def read_header(file: Path) -> Mapping[str, Any]:
    """Return what the first member of a backup says.

    Raises:
        InvalidInput: it is no backup, or one that this program cannot read.
    """
    try:
        with tarfile.open(file, "r:") as archive:
            return _header(archive, archive.next(), file)
    except (tarfile.TarError, OSError, EOFError) as error:
        raise _foreign(file, error) from None


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
                content = archive.extractfile(member)
                if content is None or written is not None:
                    raise _damaged(file, f"{member.name[:80]!r} does not belong there")
                if member.name == _SUMS:
                    written = json.loads(content.read())
                    continue
                sums[member.name] = _extract(content, _target(file, member.name, into))
    except (tarfile.TarError, EOFError, ValueError) as error:
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
    content = archive.extractfile(first) if first is not None and first.name == _HEADER and first.size < _MOST else None
    try:
        header = json.loads(content.read()) if content is not None else None
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("format") != KIND:
        raise _foreign(file, "its first member does not say so")
    if header.get("version") != VERSION or not isinstance(header.get("store_format"), int):
        raise InvalidInput("FILE", f"{file} is a backup of another version", "Use the mcp-memory that wrote it.")
    if header["store_format"] > FORMAT:
        problem = f"{file} holds a store of format {header['store_format']}, this program knows {FORMAT}"
        raise InvalidInput("FILE", problem, "Update this program.")
    return header


def _target(file: Path, name: str, into: Path) -> Path:
    """Return where a member goes; only files of tables are members."""
    parts = PurePosixPath(name).parts
    if len(parts) < 2 or not parts[0].endswith(".lance") or ".." in parts or name.startswith("/") or "\\" in name:
        raise _damaged(file, f"{name[:80]!r} is no file of a table")
    return into.joinpath(*parts)


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
