"""LanceDB's files: where they lie, and whether a full disk has cut one short (``tables.py`` says why that matters)."""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

Table = Any
"""A table of LanceDB, which comes without types."""

FAILURES = (OSError, RuntimeError, ValueError, LookupError, ArithmeticError)
"""What LanceDB raises when a file cannot be read or written; see also `no_panics`."""
FOOTER = struct.Struct("<QQQIIHH4s")
"""Lance's file format 2, "Footer": where columns, their offsets and the offsets of the global buffers begin; how many
buffers and columns there are; the format's version; and a magic number."""
MAGIC = b"LANC"
MANIFEST_FOOTER, MANIFEST_LENGTH = struct.Struct("<QHH4s"), struct.Struct("<I")
"""A manifest ends with where its message begins, the format's version and the magic number; the message begins with its
length in bytes."""
BUFFER_OFFSET = 16
"""Bytes for the position and size of one global buffer; this list is the last thing before the footer."""


PANICS = ("PanicException", "RustPanic")
"""Names of the classes by which libraries of Rust raise a panic, the second one in a task of theirs; each library has
classes of its own by these names, and the first is no `Exception`."""


@contextmanager
def no_panics() -> Iterator[None]:
    """Raise a panic inside LanceDB, which is no `Exception`, as one of `FAILURES`; damaged files cause it.

    Raises:
        RuntimeError: LanceDB panicked.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ not in PANICS:
            raise
        raise RuntimeError(f"a damaged file: {error}") from error


def ensure_complete(table: Table, files: Collection[Path]) -> None:
    """Make sure that the rows just appended to a table can be read.

    A data file ends with its index, and the last forty bytes state where that begins: if they exist and agree with the
    file's length, nothing was cut off. Reading them takes 0.03 ms, but reading a row through LanceDB takes 3, or 10 on
    a busy machine, while the store's lock is held.

    Args:
        table: at the version that the append made.
        files: new in its folder. A concurrent compaction may have put unfinished files there: when any file does not
            look complete, or there is none, LanceDB reads the last row that was appended.

    Raises:
        OSError, RuntimeError, ValueError: the file was cut short.
    """
    if not files or not all(map(is_complete, files)):
        table.search().offset(max(0, table.count_rows() - 1)).limit(1).select(["tx"]).to_arrow()


def is_complete(file: Path) -> bool:
    """Return whether a data file ends with a footer that agrees with the file's length."""
    try:
        with file.open("rb") as opened:
            opened.seek(-FOOTER.size, 2)
            *_, offsets, buffers, _, _, _, magic = FOOTER.unpack(opened.read())
            return bool(magic == MAGIC and offsets + buffers * BUFFER_OFFSET + FOOTER.size == opened.tell())
    except (OSError, struct.error):  # shorter than a footer
        return False


def is_complete_manifest(file: Path) -> bool:
    """Return whether a manifest ends with a footer that agrees with the file's length."""
    try:
        with file.open("rb") as opened:
            opened.seek(-MANIFEST_FOOTER.size, 2)
            start, _, _, magic = MANIFEST_FOOTER.unpack(opened.read())
            opened.seek(start)
            (size,) = MANIFEST_LENGTH.unpack(opened.read(MANIFEST_LENGTH.size))
            end = start + MANIFEST_LENGTH.size + size + MANIFEST_FOOTER.size
            return bool(magic == MAGIC and end == opened.seek(0, 2))
    except (OSError, OverflowError, struct.error):  # shorter than a footer, or the start is none
        return False


def is_readable(table: Table) -> bool:
    """Return whether every file of a table has its index."""
    try:
        with no_panics():
            table.search().select(["tx"]).to_arrow()
    except FAILURES:
        return False
    return True


def table_names(connection: Any) -> list[str]:
    """Return the names of all tables of a connection."""
    names: list[str] = []
    token = None
    while True:
        page = connection.list_tables(page_token=token)
        names += page.tables
        token = page.page_token
        if not token:
            return names


NEWEST = (1 << 64) - 1
"""LanceDB names the manifest of version n by this number minus n, so that the newest comes first."""


def manifests_of(folder: Path | None, name: str) -> dict[int, Path]:
    """Return the manifests of a table by version, the newest first; none if the store is not local."""
    files = list((folder / f"{name}.lance" / "_versions").glob("*.manifest")) if folder is not None else []
    found = {NEWEST - number if (number := int(path.stem)) > NEWEST >> 1 else number: path for path in files}
    return dict(sorted(found.items(), reverse=True))


def manifest_of(folder: Path, name: str, version: int) -> Path:
    """Return the manifest of one version of a table."""
    return folder / f"{name}.lance" / "_versions" / f"{NEWEST - version}.manifest"


def local_folder(uri: str) -> Path | None:
    """Return the folder that a uri names, or None if it names no local one."""
    if uri.startswith("file:"):
        from urllib.request import url2pathname

        return Path(url2pathname(urlsplit(uri).path))
    return None if "://" in uri else Path(uri).expanduser().absolute()


def error_text(error: object) -> str:
    """Return LanceDB's error message without the positions in its own source."""
    return re.sub(r",? ?\S+\.rs:\d+(:\d+)?", "", str(error)).strip().rstrip(".")


ASIDE = ".damaged"
"""Ending of the names of files that a repair has set aside."""
MOVED = "moved.json"
"""The note that a store leaves when it is moved: where it is now. Whoever opens the old place is led there."""


def moved_to(folder: Path | None) -> Path | None:
    """Return where the store of a folder is now."""
    for _ in range(8):
        try:
            note = json.loads((folder / MOVED).read_text("utf-8")) if folder is not None else None
        except (OSError, ValueError):
            return folder
        if note is None:
            return None
        folder = Path(note["to"])
    return folder


def flush(folder: Path) -> None:
    """Wait until everything that was written to a store is on the disk, so that what it replaces may be removed.

    LanceDB hands its files to the system, which writes them to the disk within about half a minute. Compaction removes
    the files that the merge before last has replaced; if the merged files were not on the disk yet, a power loss could
    take old rows with it. This costs nothing for files that are on the disk already. Windows cannot flush a file that
    is open for reading.
    """
    if os.name != "posix":
        return
    for parent, _, names in os.walk(folder):
        for name in (".", *names):
            try:
                descriptor = os.open(Path(parent, name), os.O_RDONLY)
            except FileNotFoundError:  # removed meanwhile
                continue
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
