"""Parts of a space: its segments and sentences by their turns, growing matrices, and its question pool (QRMeM §2.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Protocol

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import PooledQuestion, Segment, Sentence, Turn
from mcp_memory.vectors import GrowingMatrix, Matrix


class Cut(Protocol):
    """Cuts a turn into the segments and sentences that will be stored of it, with the same ids.

    Attributes:
        dimension: of the vectors.
    """

    @property
    def dimension(self) -> int: ...  # noqa: D102

    def __call__(self, turn: Turn) -> tuple[Sequence[Segment], Sequence[Sentence]]:
        """Return its pieces, in order; none for a turn without words."""


def rows_by_turn(pieces: Sequence[Segment | Sentence]) -> dict[str, list[int]]:
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


def extended(matrix: GrowingMatrix | None, rows: Matrix | None, rows_before: int) -> GrowingMatrix | None:
    """Return the matrix with the rows added; None once any row was left out."""
    if rows is None or (matrix is None and rows_before):
        return None
    if not len(rows):
        return matrix
    matrix = matrix or GrowingMatrix(rows.shape[1])
    matrix.append(rows)
    return matrix


def clipped(time: Millis) -> Millis:
    """Return a time clipped to 64 bits."""
    return min(max(time, -(2**63)), 2**63 - 1)


class QuestionPool:
    """The question pool of one space: questions that its segments answer, with their vectors (QRMeM 𝒬_k).

    Attributes:
        rows: every question, in the order of recording; one whose segment is gone leads nowhere.
        vectors: one row per question; None without any, and if there are too many sentences to hold vectors.
    """

    def __init__(self) -> None:
        self.rows: list[PooledQuestion] = []
        self.vectors: GrowingMatrix | None = None
        self._of_segment: dict[str, list[int]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, questions: Sequence[PooledQuestion], vectors: Matrix | None) -> None:
        """Add questions in the order of recording, with their vectors, shape ``(n, d)``, or None to hold none."""
        self.vectors = extended(self.vectors, vectors, len(self.rows))
        for question in questions:
            self._of_segment[question.segment_id].append(len(self.rows))
            self.rows.append(question)

    def of_segment(self, segment_id: str) -> list[PooledQuestion]:
        """Return the questions that a segment answers, in the order of recording."""
        return [self.rows[row] for row in self._of_segment.get(segment_id, ())]
