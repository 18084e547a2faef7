"""From rows back to what they say.

What comes from the disk is not trusted: a row that cannot be right (a span outside its text, a vector that is not
finite) is left out with a warning that names it, so that one bad row never keeps a memory from starting. Turns are
looked at one by one. Segments and sentences come by the ten thousand, so whole columns are compared at once, and only
the rows that this leaves in doubt are looked at one by one.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from itertools import islice
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.storage.schemas import Commit, Rows
from mcp_memory.vectors import Matrix

LENGTH_TOLERANCE = 0.01
"""How far from 1 a vector's length may be; float32 and int8 models stay within 0.001."""

Piece = TypeVar("Piece", Segment, Sentence)
Find = Callable[[str, str], Turn | None]
"""Returns a stored turn by space and id."""

_log = logging.getLogger(__name__)


def commits_of(rows: Rows) -> list[Commit]:
    """Return the commits of some rows, by number."""
    names = [f.name for f in fields(Commit)]
    return sorted((Commit(**{n: row[n] for n in names}) for row in rows.to_pylist()), key=lambda commit: commit.tx)


def turns_of(rows: Rows) -> list[tuple[int, Turn]]:
    """Return the turns of some rows with their commits' numbers, in order of arrival; bad ones are left out."""
    good = [(tx, turn) for tx, turn in all_turns_of(rows) if not _bad("turns", turn.id, tx, turn_faults(turn))]
    return sorted(good, key=lambda entry: (entry[0], entry[1].place))


def all_turns_of(rows: Rows) -> list[tuple[int, Turn]]:
    """Return the turns of some rows with their commits' numbers, in no order, right or not.

    A column that an older format does not have is read as empty.
    """
    there = {name: rows[name].to_pylist() for name in rows.column_names}
    columns = [there.get(f.name, [None] * len(rows)) for f in fields(Turn)]
    return [(tx, Turn(*values)) for tx, *values in zip(there["tx"], *columns, strict=True)]


def turn_faults(turn: Turn) -> Iterator[str]:
    """Say what cannot be right about a turn."""
    if turn.kind not in ("message", "document"):
        yield f"its kind is {turn.kind!r}"
    required = (turn.id, turn.space, turn.session, turn.ref, turn.text, turn.written_at, turn.revision, turn.place)
    if any(value is None for value in required):
        yield "a required column is empty"


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


def vectors_of(rows: Rows) -> Matrix:
    """Return the vectors of some rows, shape ``(len(rows), d)``, NaN where there is none; d is 0 if not read."""
    if "vector" not in rows.column_names:
        return np.empty((len(rows), 0), dtype=np.float32)
    column = rows["vector"].combine_chunks()
    flat: NDArray[np.float32] = column.flatten().to_numpy(zero_copy_only=False)
    dimension = column.type.list_size
    if not column.null_count:
        return flat.reshape(-1, dimension)
    out: Matrix = np.full((len(rows), dimension), np.nan, dtype=np.float32)
    out[column.is_valid().to_numpy(zero_copy_only=False)] = flat.reshape(-1, dimension)
    return out


def _good(table: str, pieces: list[Piece], rows: Rows, rank: dict[str, int], find: Find) -> tuple[list[Piece], Matrix]:
    vectors = vectors_of(rows)
    kept = ~_doubtful(rows, vectors, find)
    for row in np.flatnonzero(~kept).tolist():
        piece, vector = pieces[row], vectors[row] if vectors.shape[1] else None
        faults = piece_faults(piece, find(piece.space, piece.turn_id), vector)
        kept[row] = not _bad(table, piece.id, rows["tx"][row].as_py(), faults)
    good = np.flatnonzero(kept)
    turn = np.array([rank.get(piece.turn_id, -1) for piece in pieces], dtype=np.int64)[good]
    good = good[np.lexsort((_numbers(rows, "index")[good], turn))]
    if np.array_equal(good, np.arange(len(pieces))):
        return pieces, vectors
    return [pieces[row] for row in good.tolist()], vectors[good]


def _doubtful(rows: Rows, vectors: Matrix, find: Find) -> NDArray[np.bool_]:
    """Return which rows are not plainly right: all that `piece_faults` would find something in, and perhaps others."""
    length = _of_pairs(rows, "space", "turn_id", lambda space, turn: _length(find(space, turn), space))
    start, end = _numbers(rows, "start"), _numbers(rows, "end")
    right = (start >= 0) & (start <= end) & (end <= length) & (_numbers(rows, "index") >= 0)
    right &= rows["id"].is_valid().to_numpy()
    if "first" in rows.column_names:
        first = _numbers(rows, "first")
        right &= (first >= 0) & (first <= _numbers(rows, "last"))
    if vectors.shape[1]:
        with np.errstate(over="ignore", invalid="ignore"):  # a number that is none, or too large, fails the comparison
            lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
            right &= np.abs(lengths - 1) < 0.9 * LENGTH_TOLERANCE  # near the limit it is looked at closely
    return ~right


def _length(turn: Turn | None, space: str) -> int:
    """Return how long the text of a turn is; -1, so that no piece fits into it, where it is not the space's."""
    return len(turn.text) if turn is not None and turn.space == space else -1


def _of_pairs(rows: Rows, one: str, other: str, value: Callable[[Any, Any], int]) -> NDArray[np.int64]:
    """Return a value for each row that two of its columns determine, asked once for each pair that occurs."""
    ones, others = (rows[name].combine_chunks().dictionary_encode("encode") for name in (one, other))
    width = len(others.dictionary)
    codes = ones.indices.to_numpy() * np.int64(width) + others.indices.to_numpy()
    pairs, place = np.unique(codes, return_inverse=True)
    values = [value(ones.dictionary[int(c) // width].as_py(), others.dictionary[int(c) % width].as_py()) for c in pairs]
    return np.array(values, dtype=np.int64)[place]


def _numbers(rows: Rows, name: str) -> NDArray[np.int64]:
    """Return a column of numbers; -1, which is wrong everywhere, where there is none."""
    import pyarrow.compute as pc

    numbers: NDArray[np.int64] = pc.fill_null(rows[name], -1).to_numpy()
    return numbers


def _bad(table: str, name: str, tx: int, faults: Iterator[str]) -> bool:
    fault = next(faults, None)
    if fault:
        _log.warning("%s: row %s of commit %s is left out: %s (mcp-memory doctor says more)", table, name, tx, fault)
    return fault is not None
