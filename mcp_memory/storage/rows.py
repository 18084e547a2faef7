"""Values as rows of the tables, and rows as values: one codec for all tables.

The columns of a table are the fields of its dataclass (`LAYOUTS`), with the number of the commit, in most the place
within that commit, and in some a vector. The assertions of callers and of Claude stand in ``facts``, part of the log,
those of the embedded engine in ``assertions_<reader>_<generation>``, which a rebuild replaces; ``place`` orders both
together. The vectors of points are derived, so they have a table of their own, with the commit and the place of their
revision; a revision without one gets zeros: it is similar to nothing, and its description remains.

The log and the files of the tables have sums, so a row that is read is what was written. Only its text may be gone,
with a line of the log: its pieces and assertions are left out then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple, get_args

import numpy as np

from mcp_memory.codec import fields_of
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.facts import Assertion, ExtractorName
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.points import Point
from mcp_memory.domain.turns import PooledQuestion, Segment, Sentence, Turn
from mcp_memory.storage.columns import FindTurn, column_of, values_in, vectors_of
from mcp_memory.storage.schema import OWN, RowKind, TableRows, gap_column, vector_column
from mcp_memory.vectors import Matrix, Vector

LOGGED: frozenset[ExtractorName] = frozenset({"caller", "anthropic"})
"""Extractors whose assertions are in ``facts``: what callers stated or what was paid for. No rebuild changes it."""
DERIVED: frozenset[ExtractorName] = frozenset(get_args(ExtractorName)) - LOGGED
"""Extractors whose assertions stand in ``assertions_<generation>_<reader>`` and are made again by a rebuild."""
EARLIER, MISSING = -1, -2
"""Places in the order of arrival: of a turn that arrived before, and of one that is not there."""
LAYOUTS: dict[RowKind, type] = {
    "turns": Turn,
    "facts": Assertion,
    "episodes": Lesson,
    "points": Point,
    "aliases": Alias,
    "jobs": Job,
    "segments": Segment,
    "sentences": Sentence,
    "assertions": Assertion,
    "beliefs": Belief,
    "questions": PooledQuestion,
}
"""Of each table the values in it; the questions have their space as well."""


# Values as rows


def rows_of(
    kind: RowKind,
    values: Sequence[Any],
    txs: Sequence[int] | None = None,
    places: Sequence[int] | None = None,
    vectors: Matrix | None = None,
) -> TableRows:
    """Return values as rows of a table, as they were said where they are masked.

    Args:
        kind: the table.
        values: its values; of ``questions`` each with its space, of ``point_vectors`` the points.
        txs: the numbers of their commits; None where they are not known yet.
        places: their places in their commits; None for 0, 1, ….
        vectors: their vectors, shape ``(len(values), d)``, in a table that has a column of them.
    """
    import pyarrow as pa

    columns = {"tx": pa.array([0] * len(values) if txs is None else txs, pa.int64())}
    if kind not in ("turns", "segments", "sentences"):
        columns["place"] = pa.array(range(len(values)) if places is None else places, pa.int64())
    if kind == "questions":
        columns["space"] = pa.array([space for space, _ in values], pa.string())
        values = [question for _, question in values]
    fields = fields_of(LAYOUTS[kind]) if kind in LAYOUTS else ()
    kept = list(map(_as_stored, values))
    columns |= {field.name: column_of(field, [getattr(value, field.name) for value in kept]) for field in fields}
    if vectors is not None:
        columns |= {OWN: gap_column(vectors)} if kind == "sentences" else {"vector": vector_column(vectors)}
    rows = pa.table(columns)
    if kind != "turns":
        return rows
    optional = {field.name for field in fields if field.optional}
    return rows.cast(pa.schema([column.with_nullable(column.name in optional) for column in rows.schema]))


def _as_stored(value: Any) -> Any:
    """Return a value as a table keeps it: of what is masked what was said, and zeros for a time vector that is missing.

    LanceDB takes no column of vectors with gaps in it.
    """
    if isinstance(value, Turn) and value.original is not None:
        return replace(value, text=value.said, title=value.original[1])
    if isinstance(value, Assertion) and value.original is not None:
        return replace(value, head=value.original[0], tail=value.original[1])
    if isinstance(value, Belief) and value.time is None:
        return replace(value, time=np.zeros_like(value.task))
    return value


# Rows as values


def values_of(kind: RowKind, rows: TableRows) -> list[Any]:
    """Return the values of some rows, in their order; of ``questions`` each with its space."""
    class_ = LAYOUTS[kind]
    values = list(map(class_, *[values_in(field, rows) for field in fields_of(class_)]))
    return list(zip(rows["space"].to_pylist(), values, strict=True)) if kind == "questions" else values


class StoredRow(NamedTuple):
    """A row of a table: the number of its commit, its place in it, its value, and its vector if it has one."""

    tx: int
    place: int
    value: Any
    vector: Vector | None = None


def stored_rows(kind: RowKind, rows: TableRows | None, *, vectors: bool = False) -> list[StoredRow]:
    """Return rows in the order of recording.

    Args:
        kind: the table: any but those of pieces of texts.
        rows: in any order, or None.
        vectors: whether their vectors are wanted, if they have any.
    """
    if rows is None or not len(rows):
        return []
    wanted = vectors_of(rows) if vectors and "vector" in rows.column_names else [None] * len(rows)
    columns = rows["tx"].to_pylist(), rows["place"].to_pylist(), values_of(kind, rows), wanted
    return sorted(map(StoredRow, *columns), key=lambda row: row[:2])


def latest(rows: Sequence[StoredRow], key: str) -> list[StoredRow]:
    """Return of rows in the order of recording the last one of each value of a field, in that order."""
    last = {getattr(row.value, key): place for place, row in enumerate(rows)}
    return [rows[place] for place in sorted(last.values())]


def point_vectors_of(points: Sequence[StoredRow], rows: TableRows | None, dimension: int) -> Matrix:
    """Return the vectors of revisions of points, shape ``(len(points), dimension)``, zeros for a missing one.

    Args:
        points: the rows of the revisions.
        rows: those of ``point_vectors_<generation>``, in any order, or None.
        dimension: the dimension of their vectors.
    """
    known: dict[tuple[int, int], Vector] = {}
    if rows is not None and len(rows):
        keys = zip(rows["tx"].to_pylist(), rows["place"].to_pylist(), strict=True)
        known = dict(zip(keys, vectors_of(rows), strict=True))
    zeros = np.zeros(dimension, dtype=np.float32)
    vectors = [known.get((row.tx, row.place), zeros) for row in points]
    return np.array(vectors, dtype=np.float32).reshape(len(points), dimension)


# Pieces of texts, and assertions: only of texts that are there, since a line of the log may be lost


def assertions_in_order(facts: TableRows | None, derived: TableRows | None, find: FindTurn) -> list[StoredRow]:
    """Return the assertions of some rows in the order of recording.

    Args:
        facts: rows of ``facts``, in any order, or None.
        derived: rows of ``assertions_<generation>_<reader>``, in any order, or None.
        find: returns a turn.

    Returns:
        By commit and by place within it; at the same place, derived ones come first.
    """
    rows = [*stored_rows("assertions", derived), *stored_rows("facts", facts)]
    return sorted((row for row in rows if find(row.value.space, row.value.turn_id)), key=lambda row: row[:2])


def batch_of(turns: Sequence[Turn], segments: TableRows, sentences: TableRows, find_earlier: FindTurn) -> Batch:
    """Return rows as a batch: pieces by turn and then by index.

    Args:
        turns: in order of arrival.
        segments: their rows, in any order, with or without vectors.
        sentences: their rows in the same way.
        find_earlier: returns a turn that arrived before these.
    """
    ranks = {turn.id: number for number, turn in enumerate(turns)}

    def in_order(kind: RowKind, rows: TableRows, vectors: Matrix) -> tuple[tuple[Any, ...], Matrix]:
        pieces = values_of(kind, rows)
        for piece in pieces:
            if piece.turn_id not in ranks:
                ranks[piece.turn_id] = EARLIER if find_earlier(piece.space, piece.turn_id) else MISSING
        by_turn = np.array([ranks[piece.turn_id] for piece in pieces], dtype=np.int64)
        order = np.lexsort((rows["index"].to_numpy(), by_turn))
        order = order[by_turn[order] != MISSING]
        if np.array_equal(order, np.arange(len(pieces))):
            return tuple(pieces), vectors
        return tuple(pieces[row] for row in order.tolist()), vectors[order]

    of_segments = vectors_of(segments)
    found, segment_vectors = in_order("segments", segments, of_segments)
    said, sentence_vectors = in_order("sentences", sentences, vectors_of(sentences, OWN, of_segments.shape[1]))
    return Batch(tuple(turns), found, said, segment_vectors, sentence_vectors)
