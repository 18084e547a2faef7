"""LanceDB's files: where they lie, whether a full disk has cut one short, and whether one was changed.

``tables.py`` says why it matters that a file is whole.

**Sums** (`Sums`) of data files and manifests tell of a change that LanceDB would read as it is: it keeps no sums of its
own, and a flipped byte inside a text is another text. A data file never changes once it is there, nor does a manifest,
so its CRC-32 is noted beside the tables when it was written, in a line of ``sums.txt`` that has a sum itself, and
compared whenever rows are read for the first time or are about to be merged. It takes 14 ms for 100 MB. A file without
a line is taken as it is: an older program wrote it; the next compaction notes it.
"""

from __future__ import annotations

import logging
import os
import re
import struct
import zlib
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mcp_memory.files import whole_file
from mcp_memory.storage.own_files import ensure_own, open_unlinked

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
    except (OSError, ValueError, struct.error):  # shorter than a footer, or the start is none
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
    """Return the manifests of a table by version, the newest first; none if the store is not local.

    What another program put beside them, such as "7 (conflicted copy).manifest", is none.
    """
    files = list((folder / f"{name}.lance" / "_versions").glob("*.manifest")) if folder is not None else []
    numbers = {int(path.stem): path for path in files if path.stem.isdecimal()}
    found = {NEWEST - number if number > NEWEST >> 1 else number: path for number, path in numbers.items()}
    return dict(sorted(found.items(), reverse=True))


def manifest_of(folder: Path, name: str, version: int) -> Path:
    """Return the manifest of one version of a table."""
    return folder / f"{name}.lance" / "_versions" / f"{NEWEST - version}.manifest"


def error_text(error: object) -> str:
    """Return LanceDB's error message without the positions in its own source."""
    return re.sub(r",? ?\S+\.rs:\d+(:\d+)?", "", str(error)).strip().rstrip(".")


SUMS = "sums.txt"
PIECE = 1 << 18
"""Bytes read at once."""
_log = logging.getLogger(__name__)


class Sums:
    """The sums of one store's data files.

    Args:
        folder: of the store; None for a store that is no local folder, which has none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._own = False  # whether the file of sums is known to be
        self._right: dict[str, tuple[int, int]] = {}  # by file: time of change and size when its sum was right
        self._lines: tuple[tuple[int, int], dict[str, int]] = ((0, 0), {})  # the list's state, as above, and its sums

    def note(self, files: Iterable[Path]) -> None:
        """Note files that were just written; one that another process is still writing is left out."""
        if self._folder is None:
            return
        lines = b"".join(self._line(file) for file in files if _is_manifest(file) or is_complete(file))
        try:
            if not self._own:
                ensure_own(self._folder / SUMS)
                self._own = True
            file = open_unlinked(self._folder / SUMS, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            try:
                os.write(file, lines)
            finally:
                os.close(file)
        except OSError as error:  # the rows are stored; only a change of them would not be noticed
            _log.warning("%s cannot be written: %s", self._folder / SUMS, error)

    def wrong(self, names: Iterable[str]) -> dict[str, list[Path]]:
        """Return the files of tables that look whole and are not what was written, by the name of the table.

        What is gone or cut short LanceDB notices itself; perhaps no commit ever counted its rows. Of the manifests only
        the newest is looked at.
        """
        known = self._known()
        found: dict[str, list[Path]] = {}
        for name in names:
            if files := [file for file in self._files(name) if self._is_wrong(file, known)]:
                found[name] = files
        return found

    def ensure_manifest(self, name: str) -> None:
        """Make sure that a table's newest manifest is what was written: LanceDB panics on many a damaged one.

        Raises:
            OSError: it is damaged.
        """
        file = next(iter(manifests_of(self._folder, name).values()), None)
        if file is not None and (not is_complete_manifest(file) or self._is_wrong(file, self._known())):
            raise OSError(f"{file.name} is damaged")

    def tidy(self, names: Iterable[str]) -> None:
        """Drop the lines of files that are gone, and add those of files of some tables that have none."""
        if self._folder is None:
            return
        known = self._known()
        there = [file for name in names for file in self._files(name) if _is_manifest(file) or is_complete(file)]
        kept = [_text(self._name(file), sum_) for file in there if (sum_ := known.get(self._name(file))) is not None]
        new = [self._line(file) for file in there if self._name(file) not in known]
        self._rewrite(self._folder, (*kept, *new))

    def forget(self, name: str) -> None:
        """Drop the lines of a table that was removed: the versions of one of that name are numbered from 1 again."""
        if self._folder is not None:
            known, prefix = self._known(), f"{name}.lance/"
            if any(file.startswith(prefix) for file in known):
                kept = [_text(file, sum_) for file, sum_ in known.items() if not file.startswith(prefix)]
                self._rewrite(self._folder, kept)

    def _rewrite(self, folder: Path, lines: Iterable[bytes]) -> None:
        try:
            ensure_own(folder / SUMS)
            with whole_file(folder / SUMS) as out:
                out.writelines(lines)
        except OSError as error:
            _log.warning("%s cannot be written: %s", folder / SUMS, error)

    def _is_wrong(self, file: Path, known: dict[str, int]) -> bool:
        name = self._name(file)
        if name not in known:
            return False
        try:
            status = file.stat()
            state = status.st_mtime_ns, status.st_size
            if self._right.get(name) == state:
                return False
            if _sum(file) != known[name]:
                return _is_manifest(file) or is_complete(file)
        except OSError:
            return False
        self._right[name] = state
        return False

    def _files(self, name: str) -> Iterator[Path]:
        yield from sorted(self._folder.glob(f"{name}.lance/data/*.lance")) if self._folder is not None else ()
        yield from list(manifests_of(self._folder, name).values())[:1]

    def _name(self, file: Path) -> str:
        return file.relative_to(self._folder or file).as_posix()

    def _line(self, file: Path) -> bytes:
        try:
            return _text(self._name(file), _sum(file))
        except OSError:  # a compaction has removed it
            return b""

    def _known(self) -> dict[str, int]:
        """Return the sums by file."""
        try:
            status = (self._folder / SUMS).stat() if self._folder is not None else None
            state = (status.st_mtime_ns, status.st_size) if status is not None else (0, 0)
            if state != self._lines[0]:
                self._lines = state, self._read()
        except OSError:
            return {}
        return self._lines[1]

    def _read(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for line in ((self._folder or Path()) / SUMS).read_bytes().splitlines():
            own, _, content = line.partition(b" ")
            if own == b"%08x" % zlib.crc32(content):
                sum_, _, name = content.partition(b" ")
                found[name.decode()] = int(sum_, 16)
        return found


def _is_manifest(file: Path) -> bool:
    return file.suffix == ".manifest"


def _sum(file: Path) -> int:
    """Return the CRC-32 of a file; a piece at a time, since memory for all of it takes longer than the sum."""
    sum_, buffer = 0, memoryview(bytearray(PIECE))
    with file.open("rb", buffering=0) as opened:
        while size := opened.readinto(buffer):
            sum_ = zlib.crc32(buffer[:size], sum_)
    return sum_


def _text(name: str, sum_: int) -> bytes:
    content = b"%08x %s" % (sum_, name.encode())
    return b"%08x %s\n" % (zlib.crc32(content), content)
