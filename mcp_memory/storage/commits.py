"""From the rows of commits to what a view takes in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mcp_memory.domain.batch import Batch, Masking, masked
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreMismatch
from mcp_memory.storage.rows import StoredRow, assertions_in_order, latest, point_vectors_of, stored_rows
from mcp_memory.storage.schema import FORMAT, Commit, RowKind, TableRows, older_format
from mcp_memory.view.view import View


def ensure_format(last: Commit, uri: str) -> None:
    """Make sure that this program knows the format of a store.

    Raises:
        StoreMismatch: it has another one.
    """
    if last.format > FORMAT:
        raise StoreMismatch(
            f"storage.uri {uri!r} was written by a newer mcp-memory (format {last.format}, this program knows "
            f"{FORMAT}). Nothing was changed. Update this program, or set storage.uri."
        )
    if last.format < FORMAT:
        raise StoreMismatch(older_format(uri))


def ensure_usable(last: Commit, uri: str, embedder: str, dimension: int) -> None:
    """Make sure that a store can be read and written to with an embedder.

    Raises:
        StoreMismatch: it has another embedder than this one, or another format.
    """
    ensure_format(last, uri)
    if (last.embedder, last.dimension) != (embedder, dimension):
        raise StoreMismatch(
            f"storage.uri {uri!r} holds vectors of {last.embedder!r} ({last.dimension} numbers each), "
            f"configured is {embedder!r} ({dimension}): the two cannot be compared. Nothing was "
            "changed. Run `mcp-memory doctor --rebuild` to make all vectors again, or set the former embedder."
        )


def log_batch(
    view: View,
    commits: Sequence[Commit],
    read: Callable[[RowKind], TableRows | None],
    dimension: int,
    masking: Masking,
) -> tuple[list[tuple[int, Turn]], Batch]:
    """Return what a view takes in of some commits at once: everything but segments and sentences.

    Args:
        view: the view to which it is added.
        commits: new ones.
        read: returns their rows of a kind.
        dimension: the dimension of the vectors.
        masking: the masking of secrets.

    Returns:
        The turns that the view does not have yet, with the numbers of their commits, and all of it, with these turns.
    """
    new = [
        (row.tx, row.value)
        for row in stored_rows("turns", read("turns"))
        if stored_turn(view, row.value.space, row.value.id) is None
    ]
    arrived = {turn.id: turn for _, turn in new}

    def find(space: str, turn_id: str) -> Turn | None:
        return arrived.get(turn_id) or stored_turn(view, space, turn_id)

    def rows_in(kind: RowKind) -> list[StoredRow]:
        return stored_rows(kind, read(kind), vectors=True)

    points, questions = rows_in("points"), rows_in("questions")
    batch = Batch(
        tuple(turn for _, turn in new),
        assertions=values(assertions_in_order(read("facts"), read("assertions"), find)),
        lessons=values(rows_in("episodes")),
        beliefs=values(latest(rows_in("beliefs"), "sentence_id")),
        points=values(points),
        point_vectors=point_vectors_of(points, read("point_vectors"), dimension),
        aliases=values(rows_in("aliases")),
        questions=values(questions),
        question_vectors=np.array([row.vector for row in questions], dtype=np.float32).reshape(-1, dimension),
        outlays=tuple(commit.outlay for commit in commits if commit.outlay),
        jobs=values(latest(rows_in("jobs"), "turn_id")),
    )
    batch = masked(batch, masking, find)  # from here on nothing of the log is seen as it was said
    return [(tx, turn) for (tx, _), turn in zip(new, batch.turns, strict=True)], batch


def values(rows: Sequence[StoredRow]) -> tuple[Any, ...]:
    """Return what rows hold."""
    return tuple(row.value for row in rows)


def stored_turn(view: View, space: str, turn_id: str) -> Turn | None:
    """Return a turn that a view has."""
    stored = view.spaces.get(space)
    return stored.turns.get(turn_id) if stored else None
