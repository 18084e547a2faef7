"""From rows back to beliefs: of each sentence the one that was recorded last."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from mcp_memory.domain.episodes import Belief
from mcp_memory.storage.columns import numbers
from mcp_memory.storage.pieces import LENGTH_TOLERANCE, vectors_of
from mcp_memory.storage.rows import left_out
from mcp_memory.storage.schemas import Rows
from mcp_memory.vectors import Vector


def latest(rows: Rows | None, dimension: int) -> tuple[Belief, ...]:
    """Return the last belief about each sentence, in the order of recording; bad rows are left out.

    Args:
        rows: of ``beliefs_<generation>``, in any order, or None.
        dimension: that their vectors should have.
    """
    if rows is None or not len(rows):
        return ()
    names = rows["sentence_id"].to_pylist()
    order: list[int] = np.lexsort((numbers(rows, "place"), numbers(rows, "tx"))).tolist()
    good: dict[int, Belief] = {}
    left = order
    while left:  # once, and again for those sentences of which the last row is bad
        last = {names[row]: row for row in left}
        for row, (tx, belief) in zip(last.values(), beliefs_of(rows.take(list(last.values()))), strict=True):
            if not left_out("beliefs", belief.sentence_id, tx, belief_faults(belief, dimension)):
                good[row] = belief
        left = [row for row in left if last[names[row]] not in good and last[names[row]] != row]
    return tuple(good[row] for row in order if row in good)


def beliefs_of(rows: Rows) -> Iterator[tuple[int, Belief]]:
    """Return the beliefs of some rows with their commits' numbers, in the order of the rows, right or not."""
    times = vectors_of(rows, "time")
    columns = (
        rows["sentence_id"].to_pylist(),
        rows["space"].to_pylist(),
        vectors_of(rows, "task"),
        rows["task_doubt"].to_pylist(),
        [time if time.any() else None for time in times],
        rows["time_doubt"].to_pylist(),
        rows["supported"].to_pylist(),
        rows["unsupported"].to_pylist(),
    )
    return zip(rows["tx"].to_pylist(), map(Belief, *columns), strict=True)


def belief_faults(belief: Belief, dimension: int) -> Iterator[str]:
    """Say what cannot be right about a belief.

    Args:
        belief: as read.
        dimension: that its vectors should have.
    """
    numbers = belief.task_doubt, belief.time_doubt, belief.supported, belief.unsupported
    if None in (belief.sentence_id, belief.space, *numbers):
        yield "a required column is empty"
        return
    for name, vector, doubt in (
        ("task", belief.task, belief.task_doubt),
        ("time", belief.time, belief.time_doubt),
    ):
        if vector is not None:
            yield from _vector_faults(name, vector, dimension)
        if not 0 < doubt <= 1:
            yield f"its {name} doubt is {doubt}"
    if min(belief.supported, belief.unsupported) < 0:
        yield "it was judged less than never"


def _vector_faults(name: str, vector: Vector, dimension: int) -> Iterator[str]:
    if len(vector) != dimension:
        yield f"its {name} vector has {len(vector)} numbers, not {dimension}"
        return
    length = float(np.linalg.norm(vector))
    if not abs(length - 1) <= LENGTH_TOLERANCE:  # a number that is none is no length either
        yield f"its {name} vector has the length {length:.3f}"
