"""Rebuild every derived table from the log, next to the old ones, and switch over with one commit.

Other processes read and write meanwhile. The work is done without the lock, in parts; rows written in the meantime
follow, and only the last of them are handled under the lock. Until the commit is written no process sees any of it, so
a rebuild may be killed at any moment. The names of its tables are never used twice: the next rebuild drops the tables
of an unfinished one, and takes a higher generation.

**Beliefs** are recomputed from the lessons, in the order of learning. The room that learns decides how a lesson changes
a belief (`Relearn`). It gets the parts of the space that it needs, as they were when the lesson was recorded: the turns
written by then, the sentences that lessons are about, and the beliefs of the earlier lessons.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from itertools import groupby
from typing import Any

import anyio
from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreBusy, StoreError
from mcp_memory.storage.columns import vectors_of
from mcp_memory.storage.commits import ensure_format
from mcp_memory.storage.damage import refuse
from mcp_memory.storage.log import Entry
from mcp_memory.storage.log import rows_of as logged
from mcp_memory.storage.place import REBUILD_LOCK, take_if_free
from mcp_memory.storage.rows import DERIVED, StoredRow, rows_of, stored_rows, values_of
from mcp_memory.storage.schema import (
    Commit,
    TableKind,
    TableRows,
    generation_of,
    table_name,
)
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

LESSONS = 200
"""Lessons learnt in one call."""
SENTENCES = 5000
"""Sentences looked up with one condition."""

Relearn = Callable[[Space, Sequence[Lesson]], Awaitable[Sequence[Belief]]]
"""Returns what lessons teach, in the order of recording; of several beliefs about a sentence the last counts.

The space is that of the lessons, as of the first of them: ``space.beliefs`` has what earlier lessons taught. It has
every turn, but only those sentences that lessons are about, with vectors whatever the limit of other views, and neither
segments nor facts. A label of a sentence that ``space.sentence`` does not know teaches nothing: the text is split
differently by now."""


async def learn_nothing(_space: Space, _lessons: Sequence[Lesson]) -> Sequence[Belief]:
    """Learn nothing; used if no room that learns is configured."""
    return ()


class Relearning:
    """The progress of relearning the lessons of a store.

    Args:
        tables: the tables of the store.
        generation: the generation of the sentences to look up.
        relearn: makes beliefs of lessons.
        left: returns what a forget leaves of some commits of the log; by default all of it.
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
        """Learn from the lessons of the commits up to a number; their turns must be derived."""
        lessons, turns = await to_thread.run_sync(self._read, until)
        turn_txs = [tx for tx, _ in turns]
        added = 0
        for (upto, space), run in groupby(
            lessons, key=lambda entry: (bisect_right(turn_txs, entry[0]), entry[1].space)
        ):
            self._view.add(Batch(tuple(turn for _, turn in turns[added:upto])), self._view.tx)
            added = upto
            part = list(run)
            for start in range(0, len(part), LESSONS):
                await self._learn(space, part[start : start + LESSONS])

    def rows(self) -> TableRows | None:
        """Return the beliefs as rows with the numbers of the commits that they are as of; None if there are none."""
        if not self._beliefs:
            return None
        txs, beliefs = zip(*self._beliefs.values(), strict=True)
        return rows_of("beliefs", beliefs, txs)

    async def _learn(self, space: str, part: Sequence[tuple[int, Lesson]]) -> None:
        tx = part[-1][0]
        lessons = tuple(lesson for _, lesson in part)
        beliefs = tuple(await self._relearn(self._view.space(space), lessons))
        for belief in beliefs:
            self._beliefs.pop(belief.sentence_id, None)
            self._beliefs[belief.sentence_id] = tx, belief
        self._view.add(Batch(lessons=lessons, beliefs=beliefs), tx)

    def _read(self, until: int) -> tuple[list[tuple[int, Lesson]], list[tuple[int, Turn]]]:
        """Return the new lessons and the turns that had arrived by then, with their commits' numbers, in order.

        The sentences that these lessons are about are in the view when this has returned.
        """
        after = self._view.tx
        entries = list(self._left(self._tables.log.entries(after, until)))
        rows = logged(entries, "episodes")
        new: dict[tuple[str, ...], tuple[int, Lesson]] = {}
        for tx, _, lesson, _ in stored_rows("episodes", rows):
            if not self._view.has_lesson(lesson):  # a judge's first lesson counts, should there be a second in the log
                new.setdefault((lesson.space, *lesson.key), (tx, lesson))
        lessons = list(new.values())
        if not lessons:
            return [], []
        rows = logged((entry for entry in entries if entry.commit.tx <= lessons[-1][0]), "turns")
        turns = [(row.tx, row.value) for row in stored_rows("turns", rows)]
        arrived = {turn.id for _, turn in turns}
        names = dict.fromkeys(name for _, lesson in lessons for name in lesson.labels if name not in self._looked_up)
        self._looked_up.update(names)
        for start in range(0, len(names), SENTENCES):
            self._look_up(list(names)[start : start + SENTENCES], arrived)
        return lessons, turns

    def _look_up(self, names: Sequence[str], arrived: set[str]) -> None:
        """Add the named sentences with their vectors to the view, if their turn has ``arrived`` or is in it already."""
        quoted = ", ".join("'" + name.replace("'", "''") + "'" for name in names)
        rows = self._tables.rows(table_name("sentences", self._generation, reader=0), f"id IN ({quoted})")
        if rows is None:
            return
        sentences = values_of("sentences", rows)
        chosen = [
            row
            for row, sentence in enumerate(sentences)
            if sentence.turn_id in arrived or sentence.turn_id in self._view.space(sentence.space).turns
        ]
        batch = Batch(sentences=tuple(sentences[row] for row in chosen), sentence_vectors=vectors_of(rows)[chosen])
        self._view.add(batch, self._view.tx)


CHUNK = 200
"""Turns derived at once."""
PASSES = 10
"""How often to catch up with what was written meanwhile before the lock is taken for the rest; each pass has less to
do than the one before, unless others write faster than we derive."""

Make = Callable[[list[Turn]], Awaitable[Batch]]
"""Derives and embeds: returns the turns that it was given, in order of arrival, with their segments, sentences, vectors
and the assertions of the embedded engine. It leaves the rest to others: what callers asserted or Claude read is part of
the log, `Relearn` makes beliefs, and of memory points and questions only the vectors are made again."""

Embed = Callable[[Sequence[str]], Awaitable[Matrix]]
"""Returns one vector of length 1 for each text, in their order."""


async def rebuild(
    tables: Tables,
    writing: Callable[[], AbstractAsyncContextManager[None]],
    make: Make,
    relearn: Relearn,
    embed: Embed | None,
    *,
    embedder: str,
    dimension: int,
    reader: int,
    clock: Callable[[], Millis],
) -> int:
    """Rebuild every derived table and return the number of turns; 0 for an empty store.

    Args:
        tables: not used otherwise meanwhile.
        writing: holds the store's write lock.
        make: derives and embeds.
        relearn: makes beliefs of the lessons.
        embed: for points and questions; None leaves points without vectors, so they are similar to nothing.
        embedder: the model that makes the vectors from now on.
        dimension: the dimension of these vectors.
        reader: the version of the extractor that ``make`` reads with; 0 for none.
        clock: milliseconds since 1970, UTC.

    Raises:
        StoreBusy: another process is rebuilding this store, or writing to it all the time.
        StoreDamaged: the log itself is damaged. Nothing was changed.
        StoreMismatch: the store has another format.
        StoreUnwritable: the place cannot be written to. The memory is as it was.
    """
    last = await to_thread.run_sync(lambda: tables.log.last)
    if last is None:
        return 0
    ensure_format(last, tables.uri)
    refuse(tables)
    release = await to_thread.run_sync(take_if_free, tables.place, REBUILD_LOCK)
    if release is None:
        raise StoreBusy("Another process is rebuilding this memory already. Nothing was changed. Wait for it to end.")
    generation = -1
    try:
        generation = await to_thread.run_sync(_drop_unfinished, tables, last)
        work = _Rebuild(tables, last, generation, reader, make, relearn, embed)
        for _ in range(PASSES):
            if not await work.catch_up(last.tx):
                break
            last = await to_thread.run_sync(work.last)
        async with writing():
            last = await to_thread.run_sync(work.last)
            await work.catch_up(last.tx)
            with anyio.CancelScope(shield=True):
                commit = last.next(
                    clock(),
                    embedder=embedder,
                    dimension=dimension,
                    generation=generation,
                    reader=reader,
                    segments=work.segments,
                    sentences=work.sentences,
                    assertions=work.assertions,
                    beliefs=await to_thread.run_sync(work.append_beliefs),
                )
                await to_thread.run_sync(_switch, tables, commit)
        return work.turns
    except BaseException:
        with anyio.CancelScope(shield=True), suppress(StoreError):
            now = await to_thread.run_sync(lambda: tables.log.last)
            if now is not None and now.generation != generation:  # else its commit stands
                await to_thread.run_sync(_drop_unfinished, tables, now)
        raise
    finally:
        await to_thread.run_sync(release)


def _drop_unfinished(tables: Tables, last: Commit) -> int:
    """Drop the tables of earlier rebuilds, finished or not, and return the number of the new generation."""
    highest = last.generation
    for name in tables.names():
        generation = generation_of(name)
        if generation is not None and generation != last.generation:
            highest = max(highest, generation)
            tables.drop(name)
    return highest + 1


def _switch(tables: Tables, commit: Commit) -> None:
    refuse(tables)
    with tables.write_errors():
        tables.log.append(commit, {})


class _Rebuild:
    """The progress of the new generation."""

    def __init__(
        self, tables: Tables, former: Commit, generation: int, reader: int, make: Make, relearn: Relearn,
        embed: Embed | None,
    ) -> None:  # fmt: skip
        self.turns = self.segments = self.sentences = self.assertions = 0
        self._tables = tables
        self._former = former
        self._generation = generation
        self._reader = reader
        self._make = make
        self._embed = embed
        self._learning = Relearning(tables, generation, relearn)
        self._done = 0
        self._places: Counter[int] = Counter()  # by commit, how many of its assertions have a place

    def last(self) -> Commit:
        """Return the last commit.

        Raises:
            StoreBusy: something was forgotten meanwhile, and the new tables may hold some of it.
        """
        last = self._tables.log.last
        if last is None:
            raise StoreBusy(f"storage.uri {self._tables.uri!r} was emptied during the rebuild.")
        if last.generation != self._former.generation:
            raise StoreBusy(
                "Something was forgotten during the rebuild, so it gave up. Nothing was changed. Try again."
            )
        return last

    async def catch_up(self, until: int) -> bool:
        """Handle the commits up to a number that were not handled yet, and return whether there were any."""
        if until <= self._done:
            return False
        entries = self._tables.log.entries(self._done, until)
        while part := await to_thread.run_sync(_next_part, entries):
            self._places.update({entry.commit.tx: entry.commit.facts for entry in part})  # the log's keep the first
            stored = [(row.tx, row.value) for row in stored_rows("turns", logged(part, "turns"))]
            for start in range(0, len(stored), CHUNK):
                chunk = stored[start : start + CHUNK]
                batch = await self._make([turn for _, turn in chunk])
                await to_thread.run_sync(self._append_batch, batch, {turn.id: tx for tx, turn in chunk})
            if self._embed is not None:
                await self._embed_points_and_questions(self._embed, part)
        await self._learning.catch_up(until)
        self._done = until
        return True

    def append_beliefs(self) -> int:
        """Append the beliefs of the lessons, and return the number of rows."""
        rows = self._learning.rows()
        if rows is None:
            return 0
        self._append("beliefs", rows)
        return len(rows)

    def _append(self, kind: TableKind, rows: TableRows) -> None:
        self._tables.append(table_name(kind, self._generation, self._reader), rows)

    async def _embed_points_and_questions(self, embed: Embed, part: Sequence[Entry]) -> None:
        """Append the vectors of points, and the questions with theirs."""
        for txs, places, revisions in _chunks(stored_rows("points", logged(part, "points"))):
            rows = rows_of("point_vectors", revisions, txs, places, await embed([one.description for one in revisions]))
            await to_thread.run_sync(self._append, "point_vectors", rows)
        for txs, places, placed in _chunks(stored_rows("questions", logged(part, "questions"))):
            rows = rows_of("questions", placed, txs, places, await embed([question.text for _, question in placed]))
            await to_thread.run_sync(self._append, "questions", rows)

    def _append_batch(self, batch: Batch, txs: dict[str, int]) -> None:
        if batch.segments:
            numbers = [txs[segment.turn_id] for segment in batch.segments]
            self._append("segments", rows_of("segments", batch.segments, numbers, None, batch.segment_vectors))
        if batch.sentences:
            numbers = [txs[sentence.turn_id] for sentence in batch.sentences]
            self._append("sentences", rows_of("sentences", batch.sentences, numbers, None, batch.sentence_vectors))
        if derived := [assertion for assertion in batch.assertions if assertion.extractor in DERIVED]:
            numbers = [txs[assertion.turn_id] for assertion in derived]
            self._append(
                "assertions", rows_of("assertions", derived, numbers, [self._next_place(tx) for tx in numbers])
            )
        self.assertions += len(derived)
        self.turns += len(batch.turns)
        self.segments += len(batch.segments)
        self.sentences += len(batch.sentences)

    def _next_place(self, tx: int) -> int:
        self._places[tx] += 1
        return self._places[tx] - 1


def _chunks(entries: Sequence[StoredRow]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield commit numbers, places and values, at most `CHUNK` of each at a time."""
    for start in range(0, len(entries), CHUNK):
        txs, places, values, _ = zip(*entries[start : start + CHUNK], strict=True)
        yield txs, places, values


def _next_part(entries: Iterator[Entry]) -> list[Entry]:
    """Return the next commits with about `CHUNK` turns; none at the end."""
    part, turns = [], 0
    for entry in entries:
        part.append(entry)
        if (turns := turns + entry.commit.turns) >= CHUNK:
            break
    return part
