"""One transaction: sweep, append the rows of a batch to their tables, then the line of the log that makes them visible.

Rows carry the number of the next commit, so they stay invisible until that commit is written, and a process may be
killed anywhere in between. A writer that dies there leaves rows above the last commit, with the number that the next
commit will have, so the next writer deletes them before it appends anything, and repairs tables that a full disk
damaged (`sweep`). A table that has not changed since it was last known to be clean is skipped, which takes 0.2 ms.

Texts that wait to be indexed, and the facts that their callers state, have rows in the log alone.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack

import anyio
from anyio.lowlevel import checkpoint

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import ExtractorName
from mcp_memory.errors import StoreError, StoreUnwritable
from mcp_memory.storage.damage import refuse
from mcp_memory.storage.lock import without_compaction
from mcp_memory.storage.rows import DERIVED, LOGGED, rows_of
from mcp_memory.storage.schema import LOG_KINDS, TABLE_KINDS, Commit, RowKind, TableRows, with_tx
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.erasure import without_forgotten
from mcp_memory.view.view import View

WAIT_S = 10.0
"""How long to wait for another process's compaction to finish: the two may not change one table at once."""

_log = logging.getLogger(__name__)


# Before appending


def sweep(tables: Tables, names: Iterable[str], last: int, swept: dict[str, int]) -> None:
    """Repair tables and delete their rows above the last commit. The write lock must be held.

    Args:
        tables: the tables of the store.
        names: the names of those that commits use.
        last: the number of the last commit; 0 for an empty store.
        swept: of each table, the version at which it was last known to be clean; brought up to date.

    Raises:
        StoreDamaged: the log is damaged; nothing was changed.
        StoreUnwritable: there is something to delete and it cannot be deleted.
    """
    if tables.log.shared:
        return  # rows that no commit of the tables has are copies out of the log, which will have one
    refuse(tables)
    for name in names:
        try:
            version = tables.version(name)
            if version is None or (version == swept.get(name) and name not in tables.broken):
                continue
            tables.mend(name)
        except StoreError as error:
            if last or isinstance(error, StoreUnwritable):
                raise
            tables.broken.discard(name)
            raise StoreUnwritable(
                f"storage.uri {tables.uri!r} holds no memory, and its table {name!r} was not written by this program "
                "or is damaged. Nothing was changed. Move it elsewhere, or name another folder, and try again."
            ) from error
        if tables.count(name, f"tx > {last}"):
            _log.warning("%s: rows of a writer that died before its commit are removed", name)
            with without_compaction(tables.folder, WAIT_S):
                tables.delete(name, f"tx > {last}")
        version = tables.version(name)
        if version is not None:
            swept[name] = version


# Appending


def prepare(batch: Batch) -> dict[RowKind, TableRows]:
    """Return the rows of a batch, by kind; they lack only their commit's number. Kinds without rows are absent."""

    def assertions_by(extractors: Container[ExtractorName]) -> tuple[Sequence[object], Sequence[int], None]:
        places = [place for place, made in enumerate(batch.assertions) if made.extractor in extractors]
        return [batch.assertions[place] for place in places], places, None

    kinds: dict[RowKind, tuple[Sequence[object], Sequence[int] | None, Matrix | None]] = {
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
        for kind, (values, places, vectors) in kinds.items()
        if values
    }


def append(tables: Tables, commit: Commit, rows: Mapping[RowKind, TableRows], swept: dict[str, int]) -> None:
    """Append the rows of a commit and the commit. The write lock must be held, and the tables swept.

    Args:
        tables: the tables of the store.
        commit: the next commit, with the counts of the rows.
        rows: from `prepare`.
        swept: of each table, the version at which it was last known to be clean; brought up to date.

    Raises:
        StoreUnwritable: nothing of it will ever be visible.
    """
    try:
        if tables.log.shared:
            with tables.write_errors():
                tables.log.append(commit, rows)
            return
        new = {commit.table(kind): with_tx(rows[kind], commit.tx) for kind in TABLE_KINDS if kind in rows}
        if len(new) == 1:
            swept.update({name: tables.append(name, of_one) for name, of_one in new.items()})
        elif new:
            with ThreadPoolExecutor(len(new), thread_name_prefix="mcp-memory append") as threads:
                swept.update(zip(new, threads.map(tables.append, new, new.values()), strict=True))
        with tables.write_errors():
            tables.log.append(commit, {kind: rows[kind] for kind in LOG_KINDS if kind in rows})
    except StoreUnwritable:
        swept.clear()  # the rows that were appended have no commit, as if this writer had died
        raise


Append = Callable[[Batch, Mapping[RowKind, TableRows] | None, Commit | None], Awaitable[Commit]]
"""Appends a batch, whose rows may be there already, and its commit."""
Apply = Callable[[Batch, Commit], Awaitable[None]]
"""Adds a commit to the view."""


class LanceTransaction:
    """The store while this process alone may write to it; the commit ends the transaction.

    Attributes:
        view: as of the last commit of any process; the newest segments and sentences may be missing.
        committed: whether anything was committed to the tables, or will have to be taken into them (``shared``).
    """

    def __init__(
        self, append: Append, apply: Apply, was_forgotten: Callable[[str], bool] | None,
        prepared: Batch | None, rows: Mapping[RowKind, TableRows] | None,
        lock: AsyncExitStack, view: View, last: Commit | None, *, shared: bool,
    ) -> None:  # fmt: skip
        self._append, self._apply = append, apply
        self._was_forgotten = was_forgotten  # None if nothing ever was
        self._prepared, self._rows = prepared, rows
        self._lock = lock
        self.view = view
        self._last = last
        self.committed = False
        self._shared = shared

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
            commit = await self._append(batch, rows, self._last)
            self.committed = self._shared or any(map(commit.count, TABLE_KINDS))
            await self._lock.aclose()
            await self._apply(batch, commit)
        return commit.tx
