"""Sums of the files of tables: they tell of a change that LanceDB would read as it is.

It keeps no sums of its own, and a flipped byte inside a text is another text. None of its files changes once it is
there, so its CRC-32 is noted in a line of ``sums.txt`` beside the tables when it was written, and compared before the
tables are read for the first time or merged. It takes 14 ms for 100 MB. A file without a line is taken as it is; the
next compaction notes it.
"""

from __future__ import annotations

import logging
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from mcp_memory.files import whole_file
from mcp_memory.storage.own_files import ensure_own, open_unlinked

SUMS = "sums.txt"
PIECE = 1 << 18
"""Bytes read at once."""
MAGIC = b"LANC"
"""The end of every whole file of LanceDB; a full disk cuts files short without an error."""
_log = logging.getLogger(__name__)


def is_complete(file: Path) -> bool:
    """Return whether a file of a table was written to its end."""
    try:
        with file.open("rb", buffering=0) as opened:
            opened.seek(-len(MAGIC), os.SEEK_END)
            return opened.read() == MAGIC
    except OSError:  # shorter than that
        return False


class Sums:
    """The sums of one store's files.

    Args:
        folder: of the store; None for a store that is no local folder, which has none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._own = False  # whether the file of sums is known to be
        self._right: dict[str, tuple[int, int]] = {}  # by file: time of change and size when its sum was right
        self._read: tuple[tuple[int, int], dict[str, int]] = (0, 0), {}  # the state of the list, and what it holds

    def note(self, files: Iterable[Path]) -> None:
        """Note files that were just written; one that another process is still writing is left out."""
        if self._folder is None:
            return
        lines = b"".join(self._line(file) for file in files if is_complete(file))
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

    def wrong(self, names: Iterable[str]) -> set[str]:
        """Return the names of tables that have a file that looks whole and is not what was written.

        What is gone or cut short LanceDB notices itself; perhaps no commit ever counted its rows.
        """
        return {name for name in names if any(map(self._is_wrong, self._files(name)))}

    def ensure_newest(self, name: str) -> None:
        """Make sure that a table's newest version is what was written: LanceDB panics on many a damaged one.

        Raises:
            OSError: it is damaged.
        """
        newest = next(self._manifests(name), None)
        if newest is not None and (not is_complete(newest) or self._is_wrong(newest)):
            raise OSError(f"{newest.name} is damaged")

    def tidy(self, names: Iterable[str]) -> None:
        """Drop the lines of files that are gone, and add those of files of some tables that have none."""
        if self._folder is None:
            return
        known, lines = self._known(), list[bytes]()
        for file in (one for name in names for one in self._files(name) if is_complete(one)):
            sum_ = known.get(self._name(file))
            lines.append(self._line(file) if sum_ is None else _text(self._name(file), sum_))
        self._rewrite(lines)

    def forget(self, name: str) -> None:
        """Drop the lines of a table that was removed: the versions of one of that name are numbered from 1 again."""
        known, prefix = self._known(), f"{name}.lance/"
        if any(file.startswith(prefix) for file in known):
            self._rewrite(_text(file, sum_) for file, sum_ in known.items() if not file.startswith(prefix))

    def _rewrite(self, lines: Iterable[bytes]) -> None:
        file = (self._folder or Path()) / SUMS
        try:
            ensure_own(file)
            with whole_file(file) as out:
                out.writelines(lines)
        except OSError as error:
            _log.warning("%s cannot be written: %s", file, error)

    def _is_wrong(self, file: Path) -> bool:
        name, known = self._name(file), self._known()
        try:
            status = file.stat()
            state = status.st_mtime_ns, status.st_size
            if name not in known or self._right.get(name) == state:
                return False
            if _sum(file) != known[name]:
                return is_complete(file) or file.suffix == ".manifest"
        except OSError:
            return False
        self._right[name] = state
        return False

    def _files(self, name: str) -> Iterator[Path]:
        """Yield the data files of a table and its newest manifest."""
        yield from sorted(self._folder.glob(f"{name}.lance/data/*.lance")) if self._folder is not None else ()
        if newest := next(self._manifests(name), None):
            yield newest

    def _manifests(self, name: str) -> Iterator[Path]:
        """Return the manifests of a table, which LanceDB names so that the newest comes first.

        What another program put beside them, such as "7 (conflicted copy).manifest", is none.
        """
        found = sorted(self._folder.glob(f"{name}.lance/_versions/*.manifest")) if self._folder is not None else []
        return (file for file in found if file.stem.isdecimal())

    def _name(self, file: Path) -> str:
        return file.relative_to(self._folder or file).as_posix()

    def _line(self, file: Path) -> bytes:
        try:
            return _text(self._name(file), _sum(file))
        except OSError:  # a compaction has removed it
            return b""

    def _known(self) -> dict[str, int]:
        """Return the sums by file; a line that is damaged counts as none."""
        if self._folder is None:
            return {}
        try:
            status = (self._folder / SUMS).stat()
            if (state := (status.st_mtime_ns, status.st_size)) != self._read[0]:
                found: dict[str, int] = {}
                for line in (self._folder / SUMS).read_bytes().splitlines():
                    own, _, content = line.partition(b" ")
                    sum_, _, name = content.partition(b" ")
                    if own == b"%08x" % zlib.crc32(content):
                        found[name.decode()] = int(sum_, 16)
                self._read = state, found
        except OSError:
            return {}
        return self._read[1]


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
