"""The journal: commits of texts that were just written, until the next other commit takes them into the tables.

A commit to the tables of LanceDB takes two appends one after the other, some milliseconds each, and every append makes
a version that each process opens. Texts that wait to be indexed, and the facts that their callers state, take one line
at the end of a file instead: the whole commit, with its sum, written at once. Whoever writes anything else puts these
commits into the tables together with its own (``transaction.py``), mostly the process that indexes the texts a moment
later; the journal is emptied then. ``DESIGN.md`` 1.4 has the figures.

Commits in the journal are commits like others, numbered after those in the tables. Whoever reads both reads the journal
first: what is taken into the tables meanwhile is then seen twice and counts once, and never missed. Half a line at the
end was never acknowledged, and the next writer removes it; a whole one that cannot be read is damage, and nothing is
written then (``damage.py``). Only the holder of the write lock changes the file.
"""

from __future__ import annotations

import json
import logging
import os
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from mcp_memory.storage.own_files import ensure_own, open_unlinked
from mcp_memory.storage.rows import rows_of as table_rows
from mcp_memory.storage.schema import FORMAT, Commit, TableKind, TableRows, with_tx

JOURNAL = "journal.jsonl"
MOST = 4 << 20
"""Bytes from which on the next commit goes into the tables: every process that opens the store reads all of it."""

_NUMBER = re.compile(rb'\{"commit":\{"tx":(\d+),')
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Entry:
    """One commit in the journal.

    Attributes:
        commit: as it will stand in the tables.
        rows: its rows, by table: as they stand in a line, or as a table of Arrow.
    """

    commit: Commit
    rows: Mapping[TableKind, Any]


@dataclass(frozen=True, slots=True)
class Appended:
    """A commit that was written.

    Attributes:
        commit: the commit.
        version: the version of ``commits`` that has it; None if it is in the journal.
        journal_end: where the journal ends now.
        follows: whether the tables take it in later.
    """

    commit: Commit
    version: int | None
    journal_end: int
    follows: bool = False


class Journal:
    """The journal of one store.

    Attributes:
        shared: whether every commit stands here first, so that servers on several machines can write.
        forgetting: whether something was being forgotten at the last look; known only where it is shared.
        removals: how often the whole store was found to be removed; likewise.

    Args:
        folder: the folder of the store; None for a store on object storage (``bucket_journal.py``).
    """

    shared = False

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / JOURNAL if folder is not None else None
        self.forgetting = False
        self.removals = 0

    def begin_forgetting(self) -> None:
        """Tell other servers to wait; on one machine they see what is written down in the tables."""

    def end_forgetting(self) -> None:
        """Let the others go on."""

    def takes(self, rows: Mapping[TableKind, TableRows], last: Commit | None) -> bool:
        """Return whether a commit of these rows, the next after ``last``, can be a line here.

        It can if it has only turns and facts that callers stated, and the file is not full.
        """
        fits = self._path is not None and last is not None and last.format == FORMAT
        return fits and bool(rows) and rows.keys() <= {"turns", "facts"} and self.size() < MOST

    def count(self) -> int:
        """Return how many commits are here."""
        return len(self.whole_lines())

    def size(self) -> int:
        """Return the length of the file in bytes; 0 if there is none. Some microseconds."""
        try:
            return os.stat(self._path).st_size if self._path is not None else 0  # noqa: PTH116 - a third of the time
        except OSError:
            return 0

    def read(self, start: int = 0) -> tuple[list[Entry], int]:
        """Return the commits from a position on, up to the first line that is not whole, and the position of its end.

        A position at which no line begins yields nothing: the journal was emptied meanwhile, and is a new one.
        """
        entries, end = [], start
        for line in self._lines(start):
            entry = entry_of(line)
            if entry is None:
                break
            entries.append(entry)
            end += len(line)
        return entries, end

    def whole_lines(self) -> list[Entry]:
        """Return every commit that can be read, also after a damaged line."""
        return [entry for line in self._lines(0) if (entry := entry_of(line)) is not None]

    def damaged_lines(self, start: int = 0) -> int:
        """Return how many lines from a position on cannot be read; half of one at the end was never acknowledged."""
        return sum(line.endswith(b"\n") and number_of(line) is None for line in self._lines(start))

    def _lines(self, start: int) -> list[bytes]:
        if self._path is None or self.size() <= start:
            return []
        try:
            with self._path.open("rb") as file:
                file.seek(start)
                return file.read().splitlines(keepends=True)
        except OSError as error:
            _log.warning("%s cannot be read: %s", self._path, error)
            return []

    def has_line_to(self, end: int) -> bool:
        """Return whether a line ends at a position; if not, what was there was changed, and one after it is lost."""
        if not end or self._path is None:
            return True
        try:
            with self._path.open("rb", buffering=0) as file:
                file.seek(end - 1)
                return file.read(1) in (b"\n", b"")  # it may have been emptied
        except OSError:
            return True

    def append(self, commit: Commit, rows: Mapping[TableKind, TableRows], end: int) -> int:
        """Write a commit after the last whole one and return the position of its own end.

        Args:
            commit: the commit.
            rows: its rows.
            end: where the last whole commit ends; where the file does not end there, it is looked for.

        Raises:
            OSError: it is not there, now or later.
        """
        assert self._path is not None
        line = line_of(commit, {kind: made.to_pylist() for kind, made in rows.items()})
        file = open_unlinked(self._path, os.O_RDWR | os.O_CREAT)
        try:
            if (size := os.fstat(file).st_size) != end:
                ensure_own(self._path)
                _, end = self.read(end if end < size else 0)
                os.ftruncate(file, end)  # what a writer left that died
            try:
                os.lseek(file, end, os.SEEK_SET)
                rest = memoryview(line)
                while rest:
                    rest = rest[os.write(file, rest) :]
            except OSError:
                os.ftruncate(file, end)
                raise
        finally:
            os.close(file)
        return end + len(line)

    def clear(self, until: int) -> None:  # noqa: ARG002 - all that is in it
        """Empty it: everything up to the commit of this number is in the tables."""
        if self._path is not None and self.size():
            ensure_own(self._path)
            os.truncate(self._path, 0)


def rows_of(entries: Sequence[Entry], kind: TableKind) -> TableRows | None:
    """Return the rows that some commits have in a table, each with its commit's number; None for none."""
    import pyarrow as pa

    found = [with_tx(table_of(kind, entry.rows[kind]), entry.commit.tx) for entry in entries if kind in entry.rows]
    return pa.concat_tables(found, promote_options="default") if found else None


def table_of(kind: TableKind, rows: Any) -> TableRows:
    """Return rows of an entry as a table of Arrow."""
    import pyarrow as pa

    return rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows, schema=table_rows(kind, []).schema)


def line_of(commit: Commit, rows: Mapping[str, Sequence[object]]) -> bytes:
    """Return a commit with its rows, by table, as one line that begins with its own sum."""
    content = {"commit": asdict(commit), **rows}
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return b"%08x %s\n" % (zlib.crc32(text), text)


def entry_of(line: bytes) -> Entry | None:
    """Return the commit that a line holds; None if the line is not whole."""
    number, _, text = line.removesuffix(b"\n").partition(b" ")
    try:
        if not line.endswith(b"\n") or int(number, 16) != zlib.crc32(text):
            return None
        content = json.loads(text.decode("utf-8", "surrogatepass"))
        return Entry(Commit(**content.pop("commit")), content)
    except (ValueError, TypeError, LookupError, AttributeError):
        return None


def number_of(line: bytes) -> int | None:
    """Return the number of the commit that a line holds, without reading the rest; None if the line is not whole."""
    sum_, _, text = line.removesuffix(b"\n").partition(b" ")
    found = _NUMBER.match(text)
    return int(found[1]) if found and line.endswith(b"\n") and sum_ == b"%08x" % zlib.crc32(text) else None


def newer(entries: Sequence[Entry], tx: int) -> list[Entry]:
    """Return the commits with higher numbers: those that are not in the tables, whose last number is given."""
    return [entry for entry in entries if entry.commit.tx > tx]
