"""Turn the values of a dataclass's field into a column of Arrow, and such a column back into values.

A text, a number and a truth value is a column of its own type, a vector one of lists of fixed length, the times of a
sentence one of structures. Collections of texts are JSON, so that they need no type of their own.

A column that is missing, since an older program did not have it, is read as empty values.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from itertools import islice
from sys import intern
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_memory.codec import Field, fields_of, read
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.storage.schema import TableRows, to_json, vector_column
from mcp_memory.vectors import Matrix

FindTurn = Callable[[str, str], Turn | None]
"""Returns a stored turn by space and id."""


# Values as columns


def column_of(field: Field, values: Sequence[Any]) -> Any:
    """Return the values of a field as a column."""
    import pyarrow as pa

    if field.kind is object:
        return vector_column(np.array(values, dtype=np.float32))
    if field.name == "times":
        return pa.array([[asdict(time) for time in times] for times in values], pa.list_(_time_type()))
    if field.kind not in _types():
        values = [to_json(dict(one) if field.name == "labels" else sorted_texts(one)) for one in values]
    return pa.array(values, _types().get(field.kind, pa.string()))


def sorted_texts(texts: Any) -> list[str]:
    """Return texts as a list; those of a set in their order."""
    return sorted(texts) if isinstance(texts, frozenset) else list(texts)


def _types() -> dict[type, Any]:
    import pyarrow as pa

    return {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_(), bytes: pa.string()}


def _time_type() -> Any:
    import pyarrow as pa

    return pa.struct([(field.name, _types()[field.kind]) for field in fields_of(StatedTime)])


# Columns as values


def values_in(field: Field, rows: TableRows) -> Sequence[Any]:
    """Return what a column holds of a field; of a column that is missing, None."""
    if field.name not in rows.column_names:  # an older format did not have it
        return [None] * len(rows)
    if field.kind is object:
        vectors = vectors_of(rows, field.name)
        return [vector if vector.any() else None for vector in vectors] if field.optional else list(vectors)
    if field.name == "times":
        return _times(rows["times"])
    if field.kind is bytes:  # as UTF-8 it takes the least memory
        import pyarrow as pa

        return [held or b"" for held in rows[field.name].cast(pa.binary()).to_pylist()]
    values = shared_values(rows, field.name)
    return values if field.kind in _types() else [_from_json(field, text) for text in values]


def _times(column: Any) -> list[tuple[StatedTime, ...]]:
    import pyarrow.compute as pc

    flat = pc.list_flatten(column).to_pylist()  # nearly always empty
    stated = iter([StatedTime(**time) for time in flat])
    return [tuple(islice(stated, count)) for count in pc.list_value_length(column).to_pylist()]


def _from_json(field: Field, text: str | None) -> Any:
    value = read(field.hint, json.loads(text)) if text is not None else None
    return {intern(name): one for name, one in value.items()} if isinstance(value, dict) else value  # often the same


def shared_values(rows: TableRows, name: str) -> list[Any]:
    """Return the values of a column, equal ones as one object: most are of a few spaces, sessions, names or moments."""
    encoded = rows[name].combine_chunks().dictionary_encode()
    values = [*encoded.dictionary.to_pylist(), None]
    places: list[int] = encoded.indices.fill_null(len(values) - 1).to_numpy().tolist()
    return [values[place] for place in places]


def vectors_of(rows: TableRows, name: str = "vector", dimension: int = 0) -> Matrix:
    """Return a column of vectors, shape ``(len(rows), d)``, zeros for a missing one; d is 0 if it was not read.

    Args:
        rows: the rows.
        name: of the column.
        dimension: d of a column with gaps.
    """
    if name not in rows.column_names:
        return np.empty((len(rows), 0), dtype=np.float32)
    column = rows[name].combine_chunks()
    flat: NDArray[np.float32] = column.flatten().to_numpy(zero_copy_only=False)
    dimension = getattr(column.type, "list_size", dimension)
    if not column.null_count:
        return flat.reshape(-1, dimension)
    out: Matrix = np.zeros((len(rows), dimension), dtype=np.float32)
    out[column.is_valid().to_numpy(zero_copy_only=False)] = flat.reshape(-1, dimension)
    return out
