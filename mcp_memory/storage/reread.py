"""Read all texts again for facts, with a newer extractor, while the store is in use.

The assertions of the embedded engine are in ``assertions_<reader>_<generation>``. What the newer extractor reads goes
into a table of its own, in parts, without the lock; texts that are written meanwhile follow. One commit then switches
over, so until then every process sees what the older extractor had read, and from then on only what the newer one
reads. Callers' facts and what Claude read are in the log and stay as they are.

A process may be killed at any moment: the next one finds how far the new table goes, and continues there. Of the last
commit in it the texts are read again, since some of its rows may be missing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import anyio
from anyio import to_thread

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.status import Progressed
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.storage.log import rows_of as logged
from mcp_memory.storage.place import REBUILD_LOCK, take_if_free
from mcp_memory.storage.rows import rows_of, stored_rows
from mcp_memory.storage.schema import FORMAT, Commit, table_name
from mcp_memory.storage.tables import Tables
from mcp_memory.storage.transaction import sweep

PART = 50
"""Texts that one step reads: a fifth of a second."""


class ReadAgain(Protocol):
    """Reads texts for facts; it is given every text of the store once, in order of arrival."""

    def __call__(self, turns: list[Turn], *, known: bool) -> Awaitable[list[Assertion]]:
        """Return what the texts assert; nothing where they are ``known``, which only says who spoke before."""


class Rereading:
    """The reading of one store by a newer extractor, step by step.

    Args:
        tables: not used otherwise.
        writing: holds the store's write lock.
        read: the extractor.
        reader: its version.
        clock: milliseconds since 1970, UTC.
    """

    def __init__(
        self,
        tables: Tables,
        writing: Callable[[], AbstractAsyncContextManager[None]],
        read: ReadAgain,
        reader: int,
        clock: Callable[[], Millis],
    ) -> None:
        self._tables = tables
        self._writing = writing
        self._read = read
        self._reader = reader
        self._clock = clock
        self._release: Callable[[], None] | None = None
        self._former: Commit | None = None  # whose assertions are replaced
        self._seen = 0  # the commit up to which the texts were given to the extractor
        self._done = 0  # the commit up to which the new table is complete
        self._read_texts = self._texts = 0

    @property
    def progress(self) -> Progressed | None:
        """How many texts were read, of how many; None if nothing is being read."""
        return None if self._former is None else Progressed(self._read_texts, self._texts)

    async def step(self) -> bool:
        """Read some texts, or switch over when all are read; return whether there is more to do.

        Raises:
            StoreError: the store cannot be read or written; a later call continues.
        """
        if self._former is None and not await to_thread.run_sync(self._begin):
            return False
        last = await to_thread.run_sync(self._last)
        if last is None or not self._is_current(last):  # after a rebuild, or when something was forgotten
            self.close()
            return last is not None and last.reader < self._reader
        if await self._read_part(last.tx):
            await to_thread.run_sync(self._drop_if_outdated)
            return True
        async with self._writing():
            last = await to_thread.run_sync(self._last)
            if last is not None and self._is_current(last):
                while await self._read_part(last.tx):
                    pass
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(self._switch, last)
        self.close()
        return False

    def close(self) -> None:
        """Let other processes read or rebuild; what was read so far is kept."""
        self._former = None
        self._seen = self._done = self._read_texts = 0
        if self._release is not None:
            self._release()
            self._release = None

    def _last(self) -> Commit | None:
        return self._tables.log.last

    def _begin(self) -> bool:
        """Prepare reading; return whether there is anything to read and no other process reads or rebuilds."""
        last = self._last()
        if last is None or last.reader >= self._reader or last.format != FORMAT:
            return False
        self._release = take_if_free(self._tables.place, REBUILD_LOCK)
        if self._release is None:
            return False
        self._former = last
        self._texts = sum(commit.turns for commit in self._tables.log.commits())
        rows = self._tables.rows(self._name, None, ["tx"])
        if rows is not None and len(rows):
            latest = max(rows["tx"].to_pylist())
            self._tables.delete(self._name, f"tx >= {latest}")
            self._done = latest - 1
        return True

    def _is_current(self, last: Commit) -> bool:
        """Return whether the tables are still those that the reading began with."""
        former = self._former
        return former is not None and (last.generation, last.reader) == (former.generation, former.reader)

    def _drop_if_outdated(self) -> None:
        """Drop the new table if something was forgotten while a part was read: the part may hold some of it."""
        last = self._last()
        if last is None or not self._is_current(last):
            self._tables.drop(self._name)

    @property
    def _name(self) -> str:
        assert self._former is not None
        return table_name("assertions", self._former.generation, self._reader)

    async def _read_part(self, until: int) -> bool:
        """Read the next texts of the commits up to a number; return whether there were any."""
        if self._seen >= until:
            return False
        upto, turns, facts = await to_thread.run_sync(self._next_texts, until)
        known = upto <= self._done
        assertions = await self._read([turn for _, turn in turns], known=known)
        if assertions:
            await to_thread.run_sync(self._append, assertions, {turn.id: tx for tx, turn in turns}, facts)
        self._seen, self._done = upto, max(self._done, upto)
        self._read_texts += len(turns)
        self._texts = max(self._texts, self._read_texts)
        return True

    def _next_texts(self, until: int) -> tuple[int, list[tuple[int, Turn]], dict[int, int]]:
        """Return the last of the next commits with about `PART` texts, these texts, and how many facts each has."""
        part, texts = [], 0
        for entry in self._tables.log.entries(self._seen, until):
            part.append(entry)
            texts += entry.commit.turns
            if texts >= PART or entry.commit.tx == self._done:  # known and new texts are not mixed
                break
        upto = part[-1].commit.tx if part else until
        found = [(row.tx, row.value) for row in stored_rows("turns", logged(part, "turns"))]
        return upto, found, {entry.commit.tx: entry.commit.facts for entry in part}

    def _append(self, assertions: list[Assertion], txs: dict[str, int], facts: dict[int, int]) -> None:
        """Append assertions at the places that a rebuild gives them, behind those of the log in the same commit."""
        numbers = [txs[assertion.turn_id] for assertion in assertions]
        order = sorted(range(len(numbers)), key=lambda row: numbers[row])
        taken = dict(facts)
        places = []
        for row in order:
            places.append(taken[numbers[row]])
            taken[numbers[row]] += 1
        rows = rows_of("assertions", [assertions[row] for row in order], [numbers[row] for row in order], places)
        self._tables.append(self._name, rows)

    def _switch(self, last: Commit) -> None:
        sweep(self._tables, last.tables, last.tx, {})
        read = self._tables.count(self._name)
        with self._tables.write_errors():
            self._tables.log.append(last.next(self._clock(), assertions=read, reader=self._reader), {})
