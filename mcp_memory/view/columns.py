"""A column: one number a row, which grows at the end and is read as an array without being copied."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

NumberT = TypeVar("NumberT", bound=np.generic)


class Column(Generic[NumberT]):
    """One number for each row; the array behind it doubles when it is full, so adding a row is cheap."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._held: NDArray[Any] = np.zeros(64, dtype=dtype)
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def __setitem__(self, row: int, value: float) -> None:
        if not 0 <= row < self._length:
            raise IndexError(row)
        self._held[row] = value

    def append(self, value: float) -> None:
        """Add a row at the end."""
        self.extend([value])

    def extend(self, values: Sequence[float] | NDArray[Any]) -> None:
        """Add rows at the end, in their order."""
        length = self._length + len(values)
        if length > len(self._held):
            grown = np.zeros(max(length, 2 * len(self._held)), dtype=self._held.dtype)
            grown[: self._length] = self._held[: self._length]
            self._held = grown
        self._held[self._length : length] = values
        self._length = length

    @property
    def values(self) -> NDArray[NumberT]:
        """Every row, shape ``(len(self),)``: a window on the column, to be read and not to be kept or written to."""
        window = self._held[: self._length]
        window.flags.writeable = False
        return window
