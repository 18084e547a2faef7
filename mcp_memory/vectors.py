"""Types of vectors, and the arrays that grow: a matrix without copying, a column of numbers, vectors of sentences.

A vector that the sentences of a long text share with their segment is held once, so a long chat with an assistant
takes a tenth of the memory. What the store holds for such sentences is not read: older programs made vectors of their
own for them, and these would not rank like the shared ones.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

Vector = NDArray[np.float32]
"""Shape ``(d,)``; of length 1 if it comes from an embedder."""
Matrix = NDArray[np.float32]
"""Shape ``(n, d)``, one vector per row."""
Scores = NDArray[np.float32]
"""Shape ``(n,)``, one number for each row of what the function's docstring names."""
Rows = NDArray[np.intp]
"""Shape ``(n,)``, rows of what the function's docstring names."""

NumberT = TypeVar("NumberT", bound=np.generic)


class GrowingMatrix:
    """Rows of float32 in blocks, so that appending never copies existing rows.

    A matrix that doubles needs three times its size while it grows: at 100,000 sentences of 384 numbers, 300 MB more.
    """

    BLOCK = 4096

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._blocks: list[Matrix] = []
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, row: int) -> Vector:
        if not 0 <= row < self._length:
            raise IndexError(row)
        vector: Vector = self._blocks[row // self.BLOCK][row % self.BLOCK]
        return vector

    def __setitem__(self, row: int, vector: Vector) -> None:
        if not 0 <= row < self._length:
            raise IndexError(row)
        self._blocks[row // self.BLOCK][row % self.BLOCK] = vector

    def append(self, rows: Matrix) -> None:
        """Add rows of shape ``(n, dimension)`` at the end."""
        done = 0
        while done < len(rows):
            used = self._length % self.BLOCK
            if not used and len(self._blocks) * self.BLOCK == self._length:
                self._blocks.append(np.zeros((self.BLOCK, self.dimension), dtype=np.float32))
            taken = min(self.BLOCK - used, len(rows) - done)
            self._blocks[-1][used : used + taken] = rows[done : done + taken]
            self._length += taken
            done += taken

    def take(self, rows: Rows) -> Matrix:
        """Return these rows in the given order, shape ``(len(rows), dimension)``."""
        if len(rows) and not 0 <= rows.min() <= rows.max() < self._length:
            raise IndexError(rows)
        if len(rows) and (block := rows.min() // self.BLOCK) == rows.max() // self.BLOCK:
            found: Matrix = self._blocks[block][rows % self.BLOCK]  # the fastest way, for small spaces
            return found
        out = np.empty((len(rows), self.dimension), dtype=np.float32)
        for place, row in enumerate(rows.tolist()):
            out[place] = self._blocks[row // self.BLOCK][row % self.BLOCK]
        return out

    def dot(self, queries: Matrix) -> Matrix:
        """Return the product of each row with each query, shape ``(len(queries), len(self))``."""
        out = np.empty((len(queries), self._length), dtype=np.float32)
        for start, block in self._filled():
            out[:, start : start + len(block)] = (
                block @ queries.T
            ).T  # twice as fast as ``queries @ block.T`` for few queries
        return out

    def _filled(self) -> Iterator[tuple[int, Matrix]]:
        for number, block in enumerate(self._blocks):
            start = number * self.BLOCK
            yield start, block[: min(self.BLOCK, self._length - start)]


class Column(Generic[NumberT]):
    """One number for each row; the array doubles when it is full, so adding a row is cheap."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._array: NDArray[Any] = np.zeros(64, dtype=dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __setitem__(self, row: int, value: float) -> None:
        if not 0 <= row < self._length:
            raise IndexError(row)
        self._array[row] = value

    def append(self, value: float) -> None:
        """Add a row at the end."""
        self.extend([value])

    def extend(self, values: Sequence[float] | NDArray[Any]) -> None:
        """Add rows at the end, in their order."""
        length = self._length + len(values)
        if length > len(self._array):
            grown = np.zeros(max(length, 2 * len(self._array)), dtype=self._array.dtype)
            grown[: self._length] = self._array[: self._length]
            self._array = grown
        self._array[self._length : length] = values
        self._length = length

    @property
    def values(self) -> NDArray[NumberT]:
        """Every row, shape ``(len(self),)``: a read-only window on the array; do not keep it."""
        window = self._array[: self._length]
        window.flags.writeable = False
        return window


class SentenceVectors:
    """One vector for each sentence, by row, its own or that of its segment; appended and never moved."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._own = GrowingMatrix(dimension)
        self._segments: GrowingMatrix | None = None
        self._places: Column[np.intp] = Column(np.intp)  # the row in ``_own``, or -1 minus the row of the segment

    def __len__(self) -> int:
        return len(self._places)

    def __getitem__(self, row: int) -> Vector:
        vector: Vector = self.take(np.array([row], dtype=np.intp))[0]
        return vector

    def __setitem__(self, row: int, vector: Vector) -> None:
        if (place := int(self._places.values[row])) >= 0:  # otherwise it is the segment's
            self._own[place] = vector

    def append(self, rows: Matrix, shared: Rows, segments: GrowingMatrix | None) -> None:
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

    def take(self, rows: Rows) -> Matrix:
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
