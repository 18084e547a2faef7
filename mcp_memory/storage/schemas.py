"""Columns, and rows to and fro.

The columns are the fields of the domain's dataclasses, and two more: ``tx``, the commit that a row belongs to, and for
segments and sentences their ``vector``. What comes from the disk is not trusted: a row that cannot be right (a span
outside its text, a vector that is not finite) is left out with a warning that names it, so that one bad row never
keeps a memory from starting.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import Millis, StatedTime
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.vectors import Matrix

Rows = Any
"""A pyarrow table, which comes without types."""

FORMAT = 1
"""Of the tables. Raised whenever an older program could not read, or would spoil, what a newer one wrote."""

LENGTH_TOLERANCE = 0.01
"""How far from 1 a vector's length may be; float32 and int8 models stay within 0.001."""

_log = logging.getLogger(__name__)


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


def batch_of(turns: Sequence[Turn], segments: Rows, sentences: Rows, known: Callable[[str, str], Turn | None]) -> Batch:
    """Return rows as a batch: pieces by turn and then by index, bad ones left out.

    Args:
        turns: in order of arrival.
        segments: their rows, in any order, with or without vectors.
        sentences: likewise.
        known: returns a turn that came earlier, by space and id.
    """
    rank = {turn.id: number for number, turn in enumerate(turns)}
    here = {turn.id: turn for turn in turns}

    def find(space: str, turn_id: str) -> Turn | None:
        return here.get(turn_id) or known(space, turn_id)

    kept_segments, segment_vectors = _good("segments", list(segments_of(segments)), segments, rank, find)
    kept_sentences, sentence_vectors = _good("sentences", list(sentences_of(sentences)), sentences, rank, find)
    return Batch(tuple(turns), tuple(kept_segments), tuple(kept_sentences), segment_vectors, sentence_vectors)


def segments_of(rows: Rows) -> Iterator[Segment]:
    """Return the segments of some rows, in their order, right or not."""
    columns = [rows[f.name].to_pylist() for f in fields(Segment)]
    return (Segment(*values) for values in zip(*columns, strict=True))


def sentences_of(rows: Rows) -> Iterator[Sentence]:
    """Return the sentences of some rows, in their order, right or not."""
    columns = [rows[f.name].to_pylist() for f in fields(Sentence)]
    for values in zip(*columns, strict=True):
        stated = tuple(StatedTime(**time) for time in values[-1] or ())  # ``times`` is the last field
        yield Sentence(*(*values[:-1], stated))


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


Piece = TypeVar("Piece", Segment, Sentence)


def _good(
    table: str,
    pieces: list[Piece],
    rows: Rows,
    rank: dict[str, int],
    find: Callable[[str, str], Turn | None],
) -> tuple[list[Piece], Matrix]:
    vectors = vectors_of(rows)
    txs: list[Any] = rows["tx"].to_pylist()
    read = vectors.shape[1] > 0
    good = [
        row
        for row, piece in enumerate(pieces)
        if not _bad(
            table,
            piece.id,
            txs[row],
            piece_faults(piece, find(piece.space, piece.turn_id), vectors[row] if read else None),
        )
    ]
    good.sort(key=lambda row: (rank.get(pieces[row].turn_id, -1), pieces[row].index))
    same = good == list(range(len(pieces)))
    return [pieces[row] for row in good], vectors if same else vectors[good]


def _bad(table: str, name: str, tx: int, faults: Iterator[str]) -> bool:
    fault = next(faults, None)
    if fault:
        _log.warning("%s: row %s of commit %s is left out: %s (mcp-memory doctor says more)", table, name, tx, fault)
    return fault is not None
