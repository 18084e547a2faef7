"""A second copy of the log: each commit as one line, with a sum, in a file beside the tables (``log.jsonl``).

The log is all that cannot be made again, and LanceDB keeps it in a few files, each of which takes many commits with it
when it is lost. So what a commit adds to the tables of the log is also appended here, in the form of the journal, and
`repair` takes from it what the tables lack, and readers the commits where their table is damaged. It is not needed to
be complete: a line that cannot be written, or that an older program did not write, is added by the next compaction
(`fill`). A forget removes the file, and the next compaction writes it anew. ``DESIGN.md`` 11 has what it costs and what
it saves.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from mcp_memory.storage.fact_rows import alias_rows, assertion_rows, job_rows
from mcp_memory.storage.journal import Entry, entry_of, line_of
from mcp_memory.storage.point_rows import lesson_rows, point_rows
from mcp_memory.storage.schema import COMMITS, LOG_TABLES, Commit, LogTable, TableKind, TableRows, commits_of
from mcp_memory.storage.text_rows import turn_rows

LOG_COPY = "log.jsonl"
AT_ONCE = 200
"""Commits that `LogCopy.fill` reads and writes at once."""
_log = logging.getLogger(__name__)


class LogCopy:
    """The copy of one store's log.

    Args:
        folder: of the store; None for a store that is no local folder, which has no copy.
    """

    def __init__(self, folder: Path | None) -> None:
        self._path = folder / LOG_COPY if folder is not None else None

    def append(self, commits: Sequence[Commit], rows: Mapping[TableKind, TableRows]) -> None:
        """Append commits with their rows, each of which carries the number of its commit; a failure is only logged."""
        if self._path is None:
            return
        by_commit: dict[int, dict[str, list[object]]] = {commit.tx: {} for commit in commits}
        for kind in LOG_TABLES:
            for row in rows[kind].to_pylist() if kind in rows else ():
                by_commit[row["tx"]].setdefault(kind, []).append(row)
        content = b"".join(line_of(commit, by_commit[commit.tx]) for commit in commits)
        try:
            file = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(file, "r+b", buffering=0) as copy:
                if copy.seek(0, os.SEEK_END):
                    copy.seek(-1, os.SEEK_END)
                    content = content if copy.read(1) == b"\n" else b"\n" + content  # after half a line
                copy.write(content)
        except OSError as error:  # they are stored; the next compaction tries again
            _log.warning("%s cannot be written: %s", self._path, error)

    def entries(self) -> dict[int, Entry]:
        """Return the commits that can be read, by number."""
        try:
            with self._path.open("rb") if self._path is not None else open(os.devnull, "rb") as lines:  # noqa: PTH123
                found = (entry for line in lines if (entry := entry_of(line)) is not None)
                return {entry.commit.tx: entry for entry in found}
        except OSError:
            return {}

    def fill(self, read: Callable[[str, str], TableRows | None], last: Commit) -> None:
        """Append the commits of the tables that are missing; a copy of another store is begun anew.

        Args:
            read: returns the rows of a table that fulfil a condition.
            last: the last commit.
        """
        if self._path is None:
            return
        known = {number: entry.commit.at for number, entry in self.entries().items()}
        rows = read(COMMITS, f"tx <= {last.tx}")
        commits = commits_of(rows) if rows is not None else []
        if any(known.get(commit.tx, commit.at) != commit.at for commit in commits):
            self.remove()
            known = {}
        missing = [commit for commit in commits if commit.tx not in known]
        for start in range(0, len(missing), AT_ONCE):
            part = missing[start : start + AT_ONCE]
            where = f"tx IN ({', '.join(str(commit.tx) for commit in part)})"
            found = {kind: read(kind, where) for kind in LOG_TABLES}
            self.append(part, {kind: made for kind, made in found.items() if made is not None})

    def remove(self) -> None:
        """Remove it."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def copied_rows(entries: Iterable[Entry], kind: LogTable) -> TableRows | None:
    """Return the rows that commits have in a table; None for none."""
    import pyarrow as pa

    found = [row for entry in entries for row in entry.rows.get(kind, ())]
    return pa.Table.from_pylist(found, schema=_EMPTY[kind]().schema) if found else None


_EMPTY: dict[LogTable, Callable[[], TableRows]] = {
    "turns": lambda: turn_rows([], []),
    "facts": lambda: assertion_rows([], [], []),
    "episodes": lambda: lesson_rows([], [], []),
    "points": lambda: point_rows([], [], []),
    "aliases": lambda: alias_rows([], [], []),
    "jobs": lambda: job_rows([], [], []),
}
