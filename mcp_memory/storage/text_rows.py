"""Convert turns, and the segments and sentences with their vectors, to rows and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields, replace
from itertools import islice
from typing import TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Kind, Segment, Sentence, Turn
from mcp_memory.storage.columns import (
    LENGTH_TOLERANCE,
    FindTurn,
    has_fault,
    int_column,
    shared_values,
    spans_are_valid,
    vectors_of,
)
from mcp_memory.storage.schema import TableRows, vector_column
from mcp_memory.vectors import Matrix

Piece = TypeVar("Piece", Segment, Sentence)


# Turns


def turn_rows(turns: Sequence[Turn], txs: Sequence[int]) -> TableRows:
    """Return turns as rows, as they were said, each with its commit's number."""
    import pyarrow as pa

    optional = {"speaker", "role", "title", "said_at", "offset"}
    numbers = {"said_at", "written_at", "revision", "place", "offset"}
    columns = {"tx": pa.array(txs, pa.int64())}
    said = [turn if turn.original is None else replace(turn, text=turn.said, title=turn.original[1]) for turn in turns]
    for name in (f.name for f in fields(Turn) if f.name != "original"):
        kind = pa.int64() if name in numbers else pa.string()
        columns[name] = pa.array([getattr(turn, name) for turn in said], kind)
    schema = pa.schema([pa.field(name, col.type, nullable=name in optional) for name, col in columns.items()])
    return pa.table(columns, schema=schema)


def turns_of(rows: TableRows | None) -> list[tuple[int, Turn]]:
    """Return the turns of some rows with their commits' numbers, in order of arrival; bad ones are left out."""
    stored = unchecked_turns(rows) if rows is not None else []
    valid = [(tx, turn) for tx, turn in stored if not has_fault("turns", turn.id, tx, turn_faults(turn))]
    return sorted(valid, key=lambda entry: (entry[0], entry[1].place))


def unchecked_turns(rows: TableRows) -> list[tuple[int, Turn]]:
    """Return the turns of some rows with their commits' numbers, in no particular order, right or not.

    A column that an older format does not have is read as empty.
    """
    stored = {name: shared_values(rows, name) for name in rows.column_names}
    columns = [stored.get(f.name, [None] * len(rows)) for f in fields(Turn)]
    return [(tx, Turn(*values)) for tx, *values in zip(stored["tx"], *columns, strict=True)]


def turn_faults(turn: Turn) -> Iterator[str]:
    """Yield the faults of a turn, in words."""
    if turn.kind not in get_args(Kind):
        yield f"its kind is {turn.kind!r}"
    required = (turn.id, turn.space, turn.session, turn.ref, turn.text, turn.written_at, turn.revision, turn.place)
    if any(value is None for value in required):
        yield "a required column is empty"


# Segments and sentences


def segment_rows(segments: Sequence[Segment], vectors: Matrix, txs: Sequence[int]) -> TableRows:
    """Return segments as rows, each with its vector and its commit's number."""
    return _piece_rows(Segment, segments, vectors, txs)


def sentence_rows(sentences: Sequence[Sentence], vectors: Matrix, txs: Sequence[int]) -> TableRows:
    """Return sentences as rows, each with its vector and its commit's number."""
    return _piece_rows(Sentence, sentences, vectors, txs)


def _piece_rows(kind: type, pieces: Sequence[Segment | Sentence], vectors: Matrix, txs: Sequence[int]) -> TableRows:
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
            column_type = pa.string() if name in {"id", "space", "turn_id"} else pa.int64()
            columns[name] = pa.array([getattr(piece, name) for piece in pieces], column_type)
    columns["vector"] = vector_column(vectors)
    return pa.table(columns)


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

    valid_segments, segment_vectors = _valid_pieces("segments", list(segments_of(segments)), segments, rank, find)
    valid_sentences, sentence_vectors = _valid_pieces("sentences", list(sentences_of(sentences)), sentences, rank, find)
    return Batch(tuple(turns), tuple(valid_segments), tuple(valid_sentences), segment_vectors, sentence_vectors)


def segments_of(rows: TableRows) -> Iterator[Segment]:
    """Return the segments of some rows, in their order, right or not."""
    columns = [shared_values(rows, f.name) for f in fields(Segment)]
    return (Segment(*values) for values in zip(*columns, strict=True))


def sentences_of(rows: TableRows) -> Iterator[Sentence]:
    """Return the sentences of some rows, in their order, right or not."""
    import pyarrow.compute as pc

    *names, _ = (f.name for f in fields(Sentence))  # ``times`` is the last field, and nearly always empty
    columns = [shared_values(rows, name) for name in names]
    flat = pc.list_flatten(rows["times"]).to_pylist()
    stated = iter([StatedTime(**time) if time and None not in time.values() else None for time in flat])
    for *values, count in zip(*columns, pc.list_value_length(rows["times"]).to_pylist(), strict=True):
        yield Sentence(*(*values, tuple(time for time in islice(stated, count or 0) if time is not None)))


def piece_faults(piece: Segment | Sentence, turn: tuple[str, int] | None, vector: Matrix | None) -> Iterator[str]:
    """Yield the faults of a segment or sentence, in words.

    Args:
        piece: as read.
        turn: space and length of the text that it names, if it exists.
        vector: shape ``(d,)``, or None if vectors were not read.
    """
    if turn is None:
        yield "it belongs to no stored turn"
    elif turn[0] != piece.space:
        yield "it lies in another space than its turn"
    elif None in (piece.start, piece.end) or not 0 <= piece.start <= piece.end <= turn[1]:
        yield "its span lies outside its text"
    if piece.id is None:
        yield "it has no id"
    if piece.index is None or piece.index < 0:
        yield "it has no place within its turn"
    if isinstance(piece, Segment) and (None in (piece.first, piece.last) or not 0 <= piece.first <= piece.last):
        yield "it names no sentences"
    if vector is not None:
        length = float(np.linalg.norm(vector))
        if not np.isfinite(length):
            yield "its vector is not finite"
        elif abs(length - 1) > LENGTH_TOLERANCE:
            yield f"its vector has the length {length:.3f}"


def _valid_pieces(
    table: str, pieces: list[Piece], rows: TableRows, rank: dict[str, int], find: FindTurn
) -> tuple[list[Piece], Matrix]:
    """Return the pieces without a fault, in the order of their turns, with their vectors."""
    vectors = vectors_of(rows)
    valid = _certainly_valid(rows, vectors, find)
    for row in np.flatnonzero(~valid).tolist():
        piece, vector = pieces[row], vectors[row] if vectors.shape[1] else None
        turn = find(piece.space, piece.turn_id)
        faults = piece_faults(piece, (turn.space, len(turn.text)) if turn else None, vector)
        valid[row] = not has_fault(table, piece.id, rows["tx"][row].as_py(), faults)
    order = np.flatnonzero(valid)
    turns = np.array([rank.get(piece.turn_id, -1) for piece in pieces], dtype=np.int64)[order]
    order = order[np.lexsort((int_column(rows, "index")[order], turns))]
    if np.array_equal(order, np.arange(len(pieces))):
        return pieces, vectors
    return [pieces[row] for row in order.tolist()], vectors[order]


def _certainly_valid(rows: TableRows, vectors: Matrix, find: FindTurn) -> NDArray[np.bool_]:
    """Return rows in which `piece_faults` would find nothing; it may find nothing in some of the others as well."""
    valid = spans_are_valid(rows, find) & (int_column(rows, "index") >= 0)
    valid &= rows["id"].is_valid().to_numpy()
    if "first" in rows.column_names:
        first = int_column(rows, "first")
        valid &= (first >= 0) & (first <= int_column(rows, "last"))
    if vectors.shape[1]:
        with np.errstate(over="ignore", invalid="ignore"):  # NaN and infinity fail the comparison
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
            valid &= np.abs(lengths - 1) < 0.9 * LENGTH_TOLERANCE  # near the limit, `piece_faults` decides
    return valid
