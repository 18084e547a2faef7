"""The vectors of a space's sentences: their own, or in a long text those of their segments (`shares_vectors`).

A vector that sentences share with their segment is held once, so a long chat with an assistant takes a tenth of the
memory. What the store holds for such sentences is not read: older programs made vectors of their own for them, and
these would not rank like the shared ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.turns import Segment, Sentence, Turn, shares_vectors
from mcp_memory.vectors import Column, GrowingMatrix, Matrix, Vector


class SentenceVectors:
    """One vector for each sentence, by row; appended and never moved."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._own = GrowingMatrix(dimension)
        self._segments: GrowingMatrix | None = None
        self._places: Column[np.intp] = Column(np.intp)  # the row in ``_own``, or -1 minus the row of the segment

    @classmethod
    def of(cls, own: GrowingMatrix, shared: NDArray[np.intp], segments: GrowingMatrix | None) -> SentenceVectors:
        """Return the vectors of all sentences, given those that have their own; see `append`."""
        vectors = cls(own.dimension)
        vectors._own, vectors._segments = own, segments
        places = -1 - shared
        places[shared < 0] = np.arange(len(own))
        vectors._places.extend(places)
        return vectors

    @property
    def own(self) -> GrowingMatrix:
        """The vectors of sentences with their own, in the order of these sentences."""
        return self._own

    @property
    def own_rows(self) -> NDArray[np.intp]:
        """The rows of the sentences with vectors of their own, ascending."""
        return np.flatnonzero(self._places.values >= 0)

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, row: int) -> Vector:
        vector: Vector = self.take(np.array([row], dtype=np.intp))[0]
        return vector

    def __setitem__(self, row: int, vector: Vector) -> None:
        if (place := int(self._places.values[row])) >= 0:  # otherwise it is the segment's
            self._own[place] = vector

    def append(self, rows: Matrix, shared: NDArray[np.intp], segments: GrowingMatrix | None) -> None:
        """Add sentences at the end.

        Args:
            rows: their own vectors, shape ``(n, dimension)``.
            shared: the row of the segment whose vector a sentence has, shape ``(n,)``; below 0 it has its own.
            segments: the vectors of segments, of which the same matrix is given each time; None if there are none,
                and then every sentence has its own.
        """
        self._segments = segments
        own = shared < 0 if segments is not None else np.ones(len(rows), dtype=np.bool_)
        places = -1 - shared
        places[own] = np.arange(len(self._own), len(self._own) + int(own.sum()))
        self._places.extend(places)
        self._own.append(rows[own])

    def take(self, rows: NDArray[np.intp]) -> Matrix:
        """Return the vectors of these rows in the given order, shape ``(len(rows), dimension)``."""
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(self):
            raise IndexError(rows)
        places = self._places.values[rows]
        shared = places < 0
        if self._segments is None or not shared.any():
            return self._own.take(places)
        found: Matrix = np.empty((len(rows), self.dimension), dtype=np.float32)
        found[shared] = self._segments.take(-1 - places[shared])
        found[~shared] = self._own.take(places[~shared])
        return found


def shared_segment(turn: Turn | None, sentence: Sentence, rows: Sequence[int], segments: Sequence[Segment]) -> int:
    """Return the row of the segment whose vector a sentence has, or -1 if it has one of its own.

    Args:
        turn: of the sentence, if it is known.
        sentence: any.
        rows: of the turn's segments, in order.
        segments: of the space, by row.
    """
    if turn is None or not shares_vectors(turn):
        return -1
    place = bisect_left(rows, sentence.index, key=lambda row: segments[row].last)
    held = place < len(rows) and segments[rows[place]].first <= sentence.index  # else a bad row was left out
    return rows[place] if held else -1
