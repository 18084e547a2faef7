"""What all tables share when rows are read: whole columns, vectors, JSON lists, and faulty rows.

Nothing read from the disk is trusted. A faulty row (a span outside its text, a vector that is not finite) is left out
with a warning that names it, so one bad row never keeps a memory from starting. Turns are checked one by one. Segments,
sentences and assertions come in tens of thousands, so whole columns are compared at once, and only the rows that this
leaves in doubt are checked one by one.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.turns import Turn
from mcp_memory.storage.schema import TableRows
from mcp_memory.vectors import Matrix, Vector

LENGTH_TOLERANCE = 0.01
"""How far from 1 a vector's length may be; float32 and int8 models stay within 0.001."""

FindTurn = Callable[[str, str], Turn | None]
"""Returns a stored turn by space and id."""

ValueT = TypeVar("ValueT")

_log = logging.getLogger(__name__)


# Rows that cannot be right


def has_fault(table: str, name: str, tx: int, faults: Iterator[str]) -> bool:
    """Log a warning about a row that has a fault, and return whether it has one.

    Args:
        table: the table of the row.
        name: its id.
        tx: its commit's number.
        faults: its faults in words.
    """
    fault = next(faults, None)
    if fault:
        _log.warning("%s: row %s of commit %s is left out: %s (mcp-memory doctor says more)", table, name, tx, fault)
    return fault is not None


def valid_values(
    table: str, key: str, rows: Iterable[Mapping[str, Any]], convert: Callable[[Mapping[str, Any]], ValueT | str]
) -> list[tuple[int, int, ValueT]]:
    """Return the values of the rows that are right, each with its commit's number and place, in the order of recording.

    Args:
        table: named in warnings.
        key: the column that names a row in warnings.
        rows: in any order.
        convert: returns the value of a row, or its fault in words.
    """
    valid: list[tuple[int, int, ValueT]] = []
    for row in rows:
        value = convert(row)
        if isinstance(value, str):
            has_fault(table, row[key], row["tx"], iter([value]))
        else:
            valid.append((row["tx"], row["place"], value))
    return sorted(valid, key=lambda entry: entry[:2])


def vector_faults(vector: Vector, dimension: int, subject: str = "it") -> Iterator[str]:
    """Yield the faults of a vector, which ``subject`` names: its number of dimensions, or its length."""
    if len(vector) != dimension:
        yield f"{subject} has {len(vector)} numbers, not {dimension}"
        return
    length = float(np.linalg.norm(vector))
    if not abs(length - 1) <= LENGTH_TOLERANCE:  # true for NaN as well
        yield f"{subject} has the length {length:.3f}"


# Whole columns


def int_column(rows: TableRows, name: str) -> NDArray[np.int64]:
    """Return a column of integers; -1, which no column may hold, for a missing value."""
    import pyarrow.compute as pc

    numbers: NDArray[np.int64] = pc.fill_null(rows[name], -1).to_numpy()
    return numbers


def shared_values(rows: TableRows, name: str) -> list[Any]:
    """Return the values of a column, equal ones as one object: most are of a few spaces, sessions, names or moments."""
    encoded = rows[name].combine_chunks().dictionary_encode()
    values = [*encoded.dictionary.to_pylist(), None]
    places: list[int] = encoded.indices.fill_null(len(values) - 1).to_numpy().tolist()
    return [values[place] for place in places]


def vectors_of(rows: TableRows, name: str = "vector") -> Matrix:
    """Return a column of vectors, shape ``(len(rows), d)``, NaN for a missing one; d is 0 if it was not read."""
    if name not in rows.column_names:
        return np.empty((len(rows), 0), dtype=np.float32)
    column = rows[name].combine_chunks()
    flat: NDArray[np.float32] = column.flatten().to_numpy(zero_copy_only=False)
    dimension = column.type.list_size
    if not column.null_count:
        return flat.reshape(-1, dimension)
    out: Matrix = np.full((len(rows), dimension), np.nan, dtype=np.float32)
    out[column.is_valid().to_numpy(zero_copy_only=False)] = flat.reshape(-1, dimension)
    return out


def spans_are_valid(rows: TableRows, find: FindTurn) -> NDArray[np.bool_]:
    """Return which rows name a turn of their own space and a span that lies within its text.

    Args:
        rows: the rows with the columns space, turn_id, start and end.
        find: returns a turn.
    """

    def text_length(space: str, turn_id: str) -> int:
        turn = find(space, turn_id)
        return len(turn.text) if turn is not None and turn.space == space else -1  # no span fits into -1 characters

    lengths = _value_per_turn(rows, text_length)
    start, end = int_column(rows, "start"), int_column(rows, "end")
    valid: NDArray[np.bool_] = (start >= 0) & (start <= end) & (end <= lengths)
    return valid


def _value_per_turn(rows: TableRows, value: Callable[[str, str], int]) -> NDArray[np.int64]:
    """Return for each row a value that its space and turn determine, computed once for each turn that occurs."""
    spaces, turns = (rows[name].combine_chunks().dictionary_encode("encode") for name in ("space", "turn_id"))
    width = len(turns.dictionary)
    codes = spaces.indices.to_numpy() * np.int64(width) + turns.indices.to_numpy()
    pairs, inverse = np.unique(codes, return_inverse=True)
    values = [
        value(spaces.dictionary[int(code) // width].as_py(), turns.dictionary[int(code) % width].as_py())
        for code in pairs
    ]
    return np.array(values, dtype=np.int64)[inverse]


# JSON


def texts_from_json(text: str) -> tuple[str, ...] | None:
    """Return the texts of a JSON list; None if the text is no such list."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return tuple(value) if isinstance(value, list) and all(isinstance(item, str) for item in value) else None
