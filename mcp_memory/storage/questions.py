"""From rows back to the questions of the pool, in the order of recording, each with its vector.

They are derived from segments and facts, so a bad row is a question less and no more, and ``memory_evolve`` makes it
again. A rebuild takes the others over as they are: the ids of segments follow from the texts, so most name the same
ones as before. A question whose segment was cut otherwise stays and leads nowhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from mcp_memory.domain.questions import PooledQuestion
from mcp_memory.storage.pieces import vectors_of
from mcp_memory.storage.points import point_vector_faults
from mcp_memory.storage.rows import left_out
from mcp_memory.storage.schemas import Rows
from mcp_memory.vectors import Matrix, Vector

Placed = tuple[str, PooledQuestion]
"""A question with its space."""


def questions_of(rows: Rows | None, dimension: int) -> tuple[tuple[Placed, ...], Matrix]:
    """Return the questions of some rows in the order of recording, with their vectors; bad ones are left out.

    Args:
        rows: of ``questions_<generation>``, in any order, or None.
        dimension: that their vectors should have.
    """
    if rows is None or not len(rows):
        return (), np.empty((0, dimension), dtype=np.float32)
    found: dict[tuple[int, int], Vector] = {}
    for tx, place, vector in zip(rows["tx"].to_pylist(), rows["place"].to_pylist(), vectors_of(rows), strict=True):
        if not left_out("questions", str(place), tx, point_vector_faults(vector, dimension)):
            found[tx, place] = vector
    kept = [(found[tx, place], one) for tx, place, one in numbered_questions_of(rows) if (tx, place) in found]
    vectors = np.array([vector for vector, _ in kept], dtype=np.float32).reshape(len(kept), dimension)
    return tuple(one for _, one in kept), vectors


def numbered_questions_of(rows: Rows | None) -> list[tuple[int, int, Placed]]:
    """Return the questions of some rows with their commits' numbers and their places there, in the order of recording.

    Bad ones are left out.
    """
    kept: list[tuple[int, int, Placed]] = []
    for row in rows.drop_columns(["vector"]).to_pylist() if rows is not None else ():
        question = question_of(row)
        if isinstance(question, PooledQuestion):
            kept.append((row["tx"], row["place"], (row["space"], question)))
        else:
            left_out("questions", str(row["text"]), row["tx"], iter([question]))
    return sorted(kept, key=lambda entry: entry[:2])


def question_of(row: Mapping[str, Any]) -> PooledQuestion | str:
    """Return the question that a row holds, or in words what cannot be right about it."""
    if any(value is None for value in row.values()):
        return "a required column is empty"
    try:
        entities = json.loads(row["entities"])
    except (ValueError, RecursionError):
        return "its entities cannot be read"
    if not (isinstance(entities, list) and all(isinstance(one, str) for one in entities)):
        return "its entities cannot be read"
    return PooledQuestion(row["text"], row["segment_id"], frozenset(entities))


def question_faults(rows: Rows, dimension: int) -> Iterator[tuple[str, str]]:
    """Say of which question of some rows what cannot be right."""
    for row, vector in zip(rows.drop_columns(["vector"]).to_pylist(), vectors_of(rows), strict=True):
        question = question_of(row)
        faults = [question] if isinstance(question, str) else point_vector_faults(vector, dimension)
        yield from ((str(row["text"]), fault) for fault in faults)
