"""The question pool of one space (QRMeM §2.1)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.vectors import GrowingMatrix, Matrix
from mcp_memory.view.pieces import extended


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
