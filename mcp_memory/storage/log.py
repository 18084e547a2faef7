"""The log: each commit as one line with a sum, at the end of one file. It is the truth; all tables follow from it.

A line holds the commit and its rows of every kind that nothing else yields (`LOG_KINDS`). Rows of the tables carry the
number of their commit and are appended before; with the line they become visible, so writing the line *is* the commit.
Half a line at the end was never acknowledged: the next writer removes it. A whole one whose sum is wrong is damage, as
is a number that is missing: both are counted, the others are read, and nothing is written until a repair
(``damage.py``).

**The anchor** is the number of the newest commit in a file of its own, written over after each one, so that a log that
was cut off, or replaced by an older one, is noticed as well.

Only the holder of the write lock changes the file: it appends, and a forget replaces it by one without some rows.
On object storage the log consists of objects (``bucket_log.py``).
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import stat
import threading
import zlib
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from mcp_memory.errors import StoreBusy
from mcp_memory.files import whole_file
from mcp_memory.storage.own_files import ensure_own, is_own, open_unlinked
from mcp_memory.storage.rows import rows_of as table_rows
from mcp_memory.storage.schema import LOG_KINDS, Commit, LogKind, RowKind, TableRows, with_tx

LOG = "memory.log"
ANCHOR = "memory.anchor"
_DEFAULTS = frozenset(one.name for one in fields(Commit) if one.default is not MISSING)
"""Fields of a commit that a line lacks where they say nothing."""
_NUMBER = re.compile(rb'\{"tx":(\d+),')
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """One commit of the log.

    Attributes:
        commit: the commit.
        rows: its rows, by kind: as they stand in a line, or as a table of Arrow.
        whole: whether the rows of its tables are here as well, which may not be in the tables yet.
    """

    commit: Commit
    rows: Mapping[RowKind, Any]
    whole: bool = False


class Log:
    """What the logs of a folder and of object storage have in common.

    Attributes:
        shared: whether every row stands here first, so that servers on several machines can write.
        forgetting: whether something was being forgotten at the last look; known only where it is shared.
        edition: how often the log was found to be another one: after a forget, or since another store is in its place.
    """

    shared = False
    forgetting = False
    edition = 0

    def newest(self) -> int:
        """Look for new commits, and return the number of the newest; 0 for none. Some microseconds in a folder."""
        raise NotImplementedError

    @property
    def seen(self) -> int:
        """The number of the newest commit, on object storage as of the last look."""
        return self.newest()

    @property
    def last(self) -> Commit | None:
        """The newest commit."""
        raise NotImplementedError

    def entries(self, after: int = 0, until: int | None = None) -> Iterator[Entry]:
        """Yield the commits after a number, up to another, that can be read, in order.

        Raises:
            StoreBusy: the log was replaced meanwhile.
        """
        raise NotImplementedError

    def commits(self, after: int = 0, until: int | None = None) -> Iterator[Commit]:
        """Yield the same without their rows."""
        return (entry.commit for entry in self.entries(after, until))

    def rows(self, kind: LogKind, after: int = 0, until: int | None = None) -> TableRows | None:
        """Return their rows of a kind; None for none."""
        return rows_of(self.entries(after, until), kind)

    @property
    def problem(self) -> str:
        """In words what is damaged; empty if nothing is."""
        return ""

    def append(self, commit: Commit, rows: Mapping[RowKind, TableRows]) -> None:
        """Make a commit.

        Raises:
            StoreBusy: another server made one of this number.
            OSError: it is not there, now or later.
        """
        raise NotImplementedError

    def replace(self, entries: Iterable[Entry], switch: Entry) -> None:
        """Put other entries, and a last one after them, in the place of all. Either all is done or nothing."""
        raise NotImplementedError

    def clear(self) -> None:
        """Remove what `replace` left of the former log."""

    def unfolded(self) -> int:
        """Return how many commits have rows here that are in no table yet."""
        return 0

    def fold(self, append: Callable[[str, TableRows], object]) -> None:
        """Append these rows to their tables. The write lock must be held.

        Args:
            append: appends rows to the table of a name.
        """

    def begin_forgetting(self) -> None:
        """Tell other servers to wait; on one machine they see what is written down."""

    def end_forgetting(self) -> None:
        """Let the others go on."""


class LocalLog(Log):
    """The log of a store in a folder. Any thread may use it.

    Args:
        folder: the folder of the store.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOG
        self._anchor = folder / ANCHOR
        self._lock = threading.RLock()
        self._state = 0, 0, 0  # of the file: its number, size and time at the last look
        self._end = self._unread = 0  # where the last whole line ends; how many lines cannot be read
        self._numbers, self._starts = array("q"), array("q")  # of the lines that can be: commit, and place in the file

    def newest(self) -> int:
        """See `Log.newest`."""
        with self._lock:
            self._look()
            return self._numbers[-1] if self._numbers else 0

    @property
    def last(self) -> Commit | None:
        """See `Log.last`."""
        return next(self.commits(newest - 1), None) if (newest := self.newest()) else None

    def entries(self, after: int = 0, until: int | None = None) -> Iterator[Entry]:
        """See `Log.entries`."""
        return (_entry(line) for line in self._lines(after, until))

    def commits(self, after: int = 0, until: int | None = None) -> Iterator[Commit]:
        """See `Log.commits`."""
        return (_commit(line) for line in self._lines(after, until))

    def _lines(self, after: int, until: int | None) -> Iterator[bytes]:
        with self._lock:
            self._look()
            first = bisect_right(self._numbers, after)
            count = (len(self._numbers) if until is None else bisect_right(self._numbers, until)) - first
            if count <= 0:
                return
            start, number = self._starts[first], self._state[0]
        try:
            with self._path.open("rb") as file:
                if os.fstat(file.fileno()).st_ino != number:
                    raise FileNotFoundError
                file.seek(start)
                for line in file:
                    if count and number_of(line) is not None:
                        count -= 1
                        yield line
                    if not count:
                        return
        except FileNotFoundError:
            pass
        raise StoreBusy("The memory was changed while it was read. Try again.")

    @property
    def problem(self) -> str:
        """See `Log.problem`."""
        noted = self._noted()  # before the newest commit, which is never older
        with self._lock:
            newest, known, unread = self.newest(), len(self._numbers), self._unread
        expected = max(newest, noted, known + unread)
        if known == expected:
            return ""
        return f"{expected - known} of {expected} commits are gone: the log ({LOG}) was cut off or changed."

    def missing(self) -> list[int]:
        """Return the numbers of the commits that are gone."""
        with self._lock:
            expected = max(self.newest(), self._noted(), len(self._numbers) + self._unread)
            return sorted({*range(1, expected + 1)} - {*self._numbers})

    def append(self, commit: Commit, rows: Mapping[RowKind, TableRows]) -> None:
        """See `Log.append`."""
        line = line_of(Entry(commit, rows))
        with self._lock:
            self._look()
            if not self._end:
                ensure_own(self._path)
            file = open_unlinked(self._path, os.O_RDWR | os.O_CREAT)
            try:
                os.lseek(file, self._end, os.SEEK_SET)
                if b"\n" in os.read(file, max(0, os.fstat(file).st_size - self._end)):
                    raise OSError(errno.EAGAIN, "it holds more than could be read a moment ago")
                os.ftruncate(file, self._end)  # half a line, of a writer that died
                try:
                    os.lseek(file, self._end, os.SEEK_SET)
                    rest = memoryview(line)
                    while rest:
                        rest = rest[os.write(file, rest) :]
                except OSError:
                    os.ftruncate(file, self._end)
                    raise
                finally:
                    found = os.fstat(file)
            finally:
                os.close(file)
            self._note(line)
            self._state = found.st_ino, found.st_size, found.st_mtime_ns
        self._write_anchor(commit.tx)

    def replace(self, entries: Iterable[Entry], switch: Entry) -> None:
        """See `Log.replace`."""
        with whole_file(self._path, stat.S_IMODE(self._path.stat().st_mode)) as file:
            file.writelines(map(line_of, entries))
            file.write(line_of(switch))
        self._write_anchor(switch.commit.tx)

    # What is in the file

    def _look(self) -> None:
        """Read what is new in the file."""
        try:
            found = os.stat(self._path)  # noqa: PTH116 - a third of the time
            state = found.st_ino, found.st_size, found.st_mtime_ns
        except OSError:
            state = 0, 0, 0
        if state == self._state:
            return
        is_longer = state[0] == self._state[0] and state[1] > self._end > 0
        try:
            if not (is_longer and self._read_on()):
                self.edition += bool(self._state[0])
                self._end = self._unread = 0
                self._numbers, self._starts = array("q"), array("q")
                if state[0] and (self._anchor.exists() or is_own(self._path, LOG)):
                    self._read_on()
            self._state = state
        except OSError as error:  # perhaps for this moment: the next look tries again
            self._state = 0, 0, 0
            _log.warning("%s cannot be read: %s", self._path, error)

    def _read_on(self) -> bool:
        """Read the lines after those that are known, and return whether the first of them follows these."""
        with self._path.open("rb") as file:
            file.seek(self._end)
            for place, line in enumerate(file):
                if not line.endswith(b"\n"):
                    return True
                number = number_of(line)
                if not place and self._end and number != self._numbers[-1] + 1:
                    return False
                self._note(line)
        return True

    def _note(self, line: bytes) -> None:
        number = number_of(line)
        if number is None or (self._numbers and number <= self._numbers[-1]):
            self._unread += 1
        else:
            self._numbers.append(number)
            self._starts.append(self._end)
        self._end += len(line)

    def _write_anchor(self, number: int) -> None:
        text = b'{"commit": %d}' % number
        try:
            if number <= 1:
                ensure_own(self._anchor)
            file = open_unlinked(self._anchor, os.O_WRONLY | os.O_CREAT)
            try:
                os.ftruncate(file, os.write(file, b"%s %08x\n" % (text, zlib.crc32(text))))
            finally:
                os.close(file)
        except OSError as error:  # the commit is stored; only its loss would not be noticed
            _log.warning("%s cannot be written: %s", self._anchor, error)

    def _noted(self) -> int:
        """Return the number of the newest commit that was noted; a note that is damaged counts as none."""
        try:
            if not stat.S_ISREG(self._anchor.lstat().st_mode):
                return 0
            text, _, sum_ = self._anchor.read_bytes().strip().rpartition(b" ")
            return int(json.loads(text)["commit"]) if sum_ == b"%08x" % zlib.crc32(text) else 0
        except (OSError, ValueError, LookupError, TypeError):
            return 0


# Lines


def line_of(entry: Entry) -> bytes:
    """Return a commit with its rows of the log as one line that begins with its own sum."""
    commit = {name: value for name, value in asdict(entry.commit).items() if value or name not in _DEFAULTS}
    rows = {kind: _plain(entry.rows[kind]) for kind in LOG_KINDS if kind in entry.rows}
    parts = (json.dumps(one, ensure_ascii=False, separators=(",", ":")) for one in (commit, rows))
    text = "\t".join(parts).encode("utf-8", "surrogatepass")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def _plain(rows: Any) -> list[dict[str, Any]]:
    """Return rows as a line holds them: without the number of their commit, their vectors, and what is missing."""
    found = rows if isinstance(rows, list) else rows.to_pylist()
    return [{n: one for n, one in row.items() if one is not None and n not in ("tx", "vector")} for row in found]


def number_of(line: bytes) -> int | None:
    """Return the number of the commit that a line holds, without reading the rest; None if it is not what was written.

    A sum shows that.
    """
    sum_, _, text = line.removesuffix(b"\n").partition(b" ")
    found = _NUMBER.match(text)
    return int(found[1]) if found and line.endswith(b"\n") and sum_ == b"%08x" % zlib.crc32(text) else None


def _commit(line: bytes) -> Commit:
    known: dict[str, Any] = json.loads(line[9 : line.index(b"\t")])
    return Commit(**{name: value for name, value in known.items() if name in Commit.__dataclass_fields__})


def _entry(line: bytes) -> Entry:
    return Entry(_commit(line), json.loads(line[line.index(b"\t") + 1 :].decode("utf-8", "surrogatepass")))


def entries_of(content: bytes) -> list[Entry]:
    """Return the commits of some lines.

    Raises:
        ValueError: one of them is not what was written.
    """
    lines = content.splitlines(keepends=True)
    if None in map(number_of, lines):
        raise ValueError("its sum is wrong")
    return list(map(_entry, lines))


# Rows


def rows_of(entries: Iterable[Entry], kind: RowKind) -> TableRows | None:
    """Return the rows of a kind that some commits have, each with its commit's number; None for none."""
    import pyarrow as pa

    lines: list[dict[str, Any]] = []
    tables: list[TableRows] = []
    for entry in entries:
        if isinstance(rows := entry.rows.get(kind), list):
            lines += [{**row, "tx": entry.commit.tx} for row in rows]
        elif rows is not None:
            tables.append(with_tx(rows, entry.commit.tx))
    if lines:
        tables.insert(0, table_of(kind, lines))
    return pa.concat_tables(tables, promote_options="default") if tables else None


def table_of(kind: RowKind, rows: Sequence[Mapping[str, Any]]) -> TableRows:
    """Return rows of a line as a table of Arrow."""
    import pyarrow as pa

    return pa.Table.from_pylist([{"tx": 0, **row} for row in rows], schema=table_rows(kind, []).schema)
