"""The transaction of a store in LanceDB: what a writer sees and does while it holds the write lock."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack

import anyio
from anyio.lowlevel import checkpoint

from mcp_memory.domain.batch import Batch
from mcp_memory.storage.journal import Appended
from mcp_memory.storage.schema import Commit, TableKind, TableRows
from mcp_memory.view.forgetting import without_forgotten
from mcp_memory.view.view import View

Append = Callable[[Batch, Mapping[TableKind, TableRows] | None, Commit | None], Awaitable[Appended]]
"""Appends a batch, whose rows may be there already, and its commit."""
Apply = Callable[[Batch, Appended], Awaitable[None]]
"""Adds a commit to the view."""


class LanceTransaction:
    """The store while this process alone may write to it; the commit ends the transaction.

    Attributes:
        committed: whether anything was committed to the tables, or will have to be taken into them.
    """

    def __init__(
        self, append: Append, apply: Apply, was_forgotten: Callable[[str], bool],
        prepared: Batch | None, rows: Mapping[TableKind, TableRows] | None,
        lock: AsyncExitStack, view: View, last: Commit | None,
    ) -> None:  # fmt: skip
        self._append = append
        self._apply = apply
        self._was_forgotten = was_forgotten
        self._prepared = prepared
        self._rows = rows
        self._lock = lock
        self._view = view
        self._last = last
        self.committed = False

    @property
    def view(self) -> View:
        """As of the last commit of any process; the newest segments and sentences may be missing."""
        return self._view

    async def commit(self, batch: Batch) -> int:
        """Append the rows, then the commit that makes them visible, release the lock, and return the commit's number.

        Lessons that were recorded before are left out with their beliefs. A cancelled call stores nothing or
        everything: once the first row is being appended, it runs through to the commit.

        Raises:
            StoreUnwritable: nothing of the batch is visible, now or later.
        """
        await checkpoint()
        batch = without_forgotten(batch, self.view, self._was_forgotten).unlearnt(self.view.has_lesson)
        if batch.empty:
            return self.view.tx
        with anyio.CancelScope(shield=True):
            rows = self._rows if self._prepared is batch else None
            appended = await self._append(batch, rows, self._last)
            self.committed = appended.version is not None or appended.follows
            await self._lock.aclose()
            await self._apply(batch, appended)
        return appended.commit.tx
