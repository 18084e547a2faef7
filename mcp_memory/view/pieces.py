"""Parts of a space: its segments and sentences by row and by turn, growing matrices, its question pool (QRMeM §2.1)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import Generic, SupportsIndex, TypeVar, overload

from mcp_memory.domain.turns import PooledQuestion, Segment, Sentence, Turn, segment_id, sentence_id
from mcp_memory.language.segments import pack_segments, split
from mcp_memory.language.stated import stated_times
from mcp_memory.vectors import GrowingMatrix, Matrix
from mcp_memory.view.saved_rows import SavedRows


def cut_turn(turn: Turn) -> tuple[list[Segment], list[Sentence]]:
    """Return the segments and sentences that will be stored of a turn, in order; none for one without words."""
    text, spans = turn.text, split(turn.text)
    sentences = []
    for index, (start, end) in enumerate(spans):
        times = tuple(stated_times(text, turn.local_said_at, start, end))
        name = sentence_id(turn.id, index, text[start:end])
        sentences.append(Sentence(name, turn.space, turn.id, index, start, end, times))
    segments = []
    for index, (first, last) in enumerate(pack_segments(text, spans)):
        start, end = spans[first][0], spans[last][1]
        name = segment_id(turn.id, index, text[start:end])
        segments.append(Segment(name, turn.space, turn.id, index, start, end, first, last))
    return segments, sentences


def extended(matrix: GrowingMatrix | None, rows: Matrix) -> GrowingMatrix | None:
    """Return a matrix, None for one without rows, with the rows added."""
    if not len(rows):
        return matrix
    matrix = matrix or GrowingMatrix(rows.shape[1])
    matrix.append(rows)
    return matrix


class QuestionPool:
    """The question pool of one space: questions that its segments answer, with their vectors (QRMeM 𝒬_k).

    Attributes:
        rows: every question, in the order of recording; one whose segment is gone leads nowhere.
        vectors: one row per question; None without any.
    """

    def __init__(self) -> None:
        self.rows: list[PooledQuestion] = []
        self.vectors: GrowingMatrix | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, questions: Sequence[PooledQuestion], vectors: Matrix) -> None:
        """Add questions in the order of recording, with their vectors, shape ``(n, d)``."""
        self.vectors = extended(self.vectors, vectors)
        self.rows += questions


NONE = -1
"""Stands for "no such row" in arrays of row numbers."""

PieceT = TypeVar("PieceT", bound=Segment | Sentence)


class Pieces(Sequence[PieceT], Generic[PieceT]):
    """Pieces of one kind by row, by id and by turn; they are appended and never moved."""

    def __init__(self, kind: type[PieceT]) -> None:
        self._kind = kind
        self._pieces: list[PieceT] | SavedRows[PieceT] = []
        self._row: dict[str, int] = {}
        self._of_turn: dict[str, range | list[int]] = {}  # a range where they follow one another, as they mostly do

    def __getstate__(self) -> dict[str, object]:
        return vars(self) | {"_pieces": SavedRows.of(self._kind, self._pieces)}

    def __len__(self) -> int:
        return len(self._pieces)

    @overload
    def __getitem__(self, row: SupportsIndex) -> PieceT: ...
    @overload
    def __getitem__(self, row: slice) -> list[PieceT]: ...
    def __getitem__(self, row: SupportsIndex | slice) -> PieceT | list[PieceT]:
        """Return the piece of a row, or those of a slice."""
        return self._pieces[row]

    def __iter__(self) -> Iterator[PieceT]:
        return iter(self._pieces)

    def append(self, piece: PieceT) -> int:
        """Add a piece at the end and return its row."""
        row = len(self)
        rows = self._of_turn.get(piece.turn_id, range(row, row))
        if isinstance(rows, range):
            self._of_turn[piece.turn_id] = range(rows.start, row + 1) if rows.stop == row else [*rows, row]
        else:
            rows.append(row)
        self._pieces.append(piece)
        self._row[piece.id] = row
        return row

    def of_turn(self, turn_id: str) -> Sequence[int]:
        """Return the rows of a turn's pieces, in order of arrival."""
        return self._of_turn.get(turn_id, ())

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
        return self._row.get(piece_id, NONE)
