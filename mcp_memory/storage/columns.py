"""Whole columns of rows at a time, for those of which there are ten thousands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.turns import Turn
from mcp_memory.storage.rows import Find
from mcp_memory.storage.schemas import Rows


def fit(rows: Rows, find: Find) -> NDArray[np.bool_]:
    """Return which rows name a turn of their own space and a span that lies within its text.

    Args:
        rows: with space, turn_id, start and end.
        find: returns a turn.
    """
    length = _of_pairs(rows, "space", "turn_id", lambda space, turn: _length(find(space, turn), space))
    start, end = numbers(rows, "start"), numbers(rows, "end")
    within: NDArray[np.bool_] = (start >= 0) & (start <= end) & (end <= length)
    return within


def numbers(rows: Rows, name: str) -> NDArray[np.int64]:
    """Return a column of numbers; -1, which is wrong everywhere, where there is none."""
    import pyarrow.compute as pc

    numbers: NDArray[np.int64] = pc.fill_null(rows[name], -1).to_numpy()
    return numbers


def _of_pairs(rows: Rows, one: str, other: str, value: Callable[[Any, Any], int]) -> NDArray[np.int64]:
    """Return a value for each row that two of its columns determine, asked once for each pair that occurs."""
    ones, others = (rows[name].combine_chunks().dictionary_encode("encode") for name in (one, other))
    width = len(others.dictionary)
    codes = ones.indices.to_numpy() * np.int64(width) + others.indices.to_numpy()
    pairs, place = np.unique(codes, return_inverse=True)
    values = [value(ones.dictionary[int(c) // width].as_py(), others.dictionary[int(c) % width].as_py()) for c in pairs]
    return np.array(values, dtype=np.int64)[place]


def _length(turn: Turn | None, space: str) -> int:
    """Return how long the text of a turn is; -1, so that no piece fits into it, where it is not the space's."""
    return len(turn.text) if turn is not None and turn.space == space else -1
