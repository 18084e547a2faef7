"""From rows back to segments and sentences with their vectors; why so much is looked at is said in ``rows.py``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import islice
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.storage.columns import fit, numbers
from mcp_memory.storage.rows import Find, left_out
from mcp_memory.storage.schemas import Rows
from mcp_memory.vectors import Matrix

LENGTH_TOLERANCE = 0.01
"""How far from 1 a vector's length may be; float32 and int8 models stay within 0.001."""

Piece = TypeVar("Piece", Segment, Sentence)


def batch_of(turns: Sequence[Turn], segments: Rows, sentences: Rows, known: Find) -> Batch:
    """Return rows as a batch: pieces by turn and then by index, bad ones left out.

    Args:
        turns: in order of arrival.
        segments: their rows, in any order, with or without vectors.
        sentences: likewise.
        known: returns a turn that came earlier.
    """
    rank = {turn.id: number for number, turn in enumerate(turns)}

    def find(space: str, turn_id: str) -> Turn | None:
        return turns[rank[turn_id]] if turn_id in rank else known(space, turn_id)

    kept_segments, segment_vectors = _good("segments", list(segments_of(segments)), segments, rank, find)
    kept_sentences, sentence_vectors = _good("sentences", list(sentences_of(sentences)), sentences, rank, find)
    return Batch(tuple(turns), tuple(kept_segments), tuple(kept_sentences), segment_vectors, sentence_vectors)


def segments_of(rows: Rows) -> Iterator[Segment]:
    """Return the segments of some rows, in their order, right or not."""
    columns = [rows[f.name].to_pylist() for f in fields(Segment)]
    return (Segment(*values) for values in zip(*columns, strict=True))


def sentences_of(rows: Rows) -> Iterator[Sentence]:
    """Return the sentences of some rows, in their order, right or not."""
    import pyarrow.compute as pc

    *names, _ = (f.name for f in fields(Sentence))  # ``times`` is the last field, and nearly always empty
    columns = [rows[name].to_pylist() for name in names]
    flat = pc.list_flatten(rows["times"]).to_pylist()
    stated = iter([StatedTime(**time) if time and None not in time.values() else None for time in flat])
    for *values, count in zip(*columns, pc.list_value_length(rows["times"]).to_pylist(), strict=True):
        yield Sentence(*(*values, tuple(time for time in islice(stated, count or 0) if time is not None)))


def vectors_of(rows: Rows, name: str = "vector") -> Matrix:
    """Return a column of vectors, shape ``(len(rows), d)``, NaN where there is none; d is 0 if it was not read."""
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


def piece_faults(piece: Segment | Sentence, turn: Turn | None, vector: Matrix | None) -> Iterator[str]:
    """Say what cannot be right about a segment or sentence.

    Args:
        piece: as read.
        turn: the one it names, if there is one.
        vector: shape ``(d,)``, or None where vectors were not read.
    """
    if turn is None:
        yield "it belongs to no stored turn"
    elif turn.space != piece.space:
        yield "it lies in another space than its turn"
    elif None in (piece.start, piece.end) or not 0 <= piece.start <= piece.end <= len(turn.text):
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


def _good(table: str, pieces: list[Piece], rows: Rows, rank: dict[str, int], find: Find) -> tuple[list[Piece], Matrix]:
    vectors = vectors_of(rows)
    kept = ~_doubtful(rows, vectors, find)
    for row in np.flatnonzero(~kept).tolist():
        piece, vector = pieces[row], vectors[row] if vectors.shape[1] else None
        faults = piece_faults(piece, find(piece.space, piece.turn_id), vector)
        kept[row] = not left_out(table, piece.id, rows["tx"][row].as_py(), faults)
    good = np.flatnonzero(kept)
    turn = np.array([rank.get(piece.turn_id, -1) for piece in pieces], dtype=np.int64)[good]
    good = good[np.lexsort((numbers(rows, "index")[good], turn))]
    if np.array_equal(good, np.arange(len(pieces))):
        return pieces, vectors
    return [pieces[row] for row in good.tolist()], vectors[good]


def _doubtful(rows: Rows, vectors: Matrix, find: Find) -> NDArray[np.bool_]:
    """Return which rows are not plainly right: all that `piece_faults` would find something in, and perhaps others."""
    right = fit(rows, find) & (numbers(rows, "index") >= 0)
    right &= rows["id"].is_valid().to_numpy()
    if "first" in rows.column_names:
        first = numbers(rows, "first")
        right &= (first >= 0) & (first <= numbers(rows, "last"))
    if vectors.shape[1]:
        with np.errstate(over="ignore", invalid="ignore"):  # a number that is none, or too large, fails the comparison
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
            right &= np.abs(lengths - 1) < 0.9 * LENGTH_TOLERANCE  # near the limit it is looked at closely
    return ~right
