"""Make the derived tables again from the log, next to the old ones, and switch over with one commit.

That is done when somebody asks for it, and in the background where a table is broken, or an older extractor has read
the texts. The work is done in parts without the lock, while other processes read and write; only the last of it is
handled under the lock. Until the commit no process sees any of it, so a process may be killed at any moment: the next
one begins anew, with another *generation*, whose number is never used twice. Callers' facts and what Claude read are in
the log and stay. Beliefs are made of the lessons in the log, in the order of learning (`Relearning`), as a forget does
where lessons go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, suppress
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import anyio
import numpy as np
from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Sentence, Turn
from mcp_memory.errors import StoreBusy, StoreError
from mcp_memory.storage.damage import refuse
from mcp_memory.storage.lock import REBUILD_LOCK, take_if_free
from mcp_memory.storage.log import Entry, logged_rows
from mcp_memory.storage.place import Place
from mcp_memory.storage.refresh import Refresher, ensure_format
from mcp_memory.storage.rows import (
    DERIVED,
    OWN,
    Commit,
    StoredRow,
    TableKind,
    TableRows,
    generation_of,
    rows_of,
    table_name,
    values_of,
    vectors_of,
)
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Space, View

CHUNK_TEXTS = 200
"""Texts that are derived at once, points or questions that are embedded, and lessons that are learnt."""
LOOKED_UP_SENTENCES = 5000
"""Sentences of lessons that are looked up with one condition."""

Make = Callable[[list[Turn]], Awaitable[Batch]]
"""Returns what follows from texts, which it is given once, in order of arrival: their segments, sentences, vectors and
the assertions of the rules. What callers asserted or Claude read is part of the log, `Relearn` makes beliefs, and of
memory points and questions only the vectors are made again."""

Embed = Callable[[Sequence[str]], Awaitable[Matrix]]
"""Returns one vector of length 1 for each text, in their order."""

Relearn = Callable[[Space, Sequence[Lesson]], Awaitable[Sequence[Belief]]]
"""Returns what lessons teach, in the order of recording; of several beliefs about a sentence the last counts.

The space is that of the lessons: ``space.beliefs`` has what earlier ones taught. It has every turn, but only those
sentences that lessons are about, with vectors whatever the limit of other views, and neither segments nor facts. A
label of a sentence that ``space.sentence`` does not know teaches nothing: the text is split differently by now."""


async def learn_nothing(_space: Space, _lessons: Sequence[Lesson]) -> Sequence[Belief]:
    """Learn nothing; used if no room that learns is configured."""
    return ()


@dataclass
class Renewal:
    """Makes the tables of one store again: when asked to, and in the background if they are broken or outdated.

    Attributes:
        place: the place of the store, whose tables are opened anew each time.
        alone: holds the store's write lock, with every row in its table.
        refresher: knows the last commit, and which tables are broken.

    The others are those of the store (`LanceStore`). Points without vectors are similar to nothing.
    """

    place: Place
    alone: Callable[[], AbstractAsyncContextManager[None]]
    refresher: Refresher
    embedder: str
    dimension: int
    reader: int
    derive: Callable[[], Make] | None
    relearn: Relearn
    embed: Embed | None
    clock: Callable[[], Millis]
    _work: AsyncGenerator[int] | None = None
    _tried: set[str] = field(default_factory=set)  # tables that could not be made again: not at each call

    @property
    def due(self) -> bool:
        """Whether a table is broken, or an older extractor has read the texts, as of the last refresh."""
        return bool(self._wanted() - self._tried)

    def _wanted(self) -> set[str]:
        """Return the names of the tables that are to be made again."""
        damage, last = self.refresher.damage, self.refresher.last
        if self.derive is None or damage.log or last is None:
            return set()
        return {*damage.tables, *([last.table("assertions")] if last.reader < self.reader else [])}

    async def rebuild(self, make: Make) -> int:
        """Make every derived table again, and return the number of texts; see `_rebuilding` for the errors."""
        made = 0
        async with aclosing(self._rebuilding(make)) as work:
            async for turns in work:
                made = turns
        return made

    async def step(self) -> bool:
        """Make a part of the tables again if they are due, and return whether there is more to do."""
        if self._work is None:
            if self.derive is None or not self.due:
                return False
            known, last = self.refresher.last, await to_thread.run_sync(lambda: Tables(self.place).log.last)
            if known is None or last is None or last.generation != known.generation:
                return False  # another process has done it
            self._tried |= self._wanted()
            self._work = self._rebuilding(self.derive())
        work, self._work = self._work, None  # which an error ends
        try:
            async for _ in work:
                self._work = work
                return True
            self.refresher.note_made_anew()
            self._tried.clear()
        except StoreBusy:  # another process is at it, or something was forgotten; a later call looks again
            self._tried.clear()
        return False

    async def _rebuilding(self, make: Make) -> AsyncGenerator[int]:
        """Make every derived table again, and yield after each part how many texts were made so far.

        Whoever ends it early leaves the store as it was.

        Raises:
            StoreBusy: another process does the same, or something was forgotten meanwhile. Nothing was changed.
            StoreDamaged: the log itself is damaged. Nothing was changed.
            StoreMismatch: the store has another format.
            StoreUnwritable: the place cannot be written to. The memory is as it was.
        """
        tables = Tables(self.place)
        release = await to_thread.run_sync(_claim, tables)
        if release is None:
            return
        try:
            async with self.alone():  # nobody is forgetting, whose tables would be dropped
                new = await to_thread.run_sync(_NewTables, tables, self, make)
            try:
                while await new.make_part():
                    yield new.turns
                await new.learn()  # most lessons, before others have to wait
                async with self.alone():
                    while await new.make_part():
                        pass
                    await new.learn()
                    with anyio.CancelScope(shield=True):
                        await to_thread.run_sync(new.switch)
            except BaseException:
                with anyio.CancelScope(shield=True), suppress(StoreError):
                    await to_thread.run_sync(new.drop)
                raise
            yield new.turns
        finally:
            release()

    async def aclose(self) -> None:
        """End what is not done."""
        if self._work is not None:
            await self._work.aclose()


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

    def __init__(self, tables: Tables, renewal: Renewal, make: Make) -> None:
        former = tables.log.last
        assert former is not None
        names = tables.names()
        numbers = [number for name in names if (number := generation_of(name)) is not None]
        for name in names:
            if generation_of(name) not in (None, former.generation):
                tables.drop(name)
        self.turns = 0
        self._tables, self._renewal, self._make = tables, renewal, make
        self._former = former  # whose tables are replaced
        self._generation = max(former.generation, *numbers, 0) + 1
        self._learning = Relearning(tables, self._generation, renewal.relearn)
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
        for start in range(0, len(stored), CHUNK_TEXTS):
            chunk = stored[start : start + CHUNK_TEXTS]
            batch = await self._make([turn for _, turn in chunk])
            await to_thread.run_sync(self._append_batch, batch, {turn.id: tx for tx, turn in chunk})
            self.turns += len(chunk)
        if self._renewal.embed is not None:
            await self._embed_points_and_questions(self._renewal.embed, part)
        self._done = part[-1].commit.tx if part else until
        return True

    async def learn(self) -> None:
        """Learn the lessons of the commits that were handled."""
        await self._learning.catch_up(self._done)

    def switch(self) -> None:
        """Commit the new tables, which takes the place of the others."""
        refuse(self._tables)
        if (beliefs := self._learning.rows()) is not None:
            self._append("beliefs", beliefs)
        kinds: tuple[TableKind, ...] = ("segments", "sentences", "assertions", "beliefs")
        changes: dict[str, Any] = {kind: self._made[kind] for kind in kinds}
        changes |= {name: getattr(self._renewal, name) for name in ("embedder", "dimension", "reader")}
        commit = self._last().next(self._renewal.clock(), generation=self._generation, **changes)
        with self._tables.write_errors():
            self._tables.log.append(Entry(commit, {}))

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
            if texts >= CHUNK_TEXTS:
                break
        return part

    def _append(self, kind: TableKind, rows: TableRows) -> None:
        self._tables.append(table_name(kind, self._generation, self._renewal.reader), rows)
        self._made[kind] += len(rows)

    def _append_batch(self, batch: Batch, txs: dict[str, int]) -> None:
        derived = [assertion for assertion in batch.assertions if assertion.extractor in DERIVED]
        derived.sort(key=lambda one: txs[one.turn_id])
        places = []
        for tx in (txs[one.turn_id] for one in derived):
            places.append(self._places[tx])
            self._places[tx] += 1
        made: tuple[tuple[TableKind, Sequence[Any], Sequence[int] | None, Matrix | None], ...] = (
            ("segments", batch.segments, None, batch.segment_vectors),
            ("sentences", batch.sentences, None, batch.sentence_vectors),
            ("assertions", derived, places, None),
        )
        for kind, values, own_places, vectors in made:
            if values:
                self._append(kind, rows_of(kind, values, [txs[one.turn_id] for one in values], own_places, vectors))

    async def _embed_points_and_questions(self, embed: Embed, part: Sequence[Entry]) -> None:
        """Append the vectors of points, and the questions with theirs."""
        for txs, places, revisions in _chunks(logged_rows(part, "points")):
            rows = rows_of("point_vectors", revisions, txs, places, await embed([one.description for one in revisions]))
            await to_thread.run_sync(self._append, "point_vectors", rows)
        for txs, places, placed in _chunks(logged_rows(part, "questions")):
            rows = rows_of("questions", placed, txs, places, await embed([question.text for question in placed]))
            await to_thread.run_sync(self._append, "questions", rows)


def _chunks(rows: Sequence[StoredRow]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield commit numbers, places and values, at most `CHUNK_TEXTS` of each at a time."""
    for start in range(0, len(rows), CHUNK_TEXTS):
        yield tuple(zip(*rows[start : start + CHUNK_TEXTS], strict=True))  # type: ignore[misc]


class Relearning:
    """The progress of relearning the lessons of a store, with the sentences of a generation.

    ``left`` returns what a forget leaves of some commits of the log.
    """

    def __init__(
        self,
        tables: Tables,
        generation: int,
        relearn: Relearn,
        left: Callable[[Iterable[Entry]], Iterable[Entry]] = iter,
    ) -> None:
        self._tables = tables
        self._left = left
        self._generation = generation
        self._relearn = relearn
        self._view = View()
        self._looked_up: set[str] = set()
        self._beliefs: dict[str, tuple[int, Belief]] = {}

    async def catch_up(self, until: int) -> None:
        """Learn from the lessons of the commits up to a number; their sentences must be in the tables."""
        lessons = await to_thread.run_sync(self._read, until)
        for space, run in groupby(lessons, key=lambda entry: entry[1].space):
            part = list(run)
            for start in range(0, len(part), CHUNK_TEXTS):
                await self._learn(space, part[start : start + CHUNK_TEXTS])

    def rows(self) -> TableRows | None:
        """Return the beliefs as rows with the numbers of the commits that they are as of; None if there are none."""
        if not self._beliefs:
            return None
        txs, beliefs = zip(*self._beliefs.values(), strict=True)
        return rows_of("beliefs", beliefs, txs)

    async def _learn(self, space: str, part: Sequence[tuple[int, Lesson]]) -> None:
        lessons = tuple(lesson for _, lesson in part)
        beliefs = tuple(await self._relearn(self._view.space(space), lessons))
        for belief in beliefs:
            self._beliefs.pop(belief.sentence_id, None)
            self._beliefs[belief.sentence_id] = part[-1][0], belief
        self._view.add(Batch(lessons=lessons, beliefs=beliefs), self._view.tx)

    def _read(self, until: int) -> list[tuple[int, Lesson]]:
        """Return the new lessons with their commits' numbers, in order; the view has the sentences that they label."""
        entries = list(self._left(self._tables.log.entries(self._view.tx, until)))
        new = [(row.tx, row.value) for row in logged_rows(entries, "episodes")]
        if new:
            turns = tuple(row.value for row in logged_rows(entries, "turns"))
            self._view.add(Batch(turns), until)
            names = dict.fromkeys(name for _, one in new for name in one.labels if name not in self._looked_up)
            self._looked_up.update(names)
            for start in range(0, len(names), LOOKED_UP_SENTENCES):
                self._look_up(list(names)[start : start + LOOKED_UP_SENTENCES])
        return new

    def _look_up(self, names: Sequence[str]) -> None:
        """Add the named sentences with their vectors to the view, if their turn is in it."""
        quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
        rows = self._tables.rows(self._table("sentences"), f"id IN ({quoted})")
        if rows is None:
            return
        sentences = values_of("sentences", rows)
        chosen = [row for row, one in enumerate(sentences) if one.turn_id in self._view.space(one.space).turns]
        found = tuple(sentences[row] for row in chosen)
        turns = ", ".join(sorted({f"'{one.turn_id}'" for one in found}))
        segments = self._tables.rows(self._table("segments"), f"turn_id IN ({turns})") if found else None
        if segments is not None:
            vectors = _vectors_of(found, rows.take(chosen), segments)
            self._view.add(Batch(sentences=found, sentence_vectors=vectors), self._view.tx)

    def _table(self, kind: TableKind) -> str:
        return table_name(kind, self._generation, reader=0)  # no assertions: the reader does not matter


def _vectors_of(sentences: Sequence[Sentence], rows: TableRows, segments: TableRows) -> Matrix:
    """Return the vectors of sentences, those of their segments where they have these."""
    of_segments = vectors_of(segments)
    vectors = vectors_of(rows, OWN, of_segments.shape[1])
    spans = list(zip(values_of("segments", segments), of_segments, strict=True))
    for row in np.flatnonzero(~vectors.any(axis=1)).tolist():
        one = sentences[row]
        holding = (vector for of, vector in spans if of.turn_id == one.turn_id and of.first <= one.index <= of.last)
        vectors[row] = next(holding, 0)
    return vectors
