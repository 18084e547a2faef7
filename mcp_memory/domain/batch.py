"""The rows that one transaction appends, or that a refresh of the view reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from mcp_memory.domain.entities import Alias
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.language_model import Job, Reservation
from mcp_memory.domain.points import Point
from mcp_memory.domain.turns import PooledQuestion, Segment, Sentence, Turn
from mcp_memory.vectors import Matrix


def _no_vectors() -> Matrix:
    return np.empty((0, 0), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Batch:
    """Rows in the order in which they are recorded.

    Attributes:
        turns: the turns.
        segments: the segments of these turns, or of turns that were stored without, by turn and then by index.
        sentences: their sentences in the same way.
        segment_vectors: shape ``(len(segments), d)``, each row of length 1.
        sentence_vectors: shape ``(len(sentences), d)``, each row of length 1.
        assertions: of these turns, or by the caller about earlier ones.
        lessons: judgements of episodes.
        beliefs: sentence memories after these lessons; the last one of a sentence counts.
        points: revisions of memory points.
        point_vectors: of their descriptions, shape ``(len(points), d)``, each row of length 1.
        aliases: names merged into one entity.
        questions: of the question pool, each with its space.
        question_vectors: of their texts, shape ``(len(questions), d)``, each row of length 1.
        outlays: tokens spent on a language model, all on one day.
        jobs: progress of the enrichment of texts by a language model.
    """

    turns: tuple[Turn, ...] = ()
    segments: tuple[Segment, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    segment_vectors: Matrix = field(default_factory=_no_vectors)
    sentence_vectors: Matrix = field(default_factory=_no_vectors)
    assertions: tuple[Assertion, ...] = ()
    lessons: tuple[Lesson, ...] = ()
    beliefs: tuple[Belief, ...] = ()
    points: tuple[Point, ...] = ()
    point_vectors: Matrix = field(default_factory=_no_vectors)
    aliases: tuple[Alias, ...] = ()
    questions: tuple[tuple[str, PooledQuestion], ...] = ()
    question_vectors: Matrix = field(default_factory=_no_vectors)
    outlays: tuple[Reservation, ...] = ()
    jobs: tuple[Job, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether a commit would record nothing.

        Beliefs come with the lessons that changed them.
        """
        rows = self.turns or self.segments or self.sentences or self.assertions or self.lessons or self.points
        return not (rows or self.aliases or self.questions or self.outlays or self.jobs)

    def unlearnt(self, recorded: Callable[[Lesson], bool]) -> Batch:
        """Return the batch without lessons that were recorded before, and without their beliefs (DESIGN I27).

        Args:
            recorded: whether the log holds a lesson of this episode by this judge.

        Raises:
            ValueError: some lessons were recorded before and some were not; beliefs do not say which lesson they follow
                from.
        """
        keys = {(lesson.space, *lesson.key) for lesson in self.lessons}
        new = len(keys) - len({(one.space, *one.key) for one in self.lessons if recorded(one)})
        if new == len(self.lessons):
            return self
        if new:
            raise ValueError("a batch has lessons that were recorded before, or twice, and others that were not")
        return replace(self, lessons=(), beliefs=())
