"""One transaction: append the rows of a batch, then the commit row that makes them visible.

Rows carry the number of the next commit, so they stay invisible until that commit is written, and a process may be
killed anywhere in between (``recovery.py`` removes what it leaves).
"""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Extractor
from mcp_memory.domain.spending import Reservation, Spending
from mcp_memory.domain.times import Millis
from mcp_memory.errors import StoreUnwritable
from mcp_memory.storage.fact_rows import DERIVED, LOGGED, alias_rows, assertion_rows, job_rows
from mcp_memory.storage.lesson_rows import belief_rows, lesson_rows
from mcp_memory.storage.point_rows import point_rows, point_vector_rows, question_rows
from mcp_memory.storage.refresh import last_commit
from mcp_memory.storage.schema import (
    COMMITS,
    DERIVED_TABLES,
    FORMAT,
    LOG_TABLES,
    Commit,
    Rows,
    TableKind,
    commit_rows,
    table_name,
    with_tx,
)
from mcp_memory.storage.tables import Tables
from mcp_memory.storage.text_rows import segment_rows, sentence_rows, turn_rows


@dataclass(frozen=True, slots=True)
class PreparedBatch:
    """A batch as rows that lack only their commit's number, made before the write lock is taken.

    Attributes:
        batch: not empty.
        rows: by table; tables without rows are absent.
    """

    batch: Batch
    rows: Mapping[TableKind, Rows]


def prepare(batch: Batch) -> PreparedBatch:
    """Return a batch as rows; it must not be empty."""

    def zeros(values: Sequence[object]) -> list[int]:
        return [0] * len(values)

    def numbers(values: Sequence[object]) -> tuple[Sequence[int], Sequence[int]]:
        return range(len(values)), zeros(values)

    def assertions_by(extractors: Container[Extractor]) -> Rows | None:
        places = [place for place, made in enumerate(batch.assertions) if made.extractor in extractors]
        chosen = [batch.assertions[place] for place in places]
        return assertion_rows(chosen, places, zeros(chosen)) if chosen else None

    turns, segments, sentences, points = batch.turns, batch.segments, batch.sentences, batch.points
    rows: dict[TableKind, Rows | None] = {
        "turns": turn_rows(turns, zeros(turns)) if turns else None,
        "facts": assertions_by(LOGGED),
        "episodes": lesson_rows(batch.lessons, *numbers(batch.lessons)) if batch.lessons else None,
        "points": point_rows(points, *numbers(points)) if points else None,
        "aliases": alias_rows(batch.aliases, *numbers(batch.aliases)) if batch.aliases else None,
        "jobs": job_rows(batch.jobs, *numbers(batch.jobs)) if batch.jobs else None,
        "questions": question_rows(batch.questions, batch.question_vectors, *numbers(batch.questions))
        if batch.questions
        else None,
        "point_vectors": point_vector_rows(batch.point_vectors, *numbers(points)) if points else None,
        "beliefs": belief_rows(batch.beliefs, *numbers(batch.beliefs)) if batch.beliefs else None,
        "assertions": assertions_by(DERIVED),
        "segments": segment_rows(segments, batch.segment_vectors, zeros(segments)) if segments else None,
        "sentences": sentence_rows(sentences, batch.sentence_vectors, zeros(sentences)) if sentences else None,
    }
    return PreparedBatch(batch, {kind: table for kind, table in rows.items() if table is not None})


def append(
    tables: Tables,
    last: Commit | None,
    prepared: PreparedBatch,
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
        embedder: the model that made the vectors.
        dimension: of the vectors.
        at: now.
        swept: of each table, the version at which it was last known to be clean; brought up to date.

    Returns:
        The commit, and the version of ``commits`` that has it.

    Raises:
        StoreUnwritable: nothing of the batch will ever be visible.
    """
    kinds = [kind for kind in (*LOG_TABLES, *DERIVED_TABLES) if kind != "point_vectors"]  # as many as points
    counts: dict[str, int] = {kind: len(prepared.rows.get(kind, ())) for kind in kinds}
    cost = total_outlay(prepared.batch.outlays)
    commit = Commit(
        tx=last.tx + 1 if last else 1,
        at=at,
        format=FORMAT,
        embedder=embedder,
        dimension=dimension,
        generation=last.generation if last else 0,
        pid=os.getpid(),
        day=cost.day,
        calls=cost.what.calls,
        input_tokens=cost.what.input_tokens,
        cached_tokens=cost.what.cached_tokens,
        output_tokens=cost.what.output_tokens,
        **counts,
    )
    numbered = {table_name(kind, commit.generation): with_tx(rows, commit.tx) for kind, rows in prepared.rows.items()}
    versions: dict[str, int] = {}
    try:
        if last:  # perhaps of an older format
            tables.add_columns(COMMITS, commit_rows(commit))
        if numbered:  # else the batch is nothing but what was spent, which stands in the commit row
            with ThreadPoolExecutor(len(numbered), thread_name_prefix="mcp-memory append") as threads:
                versions = dict(zip(numbered, threads.map(tables.append, numbered, numbered.values()), strict=True))
        version = append_commit(tables, commit)
    except StoreUnwritable:
        swept.clear()  # the rows that were appended have no commit, as if this writer had died
        raise
    swept.update({**versions, COMMITS: version})
    return commit, version


def total_outlay(outlays: Sequence[Reservation]) -> Reservation:
    """Return what was spent as one entry; of day 0 where nothing was.

    Raises:
        ValueError: it is of several days, which a commit cannot hold.
    """
    days = {outlay.day for outlay in outlays} or {0}
    if len(days) > 1:
        raise ValueError("a commit holds what was spent on one day")
    return Reservation(days.pop(), sum((outlay.what for outlay in outlays), Spending()))


def append_commit(tables: Tables, commit: Commit) -> int:
    """Write a commit row and return the version of ``commits`` that has it.

    Raises:
        StoreUnwritable: the row is not there.
    """
    try:
        return tables.append(COMMITS, commit_rows(commit))
    except StoreUnwritable:
        # The row may be there although the call failed, if it failed after writing. Then every process sees the
        # commit, and saying "not stored" would be wrong.
        version = tables.version(COMMITS)
        if version is None or last_commit(tables) != commit:
            raise
        return version
