"""One transaction: the rows of a batch, and the commit row that makes them visible."""

from __future__ import annotations

import os

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import Millis
from mcp_memory.errors import StoreUnwritable
from mcp_memory.storage.refresh import last_commit
from mcp_memory.storage.schemas import FORMAT, Commit, Rows, commit_rows, segment_rows, sentence_rows, turn_rows
from mcp_memory.storage.tables import COMMITS, TURNS, Tables, segments_table, sentences_table


def append(
    tables: Tables,
    last: Commit | None,
    batch: Batch,
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
        batch: not empty.
        embedder: what made the vectors.
        dimension: of the vectors.
        at: now.
        swept: of each table, the version at which it was last known to be clean; brought up to date.

    Returns:
        The commit, and the version of ``commits`` that has it.

    Raises:
        StoreUnwritable: nothing of the batch will ever be visible.
    """
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
    )
    rows = _rows(batch, commit)
    try:
        versions = {name: tables.append(name, part) for name, part in rows.items()}
        version = append_commit(tables, commit)
    except StoreUnwritable:
        swept.clear()  # what did get there is a torn transaction like a dead writer's
        raise
    swept.update({**versions, COMMITS: version})
    return commit, version


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


def _rows(batch: Batch, commit: Commit) -> dict[str, Rows]:
    def txs(rows: int) -> list[int]:
        return [commit.tx] * rows

    out = {TURNS: turn_rows(batch.turns, txs(len(batch.turns)))}
    if batch.segments:
        rows = segment_rows(batch.segments, batch.segment_vectors, txs(len(batch.segments)))
        out[segments_table(commit.generation)] = rows
    if batch.sentences:
        rows = sentence_rows(batch.sentences, batch.sentence_vectors, txs(len(batch.sentences)))
        out[sentences_table(commit.generation)] = rows
    return out
