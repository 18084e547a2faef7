"""Rebuild every derived table from the log, next to the old ones, and switch over with one commit.

Other processes read and write meanwhile. The work is done without the lock, in parts; rows written in the meantime
follow, and only the last of them are handled under the lock. Until the commit is written no process sees any of it, so
a rebuild may be killed at any moment. The names of its tables are never used twice: the next rebuild drops the tables
of an unfinished one, and takes a higher generation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreBusy, StoreMismatch
from mcp_memory.storage.commits import commit_switch, last_commit
from mcp_memory.storage.fact_rows import DERIVED, assertion_rows
from mcp_memory.storage.place import REBUILD_LOCK, take_if_free
from mcp_memory.storage.point_rows import point_vector_rows, points_of, question_rows, rows_to_questions
from mcp_memory.storage.relearning import Relearn, Relearning
from mcp_memory.storage.schema import (
    COMMITS,
    FORMAT,
    Commit,
    DerivedTable,
    TableRows,
    commit_rows,
    commits_of,
    generation_of,
    table_name,
)
from mcp_memory.storage.tables import Tables
from mcp_memory.storage.text_rows import segment_rows, sentence_rows, turns_of
from mcp_memory.storage.transaction import append_commit, sweep
from mcp_memory.vectors import Matrix

CHUNK = 200
"""Turns derived at once."""
PASSES = 10
"""How often to catch up with what was written meanwhile before the lock is taken for the rest; each pass has less to
do than the one before, unless others write faster than we derive."""

Make = Callable[[list[Turn]], Awaitable[Batch]]
"""Derives and embeds: returns the turns that it was given, in order of arrival, with their segments, sentences, vectors
and the assertions of the embedded engine. It leaves the rest to others: what callers asserted or Claude read is part of
the log, `Relearn` makes beliefs, and of memory points and questions only the vectors are made anew."""

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
        StoreMismatch: the store has a newer format.
        StoreUnwritable: the place cannot be written to. The memory is as it was.
    """
    last = await to_thread.run_sync(last_commit, tables)
    if last is None:
        return 0
    if last.format > FORMAT:
        raise StoreMismatch(
            f"storage.uri {tables.uri!r} was written by a newer mcp-memory (format {last.format}, this program knows "
            f"{FORMAT}). Nothing was changed. Update this program."
        )
    release = await to_thread.run_sync(take_if_free, tables.place, REBUILD_LOCK)
    if release is None:
        raise StoreBusy("Another process is rebuilding this memory already. Nothing was changed. Wait for it to end.")
    try:
        generation = await to_thread.run_sync(_drop_unfinished, tables, last)
        work = _Rebuild(tables, last, generation, reader, make, relearn, embed)
        for _ in range(PASSES):
            if not await to_thread.run_sync(work.rows_left, last.tx):
                break
            await work.catch_up(last.tx)
            last = await to_thread.run_sync(work.last)
        async with writing():
            last = await to_thread.run_sync(work.last)
            await work.catch_up(last.tx)
            with anyio.CancelScope(shield=True):
                commit = last.switched(
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
                await to_thread.run_sync(_switch, tables, last, commit)
        return work.turns
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


def _switch(tables: Tables, last: Commit, commit: Commit) -> None:
    sweep(
        tables, last, {}, derived=False
    )  # uncommitted rows of the log carry the number that this commit is about to make visible
    tables.add_columns(COMMITS, commit_rows(commit))
    append_commit(tables, commit_switch(tables, commit))


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
            StoreBusy: something was forgotten meanwhile, so the new tables may hold some of it: they are dropped.
        """
        last = last_commit(self._tables)
        if last is None:
            raise StoreBusy(f"storage.uri {self._tables.uri!r} was emptied during the rebuild.")
        if last.generation != self._former.generation:
            for name in self._tables.names():
                if generation_of(name) == self._generation:
                    self._tables.drop(name)
            raise StoreBusy(
                "Something was forgotten during the rebuild, so it gave up. Nothing was changed. Try again."
            )
        return last

    def rows_left(self, until: int) -> int:
        names = ("turns", "episodes", "points", self._former.table("questions"))
        return sum(self._tables.count(name, self._new(until)) for name in names)

    async def catch_up(self, until: int) -> None:
        for after, upto in await to_thread.run_sync(self._commit_ranges, until):
            rows = await to_thread.run_sync(self._tables.rows, "turns", f"tx > {after} AND tx <= {upto}")
            stored = turns_of(rows)
            for start in range(0, len(stored), CHUNK):
                part = stored[start : start + CHUNK]
                batch = await self._make([turn for _, turn in part])
                await to_thread.run_sync(self._append_batch, batch, {turn.id: tx for tx, turn in part})
        await self._learning.catch_up(until)
        if self._embed is not None:
            await self._embed_points_and_questions(self._embed, until)
        self._done = until

    def append_beliefs(self) -> int:
        """Append the beliefs of the lessons, and return the number of rows."""
        rows = self._learning.rows()
        if rows is None:
            return 0
        self._append("beliefs", rows)
        return len(rows)

    def _new(self, until: int) -> str:
        """Return the condition for rows of the commits up to a number that are not rebuilt yet."""
        return f"tx > {self._done} AND tx <= {until}"

    def _append(self, kind: DerivedTable, rows: TableRows) -> None:
        self._tables.append(table_name(kind, self._generation, self._reader), rows)

    async def _embed_points_and_questions(self, embed: Embed, until: int) -> None:
        """Append the vectors of points, and the questions of the old generation with new vectors."""
        points = points_of(await to_thread.run_sync(self._tables.rows, "points", self._new(until)))
        for txs, places, revisions in _chunks(points):
            vectors = await embed([point.description for point in revisions])
            await to_thread.run_sync(self._append, "point_vectors", point_vector_rows(vectors, places, txs))
        former = self._former.table("questions")
        questions = rows_to_questions(await to_thread.run_sync(self._tables.rows, former, self._new(until)))
        for txs, places, placed in _chunks(questions):
            vectors = await embed([question.text for _, question in placed])
            await to_thread.run_sync(self._append, "questions", question_rows(placed, vectors, places, txs))

    def _commit_ranges(self, until: int) -> list[tuple[int, int]]:
        """Return commit ranges (start, end], start excluded, of about `CHUNK` turns each."""
        commits = self._tables.rows(COMMITS, self._new(until))
        if commits is not None:  # the log's assertions keep the first places, so every rebuild gives the same order
            self._places.update({commit.tx: commit.facts for commit in commits_of(commits)})
        rows = self._tables.rows("turns", self._new(until), ["tx"])
        return list(_ranges(sorted(rows["tx"].to_pylist()) if rows is not None else [], self._done))

    def _append_batch(self, batch: Batch, txs: dict[str, int]) -> None:
        if batch.segments:
            numbers = [txs[segment.turn_id] for segment in batch.segments]
            self._append("segments", segment_rows(batch.segments, batch.segment_vectors, numbers))
        if batch.sentences:
            numbers = [txs[sentence.turn_id] for sentence in batch.sentences]
            self._append("sentences", sentence_rows(batch.sentences, batch.sentence_vectors, numbers))
        if derived := [assertion for assertion in batch.assertions if assertion.extractor in DERIVED]:
            numbers = [txs[assertion.turn_id] for assertion in derived]
            self._append("assertions", assertion_rows(derived, [self._next_place(tx) for tx in numbers], numbers))
        self.assertions += len(derived)
        self.turns += len(batch.turns)
        self.segments += len(batch.segments)
        self.sentences += len(batch.sentences)

    def _next_place(self, tx: int) -> int:
        self._places[tx] += 1
        return self._places[tx] - 1


def _chunks(entries: Sequence[tuple[int, int, Any]]) -> Iterator[tuple[Any, Any, Any]]:
    """Yield commit numbers, places and values, at most `CHUNK` of each at a time."""
    for start in range(0, len(entries), CHUNK):
        txs, places, values = zip(*entries[start : start + CHUNK], strict=True)
        yield txs, places, values


def _ranges(numbers: list[int], after: int) -> Iterator[tuple[int, int]]:
    start, count = after, 0
    for position, number in enumerate(numbers):
        count += 1
        ends = position + 1 == len(numbers) or numbers[position + 1] != number
        if ends and (count >= CHUNK or position + 1 == len(numbers)):
            yield start, number
            start, count = number, 0
