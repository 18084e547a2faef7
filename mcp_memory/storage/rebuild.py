"""Every derived table anew from the log, beside the old ones, and one commit that switches over.

Other processes read and write meanwhile. The work is done without the lock, in pieces; what was written in the
meantime is caught up with, and only what came in the last moment is done under the lock. Until the commit is written
nobody sees any of it, so it may be killed at any moment. The names of its tables are never used twice: what an
unfinished rebuild left is dropped by the next one, which counts on from there.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager

import anyio
from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreBusy, StoreMismatch, StoreUnwritable
from mcp_memory.storage.assertions import DERIVED
from mcp_memory.storage.lock import lock_file, taken
from mcp_memory.storage.names import (
    COMMITS,
    EPISODES,
    POINTS,
    TURNS,
    assertions_table,
    beliefs_table,
    generation_of,
    point_vectors_table,
    questions_table,
    segments_table,
    sentences_table,
)
from mcp_memory.storage.points import points_of
from mcp_memory.storage.questions import numbered_questions_of
from mcp_memory.storage.refresh import last_commit
from mcp_memory.storage.relearning import Relearn, Relearning
from mcp_memory.storage.rows import commits_of, turns_of
from mcp_memory.storage.schemas import (
    FORMAT,
    Commit,
    assertion_rows,
    commit_rows,
    point_vector_rows,
    question_rows,
    segment_rows,
    sentence_rows,
)
from mcp_memory.storage.sweep import sweep
from mcp_memory.storage.tables import Tables
from mcp_memory.storage.transaction import append_commit
from mcp_memory.vectors import Matrix

CHUNK = 200
"""Turns derived at once."""
ROUNDS = 10
"""How often to catch up with what was written meanwhile before the lock is taken for the rest; each round has less to
do than the one before, unless others write faster than we derive."""

Make = Callable[[list[Turn]], Awaitable[Batch]]
"""Derives and embeds: returns the turns that it was given, in order of arrival, with their segments, sentences and
vectors and with what the embedded engine reads out of them. What the caller asserted, or Claude read, is no business of
its own: that is part of the log, and so is what was learnt, of which `Relearn` makes beliefs, and memory points, of
which only the vectors are made anew, as of questions."""

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
    clock: Callable[[], Millis],
) -> int:
    """Make every derived table anew and return how many turns that took; 0 for an empty store.

    Args:
        tables: not used for anything else meanwhile.
        writing: holds the store's write lock.
        make: derives and embeds.
        relearn: makes beliefs of the lessons.
        embed: for what points say; None leaves them without vectors, and so like nothing.
        embedder: what makes the vectors from now on.
        dimension: of these vectors.
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
    lock = lock_file(tables.folder / "rebuild.lock") if tables.folder else None
    try:
        alone = lock is None or taken(lock)
    except (OSError, NotImplementedError) as error:
        raise StoreUnwritable(
            f"storage.uri {tables.uri!r}: no lock file can be made there ({error}). Nothing was changed."
        ) from error
    if not alone:
        raise StoreBusy("Another process is rebuilding this memory already. Nothing was changed. Wait for it to end.")
    try:
        generation = await to_thread.run_sync(_begin, tables, last)
        work = _Work(tables, last.generation, generation, make, relearn, embed)
        for _ in range(ROUNDS):
            if not await to_thread.run_sync(work.left, last.tx):
                break
            await work.catch_up(last.tx)
            last = await to_thread.run_sync(_last, tables)
        async with writing():
            last = await to_thread.run_sync(_last, tables)
            await work.catch_up(last.tx)
            with anyio.CancelScope(shield=True):
                commit = Commit(
                    tx=last.tx + 1,
                    at=clock(),
                    format=FORMAT,
                    embedder=embedder,
                    dimension=dimension,
                    generation=generation,
                    pid=os.getpid(),
                    turns=0,
                    segments=work.segments,
                    sentences=work.sentences,
                    facts=0,
                    assertions=work.assertions,
                    episodes=0,
                    beliefs=await to_thread.run_sync(work.append_beliefs),
                )
                await to_thread.run_sync(_switch, tables, last, commit)
        return work.turns
    finally:
        if lock:
            lock.release()


def _last(tables: Tables) -> Commit:
    last = last_commit(tables)
    if last is None:
        raise StoreBusy(f"storage.uri {tables.uri!r} was emptied during the rebuild.")
    return last


def _begin(tables: Tables, last: Commit) -> int:
    """Drop what a former rebuild left, done or not, and return the number of the new generation."""
    highest = last.generation
    for name in tables.names():
        generation = generation_of(name)
        if generation is not None and generation != last.generation:
            highest = max(highest, generation)
            tables.drop(name)
    return highest + 1


def _switch(tables: Tables, last: Commit, commit: Commit) -> None:
    sweep(tables, last, {})  # torn rows of the log carry the number that this commit is about to make visible
    tables.widen(COMMITS, commit_rows(commit))
    append_commit(tables, commit)


class _Work:
    """How far the new generation has come."""

    def __init__(
        self, tables: Tables, former: int, generation: int, make: Make, relearn: Relearn, embed: Embed | None
    ) -> None:
        self.turns = self.segments = self.sentences = self.assertions = 0
        self._tables = tables
        self._former = former
        self._generation = generation
        self._make = make
        self._embed = embed
        self._learning = Relearning(tables, generation, relearn)
        self._done = 0
        self._placed: Counter[int] = Counter()  # by commit, how many of its assertions have their place

    def left(self, until: int) -> int:
        where = f"tx > {self._done} AND tx <= {until}"
        return sum(
            self._tables.count(table, where) for table in (TURNS, EPISODES, POINTS, questions_table(self._former))
        )

    async def catch_up(self, until: int) -> None:
        for after, upto in await to_thread.run_sync(self._pieces, until):
            where = f"tx > {after} AND tx <= {upto}"
            rows = await to_thread.run_sync(self._tables.rows, TURNS, where)
            stored = turns_of(rows)
            for start in range(0, len(stored), CHUNK):
                part = stored[start : start + CHUNK]
                batch = await self._make([turn for _, turn in part])
                await to_thread.run_sync(self._append, batch, {turn.id: tx for tx, turn in part})
        await self._learning.catch_up(until)
        await self._embed_points(until)
        await self._take_over_questions(until)
        self._done = until

    def append_beliefs(self) -> int:
        """Append what the lessons taught, and return how many rows that took."""
        rows = self._learning.rows()
        if rows is None:
            return 0
        self._tables.append(beliefs_table(self._generation), rows)
        return len(rows)

    async def _embed_points(self, until: int) -> None:
        """Append the vectors of what the points of the commits up to a number say."""
        where = f"tx > {self._done} AND tx <= {until}"
        points = points_of(await to_thread.run_sync(self._tables.rows, POINTS, where))
        for start in range(0, len(points), CHUNK):
            if self._embed is None:
                return
            txs, places, part = zip(*points[start : start + CHUNK], strict=True)
            vectors = await self._embed([point.description for point in part])
            rows = point_vector_rows(vectors, places, txs)
            await to_thread.run_sync(self._tables.append, point_vectors_table(self._generation), rows)

    async def _take_over_questions(self, until: int) -> None:
        """Append the questions of the commits up to a number, with new vectors; without an embedder there are none."""
        where = f"tx > {self._done} AND tx <= {until}"
        rows = await to_thread.run_sync(self._tables.rows, questions_table(self._former), where)
        questions = numbered_questions_of(rows)
        for start in range(0, len(questions), CHUNK):
            if self._embed is None:
                return
            txs, places, part = zip(*questions[start : start + CHUNK], strict=True)
            vectors = await self._embed([question.text for _, question in part])
            rows = question_rows(part, vectors, places, txs)
            await to_thread.run_sync(self._tables.append, questions_table(self._generation), rows)

    def _pieces(self, until: int) -> list[tuple[int, int]]:
        """Return runs of commits, as the number before the first and that of the last, of about `CHUNK` turns each."""
        where = f"tx > {self._done} AND tx <= {until}"
        commits = self._tables.rows(COMMITS, where)
        if commits is not None:  # what stands in the log comes first, so that the order is the same after each rebuild
            self._placed.update({commit.tx: commit.facts for commit in commits_of(commits)})
        rows = self._tables.rows(TURNS, where, ["tx"])
        return list(_runs(sorted(rows["tx"].to_pylist()) if rows is not None else [], self._done))

    def _append(self, batch: Batch, txs: dict[str, int]) -> None:
        if batch.segments:
            numbers = [txs[segment.turn_id] for segment in batch.segments]
            rows = segment_rows(batch.segments, batch.segment_vectors, numbers)
            self._tables.append(segments_table(self._generation), rows)
        if batch.sentences:
            numbers = [txs[sentence.turn_id] for sentence in batch.sentences]
            rows = sentence_rows(batch.sentences, batch.sentence_vectors, numbers)
            self._tables.append(sentences_table(self._generation), rows)
        if derived := [assertion for assertion in batch.assertions if assertion.extractor in DERIVED]:
            numbers = [txs[assertion.turn_id] for assertion in derived]
            places = [self._place(number) for number in numbers]
            self._tables.append(assertions_table(self._generation), assertion_rows(derived, places, numbers))
        self.assertions += len(derived)
        self.turns += len(batch.turns)
        self.segments += len(batch.segments)
        self.sentences += len(batch.sentences)

    def _place(self, tx: int) -> int:
        self._placed[tx] += 1
        return self._placed[tx] - 1


def _runs(numbers: list[int], after: int) -> Iterator[tuple[int, int]]:
    start, count = after, 0
    for place, number in enumerate(numbers):
        count += 1
        ends = place + 1 == len(numbers) or numbers[place + 1] != number
        if ends and (count >= CHUNK or place + 1 == len(numbers)):
            yield start, number
            start, count = number, 0
