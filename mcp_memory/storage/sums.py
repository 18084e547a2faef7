"""Sums of data files and manifests, by which a change is noticed that LanceDB would read as it is.

LanceDB keeps no sums of its own: a flipped byte inside a text is another text. A data file never changes once it is
there, nor does a manifest, so its CRC-32 is noted beside the tables when it was written, in a line of ``sums.txt`` that
has a sum itself, and compared whenever rows are read for the first time or are about to be merged. It takes 14 ms for
100 MB. A file without a line is taken as it is: an older program wrote it; the next compaction notes it.
"""

from __future__ import annotations

import logging
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from mcp_memory.storage.data_files import is_complete, is_complete_manifest, manifests_of

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
        self._right: dict[str, tuple[int, int]] = {}  # by file: time of change and size when its sum was right
        self._lines: tuple[tuple[int, int], dict[str, int]] = (
            (0, 0),
            {},
        )  # state of the list as above, and its sums

    def note(self, files: Iterable[Path]) -> None:
        """Note files that were just written; one that another process is still writing is left out."""
        if self._folder is None:
            return
        lines = b"".join(self._line(file) for file in files if _is_manifest(file) or is_complete(file))
        try:
            binary = getattr(os, "O_BINARY", 0)  # else Windows writes two characters for a line's end
            file = os.open(self._folder / SUMS, os.O_WRONLY | os.O_APPEND | os.O_CREAT | binary, 0o600)
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
        made = folder / f"{SUMS}.new"
        try:
            made.write_bytes(b"".join(lines))
            made.replace(folder / SUMS)
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
