"""The store in LanceDB, as ``ports.Store`` describes it: read, write, forget, rebuild.

There are two locks, always taken in this order: the write lock, which also excludes other processes, and that of the
view, held only while it is read, extended or saved, or a forget chooses in it. LanceDB blocks, so every call of it runs
in a worker thread.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio
from anyio import to_thread
from anyio.lowlevel import checkpoint

from mcp_memory.domain.access import look_again
from mcp_memory.domain.batch import KEEP, Batch, Masking
from mcp_memory.domain.status import StoreStatus
from mcp_memory.domain.times import Millis
from mcp_memory.errors import StoreError
from mcp_memory.heap import made_to_stay, may_go
from mcp_memory.ports import Work
from mcp_memory.storage.backups import settle
from mcp_memory.storage.compaction import Compaction
from mcp_memory.storage.damage import Damage, damaged, examine, in_words, store_status
from mcp_memory.storage.forget import NOTHING_FORGOTTEN, Forgetter, finish, read_book
from mcp_memory.storage.lock import Holders, lease, open_write_lock, without_compaction
from mcp_memory.storage.log import Entry
from mcp_memory.storage.place import Place, local_folder
from mcp_memory.storage.rebuild import Embed, Make, Relearn, Renewal, learn_nothing
from mcp_memory.storage.refresh import Refresher
from mcp_memory.storage.rows import FORMAT, Commit, costs_of, rows_by_kind
from mcp_memory.storage.tables import Tables
from mcp_memory.view.erasure import Erasure, without_forgotten
from mcp_memory.view.space import View

SMALL_CHARS = 16_000
"""Characters of texts that are added to the view without a thread: a millisecond at most."""
STOP_S = 2.0
"""How long closing waits for a compaction."""

_log = logging.getLogger(__name__)


class LanceStore:
    """A store in LanceDB. Nothing is opened before the first call, nothing is created before the first write.

    Args:
        place: a local folder, or any other URI that LanceDB opens; a `Place`, where there is more to say of it.
        embedder: name of the model that makes the vectors.
        dimension: the dimension of the vectors.
        make_view: returns an empty view with the indexes that the rooms need.
        lock_timeout_s: how long a write waits for those of other processes.
        compact_after: commits of this process between two compactions.
        derive: returns what derives and embeds the turns of one rebuild; if given, tables are made again where they are
            broken, or made with an older extractor.
        relearn: makes beliefs of the lessons in a rebuild.
        embed: for memory points and questions, in a rebuild; None leaves points without vectors.
        reader: the version of the extractor that reads facts from new texts; 0 for none.
        masking: the masking of secrets in what is read; the log keeps what was said.
        saved: what the view depends on, for `save_view`; "" saves none.
        clock: milliseconds since 1970, UTC.
    """

    def __init__(
        self,
        place: Place | str,
        *,
        embedder: str,
        dimension: int,
        make_view: Callable[[], View] = View,
        lock_timeout_s: float = 30.0,
        compact_after: int = 64,
        derive: Callable[[], Make] | None = None,
        relearn: Relearn = learn_nothing,
        embed: Embed | None = None,
        reader: int = 0,
        masking: Masking = KEEP,
        saved: str = "",
        clock: Callable[[], Millis] = lambda: time.time_ns() // 1_000_000,
    ) -> None:
        self._place = place if isinstance(place, Place) else Place(place)
        self.uri = self._place.uri
        settle(local_folder(self.uri))
        self._embedder, self._dimension = embedder, dimension
        self._reader, self._clock = reader, clock
        self._tables = Tables(self._place)
        made_by = saved and repr((saved, embedder, dimension))
        self._refresher = Refresher(self._tables, embedder, dimension, make_view, masking, made_by)
        self._view = self._refresher.reset()
        self._view_lock = anyio.Lock()
        self._whole: int | None = None  # the commit as of which its indexes were last extended
        self._write_lock = open_write_lock(self._place, lock_timeout_s)
        self._holders = Holders(self._tables.folder) if self._tables.folder else None
        self._compaction = Compaction(self._place, compact_after, clock)
        self._renewal = Renewal(
            self._place, self._alone, self._refresher, embedder, dimension, reader, derive, relearn, embed, clock
        )
        self._forgetter = Forgetter(Tables(self._place), embed, relearn, clock)
        self._book, self._book_as_of = NOTHING_FORGOTTEN, (0, 0)  # of a generation with so many records

    @asynccontextmanager
    async def reading(self, *, whole: bool = True) -> AsyncIterator[View]:
        """Refresh the view to the last commit of any process and lock it against changes, see `ports.Store.reading`."""
        while True:
            await self._settle()
            async with self._view_lock:
                await self._refresh(whole=whole)
                if not self._tables.log.forgetting:
                    yield self._view
                    return

    async def _settle(self) -> None:
        """Wait for a process that forgets, or clear up after one that died; the write lock must not be held."""
        if self._tables.log.forgetting:
            async with self._write_lock.hold():
                await self._clear_up()

    async def _clear_up(self) -> None:
        """Clear up after a process that died while it forgot, if one did; the write lock must be held."""
        await to_thread.run_sync(self._tables.log.newest)
        if self._tables.log.forgetting:
            async with without_compaction(self._tables.place):
                await to_thread.run_sync(finish, self._tables)

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[LanceTransaction]:
        """Take the write lock and refresh; see `ports.Store.writing`."""
        if self._tables.folder is None or not self._tables.exists():
            await to_thread.run_sync(self._tables.make_folder)
        await self._settle()
        if self._tables.folder and not self._is_current():  # most rows, before others have to wait
            await self._catch_up()
        async with AsyncExitStack() as lock:
            await lock.enter_async_context(self._write_lock.hold())
            look_again()
            if not self._is_current():  # else there is no need to wait for readers
                await self._catch_up()
            if self._tables.log.forgetting:
                await self._clear_up()
                await self._catch_up()
            self._refuse()
            commit = partial(self._commit, lock, self._view, self._refresher.last)
            yield LanceTransaction(self._view, self._view_lock, commit)

    async def _catch_up(self) -> None:
        """Bring the view up to date; the newest segments and sentences may be missing."""
        async with self._view_lock:
            await self._refresh(whole=False)

    def _is_current(self) -> bool:
        """Return whether the view is as of the last commit of any process, if that can be seen at a glance."""
        there = self._holders is None or self._holders.registered
        return there and not self._refresher.lacks_rows and self._refresher.is_current(at_a_glance=True)

    async def save_view(self) -> None:
        """See `ports.Store.save_view`."""
        async with (lock := self._view_lock):
            await to_thread.run_sync(self._refresher.save, self._view, lambda: bool(lock.statistics().tasks_waiting))

    def lease(self, work: Work) -> AbstractAsyncContextManager[bool]:
        """See `ports.Store.lease`."""
        return lease(self._place, f"{work}.lock")

    async def forget(self, choose: Callable[[View], Erasure]) -> Erasure:
        """See `ports.Store.forget`."""
        await self._settle()
        async with self._alone():
            async with self._view_lock:
                await self._refresh(whole=True)
                last = self._refresher.last
                self._refuse()
                found = await to_thread.run_sync(choose, self._view)
            if last is not None and not found.targets.empty:
                await self._forgetter.forget(found, last)
        await self._catch_up()  # let go of what this process holds
        return found

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """Hold the write lock, with every row in its table."""
        async with self._write_lock.hold():
            look_again()
            await self._clear_up()
            await to_thread.run_sync(self._tables.fold)
            yield

    def was_forgotten(self, id_: str) -> bool:
        """See `ports.Store.was_forgotten`."""
        return self._book.holds(id_)

    async def rebuild(self, make: Make) -> int:
        """Rebuild every derived table with the configured embedder and return the number of turns; see `rebuild`.

        Other processes may read and write meanwhile; they reload at their next call.
        """
        await self._settle()
        return await self._renewal.rebuild(make)

    @property
    def damage(self) -> tuple[str, ...]:
        """See `ports.Store.damage`."""
        return self._refresher.damage.problems

    def _refuse(self) -> None:
        """Refuse to change the store, if something is damaged that no rebuild makes again.

        Raises:
            StoreDamaged: it is.
        """
        if self._refresher.damage.log:
            raise damaged(self._tables, self._refresher.damage.problems)

    @property
    def outdated(self) -> bool:
        """See `ports.Store.outdated`."""
        return self._renewal.due

    async def renew(self) -> bool:
        """See `ports.Store.renew`."""
        return await self._renewal.step()

    async def about(self) -> StoreStatus:
        """See `ports.Store.about`."""
        found = await to_thread.run_sync(store_status, self._tables, self._embedder, self._dimension, self._look)
        holders = await to_thread.run_sync(self._holders.alive) if self._holders else [os.getpid()]
        return replace(
            found,
            holders=tuple(holders),
            queue=int(self._compaction.running),
            notes=(*found.notes, *filter(None, [self._book.damage])),
        )

    async def aclose(self) -> None:
        """See `ports.Store.aclose`."""
        with anyio.CancelScope(shield=True):
            await self._renewal.aclose()
            await to_thread.run_sync(self._compaction.stop, STOP_S)
            if self._holders:
                self._holders.leave()
            self._tables.reopen()
            may_go()

    async def _refresh(self, *, whole: bool) -> None:
        """Bring the view up to date; its lock must be held."""
        if (not whole or self._whole == self._view.tx) and self._is_current():
            return
        known = self._refresher.damage
        try:
            self._view = await to_thread.run_sync(self._open_and_refresh, whole)
        except StoreError as error:
            raise await to_thread.run_sync(in_words, Tables(self._place), error) from error
        if (damage := self._refresher.damage) != known and damage.problems:
            _log.error("storage.uri %r: %s", self.uri, " ".join(damage.problems))

    def _look(self) -> Damage:
        """Return what is damaged now; where that finds nothing, what this process has noticed."""
        known = self._refresher.damage
        if self._tables.log.shared:
            return known
        found = examine(Tables(self._place))
        return Damage(found.log or known.log, found.tables or known.tables)

    def _open_and_refresh(self, whole: bool) -> View:
        opening = self._holders is not None and not self._holders.registered  # or what was opened is gone
        if opening:
            self._place.check_noted()
        if self._holders and self._tables.exists():
            self._holders.enter()
        try:
            with made_to_stay():
                view = self._refresher.refresh(self._view)
                self._read_book()
                self._whole = view.tx if whole else None
                if whole:
                    view.extend_indexes()  # here, in a thread, rather than at the first query
                if opening and view.tx:
                    self._place.keep_note()
        except StoreError:
            raise
        except (ValueError, TypeError, LookupError, RuntimeError) as error:  # the view may have taken in half of it
            self._view = self._refresher.reset()
            raise self._tables.unreadable("", f"a row that is none, {type(error).__name__}: {error}") from error
        except Exception:
            self._view = self._refresher.reset()
            raise
        return view

    def _read_book(self) -> None:
        """Read what was forgotten, if that is more than at the last look."""
        last = self._refresher.last
        as_of = (last.generation, last.forgets) if last is not None else (0, 0)
        if as_of != self._book_as_of:
            self._book, self._book_as_of = read_book(self._tables), as_of

    async def _commit(self, lock: AsyncExitStack, view: View, last: Commit | None, batch: Batch) -> int:
        """Commit the rows, release the lock, and return the commit's number.

        What was made of texts that were forgotten meanwhile is left out.

        View and last commit are those that the transaction began with: a reader whose refresh fails may have reset the
        store's.
        """
        await checkpoint()
        if self._book.hashes:
            batch = without_forgotten(batch, view, self.was_forgotten)
        if batch.empty:
            return view.tx
        with anyio.CancelScope(shield=True):
            commit = await to_thread.run_sync(self._append, batch, last)
            await lock.aclose()
            await self._apply(batch, commit)
        self._compaction.count_commit()
        return commit.tx

    def _append(self, batch: Batch, last: Commit | None) -> Commit:
        """Put a batch into the log as the commit after the last one; the write lock must be held. Blocking."""
        logged, tables = rows_by_kind(batch)
        counts: dict[str, Any] = {kind: len(rows) for kind, rows in (tables | logged).items()}
        counts.pop("point_vectors", None)  # as many as points
        if last is None:
            key = self._refresher.ids.key.hex()
            last = Commit(0, 0, FORMAT, self._embedder, self._dimension, 0, 0, reader=self._reader, key=key)
            self._place.keep_note()
        commit = last.next(self._clock(), **counts, **costs_of(batch.outlays))
        with self._tables.write_errors():
            self._tables.log.append(Entry(commit, logged, tables))
        return commit

    async def _apply(self, batch: Batch, commit: Commit) -> None:
        """Add a commit to the view, unless a reader was faster or the view was reset meanwhile."""
        async with self._view_lock:
            view = self._view
            if view.tx != commit.tx - 1 or (view.tx and view.generation != commit.generation):
                look_again()
                return
            view.generation = commit.generation
            try:
                if batch.segments or sum(len(turn.text) for turn in batch.turns) > SMALL_CHARS:
                    await to_thread.run_sync(self._refresher.add_own_commit, view, batch, commit)
                else:  # a change of threads takes longer on a busy machine
                    self._refresher.add_own_commit(view, batch, commit)
            except Exception:  # the rows are stored, so the call succeeds; the next one loads the view again
                _log.exception(
                    "commit %s is stored; it could not be added to the view, which is loaded again", commit.tx
                )
                self._view = self._refresher.reset()


@dataclass(frozen=True, slots=True)
class LanceTransaction:
    """See `ports.Transaction`; a commit that is cancelled stores nothing or everything."""

    view: View
    lock: anyio.Lock
    commit: Callable[[Batch], Coroutine[Any, Any, int]]

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[View]:
        """See `ports.Transaction.reading`."""
        async with self.lock:
            yield self.view
