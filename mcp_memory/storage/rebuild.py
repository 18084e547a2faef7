"""Make the derived tables again from the log, next to the old ones, and switch over with one commit.

That is done when somebody asks for it, and in the background where a table is broken, or an older extractor has read
the texts for facts. The work is done in parts without the lock, while other processes read and write; what they write
follows, and only the last of it is handled under the lock. Until the commit is written no process sees any of it, so a
process may be killed at any moment: the next one begins anew.

A rebuild has a *generation* of its own, whose number is never used twice. Callers' facts and what Claude read are in
the log and stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from dataclasses import dataclass
from typing import Any

import anyio
from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreBusy, StoreError
from mcp_memory.storage.damage import refuse
from mcp_memory.storage.log import Entry, logged_rows
from mcp_memory.storage.place import REBUILD_LOCK, take_if_free
from mcp_memory.storage.refresh import Refresher, ensure_format
from mcp_memory.storage.relearning import Relearn, Relearning
from mcp_memory.storage.rows import DERIVED, StoredRow, rows_of
from mcp_memory.storage.schema import Commit, TableKind, TableRows, generation_of, table_name
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix

CHUNK = 200
"""Texts that are derived at once."""

Make = Callable[[list[Turn]], Awaitable[Batch]]
"""Returns what follows from texts, which it is given once, in order of arrival: their segments, sentences, vectors and
the assertions of the rules. What callers asserted or Claude read is part of the log, `Relearn` makes beliefs, and of
memory points and questions only the vectors are made again."""

Embed = Callable[[Sequence[str]], Awaitable[Matrix]]
"""Returns one vector of length 1 for each text, in their order."""


@dataclass(frozen=True, slots=True)
class Makers:
    """What makes the derived tables of a store.

    Attributes:
        embedder: the model that makes the vectors.
        dimension: the dimension of these vectors.
        reader: the version of the extractor; 0 for none.
        derive: returns what derives all texts of one rebuild; None makes nothing again that nobody asks for.
        relearn: makes beliefs of lessons.
        embed: for points and questions; None leaves points without vectors, so they are similar to nothing.
    """

    embedder: str
    dimension: int
    reader: int
    derive: Callable[[], Make] | None
    relearn: Relearn
    embed: Embed | None


Alone = Callable[[], AbstractAsyncContextManager[None]]
"""Holds the store's write lock, with every row in its table."""


async def rebuilding(
    tables: Tables, alone: Alone, makers: Makers, make: Make, clock: Callable[[], Millis]
) -> AsyncGenerator[int]:
    """Make every derived table again, and yield after each part how many texts were made so far.

    Whoever ends it early leaves the store as it was.

    Args:
        tables: not used otherwise meanwhile.
        alone: see `Alone`.
        makers: see there.
        make: derives texts.
        clock: milliseconds since 1970, UTC.

    Raises:
        StoreBusy: another process does the same, or something was forgotten meanwhile. Nothing was changed.
        StoreDamaged: the log itself is damaged. Nothing was changed.
        StoreMismatch: the store has another format.
        StoreUnwritable: the place cannot be written to. The memory is as it was.
    """
    release = await to_thread.run_sync(_claim, tables)
    if release is None:
        return
    try:
        async with alone():  # nobody is forgetting, whose tables would be dropped
            new = await to_thread.run_sync(_NewTables, tables, makers, make)
        try:
            while await new.make_part():
                yield new.turns
            await new.learn()  # most lessons, before others have to wait
            async with alone():
                while await new.make_part():
                    pass
                await new.learn()
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(new.switch, clock())
        except BaseException:
            with anyio.CancelScope(shield=True), suppress(StoreError):
                await to_thread.run_sync(new.drop)
            raise
        yield new.turns
    finally:
        release()


def _claim(tables: Tables) -> Callable[[], None] | None:
    """Let no other process rebuild, and return what ends that; None if nothing is stored."""
    last = tables.log.last
    if last is None:
        return None
    ensure_format(last, tables.uri)
    refuse(tables)
    release = take_if_free(tables.place, REBUILD_LOCK)
    if release is None:
        raise StoreBusy("Another process is rebuilding this memory already. Nothing was changed. Wait for it to end.")
    return release


class _NewTables:
    """The tables of a new generation, as far as they are made. To begin drops those of an unfinished rebuild.

    Attributes:
        turns: how many texts were made again so far.
    """

    def __init__(self, tables: Tables, makers: Makers, make: Make) -> None:
        former = tables.log.last
        assert former is not None
        names = tables.names()
        numbers = [number for name in names if (number := generation_of(name)) is not None]
        for name in names:
            if generation_of(name) not in (None, former.generation):
                tables.drop(name)
        self.turns = 0
        self._tables, self._makers, self._make = tables, makers, make
        self._former = former  # whose tables are replaced
        self._generation = max(former.generation, *numbers, 0) + 1
        self._learning = Relearning(tables, self._generation, makers.relearn)
        self._done = 0  # the last commit that was handled
        self._made: Counter[TableKind] = Counter()
        self._places: Counter[int] = Counter()  # by commit, how many of its assertions have a place

    async def make_part(self) -> bool:
        """Make what follows from the next commits; return whether there were any."""
        until = (await to_thread.run_sync(self._last)).tx
        if self._done >= until:
            return False
        part = await to_thread.run_sync(self._next_commits, until)
        self._places.update({entry.commit.tx: entry.commit.facts for entry in part})  # the log's keep the first
        stored = [(row.tx, row.value) for row in logged_rows(part, "turns")]
        for start in range(0, len(stored), CHUNK):
            chunk = stored[start : start + CHUNK]
            batch = await self._make([turn for _, turn in chunk])
            await to_thread.run_sync(self._append_batch, batch, {turn.id: tx for tx, turn in chunk})
            self.turns += len(chunk)
        if self._makers.embed is not None:
            await self._embed_points_and_questions(self._makers.embed, part)
        self._done = part[-1].commit.tx if part else until
        return True

    async def learn(self) -> None:
        """Learn the lessons of the commits that were handled."""
        await self._learning.catch_up(self._done)

    def switch(self, now: Millis) -> None:
        """Commit the new tables, which takes the place of the others."""
        refuse(self._tables)
        if (beliefs := self._learning.rows()) is not None:
            self._append("beliefs", beliefs)
        kinds: tuple[TableKind, ...] = ("segments", "sentences", "assertions", "beliefs")
        changes: dict[str, Any] = {kind: self._made[kind] for kind in kinds}
        changes |= {"embedder": self._makers.embedder, "dimension": self._makers.dimension}
        changes |= {"reader": self._makers.reader, "generation": self._generation}
        with self._tables.write_errors():
            self._tables.log.append(Entry(self._last().next(now, **changes), {}))

    def drop(self) -> None:
        """Drop the tables that are made, unless their commit stands."""
        last = self._tables.log.last
        if last is None or last.generation != self._generation:
            for name in self._tables.names():
                if generation_of(name) == self._generation:
                    self._tables.drop(name)

    def _last(self) -> Commit:
        """Return the last commit, if the tables are still those that are replaced: the new ones may hold what went."""
        last = self._tables.log.last
        if last is None or last.generation != self._former.generation:
            raise StoreBusy(
                "Something was forgotten during the rebuild, so it gave up. Nothing was changed. Try again."
            )
        return last

    def _next_commits(self, until: int) -> list[Entry]:
        """Return the next commits with about as many texts as are made at once."""
        part, texts = [], 0
        for entry in self._tables.log.entries(self._done, until):
            part.append(entry)
            texts += entry.commit.turns
            if texts >= CHUNK:
                break
        return part

    def _name(self, kind: TableKind) -> str:
        return table_name(kind, self._generation, self._makers.reader)

    def _append(self, kind: TableKind, rows: TableRows) -> None:
        self._tables.append(self._name(kind), rows)
        self._made[kind] += len(rows)

    def _append_batch(self, batch: Batch, txs: dict[str, int]) -> None:
        if batch.segments:
            numbers = [txs[segment.turn_id] for segment in batch.segments]
            self._append("segments", rows_of("segments", batch.segments, numbers, None, batch.segment_vectors))
        if batch.sentences:
            numbers = [txs[sentence.turn_id] for sentence in batch.sentences]
            self._append("sentences", rows_of("sentences", batch.sentences, numbers, None, batch.sentence_vectors))
        derived = [assertion for assertion in batch.assertions if assertion.extractor in DERIVED]
        if derived := sorted(derived, key=lambda one: txs[one.turn_id]):
            numbers = [txs[assertion.turn_id] for assertion in derived]
            places = []
            for tx in numbers:
                places.append(self._places[tx])
                self._places[tx] += 1
            self._append("assertions", rows_of("assertions", derived, numbers, places))

    async def _embed_points_and_questions(self, embed: Embed, part: Sequence[Entry]) -> None:
        """Append the vectors of points, and the questions with theirs."""
        for txs, places, revisions in _chunks(logged_rows(part, "points")):
            rows = rows_of("point_vectors", revisions, txs, places, await embed([one.description for one in revisions]))
            await to_thread.run_sync(self._append, "point_vectors", rows)
        for txs, places, placed in _chunks(logged_rows(part, "questions")):
            rows = rows_of("questions", placed, txs, places, await embed([question.text for question in placed]))
            await to_thread.run_sync(self._append, "questions", rows)


def _chunks(rows: Sequence[StoredRow]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield commit numbers, places and values, at most `CHUNK` of each at a time."""
    for start in range(0, len(rows), CHUNK):
        txs, places, values, _ = zip(*rows[start : start + CHUNK], strict=True)
        yield txs, places, values


class Renewal:
    """Makes the tables of one store again: when asked to, and in the background if they are broken or outdated.

    Args:
        tables: returns the tables of the store, opened anew.
        alone: see `Alone`.
        refresher: knows the last commit, and which tables are broken.
        makers: what makes them.
        clock: milliseconds since 1970, UTC.
    """

    def __init__(
        self,
        tables: Callable[[], Tables],
        alone: Alone,
        refresher: Refresher,
        makers: Makers,
        clock: Callable[[], Millis],
    ) -> None:
        self._tables, self._alone, self._refresher = tables, alone, refresher
        self._makers, self._clock = makers, clock
        self._work: AsyncGenerator[int] | None = None
        self._tried: set[str] = set()  # tables that could not be made again, which is not tried at every call

    @property
    def due(self) -> bool:
        """Whether a table is broken, or an older extractor has read the texts, as of the last refresh."""
        return bool(self._wanted() - self._tried)

    def _wanted(self) -> set[str]:
        """Return the names of the tables that are to be made again."""
        damage, last = self._refresher.damage, self._refresher.last
        if self._makers.derive is None or damage.log or last is None:
            return set()
        is_outdated = last.reader < self._makers.reader
        return {*damage.tables, *([last.table("assertions")] if is_outdated else [])}

    async def rebuild(self, make: Make) -> int:
        """Make every derived table again, and return the number of texts; see `rebuilding` for the errors."""
        made = 0
        async with aclosing(self._rebuilding(make)) as work:
            async for turns in work:
                made = turns
        return made

    async def step(self) -> bool:
        """Make a part of the tables again if they are due, and return whether there is more to do."""
        if self._work is None:
            if self._makers.derive is None or not self.due:
                return False
            known, last = self._refresher.last, await to_thread.run_sync(lambda: self._tables().log.last)
            if known is None or last is None or last.generation != known.generation:
                return False  # another process has done it
            self._tried |= self._wanted()
            self._work = self._rebuilding(self._makers.derive())
        work, self._work = self._work, None  # which an error ends
        try:
            async for _ in work:
                self._work = work
                return True
            self._refresher.note_rebuilt()
            self._tried.clear()
        except StoreBusy:  # another process is at it, or something was forgotten; a later call looks again
            self._tried.clear()
        return False

    def _rebuilding(self, make: Make) -> AsyncGenerator[int]:
        return rebuilding(self._tables(), self._alone, self._makers, make, self._clock)

    async def aclose(self) -> None:
        """End what is not done."""
        if self._work is not None:
            await self._work.aclose()
