"""One transaction: the rows of a batch, and the commit row that makes them visible."""

from __future__ import annotations

import os
from collections.abc import Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Extractor
from mcp_memory.domain.spending import Reservation, Spending
from mcp_memory.domain.times import Millis
from mcp_memory.errors import StoreUnwritable
from mcp_memory.storage.assertions import DERIVED, LOGGED
from mcp_memory.storage.names import (
    ALIASES,
    COMMITS,
    EPISODES,
    FACTS,
    JOBS,
    POINTS,
    TURNS,
    assertions_table,
    beliefs_table,
    point_vectors_table,
    questions_table,
    segments_table,
    sentences_table,
)
from mcp_memory.storage.refresh import last_commit
from mcp_memory.storage.schemas import (
    FORMAT,
    Commit,
    Rows,
    alias_rows,
    assertion_rows,
    belief_rows,
    commit_rows,
    job_rows,
    lesson_rows,
    numbered,
    point_rows,
    point_vector_rows,
    question_rows,
    segment_rows,
    sentence_rows,
    turn_rows,
)
from mcp_memory.storage.tables import Tables


@dataclass(frozen=True, slots=True)
class Prepared:
    """A batch as rows that lack only the number of their commit, made before the lock is taken.

    Attributes:
        batch: not empty.
        turns: None where there are none, and so for the others.
        segments: of these turns.
        sentences: of these turns.
        facts: what the caller told or Claude read.
        assertions: what the embedded engine read.
        episodes: the lessons.
        beliefs: what came of them.
        points: revisions of memory points.
        point_vectors: of what they say.
        aliases: as they are.
        questions: with their vectors.
        jobs: as they are.
    """

    batch: Batch
    turns: Rows | None
    segments: Rows | None
    sentences: Rows | None
    facts: Rows | None
    assertions: Rows | None
    episodes: Rows | None
    beliefs: Rows | None
    points: Rows | None
    point_vectors: Rows | None
    aliases: Rows | None
    questions: Rows | None
    jobs: Rows | None


def prepare(batch: Batch) -> Prepared:
    """Return a batch as rows; it must not be empty."""

    def unknown(pieces: Sequence[object]) -> list[int]:
        return [0] * len(pieces)

    def asserted(extractors: Container[Extractor]) -> Rows | None:
        places = [place for place, one in enumerate(batch.assertions) if one.extractor in extractors]
        rows = [batch.assertions[place] for place in places]
        return assertion_rows(rows, places, unknown(rows)) if rows else None

    points = range(len(batch.points)), unknown(batch.points)
    questions = range(len(batch.questions)), unknown(batch.questions)
    return Prepared(
        batch,
        turn_rows(batch.turns, unknown(batch.turns)) if batch.turns else None,
        segment_rows(batch.segments, batch.segment_vectors, unknown(batch.segments)) if batch.segments else None,
        sentence_rows(batch.sentences, batch.sentence_vectors, unknown(batch.sentences)) if batch.sentences else None,
        asserted(LOGGED),
        asserted(DERIVED),
        lesson_rows(batch.lessons, range(len(batch.lessons)), unknown(batch.lessons)) if batch.lessons else None,
        belief_rows(batch.beliefs, range(len(batch.beliefs)), unknown(batch.beliefs)) if batch.beliefs else None,
        point_rows(batch.points, *points) if batch.points else None,
        point_vector_rows(batch.point_vectors, *points) if batch.points else None,
        alias_rows(batch.aliases, range(len(batch.aliases)), unknown(batch.aliases)) if batch.aliases else None,
        question_rows(batch.questions, batch.question_vectors, *questions) if batch.questions else None,
        job_rows(batch.jobs, range(len(batch.jobs)), unknown(batch.jobs)) if batch.jobs else None,
    )


def append(
    tables: Tables,
    last: Commit | None,
    prepared: Prepared,
    *,
    embedder: str,
    dimension: int,
    at: Millis,
    swept: dict[str, int],
) -> tuple[Commit, int]:
    """Append a batch and its commit. The write lock must be held, and the tables swept.

    Args:
        tables: of the store.
        last: the last commit; None for an empty store.
        prepared: what to append.
        embedder: what made the vectors.
        dimension: of the vectors.
        at: now.
        swept: of each table, the version at which it was last known to be clean; brought up to date.

    Returns:
        The commit, and the version of ``commits`` that has it.

    Raises:
        StoreUnwritable: nothing of the batch will ever be visible.
    """
    batch = prepared.batch
    spent = summed(batch.outlays)
    commit = Commit(
        tx=last.tx + 1 if last else 1,
        at=at,
        format=FORMAT,
        embedder=embedder,
        dimension=dimension,
        generation=last.generation if last else 0,
        pid=os.getpid(),
        turns=len(batch.turns),
        segments=len(batch.segments),
        sentences=len(batch.sentences),
        facts=0 if prepared.facts is None else len(prepared.facts),
        assertions=0 if prepared.assertions is None else len(prepared.assertions),
        episodes=len(batch.lessons),
        beliefs=len(batch.beliefs),
        points=len(batch.points),
        aliases=len(batch.aliases),
        questions=len(batch.questions),
        day=spent.day,
        calls=spent.what.calls,
        input_tokens=spent.what.input_tokens,
        cached_tokens=spent.what.cached_tokens,
        output_tokens=spent.what.output_tokens,
        jobs=len(batch.jobs),
    )
    parts = {
        TURNS: prepared.turns,
        FACTS: prepared.facts,
        EPISODES: prepared.episodes,
        POINTS: prepared.points,
        ALIASES: prepared.aliases,
        JOBS: prepared.jobs,
        questions_table(commit.generation): prepared.questions,
        point_vectors_table(commit.generation): prepared.point_vectors,
        beliefs_table(commit.generation): prepared.beliefs,
        assertions_table(commit.generation): prepared.assertions,
        segments_table(commit.generation): prepared.segments,
        sentences_table(commit.generation): prepared.sentences,
    }
    try:
        if last:  # perhaps of an older format
            tables.widen(COMMITS, commit_rows(commit))
        versions = _append_at_once(
            tables, {name: numbered(rows, commit.tx) for name, rows in parts.items() if rows is not None}
        )
        version = append_commit(tables, commit)
    except StoreUnwritable:
        swept.clear()  # what did get there is a torn transaction like a dead writer's
        raise
    swept.update({**versions, COMMITS: version})
    return commit, version


def summed(outlays: Sequence[Reservation]) -> Reservation:
    """Return what was spent as one entry; of day 0 where nothing was.

    Raises:
        ValueError: it is of several days, which a commit cannot hold.
    """
    days = {outlay.day for outlay in outlays} or {0}
    if len(days) > 1:
        raise ValueError("a commit holds what was spent on one day")
    return Reservation(days.pop(), sum((outlay.what for outlay in outlays), Spending()))


def _append_at_once(tables: Tables, parts: dict[str, Rows]) -> dict[str, int]:
    """Append to several tables side by side, wait for all, and return their versions."""
    if not parts:  # nothing but what was spent, which stands in the commit itself
        return {}
    with ThreadPoolExecutor(len(parts), thread_name_prefix="mcp-memory append") as threads:
        return dict(zip(parts, threads.map(tables.append, parts, parts.values()), strict=True))


def append_commit(tables: Tables, commit: Commit) -> int:
    """Write a commit row and return the version of ``commits`` that has it.

    Raises:
        StoreUnwritable: it is not there.
    """
    try:
        return tables.append(COMMITS, commit_rows(commit))
    except StoreUnwritable:
        # The row may be there although the call failed, if it failed afterwards. Then it is visible to all, and
        # saying "not stored" would be wrong.
        version = tables.version(COMMITS)
        if version is None or last_commit(tables) != commit:
            raise
        return version
