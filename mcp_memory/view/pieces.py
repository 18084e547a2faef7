"""Parts of a space: its segments and sentences by row and by turn, growing matrices, its question pool (QRMeM §2.1).

Of the segments, or the sentences, the newest are objects, older ones columns of numbers (`Pieces`). An object with its
strings, and its places in dicts by id and by turn, takes half a kilobyte; of a million sentences and their segments
these were a third of a process's memory. A packed piece takes some fifty bytes, and is made an object again when it is
asked for (two microseconds). A space below `KEPT` pieces of a kind packs none.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from itertools import takewhile
from typing import TYPE_CHECKING, Generic, Protocol, SupportsIndex, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import Millis, StatedTime
from mcp_memory.domain.turns import PooledQuestion, Segment, Sentence, Turn
from mcp_memory.vectors import GrowingMatrix, Matrix
from mcp_memory.view.saved_rows import Columns, SavedRows

if TYPE_CHECKING:
    from mcp_memory.view.space import Space


class Cut(Protocol):
    """Cuts a turn into the segments and sentences that will be stored of it, with the same ids.

    Attributes:
        dimension: the dimension of the vectors.
    """

    @property
    def dimension(self) -> int: ...  # noqa: D102

    def __call__(self, turn: Turn) -> tuple[Sequence[Segment], Sequence[Sentence]]:
        """Return its pieces, in order; none for a turn without words."""


def by_turn(pieces: Sequence[Segment | Sentence]) -> dict[str, list[int]]:
    """Return the places of the pieces of each turn."""
    rows: dict[str, list[int]] = defaultdict(list)
    for row, piece in enumerate(pieces):
        rows[piece.turn_id].append(row)
    return dict(rows)


def chosen(
    batch: Batch, segment_rows: dict[str, list[int]], sentence_rows: dict[str, list[int]], turns: Iterable[str]
) -> Batch:
    """Return the pieces of some turns, turn by turn."""
    segments = [row for name in turns for row in segment_rows.get(name, ())]
    sentences = [row for name in turns for row in sentence_rows.get(name, ())]
    if segments == list(range(len(batch.segments))) and sentences == list(range(len(batch.sentences))):
        return batch
    return Batch(
        (),
        tuple(batch.segments[row] for row in segments),
        tuple(batch.sentences[row] for row in sentences),
        batch.segment_vectors[segments],
        batch.sentence_vectors[sentences],
    )


def fill(space: Space, batch: Batch) -> set[str]:
    """Fill in the vectors of pieces of a space that have a row, and return the turns that these belong to."""
    filled: set[str] = set()
    for piece, vector in zip(batch.sentences, batch.sentence_vectors, strict=True):
        if piece.turn_id in space.unindexed and (row := space.sentences.row(piece.id)) != NONE:
            filled.add(piece.turn_id)
            if space.sentence_vectors is not None:
                space.sentence_vectors[row] = vector
    for segment, vector in zip(batch.segments, batch.segment_vectors, strict=True):
        if segment.turn_id in space.unindexed and (row := space.segments.row(segment.id)) != NONE:
            filled.add(segment.turn_id)
            space.unindexed[segment.turn_id].discard(segment.index)
            if space.segment_vectors is not None:
                space.segment_vectors[row] = vector
    for name in filled:
        if not space.unindexed[name]:
            del space.unindexed[name]
    return filled


def extended(matrix: GrowingMatrix | None, rows: Matrix) -> GrowingMatrix | None:
    """Return a matrix, None for one without rows, with the rows added."""
    if not len(rows):
        return matrix
    matrix = matrix or GrowingMatrix(rows.shape[1])
    matrix.append(rows)
    return matrix


def clip(time: Millis) -> Millis:
    """Return a time clipped to 64 bits."""
    return min(max(time, -(2**63)), 2**63 - 1)


class QuestionPool:
    """The question pool of one space: questions that its segments answer, with their vectors (QRMeM 𝒬_k).

    Attributes:
        rows: every question, in the order of recording; one whose segment is gone leads nowhere.
        vectors: one row per question; None without any.
    """

    def __init__(self) -> None:
        self.rows: list[PooledQuestion] = []
        self.vectors: GrowingMatrix | None = None
        self._of_segment: dict[str, list[int]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, questions: Sequence[PooledQuestion], vectors: Matrix) -> None:
        """Add questions in the order of recording, with their vectors, shape ``(n, d)``."""
        self.vectors = extended(self.vectors, vectors)
        for question in questions:
            self._of_segment[question.segment_id].append(len(self.rows))
            self.rows.append(question)

    def of_segment(self, segment_id: str) -> list[PooledQuestion]:
        """Return the questions that a segment answers, in the order of recording."""
        return [self.rows[row] for row in self._of_segment.get(segment_id, ())]


NONE = -1
"""Stands for "no such row" in arrays of row numbers."""
CHUNK = 1 << 15
"""Pieces that are packed together."""
KEPT = 1 << 16
"""The newest pieces, which stay objects."""
_DIGITS = 20  # of an id (``domain/turns.py``), after its prefix of two characters

PieceT = TypeVar("PieceT", bound=Segment | Sentence)


class TurnNumbers:
    """Numbers of the turns of a space, in the order in which pieces of them arrived."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}

    def add(self, turn_id: str) -> int:
        """Return the number of a turn, a new one for one without."""
        number = self._numbers.setdefault(turn_id, len(self.names))
        if number == len(self.names):
            self.names.append(turn_id)
        return number

    def get(self, turn_id: str) -> int:
        """Return the number of a turn, or `NONE`."""
        return self._numbers.get(turn_id, NONE)


class Pieces(Sequence[PieceT], Generic[PieceT]):
    """Pieces of one kind, appended and never moved.

    Args:
        kind: the kind of the pieces.
        space: the name of their space.
        turns: their numbers, shared by both kinds.
    """

    def __init__(self, kind: type[PieceT], space: str, turns: TurnNumbers) -> None:
        self._kind = kind
        self._space = space
        self._turns = turns
        self._rows = _TurnRows()
        self._chunks: list[_Chunk[PieceT]] = []
        self._newest: list[PieceT] | SavedRows[PieceT] = []
        self._newest_rows: dict[str, int] = {}

    def __getstate__(self) -> dict[str, object]:
        return vars(self) | {"_newest": SavedRows.of(self._kind, self._newest)}

    def __len__(self) -> int:
        return len(self._chunks) * CHUNK + len(self._newest)

    @overload
    def __getitem__(self, row: SupportsIndex) -> PieceT: ...
    @overload
    def __getitem__(self, row: slice) -> list[PieceT]: ...
    def __getitem__(self, row: SupportsIndex | slice) -> PieceT | list[PieceT]:
        """Return the piece of a row, or those of a slice."""
        if not self._chunks:
            return self._newest[row]
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(len(self)))]
        at, packed = row.__index__(), len(self._chunks) * CHUNK
        at = at + len(self) if at < 0 else at
        if at >= packed:
            return self._newest[at - packed]
        if at < 0:
            raise IndexError(row)
        return self._chunks[at // CHUNK].piece(at % CHUNK, self._space, self._turns.names)

    def __iter__(self) -> Iterator[PieceT]:
        for chunk in self._chunks:
            for place in range(CHUNK):
                yield chunk.piece(place, self._space, self._turns.names)
        yield from self._newest

    def append(self, piece: PieceT) -> int:
        """Add a piece at the end and return its row."""
        row = len(self)
        self._rows.add(self._turns.add(piece.turn_id), row)
        self._newest.append(piece)
        self._newest_rows[piece.id] = row
        if len(self._newest) == KEPT + CHUNK:
            self._pack()
        return row

    def of_turn(self, turn_id: str) -> Sequence[int]:
        """Return the rows of a turn's pieces, in order of arrival."""
        return self._rows.of(self._turns.get(turn_id))

    def between(self, turn_id: str, first: int, last: int) -> list[int]:
        """Return the rows of a turn's pieces with indices between two, both included, in order of arrival.

        A long document has 100,000 sentences, so all are only read where a bad row was left out.
        """
        rows = self.of_turn(turn_id)
        guess = rows[first : last + 1]
        if guess and self[guess[0]].index == first and self[guess[-1]].index == last:
            return list(guess)
        return [row for row in rows if first <= self[row].index <= last]

    def overlapping(self, turn_id: str, start: int, end: int) -> list[int]:
        """Return the rows of a turn's pieces that a span of characters touches, in order of arrival."""
        rows = self.of_turn(turn_id)
        if isinstance(rows, range):  # both ends of its pieces ascend
            rows = rows[bisect_right(rows, start, key=lambda row: self[row].end) :]
            return list(takewhile(lambda row: self[row].start < end, rows))
        return [row for row in rows if self[row].start < end and start < self[row].end]

    def row(self, piece_id: str) -> int:
        """Return the row of a piece by its id, or `NONE`."""
        row = self._newest_rows.get(piece_id)
        return row if row is not None else int(self._packed_rows([piece_id])[0])

    def rows(self, ids: Sequence[str]) -> NDArray[np.intp]:
        """Return the rows of pieces by their ids, `NONE` for unknown ones; shape ``(len(ids),)``."""
        rows = self._packed_rows(ids)
        for place, row in enumerate(map(self._newest_rows.get, ids)):
            if row is not None:
                rows[place] = row
        return rows

    def turn_numbers(self) -> NDArray[np.int32]:
        """Return the number of the turn of each piece, shape ``(len(self),)``."""
        newest = [self._turns.get(piece.turn_id) for piece in self._newest]
        return np.concatenate((*(chunk.turn_numbers for chunk in self._chunks), np.array(newest, dtype=np.int32)))

    def _packed_rows(self, ids: Sequence[str]) -> NDArray[np.intp]:
        rows = np.full(len(ids), NONE, dtype=np.intp)
        if self._chunks:
            wanted = _bytes_of([name[2:] for name in ids])
            for number, chunk in enumerate(self._chunks):
                found = chunk.places(wanted)
                rows[found != NONE] = number * CHUNK + found[found != NONE]
        return rows

    def _pack(self) -> None:
        """Turn the oldest objects into columns, unless one would not come back the same; then all stay objects."""
        oldest = self._newest[:CHUNK]
        chunk = _Chunk(self._kind, oldest, self._turns)
        if oldest == [chunk.piece(place, self._space, self._turns.names) for place in range(CHUNK)]:
            self._chunks.append(chunk)
            self._newest = self._newest[CHUNK:]
            for piece in oldest:
                del self._newest_rows[piece.id]


class _Chunk(Generic[PieceT]):
    """Some packed pieces."""

    def __init__(self, kind: type[PieceT], pieces: Sequence[PieceT], turns: TurnNumbers) -> None:
        self._kind = kind
        self._prefix = pieces[0].id[:2]
        names = [f.name for f in fields(kind)][3:]  # after id, space and turn
        self._has_times = names[-1] == "times"
        numbers = names[:-1] if self._has_times else names
        rows = [(turns.get(piece.turn_id), *(getattr(piece, name) for name in numbers)) for piece in pieces]
        self._columns = np.array(rows, dtype=np.int32)
        times = [piece.times if isinstance(piece, Sentence) else () for piece in pieces]
        self._time_ends = np.cumsum([0, *map(len, times)], dtype=np.int32)
        self._times = Columns(StatedTime, [one for some in times for one in some])
        self._ids = _bytes_of([piece.id[2:] for piece in pieces])
        self._order = np.argsort(self._ids).astype(np.int32)

    @property
    def turn_numbers(self) -> NDArray[np.int32]:
        return self._columns[:, 0]

    def piece(self, place: int, space: str, turns: Sequence[str]) -> PieceT:
        turn, *numbers = self._columns[place].tolist()
        name = self._prefix + self._ids[place].ljust(_DIGITS // 2, b"\0").hex()
        rest = (*numbers, self._times_of(place)) if self._has_times else numbers
        piece: PieceT = self._kind(name, space, turns[turn], *rest)
        return piece

    def _times_of(self, place: int) -> tuple[StatedTime, ...]:
        first, end = self._time_ends[place : place + 2].tolist()
        return tuple(map(self._times.row, range(first, end)))

    def places(self, ids: NDArray[np.bytes_]) -> NDArray[np.intp]:
        """Return the places of ids in this chunk, `NONE` for others."""
        at = np.minimum(np.searchsorted(self._ids, ids, sorter=self._order), len(self._order) - 1)
        places = self._order[at].astype(np.intp)
        places[self._ids[places] != ids] = NONE
        return places


class _TurnRows:
    """The rows of each turn by its number; mostly they follow one another."""

    def __init__(self) -> None:
        self._first = array("i")
        self._count = array("i")
        self._scattered: dict[int, list[int]] = {}  # of turns whose rows do not

    def add(self, turn: int, row: int) -> None:
        while len(self._first) <= turn:
            self._first.append(NONE)
            self._count.append(0)
        count = self._count[turn]
        if not count:
            self._first[turn] = row
        elif turn in self._scattered:
            self._scattered[turn].append(row)
        elif row != self._first[turn] + count:
            self._scattered[turn] = [*range(self._first[turn], self._first[turn] + count), row]
        self._count[turn] += 1

    def of(self, turn: int) -> Sequence[int]:
        if not 0 <= turn < len(self._first):
            return ()
        if turn in self._scattered:
            return self._scattered[turn]
        return range(self._first[turn], self._first[turn] + self._count[turn])


def _bytes_of(digits: Iterable[str]) -> NDArray[np.bytes_]:
    """Return ids as bytes of half the length; one that is no id becomes one that no piece has."""
    return np.array([_bytes(one) for one in digits], dtype=f"S{_DIGITS // 2}")


def _bytes(digits: str) -> bytes:
    try:
        return bytes.fromhex(digits)[: _DIGITS // 2]
    except ValueError:
        return b""
