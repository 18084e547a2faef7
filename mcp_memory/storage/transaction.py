"""One transaction: the rows of a batch, put into the log as one object, which is the commit.

The tables take rows over later (`mcp_memory.storage.log.Log.fold`), so a process may be killed anywhere in between.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Sequence
from contextlib import AsyncExitStack

import anyio
from anyio.lowlevel import checkpoint

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import ExtractorName
from mcp_memory.storage.rows import DERIVED, LOGGED, rows_of
from mcp_memory.storage.schema import Commit, RowKind, TableRows
from mcp_memory.vectors import Matrix
from mcp_memory.view.erasure import without_forgotten
from mcp_memory.view.view import View


def rows_by_kind(batch: Batch) -> dict[RowKind, TableRows]:
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


Append = Callable[[Batch, Commit | None], Awaitable[Commit]]
"""Appends a batch and its commit after the last one."""
Apply = Callable[[Batch, Commit], Awaitable[None]]
"""Adds a commit to the view."""


class LanceTransaction:
    """The store while this process alone may write to it; the commit ends the transaction.

    Attributes:
        view: as of the last commit of any process.
        committed: whether anything was committed.
    """

    def __init__(
        self, append: Append, apply: Apply, was_forgotten: Callable[[str], bool] | None,
        lock: AsyncExitStack, view: View, last: Commit | None,
    ) -> None:  # fmt: skip
        self._append, self._apply = append, apply
        self._was_forgotten = was_forgotten  # None if nothing ever was
        self._lock = lock
        self.view = view
        self._last = last
        self.committed = False

    async def commit(self, batch: Batch) -> int:
        """Commit the rows, release the lock, and return the commit's number.

        Lessons that were recorded before are left out with their beliefs. A cancelled call stores nothing or
        everything.

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
            commit = await self._append(batch, self._last)
            self.committed = True
            await self._lock.aclose()
            await self._apply(batch, commit)
        return commit.tx
