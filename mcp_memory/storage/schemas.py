"""Columns: what of the domain's dataclasses stands in a table, and how it gets there (``rows.py`` is the way back).

The columns are the fields of the dataclasses, and more: ``tx``, the commit that a row belongs to; for segments and
sentences their ``vector``; and for assertions their ``place`` within the commit, since those of one commit lie in two
tables and the order of recording runs through both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.vectors import Matrix

Rows = Any
"""A pyarrow table, which comes without types."""

FORMAT = 2
"""Of the tables. Raised whenever an older program could not read, or would spoil, what a newer one wrote; 1 knew of no
assertions."""


@dataclass(frozen=True, slots=True)
class Commit:
    """The row that makes a transaction's rows visible.

    Attributes:
        tx: its number; 1, 2, … without gaps.
        at: when it was written.
        format: of the tables, see `FORMAT`.
        embedder: what made the vectors.
        dimension: of the vectors.
        generation: of the derived tables.
        pid: the process that wrote it.
        turns: rows in ``turns``.
        segments: rows in ``segments_<generation>``; of a rebuild, all of them.
        sentences: rows in ``sentences_<generation>``; of a rebuild, all of them.
        facts: rows in ``facts``.
        assertions: rows in ``assertions_<generation>``; of a rebuild, all of them.
    """

    tx: int
    at: Millis
    format: int
    embedder: str
    dimension: int
    generation: int
    pid: int
    turns: int
    segments: int
    sentences: int
    facts: int
    assertions: int


def commit_rows(commit: Commit) -> Rows:
    """Return a commit as a table of one row."""
    import pyarrow as pa

    schema = pa.schema(
        [pa.field(f.name, pa.string() if f.name == "embedder" else pa.int64(), nullable=False) for f in fields(Commit)]
    )
    return pa.Table.from_pylist([asdict(commit)], schema=schema)


def turn_rows(turns: Sequence[Turn], txs: Sequence[int]) -> Rows:
    """Return turns as rows, each with its commit's number."""
    import pyarrow as pa

    optional = {"speaker", "role", "title", "said_at"}
    numbers = {"said_at", "written_at", "revision", "place"}
    columns = {"tx": pa.array(txs, pa.int64())}
    for name in (f.name for f in fields(Turn)):
        columns[name] = pa.array(
            [getattr(turn, name) for turn in turns], pa.int64() if name in numbers else pa.string()
        )
    schema = pa.schema([pa.field(name, col.type, nullable=name in optional) for name, col in columns.items()])
    return pa.table(columns, schema=schema)


def segment_rows(segments: Sequence[Segment], vectors: Matrix, txs: Sequence[int]) -> Rows:
    """Return segments as rows, each with its vector and its commit's number."""
    return _piece_rows(Segment, segments, vectors, txs)


def sentence_rows(sentences: Sequence[Sentence], vectors: Matrix, txs: Sequence[int]) -> Rows:
    """Return sentences as rows, each with its vector and its commit's number."""
    return _piece_rows(Sentence, sentences, vectors, txs)


def assertion_rows(assertions: Sequence[Assertion], places: Sequence[int], txs: Sequence[int]) -> Rows:
    """Return assertions as rows, each with its place within its commit and with its commit's number."""
    import pyarrow as pa

    kinds = {"str": pa.string(), "int": pa.int64(), "Millis": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}
    columns = {"tx": pa.array(txs, pa.int64()), "place": pa.array(places, pa.int64())}
    for field in fields(Assertion):
        kind = kinds.get(str(field.type), pa.string())  # a Literal is a text
        columns[field.name] = pa.array([getattr(assertion, field.name) for assertion in assertions], kind)
    return pa.table(columns)


def _piece_rows(kind: type, pieces: Sequence[Segment | Sentence], vectors: Matrix, txs: Sequence[int]) -> Rows:
    import pyarrow as pa

    time = pa.struct(
        [(name, pa.int64()) for name in ("start", "end", "since", "until")]
        + [("grain", pa.string()), ("relative", pa.bool_())]
    )
    columns = {"tx": pa.array(txs, pa.int64())}
    for name in (f.name for f in fields(kind)):
        if name == "times":
            values = [[asdict(time) for time in piece.times] for piece in pieces if isinstance(piece, Sentence)]
            columns[name] = pa.array(values, pa.list_(time))
        else:
            kept = pa.string() if name in {"id", "space", "turn_id"} else pa.int64()
            columns[name] = pa.array([getattr(piece, name) for piece in pieces], kept)
    flat = np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1)
    columns["vector"] = pa.FixedSizeListArray.from_arrays(pa.array(flat), vectors.shape[1])
    return pa.table(columns)


def numbered(rows: Rows, tx: int) -> Rows:
    """Return rows of any table with this as their commit's number."""
    import pyarrow as pa

    place = rows.schema.get_field_index("tx")
    return rows.set_column(place, rows.schema.field(place), pa.array(np.full(len(rows), tx, dtype=np.int64)))
