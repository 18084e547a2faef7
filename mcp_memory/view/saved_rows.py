"""Values of a saved view that become objects when they are asked for: dataclasses as columns.

A view that was saved (``storage/saved_view.py``) is back in seconds because most of its content is not read: numbers
lie in arrays and texts in one string of bytes, all of them mapped from a file. A view that was read from the tables
holds objects, in plain dicts and lists; the classes here take their place, and what arrives later joins as objects.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import fields
from typing import Any, Generic, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.turns import Turn

MADE_OBJECTS = 20_000
"""Objects made of columns that are kept for the next time."""
FEW_VALUES = 4
"""A column in which a value comes this often, on average, holds each once."""

RowT = TypeVar("RowT")


class Columns(Generic[RowT]):
    """Values of one dataclass as columns, one for each field."""

    def __init__(self, kind: type[RowT], rows: Sequence[RowT]) -> None:
        self._kind = kind
        self._columns = [_column([getattr(row, f.name) for row in rows]) for f in fields(kind)]  # type: ignore[arg-type]
        self._length = len(rows)

    def __len__(self) -> int:
        return self._length

    def row(self, place: int) -> RowT:
        """Return a value, equal to the one that was given."""
        return self._kind(*[column.item(place) for column in self._columns])


def _column(values: list[Any]) -> Any:
    """Return values in a form that takes little room and is mapped; each comes back equal, and of the same type."""
    types = {type(value) for value in values}
    if types in ({int}, {float}):
        try:
            return np.array(values, dtype=np.int64 if int in types else np.float64)
        except OverflowError:
            return _Objects(values)
    known = types - {type(None)}
    if len(known) < 2 and len(distinct := dict.fromkeys(values)) <= max(1, len(values) // FEW_VALUES):
        return _Repeated(list(distinct), values)
    return _Texts(values) if types == {str} else _Objects(values)


class _Objects:
    """Any values, as they are."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def item(self, place: int) -> Any:
        return self._values[place]


class _Repeated:
    """Values of which there are few different ones."""

    def __init__(self, distinct: list[Any], values: list[Any]) -> None:
        numbers = {value: number for number, value in enumerate(distinct)}
        self._distinct = distinct
        self._numbers = np.array([numbers[value] for value in values], dtype=np.int32)

    def item(self, place: int) -> Any:
        return self._distinct[self._numbers.item(place)]


class _Texts:
    """Texts, one after the other."""

    def __init__(self, values: list[str]) -> None:
        content = [value.encode("utf-8", "surrogatepass") for value in values]
        self._bytes = np.frombuffer(b"".join(content), dtype=np.uint8)
        self._ends = np.cumsum([0, *map(len, content)], dtype=np.int64)

    def item(self, place: int) -> str:
        start, end = self._ends.item(place), self._ends.item(place + 1)
        return str(self._bytes[start:end].data, "utf-8", "surrogatepass")


class _Grown(Sequence[RowT], Generic[RowT]):
    """Values by row: those that were saved, and those that were appended since."""

    def __init__(self, count: int) -> None:
        self._count = count  # of the saved ones
        self._added: list[RowT] = []

    def __len__(self) -> int:
        return self._count + len(self._added)

    @overload
    def __getitem__(self, row: SupportsIndex) -> RowT: ...
    @overload
    def __getitem__(self, row: slice) -> list[RowT]: ...
    def __getitem__(self, row: SupportsIndex | slice) -> RowT | list[RowT]:
        """Return the value of a row, or those of a slice."""
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(len(self)))]
        at = row.__index__()
        if at < 0:
            at += len(self)
        if at < 0:
            raise IndexError(row)
        return self._saved_row(at) if at < self._count else self._added[at - self._count]

    def append(self, value: RowT) -> None:
        """Add a value at the end."""
        self._added.append(value)

    def _saved_row(self, at: int) -> RowT:
        raise NotImplementedError


class SavedRows(_Grown[RowT]):
    """Values of one dataclass that were saved as columns, and those that were appended since."""

    def __init__(self, saved: list[Columns[RowT]]) -> None:
        self._saved = saved
        self._ends = np.cumsum([len(one) for one in saved]).tolist()
        super().__init__(self._ends[-1])
        self._made: dict[int, RowT] = {}

    @classmethod
    def of(cls, kind: type[RowT], rows: Sequence[RowT]) -> SavedRows[RowT]:
        """Return rows as they are to be saved: all of them in columns."""
        saved, added = (rows._saved, rows._added) if isinstance(rows, SavedRows) else ([], rows)
        return cls([*saved, Columns(kind, added)] if added or not saved else saved)

    def __iter__(self) -> Iterator[RowT]:
        for columns in self._saved:
            yield from map(columns.row, range(len(columns)))
        yield from self._added

    def _saved_row(self, at: int) -> RowT:
        if (made := self._made.get(at)) is None:
            chunk = bisect_right(self._ends, at)
            made = self._saved[chunk].row(at - (self._ends[chunk - 1] if chunk else 0))
            if len(self._made) >= MADE_OBJECTS:
                self._made.clear()
            self._made[at] = made
        return made


class SavedTurns(MutableMapping[str, Turn]):
    """Turns by id, in order of arrival."""

    def __init__(self, rows: SavedRows[Turn], places: dict[str, int]) -> None:
        self._rows = rows
        self._places = places

    @classmethod
    def of(cls, turns: Mapping[str, Turn]) -> SavedTurns:
        """Return turns as they are to be saved."""
        if isinstance(turns, SavedTurns):
            return cls(SavedRows.of(Turn, turns._rows), turns._places)
        return cls(SavedRows.of(Turn, list(turns.values())), {name: place for place, name in enumerate(turns)})

    def __getitem__(self, name: str) -> Turn:
        return self._rows[self._places[name]]

    def __setitem__(self, name: str, turn: Turn) -> None:
        self._places[name] = len(self._rows)
        self._rows.append(turn)

    def __delitem__(self, name: str) -> None:
        del self._places[name]

    def __contains__(self, name: object) -> bool:
        return name in self._places

    def __len__(self) -> int:
        return len(self._places)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)


class SavedSegmentTurns(_Grown[Turn]):
    """The turn of each segment, by row."""

    def __init__(self, turns: SavedTurns, names: Sequence[str], numbers: NDArray[np.int32]) -> None:
        super().__init__(len(numbers))
        self._turns = turns
        self._names = names
        self._numbers = numbers  # of the names of the saved ones

    def _saved_row(self, at: int) -> Turn:
        return self._turns[self._names[self._numbers.item(at)]]
