"""Forget in one store, and finish what a process that died had begun to forget."""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

import anyio
from anyio import to_thread

from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.storage.damage import refuse
from mcp_memory.storage.elsewhere import forget_elsewhere
from mcp_memory.storage.forget import Forgetting
from mcp_memory.storage.forgotten import NOTHING_FORGOTTEN, Book, Work, begin, book_state, read_book, refuse_to_begin
from mcp_memory.storage.place import Lock
from mcp_memory.storage.rebuild import Embed
from mcp_memory.storage.refresh import Refresher
from mcp_memory.storage.relearning import Relearn
from mcp_memory.storage.rights import rights_kept
from mcp_memory.storage.schema import Commit
from mcp_memory.storage.tables import Tables
from mcp_memory.storage.transaction import sweep
from mcp_memory.view.erasure import Erasure, Keep, counts_of, present
from mcp_memory.view.resting import erasure_of
from mcp_memory.view.space import Space
from mcp_memory.view.view import View


class Forgetter:
    """Forgets in one store, and finishes what a process that died had begun to forget.

    Args:
        tables: used by nobody else meanwhile.
        lock: the store's write lock.
        refresher: returns a refresher of a store, given its tables, and embedder and dimension of its vectors.
        vectors: embedder and dimension of the store's vectors.
        embed: see `Forgetting`, as for the following arguments.
        relearn: makes beliefs of lessons.
        clock: milliseconds since 1970, UTC.

    Attributes:
        book: what was forgotten, as of the last look.
    """

    def __init__(
        self,
        tables: Tables,
        lock: Lock,
        refresher: Callable[[Tables, str, int], Refresher],
        vectors: tuple[str, int],
        embed: Embed | None,
        relearn: Relearn,
        clock: Callable[[], Millis],
    ) -> None:
        self.book = NOTHING_FORGOTTEN
        self._tables = tables
        self._lock = lock
        self._looked: object = None  # the state of the book at the last look
        self._refresher = refresher
        self._vectors = vectors
        self._embed = embed
        self._relearn = relearn
        self._clock = clock
        self._since = 0
        self._work = Forgetting(tables, embed, relearn, self._forget_elsewhere, clock)

    async def settle(self) -> None:
        """Finish what was begun and not finished, if anything; the write lock must not be held.

        While another process is at it this waits for the lock: nothing half forgotten is ever read.
        """
        if self.worth_a_look:
            await to_thread.run_sync(self._look)
        if self.book.work is not None or self._tables.log.forgetting:
            async with self._lock.hold():
                await self.settle_locked()

    async def settle_locked(self) -> None:
        """Do the same while the write lock is held."""
        if not self.worth_a_look:
            return
        await to_thread.run_sync(self._look)
        if self.book.work is None:
            if self._tables.log.forgetting:  # somebody died before anything was written down
                await to_thread.run_sync(self._tables.log.end_forgetting)
            return
        if (last := await to_thread.run_sync(lambda: self._tables.log.last)) is not None:
            load = partial(self._refresher(self._tables, *self._vectors).load)
            with anyio.CancelScope(shield=True):
                await self._finish(self.book.work, last, load)

    async def forget(self, found: Erasure, view: View, last: Commit, by: str, keep: Keep | None) -> tuple[str, ...]:
        """Forget what an erasure says, and return in words where outside of the store it may still be.

        The write lock must be held, and the tables swept. It is kept before, unless the forget cannot be begun.

        Raises:
            StoreUnwritable: nothing is forgotten, or the next call finishes it; the text says which.
        """
        counts = counts_of(view.space(found.targets.space), found)
        await to_thread.run_sync(refuse_to_begin, self._tables)
        if keep is not None:
            await keep(found)
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(begin, self._tables, last, found, counts, by, self._clock())
            await to_thread.run_sync(self._look)
            assert self.book.work is not None
            turns = view.space(found.targets.space).turns
            self._since = await to_thread.run_sync(self._stored_at, [turns[name] for name in found.turns])
            left = await self._finish(self.book.work, last, lambda: view)
            self._since = 0
        return left

    async def _finish(self, work: Work, last: Commit, load: Callable[[], View]) -> tuple[str, ...]:
        with rights_kept(self._tables.folder):
            left = await self._work.finish(work, last, load)
        await to_thread.run_sync(self._look)
        return left

    def _stored_at(self, turns: Collection[Turn]) -> Millis:
        """Return when the first of some texts came into the store; 0 where nobody can tell.

        An imported text bears the moment of another clock, which may have been ahead, as this one may have been.
        """
        names = {turn.id for turn in turns}
        moments = [turn.written_at for turn in turns]
        for entry in self._tables.log.entries():
            stored = entry.rows.get("turns", ())
            listed = stored if isinstance(stored, list) else stored.to_pylist() if stored else []
            if len(moments) > len(turns) or any(row["id"] in names for row in listed):
                moments.append(entry.commit.at)  # of the first of them, and of all after it
        found = min(moments, default=0)
        return found if len(moments) > len(turns) and found <= self._clock() else 0

    async def _forget_elsewhere(self, targets: ForgetTargets) -> tuple[str, ...]:
        return await forget_elsewhere(self._tables.folder, partial(self._forget_in, targets), self._since)

    async def _forget_in(self, targets: ForgetTargets, folder: Path) -> None:
        """Forget in a store that was set aside what of the targets is there, and what else was forgotten since.

        It may have been out of reach when that went.
        """
        tables = Tables(str(folder))
        refuse(tables)
        if (last := tables.log.last) is None:
            return
        vectors = last.embedder, last.dimension
        refresher, same = self._refresher(tables, *vectors), self._vectors == vectors
        work = Forgetting(tables, self._embed if same else None, self._relearn, _nowhere, self._clock)
        view = await to_thread.run_sync(refresher.load)
        for name in list(view.spaces):
            space = view.space(name)
            chosen = forgotten_in(space, self.book)
            if name == targets.space:
                chosen = chosen.joined(present(space, targets))
            if refresher.last is None or chosen.empty:
                continue
            found = await to_thread.run_sync(erasure_of, space, chosen)
            await to_thread.run_sync(sweep, tables, refresher.last.tables, refresher.last.tx, {})
            await to_thread.run_sync(
                begin, tables, refresher.last, found, counts_of(space, found), "a forget", self._clock()
            )
            begun = read_book(tables).work
            assert begun is not None
            await work.finish(begun, refresher.last, lambda view=view: view)  # type: ignore[misc]
            view = await to_thread.run_sync(refresher.load)

    @property
    def worth_a_look(self) -> bool:
        """Whether another process may have begun or finished a forget."""
        if self._tables.folder is None:
            return self._looked is None or self.book.work is not None or self._tables.log.forgetting
        return self.book.work is not None or self._looked != book_state(self._tables)

    def look_again(self) -> None:
        """Look at the next call, also on object storage: the log is another one, perhaps by a forget."""
        self._looked = None

    def _look(self) -> None:
        self._looked = book_state(self._tables)
        last = self._tables.log.last
        self.book = read_book(self._tables, last.forgets if last else 0)


def forgotten_in(space: Space, book: Book) -> ForgetTargets:
    """Return what of a space was forgotten according to a book; what was written again afterwards is not among it."""
    turns = frozenset(turn.id for turn in space.turns.values() if book.holds_since(turn.id, turn.written_at))
    facts = (one for one in space.facts.rows if one.turn_id not in turns and one.extractor in ("caller", "anthropic"))
    return ForgetTargets(
        space.name,
        turns=turns,
        assertions=frozenset(one.id for one in facts if book.holds_since(one.id, one.recorded_at)),
        points=frozenset(one.id for one in space.hypergraph.all() if book.holds_since(one.id, one.at)),
        episodes=frozenset(one.episode_id for one in space.beliefs.lessons() if book.holds(one.episode_id)),
    )


async def _nowhere(_targets: ForgetTargets) -> tuple[str, ...]:
    """Forget in the places of a store that was set aside, which has none."""
    return ()
