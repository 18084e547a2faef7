"""What a damaged store is read and repaired from: a second copy of the log, the anchor, and the rows of whole files.

**The copy of the log** (`LogCopy`): each commit as one line, with a sum, in a file beside the tables (``log.jsonl``).
The log is all that cannot be made again, and LanceDB keeps it in a few files, each of which takes many commits with it
when it is lost. So what a commit adds to the tables of the log is also appended here, in the form of the journal, and
`repair` takes from it what the tables lack, and readers the commits where their table is damaged. It is not needed to
be complete: a line that cannot be written, or that an older program did not write, is added by the next compaction
(`fill`). A forget removes the file, and the next compaction writes it again. ``DESIGN.md`` 11 has what it costs and
what it saves.

**The anchor** (`write_anchor`): the newest commit, noted beside the tables, so that the loss of commits is noticed
(``damage.py``). It is a checksummed file, written over after each commit. Two such files are written in turn, so one of
them is always whole. No commit is older than the anchor unless it was lost.

**The commits** (`CommitCopies`) of a store whose table of commits is damaged, from everything else that has them.
Nothing of a store can be read without its commits, and they are few and small: they stand in earlier versions of their
table, in the copy of the log, and the newest one in the anchor. So where the table cannot be read whole, all of these
together take its place for readers, in memory. Nothing is written: `repair` puts the table in order.

**What is left of a table** with damaged files (`collected`): the rows of every version that lie in whole files.
"""

from __future__ import annotations

import json
import logging
import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from mcp_memory.storage.data_files import FAILURES, Sums, Table, is_readable, manifests_of, no_panics
from mcp_memory.storage.journal import Entry, Journal, entry_of, line_of
from mcp_memory.storage.own_files import ensure_own, open_unlinked, remove_file
from mcp_memory.storage.place import import_lancedb
from mcp_memory.storage.rows import rows_of
from mcp_memory.storage.schema import (
    COMMITS,
    LOG_TABLES,
    Commit,
    LogTable,
    TableKind,
    TableRows,
    commit_rows,
    commits_of,
)

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
        self._known = False  # whether the file is ours

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
            if not self._known:
                ensure_own(self._path)
                self._known = True
            file = open_unlinked(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
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
        """Append the commits of the tables that are missing; a copy of another store is begun again.

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
            remove_file(self._path)


def copied_rows(entries: Iterable[Entry], kind: LogTable) -> TableRows | None:
    """Return the rows that commits have in a table; None for none."""
    import pyarrow as pa

    found = [row for entry in entries for row in entry.rows.get(kind, ())]
    return pa.Table.from_pylist(found, schema=rows_of(kind, []).schema) if found else None


ANCHORS = ("anchor-0.json", "anchor-1.json")


def write_anchor(folder: Path | None, commit: Commit) -> None:
    """Note the newest commit beside the tables; the write lock must be held. A failure is only logged."""
    if folder is None:
        return
    text = json.dumps(asdict(commit), sort_keys=True)
    path = folder / ANCHORS[commit.tx % 2]
    try:
        if commit.tx <= 2:  # from then on there are both
            ensure_own(path)
        file = open_unlinked(path, os.O_WRONLY | os.O_CREAT)
        try:
            os.ftruncate(
                file, os.write(file, json.dumps({"crc32": zlib.crc32(text.encode()), "commit": text}).encode())
            )
        finally:
            os.close(file)
    except OSError as error:  # the commit is stored; only its loss would not be noticed
        _log.warning("%s cannot be written: %s", path, error)


def read_anchor(folder: Path | None) -> Commit | None:
    """Return the newest commit that was noted, or None; a note that is damaged counts as none."""
    found = [commit for name in ANCHORS if folder is not None and (commit := _noted(folder / name))]
    return max(found, key=lambda commit: commit.tx, default=None)


def _noted(path: Path) -> Commit | None:
    try:
        noted = json.loads(path.read_bytes())
        if zlib.crc32(noted["commit"].encode()) != noted["crc32"]:
            return None
        known: dict[str, Any] = json.loads(noted["commit"])
        return Commit(**{name: value for name, value in known.items() if name in Commit.__dataclass_fields__})
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


class CommitCopies:
    """The commits of one store, as others than their table have them.

    Args:
        folder: of the store; None for a store that is no local folder, which has no copies.
        sums: the sums of its data files.
        log_copy: its copy of the log.
        journal: its newest commits, which are not looked for here.
        earlier: returns a table at one of its versions; None if it cannot be opened.
    """

    def __init__(
        self,
        folder: Path | None,
        sums: Sums,
        log_copy: LogCopy,
        journal: Callable[[], Journal],
        earlier: Callable[[str, int], Table | None],
    ) -> None:
        self._folder = folder
        self._sums = sums
        self._log_copy = log_copy
        self._journal = journal
        self._earlier = earlier
        self._state: list[object] | None = None  # of the files, as of which the others are
        self._table: Table | None = None
        self._text = ""

    def table(self) -> Table | None:
        """Return a table of all commits that are known, in memory; None where that of the store has them all."""
        if self._folder is None:
            return None
        if (state := self._state_now()) != self._state:
            self._state, commits = state, self._found()
            self._table = None
            if commits:
                self._text = self._told(commits)
                self._table = import_lancedb().connect("memory://").create_table(COMMITS, commit_rows(*commits))
        return self._table

    @property
    def problem(self) -> str | None:
        """In words that the table of commits is damaged, and what is known nevertheless; None where it is whole."""
        return self._text if self.table() is not None else None

    def _found(self) -> list[Commit]:
        """Return all commits that are known; none where a readable version of the table has as many.

        A newer version that cannot be read is no damage then: a full disk cut it short, and no commit is in it. Nor is
        the table damaged if the anchor alone is newer than all that it holds: then the journal was lost.
        """
        newest_is_whole, readable = False, 0
        for place, version in enumerate(manifests_of(self._folder, COMMITS)):
            table = self._earlier(COMMITS, version)
            if table is not None and is_readable(table):
                newest_is_whole, readable = place == 0, int(table.count_rows())
                break
        rows = collected(self._folder, COMMITS, self._earlier)
        known = {commit.tx: commit for commit in (commits_of(rows) if rows is not None else ())}
        others = {number: entry.commit for number, entry in self._log_copy.entries().items()}
        anchor = read_anchor(self._folder)
        changed = bool(self._sums.wrong((COMMITS,))) or (anchor is not None and known.get(anchor.tx, anchor) != anchor)
        if any(known[number].at != other.at for number, other in others.items() if number in known) and not changed:
            others = {}  # of another store that was in this place
        damaged = changed or not newest_is_whole or len(known | others) > readable
        if damaged and anchor and all(entry.commit.tx != anchor.tx for entry in self._journal().whole_lines()):
            others.setdefault(anchor.tx, anchor)
        found = known | others if changed else others | known
        if len(found) <= readable and not changed:
            return []
        return [found[number] for number in sorted(found)]

    def _told(self, commits: list[Commit]) -> str:
        last, unknown = commits[-1].tx, commits[-1].tx - len(commits)
        lacking = f"; {unknown} of {last} are gone" if unknown else f", which have all {last} of them"
        return (
            f"The table {COMMITS!r} is damaged. What it said is taken from its earlier versions, the copy of the log "
            f"and the note of the last commit{lacking}."
        )

    def _state_now(self) -> list[object]:
        """Return what changes whenever a file that is read here comes, goes or changes."""
        found: list[object] = []
        folder = self._folder or Path()
        for part in ("data", "_versions"):
            with suppress(OSError), os.scandir(folder / f"{COMMITS}.lance" / part) as files:
                found += sorted((file.name, file.stat().st_mtime_ns, file.stat().st_size) for file in files)
        with suppress(OSError):
            found.append((folder / LOG_COPY).stat().st_size)
        anchor = read_anchor(self._folder)
        return [*found, self._journal().size(), anchor.tx if anchor else 0]


def collected(folder: Path | None, name: str, earlier: Callable[[str, int], Table | None]) -> TableRows | None:
    """Return the rows of a table, those of each commit from the version that has most of them; None for no rows.

    Args:
        folder: the folder of the store.
        name: the name of the table.
        earlier: returns a table at one of its versions; None if it cannot be opened.
    """
    rows: TableRows | None = None
    for version in manifests_of(folder, name):
        table = earlier(name, version)
        rows = joined(rows, _readable(table) if table is not None else None)
        if table is not None and rows is not None and len(rows) == _count(table):  # earlier versions had no more
            break
    return rows


def joined(one: TableRows | None, other: TableRows | None) -> TableRows | None:
    """Return the rows of two versions of one table, those of each commit from the version that has more of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if one is None or other is None:
        return other if one is None else one
    here, there = (Counter(rows["tx"].to_pylist()) for rows in (one, other))
    better = [number for number, count in there.items() if count > here[number]]
    if not better:
        return one
    chosen = pa.array(better, pa.int64())
    kept, added = one.filter(pc.invert(pc.is_in(one["tx"], chosen))), other.filter(pc.is_in(other["tx"], chosen))
    return pa.concat_tables([kept, added], promote_options="default").sort_by("tx")


def _count(table: Table) -> int:
    try:
        with no_panics():
            return int(table.count_rows())
    except FAILURES:
        return 0


def _readable(table: Table) -> TableRows | None:
    """Return the rows of a version that lie in whole files; None for none."""
    import pyarrow as pa

    parts = list(_parts(table, 0, _count(table)))
    return pa.concat_tables(parts) if parts else None


def _parts(table: Table, first: int, count: int) -> Iterator[TableRows]:
    if not count:
        return
    try:
        with no_panics():
            yield table.search().offset(first).limit(count).to_arrow()
    except FAILURES:
        if count > 1:
            yield from _parts(table, first, count // 2)
            yield from _parts(table, first + count // 2, count - count // 2)
