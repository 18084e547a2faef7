"""Values of a saved view that become objects when they are asked for: columns, dicts in small parts, lists of numbers.

A view that was saved (``storage/saved_view.py``) is back in seconds because most of its content is not read: numbers
lie in arrays and texts in one string of bytes, all of them mapped from a file. A view that was read from the tables
holds objects, in plain dicts and lists; the classes here take their place, and what arrives later joins as objects.
"""

from __future__ import annotations

import pickle
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import fields
from io import BytesIO
from itertools import pairwise
from typing import Any, Generic, SupportsIndex, TypeVar, overload
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.turns import Turn

MADE = 20_000
"""Objects made of columns that are kept for the next time."""
FEW = 4
"""A column in which a value comes this often, on average, holds each once."""
TOGETHER = 8
"""Entries of a dict that are read together."""

RowT = TypeVar("RowT")
KeyT = TypeVar("KeyT", bound=int | str | tuple[str, ...])
ValueT = TypeVar("ValueT")


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
    if len(known) < 2 and len(distinct := dict.fromkeys(values)) <= max(1, len(values) // FEW):
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
            if len(self._made) >= MADE:
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


class SavedDict(MutableMapping[KeyT, ValueT], Generic[KeyT, ValueT]):
    """A dict of which an entry is read when it or one near it is asked for.

    Entries are pickled in small parts, by sums of their keys, and mapped. A part that was read stays in memory, since
    whoever asked may change a value in place. Keys and values are strings, numbers and collections of them.

    Args:
        values: the values to be saved.
        make: makes the value of a missing key, as of a ``defaultdict``.
    """

    def __init__(self, values: Mapping[KeyT, ValueT], make: Callable[[], ValueT] | None = None) -> None:
        self._make = make
        self._count = max(1, len(values) // TOGETHER)
        self._length = len(values)
        self._loaded: dict[KeyT, ValueT] = {}
        self._is_read = bytearray(self._count)
        parts = np.fromiter((_sum(key) % self._count for key in values), dtype=np.int64, count=len(values))
        order = np.argsort(parts, kind="stable")
        self._places = order.astype(np.int32)  # of the entries, part by part, in the dict
        entries, ends = list(values.items()), np.searchsorted(parts[order], np.arange(self._count + 1)).tolist()
        ordered = [entries[place] for place in order.tolist()]
        content = [pickle.dumps(dict(ordered[start:end]), 5) for start, end in pairwise(ends)]
        self._bytes = np.frombuffer(b"".join(content), dtype=np.uint8)
        self._ends = np.cumsum([0, *map(len, content)], dtype=np.int64)

    @classmethod
    def of(cls, values: Mapping[KeyT, ValueT], make: Callable[[], ValueT] | None = None) -> SavedDict[KeyT, ValueT]:
        """Return a dict as it is to be saved."""
        if not isinstance(values, SavedDict):
            return cls(values, make)
        return cls(values._all(), make) if any(values._is_read) else values

    def __getitem__(self, key: KeyT) -> ValueT:
        if key in self._loaded or key in self:
            return self._loaded[key]
        if self._make is None:
            raise KeyError(key)
        value = self._loaded[key] = self._make()
        self._length += 1
        return value

    def get(self, key: KeyT, default: Any = None) -> Any:
        """Return a value, without making one."""
        return self._loaded[key] if key in self._loaded or key in self else default

    def setdefault(self, key: KeyT, default: Any = None) -> Any:
        """Return a value, and set it before where there is none."""
        if key not in self:
            self[key] = default
        return self._loaded[key]

    def __setitem__(self, key: KeyT, value: ValueT) -> None:
        if key not in self:
            self._length += 1
        self._loaded[key] = value

    def __delitem__(self, key: KeyT) -> None:
        self._read_all()
        del self._loaded[key]
        self._length -= 1

    def __contains__(self, key: object) -> bool:
        if key in self._loaded:
            return True
        part = _sum(key) % self._count
        if self._is_read[part]:
            return False
        self._is_read[part] = True
        self._loaded.update(self._part(part))
        return key in self._loaded

    def __len__(self) -> int:
        return self._length

    def __iter__(self) -> Iterator[KeyT]:
        self._read_all()
        return iter(self._loaded)

    def _part(self, number: int) -> dict[KeyT, ValueT]:
        start, end = self._ends.item(number), self._ends.item(number + 1)
        found: dict[KeyT, ValueT] = _Plain(BytesIO(self._bytes[start:end].data)).load()
        return found

    def _all(self) -> dict[KeyT, ValueT]:
        """Return every entry, in the order in which a dict would have them."""
        if all(self._is_read) and not len(self._places):
            return self._loaded
        saved = [entry for number in range(self._count) for entry in self._part(number).items()]
        found = dict([saved[place] for place in np.argsort(self._places).tolist()])
        found.update(self._loaded)
        return found

    def _read_all(self) -> None:
        self._loaded = self._all()
        self._is_read = bytearray(b"\1" * self._count)
        self._places = self._places[:0]


def _sum(key: Any) -> int:
    if not isinstance(key, str | tuple):
        return int(key) // TOGETHER  # of a row, and neighbours are often asked for together
    return crc32((key if isinstance(key, str) else "\0".join(key)).encode("utf-8", "surrogatepass"))


class _Plain(pickle.Unpickler):
    """Reads strings, numbers and collections alone: a file that somebody else made runs nothing."""

    def find_class(self, module: str, name: str) -> Any:
        """Find nothing.

        Raises:
            pickle.UnpicklingError: always.
        """
        raise pickle.UnpicklingError(f"{module}.{name}")


class SavedLists(_Grown["array[int]"]):
    """Lists of whole numbers, kept as one array of bytes.

    A list becomes an array of its own, to which numbers can be added, when it is first asked for.
    """

    def __init__(self, kind: str, lists: Sequence[array[int]]) -> None:
        content = lists._contents() if isinstance(lists, SavedLists) else list(lists)
        super().__init__(len(content))
        self._kind = kind
        self._bytes = np.frombuffer(b"".join(content), dtype=np.uint8)
        self._ends = np.cumsum([0, *[memoryview(one).nbytes for one in content]], dtype=np.int64)
        self._made: dict[int, array[int]] = {}

    def _saved_row(self, at: int) -> array[int]:
        if (made := self._made.get(at)) is None:
            made = self._made[at] = array(self._kind, self._content(at).tobytes())
        return made

    def _content(self, at: int) -> NDArray[np.uint8]:
        return self._bytes[self._ends.item(at) : self._ends.item(at + 1)]

    def _contents(self) -> list[Any]:
        """Return all lists, without keeping them."""
        saved = [self._made[at] if at in self._made else self._content(at) for at in range(self._count)]
        return saved + self._added
