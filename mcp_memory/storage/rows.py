"""Values as rows of the tables, and rows as values: one codec for all tables.

The columns of a table are the fields of its dataclass (`LAYOUTS`), with the number of the commit, in most the place
within that commit, and in some a vector. The assertions of callers and of Claude stand in ``facts``, part of the log,
those of the embedded engine in ``assertions_<reader>_<generation>``, which a rebuild replaces; ``place`` orders both
together. The vectors of points are derived, so they have a table of their own, with the commit and the place of their
revision; a revision without one gets zeros: it is similar to nothing, and its description remains.

Nothing read from the disk is trusted. A row with a fault (a span outside its text, a vector that is not finite) is left
out with a warning that names it, so one bad row never keeps a memory from starting. Segments, sentences and assertions
come in tens of thousands, so whole columns are compared at once, and only rows that this leaves in doubt are checked
one by one. Only the trace of a lesson is not checked: no belief depends on it, and doctor reports it.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from mcp_memory.codec import faults, fields_of
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias, entity_key
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.facts import Assertion, ExtractorName
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.points import MIN_ENTITIES, Point
from mcp_memory.domain.turns import PooledQuestion, Segment, Sentence, Turn
from mcp_memory.storage.columns import FindTurn, column_of, int_column, lengths_of_texts, values_in, vectors_of
from mcp_memory.storage.schema import RowKind, TableRows, vector_column
from mcp_memory.vectors import Matrix, Vector

LOGGED: frozenset[ExtractorName] = frozenset({"caller", "anthropic"})
"""Extractors whose assertions are in ``facts``: what callers stated or what was paid for. No rebuild changes it."""
DERIVED: frozenset[ExtractorName] = frozenset(get_args(ExtractorName)) - LOGGED
"""Extractors whose assertions stand in ``assertions_<generation>`` and are made again by a rebuild."""
LENGTH_TOLERANCE = 0.01
"""How far from 1 a vector's length may be; float32 and int8 models stay within 0.001."""
LAYOUTS: dict[RowKind, tuple[type, str]] = {
    "turns": (Turn, "id"),
    "facts": (Assertion, "id"),
    "episodes": (Lesson, "episode_id"),
    "points": (Point, "id"),
    "aliases": (Alias, "alias"),
    "jobs": (Job, "turn_id"),
    "segments": (Segment, "id"),
    "sentences": (Sentence, "id"),
    "assertions": (Assertion, "id"),
    "beliefs": (Belief, "sentence_id"),
    "questions": (PooledQuestion, "text"),
}
"""Of each table the values in it, and the field that names one in a warning; the questions have their space as well."""

_log = logging.getLogger(__name__)


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
    fields = fields_of(LAYOUTS[kind][0]) if kind in LAYOUTS else ()
    kept = list(map(_as_stored, values))
    columns |= {field.name: column_of(field, [getattr(value, field.name) for value in kept]) for field in fields}
    if vectors is not None:
        columns["vector"] = vector_column(vectors)
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
    """Return the values of some rows, in their order, right or not; of ``questions`` each with its space."""
    class_, _ = LAYOUTS[kind]
    values = list(map(class_, *[values_in(field, rows) for field in fields_of(class_)]))
    return list(zip(rows["space"].to_pylist(), values, strict=True)) if kind == "questions" else values


def row_faults(
    kind: RowKind, value: Any, turn: tuple[str, int] | None = None, vector: Vector | None = None, dimension: int = 0
) -> Iterator[str]:
    """Yield the faults of a row, in words.

    Args:
        kind: its table.
        value: as read.
        turn: space and length, in characters, of the text that a piece or an assertion names, if there is one.
        vector: of the row, where it has one and it was read.
        dimension: the dimension that vectors should have; 0 for any.
    """
    if isinstance(value, tuple):
        if value[0] is None:
            yield "a required column is empty"
        value = value[1]
    unread = next((f.name for f in fields_of(LAYOUTS[kind][0]) if _is_json(f.kind) and _lacks(value, f.name)), None)
    if unread:
        yield f"its {unread} cannot be read"
        return
    found = list(faults(value))
    yield from found or _own_faults(kind, value, turn, dimension)
    if vector is not None:
        yield from vector_faults(vector, dimension, "its vector")


def _is_json(kind: type) -> bool:
    return kind not in (str, int, float, bool, bytes, object)


def _lacks(value: Any, name: str) -> bool:
    return getattr(value, name) is None


def _own_faults(kind: RowKind, value: Any, turn: tuple[str, int] | None, dimension: int) -> Iterator[str]:
    """Yield what is wrong with a value of which each field can be right."""
    if isinstance(value, (Segment, Sentence, Assertion)):
        if turn is None:
            yield "it belongs to no stored turn"
        elif turn[0] != value.space:
            yield "it lies in another space than its turn"
        elif not value.start <= value.end <= turn[1]:
            yield "its span lies outside its text"
    match value:
        case Assertion():
            if value.extractor not in (LOGGED if kind == "facts" else DERIVED):
                yield f"its extractor is {value.extractor!r}"
            if value.since >= value.until:
                yield "it ends before it begins"
        case Segment():
            if value.first > value.last:
                yield "it names no sentences"
        case Job():
            if bool(value.holder) != (value.state == "leased"):
                yield f"its state is {value.state!r}, and its holder {value.holder!r}"
        case Point():
            if (value.status == "merged") != bool(value.merged_into):
                yield f"its status is {value.status!r}, and it was merged into {value.merged_into!r}"
            if len({entity_key(name) for name in value.entities}) < MIN_ENTITIES:
                yield f"it joins fewer than {MIN_ENTITIES} entities"
        case Belief():
            for name, vector in (("task", value.task), ("time", value.time)):
                if vector is not None:
                    yield from vector_faults(vector, dimension, f"its {name} vector")


def vector_faults(vector: Vector, dimension: int = 0, subject: str = "it") -> Iterator[str]:
    """Yield the faults of a vector, which ``subject`` names: its number of dimensions, or its length."""
    if dimension and len(vector) != dimension:
        yield f"{subject} has {len(vector)} numbers, not {dimension}"
        return
    length = float(np.linalg.norm(vector))
    if not abs(length - 1) <= LENGTH_TOLERANCE:  # true for NaN as well
        yield f"{subject} has the length {length:.3f}"


class StoredRow(NamedTuple):
    """A row that can be right: the number of its commit, its place in it, its value, and its vector if it has one."""

    tx: int
    place: int
    value: Any
    vector: Vector | None = None


def right_rows(kind: RowKind, rows: TableRows | None, dimension: int = 0) -> list[StoredRow]:
    """Return the rows that can be right in the order of recording.

    Args:
        kind: the table: any but those of `batch_of` and `assertions_in_order`.
        rows: in any order, or None.
        dimension: the dimension that their vectors should have; 0 leaves out what stands in a column of its own.
    """
    if rows is None or not len(rows):
        return []
    vectors = vectors_of(rows) if dimension and "vector" in rows.column_names else [None] * len(rows)
    columns = rows["tx"].to_pylist(), rows["place"].to_pylist(), values_of(kind, rows), vectors
    sure = _fields_are_right(kind, rows) if kind == "turns" else np.zeros(len(rows), dtype=bool)  # of these are many
    right = [
        StoredRow(tx, place, value, vector)
        for is_sure, tx, place, value, vector in zip(sure.tolist(), *columns, strict=True)
        if is_sure or not _has_fault(kind, value, tx, row_faults(kind, value, None, vector, dimension))
    ]
    return sorted(right, key=lambda row: row[:2])


def latest(rows: Sequence[StoredRow], key: str) -> list[StoredRow]:
    """Return of rows in the order of recording the last one of each value of a field, in that order."""
    last = {getattr(row.value, key): place for place, row in enumerate(rows)}
    return [rows[place] for place in sorted(last.values())]


def name_of(kind: RowKind, value: Any) -> str:
    """Return what a row is called in a message."""
    return str(getattr(value[1] if isinstance(value, tuple) else value, LAYOUTS[kind][1]))


def _has_fault(kind: RowKind, value: Any, tx: int, found: Iterator[str]) -> bool:
    """Log a warning about a row that has a fault, and return whether it has one."""
    fault = next(found, None)
    if fault:
        form = "%s: row %s of commit %s is left out: %s (mcp-memory doctor says more)"
        _log.warning(form, kind, name_of(kind, value), tx, fault)
    return fault is not None


def point_vectors_of(points: Sequence[StoredRow], rows: TableRows | None, dimension: int) -> Matrix:
    """Return the vectors of revisions of points, shape ``(len(points), dimension)``, zeros for a missing one.

    Args:
        points: the rows of the revisions.
        rows: those of ``point_vectors_<generation>``, in any order, or None.
        dimension: the dimension that their vectors should have.
    """
    right: dict[tuple[int, int], Vector] = {}
    if rows is not None and len(rows):
        for tx, place, vector in zip(rows["tx"].to_pylist(), rows["place"].to_pylist(), vectors_of(rows), strict=True):
            if next(vector_faults(vector, dimension), None) is None:
                right[tx, place] = vector
    zeros = np.zeros(dimension, dtype=np.float32)
    vectors = [right.get((row.tx, row.place), zeros) for row in points]
    return np.array(vectors, dtype=np.float32).reshape(len(points), dimension)


# Many rows: pieces of texts, and assertions


def assertions_in_order(facts: TableRows | None, derived: TableRows | None, find: FindTurn) -> list[StoredRow]:
    """Return the assertions of some rows in the order of recording; bad ones are left out.

    Args:
        facts: rows of ``facts``, in any order, or None.
        derived: rows of ``assertions_<generation>``, in any order, or None.
        find: returns a turn.

    Returns:
        By commit and by place within it; at the same place, derived ones come first.
    """
    right: list[StoredRow] = []
    tables: tuple[tuple[RowKind, TableRows | None], ...] = ("assertions", derived), ("facts", facts)
    for kind, rows in tables:
        if rows is not None and len(rows):
            assertions = values_of(kind, rows)
            numbers = rows["tx"].to_pylist(), rows["place"].to_pylist()
            right += compress(map(StoredRow, *numbers, assertions), _are_right(kind, assertions, rows, find))
    return sorted(right, key=lambda row: row[:2])


def batch_of(turns: Sequence[Turn], segments: TableRows, sentences: TableRows, find_earlier: FindTurn) -> Batch:
    """Return rows as a batch: pieces by turn and then by index, bad ones left out.

    Args:
        turns: in order of arrival.
        segments: their rows, in any order, with or without vectors.
        sentences: their rows in the same way.
        find_earlier: returns a turn that arrived before these.
    """
    rank = {turn.id: number for number, turn in enumerate(turns)}

    def find(space: str, turn_id: str) -> Turn | None:
        return turns[rank[turn_id]] if turn_id in rank else find_earlier(space, turn_id)

    def right(kind: RowKind, rows: TableRows) -> tuple[tuple[Any, ...], Matrix]:
        pieces, vectors = values_of(kind, rows), vectors_of(rows)
        order = np.flatnonzero(_are_right(kind, pieces, rows, find))
        by_turn = np.array([rank.get(piece.turn_id, -1) for piece in pieces], dtype=np.int64)[order]
        order = order[np.lexsort((int_column(rows, "index")[order], by_turn))]
        if np.array_equal(order, np.arange(len(pieces))):
            return tuple(pieces), vectors
        return tuple(pieces[row] for row in order.tolist()), vectors[order]

    (found, segment_vectors), (said, sentence_vectors) = right("segments", segments), right("sentences", sentences)
    return Batch(tuple(turns), found, said, segment_vectors, sentence_vectors)


def _are_right(kind: RowKind, values: Sequence[Any], rows: TableRows, find: FindTurn) -> NDArray[np.bool_]:
    """Return which rows can be right; the others are named in warnings."""
    vectors = vectors_of(rows)
    right = _are_surely_right(kind, rows, vectors, find)
    for row in np.flatnonzero(~right).tolist():
        value = values[row]
        turn = find(value.space, value.turn_id)
        vector = vectors[row] if vectors.shape[1] else None
        found = row_faults(kind, value, (turn.space, len(turn.text)) if turn else None, vector)
        right[row] = not _has_fault(kind, value, rows["tx"][row].as_py(), found)
    return right


def _are_surely_right(kind: RowKind, rows: TableRows, vectors: Matrix, find: FindTurn) -> NDArray[np.bool_]:
    """Return rows in which `row_faults` would find nothing; it may find nothing in some of the others as well."""
    import pyarrow as pa
    import pyarrow.compute as pc

    right = _fields_are_right(kind, rows) & (int_column(rows, "end") <= lengths_of_texts(rows, find))
    right &= int_column(rows, "start") <= int_column(rows, "end")
    if "since" in rows.column_names:
        right &= int_column(rows, "since") < int_column(rows, "until")
        allowed = LOGGED if kind == "facts" else DERIVED
        right &= pc.is_in(rows["extractor"], value_set=pa.array(list(allowed))).to_numpy()
    if "first" in rows.column_names:
        right &= int_column(rows, "first") <= int_column(rows, "last")
    if vectors.shape[1]:
        with np.errstate(over="ignore", invalid="ignore"):  # NaN and infinity fail the comparison
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
            right &= np.abs(lengths - 1) < 0.9 * LENGTH_TOLERANCE  # near the limit, `row_faults` decides
    return right


def _fields_are_right(kind: RowKind, rows: TableRows) -> NDArray[np.bool_]:
    """Return rows of which each field holds what it can."""
    import pyarrow as pa
    import pyarrow.compute as pc

    right: NDArray[np.bool_] = np.ones(len(rows), dtype=bool)
    for field in fields_of(LAYOUTS[kind][0]):
        if field.name not in rows.column_names:
            continue
        column = rows[field.name]
        if column.null_count and not (field.optional or _is_json(field.kind)):
            right &= column.is_valid().to_numpy()
        if field.options:
            right &= pc.fill_null(pc.is_in(column, value_set=pa.array([*field.options, None])), False).to_numpy()
        if field.bounds:
            numbers = pc.fill_null(column, 0).to_numpy()
            right &= (numbers >= field.bounds.least) & (numbers <= field.bounds.most)
            right &= field.bounds.above is None or numbers > field.bounds.above
    return right
