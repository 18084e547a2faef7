"""The pool of questions of one space: what its segments answer, asked, each question with its vector (QRMeM 𝒬_k)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mcp_memory.domain.questions import PooledQuestion
from mcp_memory.vectors import GrowingMatrix, Matrix


class Pool:
    """The questions of one space, as of the last refresh.

    Attributes:
        rows: every question, in the order of recording; one whose segment is gone leads nowhere.
        vectors: one row a question, or None without any, and where there are too many sentences to hold vectors.
    """

    def __init__(self) -> None:
        self.rows: list[PooledQuestion] = []
        self.vectors: GrowingMatrix | None = None
        self._of_segment: dict[str, list[int]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, questions: Sequence[PooledQuestion], vectors: Matrix | None) -> None:
        """Take in questions in the order of recording, with their vectors, shape ``(n, d)``; None holds none."""
        if vectors is None:
            self.vectors = None
        elif questions and (self.vectors is not None or not self.rows):
            self.vectors = self.vectors or GrowingMatrix(vectors.shape[1])
            self.vectors.append(vectors)
        for one in questions:
            self._of_segment[one.segment_id].append(len(self.rows))
            self.rows.append(one)

    def of_segment(self, segment_id: str) -> list[PooledQuestion]:
        """Return the questions that a segment answers, in the order of recording."""
        return [self.rows[row] for row in self._of_segment.get(segment_id, ())]

    def drop_vectors(self) -> None:
        """Hold no vectors from now on."""
        self.vectors = None
