"""One transaction: sweep, append the rows of a batch, then the commit row that makes them visible.

A commit of texts that wait to be indexed is a line in the journal instead (``journal.py``); every other one takes the
commits of the journal into the tables before itself.

Rows carry the number of the next commit, so they stay invisible until that commit is written, and a process may be
killed anywhere in between. A writer that dies there leaves rows above the last commit, with the number that the next
commit will have, so the next writer deletes them before it appends anything, and repairs tables that a full disk
damaged (`sweep`). A table that has not changed since it was last known to be clean is skipped, which takes 0.2 ms.
"""

from __future__ import annotations

import logging
import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

import anyio
from anyio.lowlevel import checkpoint

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import ExtractorName
from mcp_memory.domain.language_model import Reservation
from mcp_memory.domain.times import Millis
from mcp_memory.errors import StoreBusy, StoreDamaged, StoreError, StoreUnwritable
from mcp_memory.storage.commits import last_commit
from mcp_memory.storage.copies import read_anchor, write_anchor
from mcp_memory.storage.damage import COUNTED, JOURNAL_CHANGED, damage_of, refuse, refuse_others, totals_of
from mcp_memory.storage.data_files import Table, is_readable
from mcp_memory.storage.journal import Appended, newer, table_of
from mcp_memory.storage.lock import lock_file
from mcp_memory.storage.rows import DERIVED, LOGGED, rows_of
from mcp_memory.storage.schema import (
    COMMITS,
    DERIVED_TABLES,
    FORMAT,
    LOG_TABLES,
    Commit,
    TableKind,
    TableRows,
    commit_rows,
    commits_of,
    sum_outlays,
    table_name,
    tables_of,
    with_tx,
)
from mcp_memory.storage.tables import STEPS_BACK, Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.erasure import without_forgotten
from mcp_memory.view.view import View

WAIT_S = 10.0
"""How long to wait for another process's compaction to finish: the two may not change one table at once."""

_log = logging.getLogger(__name__)


# Before appending


def sweep(tables: Tables, last: Commit | None, swept: dict[str, int], *, derived: bool = True) -> None:
    """Repair every table and delete the rows above the last commit. The write lock must be held.

    Args:
        tables: the tables of the store.
        last: the last commit; None for an empty store.
        swept: of each table, the version at which it was last known to be clean; brought up to date.
        derived: False leaves the derived tables as they are: a rebuild is about to replace them.

    Raises:
        StoreBusy: there are commits, but the caller found none: every row would be deleted.
        StoreDamaged: committed rows are gone; nothing was changed.
        StoreUnwritable: there is something to delete and it cannot be deleted.
    """
    if tables.journal.shared:
        return  # rows that no commit of the tables has are copies out of the journal, which will have one
    if last is None:
        if tables.count(COMMITS):
            raise StoreBusy("The memory could not be read just now. Nothing was stored. Try again.")
        refuse_others(tables)
    tx = last.tx if last else 0
    counted = [last.table(kind) if last else table_name(kind, 0, 0) for kind in COUNTED]
    if COMMITS not in swept or any(swept.get(name, 0) != (tables.version(name) or 0) for name in counted):
        refuse(tables, damage_of(tables, last))  # not at most writes: these tables are as this process left them
    version = tables.version(COMMITS)
    if version is not None and (version != swept.get(COMMITS) or COMMITS in tables.broken):
        restore_readable(tables, COMMITS)
        swept[COMMITS] = tables.version(COMMITS) or version
    for name in last.tables if last else tables_of(0, reader=0):
        if not derived and name not in LOG_TABLES:  # perhaps it cannot be read
            continue
        version = tables.version(name)
        if version is None or (version == swept.get(name) and name not in tables.broken):
            continue
        restore_readable(tables, name)
        if tables.count(name, f"tx > {tx}"):
            _log.warning("%s: rows of a writer that died before its commit are removed", name)
            _delete(tables, name, f"tx > {tx}")
        version = tables.version(name)
        if version is not None:
            swept[name] = version


def _delete(tables: Tables, name: str, where: str) -> None:
    """Delete rows while holding the compaction lock, so that no process compacts the table meanwhile."""
    from filelock import Timeout

    if tables.folder is None:
        tables.delete(name, where)
        return
    try:
        with lock_file(tables.folder / "compact.lock").acquire(timeout=WAIT_S):
            tables.delete(name, where)
    except Timeout as error:
        raise StoreUnwritable(
            f"storage.uri {tables.uri!r}: another process is compacting the memory. Nothing was stored. Try again."
        ) from error


def restore_readable(tables: Tables, name: str) -> None:
    """Restore the last readable version of a table if a later one cannot be read. The write lock must be held.

    Raises:
        StoreUnwritable: the restored version cannot be written now.
        StoreError: no version can be read.
    """
    table = tables.latest(name)
    if table is None or is_readable(table):
        tables.broken.discard(name)
        return
    with tables.write_errors():
        version = int(table.version)
        for earlier in range(version - 1, max(0, version - STEPS_BACK), -1):
            old = tables.earlier(name, earlier)
            if old is not None and is_readable(old):
                if keeps_less(tables, name, old):
                    break
                _log.warning("%s: version %s was cut short by a full disk; %s is put back", name, version, earlier)
                old.restore()
                tables.reopen(name)
                tables.broken.discard(name)
                return
        if version == 1:  # its very first rows were cut short: there is nothing to lose
            tables.drop(name)
            tables.broken.discard(name)
            return
    tables.broken.add(name)
    raise tables.unreadable(name, "no version of it that has every committed row can be read")


def keeps_less(tables: Tables, name: str, old: Table) -> bool:
    """Return whether an earlier version of a table lacks rows that were committed: putting it back would bury them."""
    if name == COMMITS:
        anchor = read_anchor(tables.folder)
        return anchor is not None and bool(old.count_rows() < anchor.tx)
    rows = tables.rows(COMMITS)
    commits = commits_of(rows) if rows is not None else []
    kept = {commits[-1].table(kind): count for kind, count in totals_of(commits).items()} if commits else {}
    if name in kept:
        return bool(old.count_rows() < kept[name])
    counts = {one.table(kind): 0 for one in commits for kind in ("segments", "sentences")}
    for one in commits:
        counts[one.table("segments")] += one.segments
        counts[one.table("sentences")] += one.sentences
    return bool(old.count_rows() < counts.get(name, 0))


# Appending


def prepare(batch: Batch) -> dict[TableKind, TableRows]:
    """Return the rows of a batch, by table; they lack only their commit's number. Tables without rows are absent."""

    def assertions_by(extractors: Container[ExtractorName]) -> tuple[Sequence[object], Sequence[int], None]:
        places = [place for place, made in enumerate(batch.assertions) if made.extractor in extractors]
        return [batch.assertions[place] for place in places], places, None

    tables: dict[TableKind, tuple[Sequence[object], Sequence[int] | None, Matrix | None]] = {
        "turns": (batch.turns, None, None),
        "facts": assertions_by(LOGGED),
        "episodes": (batch.lessons, None, None),
        "points": (batch.points, None, None),
        "aliases": (batch.aliases, None, None),
        "jobs": (batch.jobs, None, None),
        "questions": (batch.questions, None, batch.question_vectors),
        "point_vectors": (batch.points, None, batch.point_vectors),
        "beliefs": (batch.beliefs, None, None),
        "assertions": assertions_by(DERIVED),
        "segments": (batch.segments, None, batch.segment_vectors),
        "sentences": (batch.sentences, None, batch.sentence_vectors),
    }
    return {
        kind: rows_of(kind, values, places=places, vectors=vectors)
        for kind, (values, places, vectors) in tables.items()
        if values
    }


def append(
    tables: Tables,
    last: Commit | None,
    rows: Mapping[TableKind, TableRows],
    outlays: Sequence[Reservation],
    *, embedder: str, dimension: int, reader: int, key: bytes, at: Millis, swept: dict[str, int],
    folded: Commit | None, journal_end: int = 0,
) -> Appended:  # fmt: skip
    """Append the rows of a batch and its commit. The write lock must be held, and the tables swept.

    Args:
        tables: the tables of the store.
        last: the last commit; None for an empty store.
        rows: the rows of the batch, from `prepare`.
        outlays: the outlays of the batch.
        embedder: the model that made the vectors.
        dimension: the dimension of the vectors.
        reader: the version of the extractor, for the first commit of a store; others have that of the commit before.
        key: the key of the store's ids.
        at: now.
        swept: of each table, the version at which it was last known to be clean; brought up to date.
        folded: the last commit that is in the tables; those after it are in the journal.
        journal_end: where the last whole line of the journal ends.

    Raises:
        StoreDamaged: the journal cannot be read any more; nothing was changed.
        StoreUnwritable: nothing of the batch will ever be visible.
    """
    kinds = [kind for kind in (*LOG_TABLES, *DERIVED_TABLES) if kind != "point_vectors"]  # as many as points
    counts: dict[str, int] = {kind: len(rows.get(kind, ())) for kind in kinds}
    commit = Commit(
        tx=last.tx + 1 if last else 1,
        at=at,
        format=FORMAT,
        embedder=embedder,
        dimension=dimension,
        generation=last.generation if last else 0,
        pid=os.getpid(),
        reader=last.reader if last else reader,
        key=key.hex(),
        **counts,
        **sum_outlays(outlays),
    )
    if tables.journal.takes(rows, last):
        refuse(tables, [] if tables.journal.has_line_to(journal_end) else [JOURNAL_CHANGED])
        with tables.write_errors():
            end = tables.journal.append(commit, rows, journal_end)
        write_anchor(tables.folder, commit)
        return Appended(commit, None, end, follows=tables.journal.shared)
    return Appended(commit, _into_tables(tables, folded, rows, commit, swept), 0)


def merge_journal(tables: Tables) -> None:
    """Take what is in the journal into the tables. The write lock must be held.

    Raises:
        StoreDamaged: committed rows are gone; nothing was changed.
        StoreUnwritable: it could not be done; nothing is lost.
    """
    if tables.journal.size():
        last = last_commit(tables)
        try:
            sweep(tables, last, {})
        except (StoreBusy, StoreDamaged, StoreUnwritable):
            raise
        except StoreError:  # a derived table cannot be read, and whoever calls makes it again
            sweep(tables, last, {}, derived=False)
        _into_tables(tables, last, {}, None, {})


def _into_tables(
    tables: Tables,
    last: Commit | None,
    rows: Mapping[TableKind, TableRows],
    commit: Commit | None,
    swept: dict[str, int],
) -> int:
    """Append the rows and commits of the journal, and those of one more commit; return the version of ``commits``.

    Without those of the journal, the number of that commit would hide that there were others before it.
    """
    import pyarrow as pa

    entries, _ = tables.journal.read()
    if entries:
        last = last_commit(tables)
        entries = newer(entries, last.tx if last else 0)
    new = [*((entry.commit, entry.rows) for entry in entries), *([(commit, rows)] if commit else [])]
    commits = [one for one, _ in new]
    first = last.tx + 1 if last else 1
    refuse(tables, [] if [one.tx for one in commits] == [*range(first, first + len(commits))] else [JOURNAL_CHANGED])
    parts: defaultdict[str, list[TableRows]] = defaultdict(list)
    for one, its_rows in new:
        for kind, made in its_rows.items():
            parts[one.table(kind)].append(with_tx(table_of(kind, made), one.tx))
    numbered = {name: pa.concat_tables(of_one, promote_options="default") for name, of_one in parts.items()}
    versions, version = dict[str, int](), 0
    try:
        if last:  # perhaps of an older format
            if last.format < FORMAT:
                tables.add_columns(COMMITS, commit_rows(*commits))
            for name in numbered:
                if name.startswith(("turns", "facts", "assertions")):
                    tables.add_columns(name, numbered[name])
        if len(numbered) == 1:
            versions = {name: tables.append(name, of_one) for name, of_one in numbered.items()}
        elif numbered:  # else the batch is nothing but what was spent, which stands in the commit row
            with ThreadPoolExecutor(len(numbered), thread_name_prefix="mcp-memory append") as threads:
                versions = dict(zip(numbered, threads.map(tables.append, numbered, numbered.values()), strict=True))
        if commits:
            version = append_commit(tables, *commits)
    except StoreUnwritable:
        swept.clear()  # the rows that were appended have no commit, as if this writer had died
        raise
    swept.update({**versions, COMMITS: version})
    tables.log_copy.append(commits, {kind: numbered[kind] for kind in LOG_TABLES if kind in numbered})
    if commits:
        tables.journal.clear(commits[-1].tx)
    return version


def append_commit(tables: Tables, *commits: Commit) -> int:
    """Write the rows of some commits, in order, and return the version of ``commits`` that has them.

    Raises:
        StoreUnwritable: the row is not there.
    """
    try:
        version = tables.append(COMMITS, commit_rows(*commits))
    except StoreUnwritable:
        # The row may be there although the call failed, if it failed after writing. Then every process sees the
        # commit, and saying "not stored" would be wrong.
        found = tables.version(COMMITS)
        if found is None or last_commit(tables) != commits[-1]:
            raise
        version = found
    write_anchor(tables.folder, commits[-1])
    return version


Append = Callable[[Batch, Mapping[TableKind, TableRows] | None, Commit | None], Awaitable[Appended]]
"""Appends a batch, whose rows may be there already, and its commit."""
Apply = Callable[[Batch, Appended], Awaitable[None]]
"""Adds a commit to the view."""


class LanceTransaction:
    """The store while this process alone may write to it; the commit ends the transaction.

    Attributes:
        view: as of the last commit of any process; the newest segments and sentences may be missing.
        committed: whether anything was committed to the tables, or will have to be taken into them.
    """

    def __init__(
        self, append: Append, apply: Apply, was_forgotten: Callable[[str], bool] | None,
        prepared: Batch | None, rows: Mapping[TableKind, TableRows] | None,
        lock: AsyncExitStack, view: View, last: Commit | None,
    ) -> None:  # fmt: skip
        self._append, self._apply = append, apply
        self._was_forgotten = was_forgotten  # None if nothing ever was
        self._prepared, self._rows = prepared, rows
        self._lock = lock
        self.view = view
        self._last = last
        self.committed = False

    async def commit(self, batch: Batch) -> int:
        """Append the rows, then the commit that makes them visible, release the lock, and return the commit's number.

        Lessons that were recorded before are left out with their beliefs. A cancelled call stores nothing or
        everything: once the first row is being appended, it runs through to the commit.

        Raises:
            StoreUnwritable: nothing of the batch is visible, now or later.
        """
        await checkpoint()
        if self._was_forgotten is not None:
            batch = without_forgotten(batch, self.view, self._was_forgotten)
        batch = batch.unlearnt(self.view.has_lesson)
        if batch.empty:
            return self.view.tx
        with anyio.CancelScope(shield=True):
            rows = self._rows if self._prepared is batch else None
            appended = await self._append(batch, rows, self._last)
            self.committed = appended.version is not None or appended.follows
            await self._lock.aclose()
            await self._apply(batch, appended)
        return appended.commit.tx
