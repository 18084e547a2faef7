"""Rows that belong together: what one transaction adds, or what a refresh found new."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from mcp_memory.domain.aliases import Alias
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.jobs import Job
from mcp_memory.domain.points import Point
from mcp_memory.domain.questions import PooledQuestion
from mcp_memory.domain.spending import Reservation
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.vectors import Matrix


def _no_vectors() -> Matrix:
    return np.empty((0, 0), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Batch:
    """Turns with their pieces, in the order in which they are to be read.

    Attributes:
        turns: the turns.
        segments: the segments of these turns, by turn and then by index.
        sentences: the sentences of these turns, by turn and then by index.
        segment_vectors: shape ``(len(segments), d)``, each row of length 1.
        sentence_vectors: shape ``(len(sentences), d)``, each row of length 1.
        assertions: what was asserted, by these turns or by the caller about earlier ones, in the order of recording.
        lessons: what judges said of episodes, in the order of recording.
        beliefs: what the sentences that these lessons are about are believed to be worth after them; of several about
            one sentence the last counts.
        points: revisions of memory points, in the order of recording.
        point_vectors: of their descriptions, shape ``(len(points), d)``, each row of length 1.
        aliases: that the memory came to hold, in the order of recording.
        questions: of the pool, each with its space, likewise.
        question_vectors: of their texts, shape ``(len(questions), d)``, each row of length 1.
        outlays: what asking a language model has cost; those of one transaction are of one day.
        jobs: how far texts were read by a language model, in the order of recording.
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
        """Whether there is nothing in it that a commit would be for.

        Pieces come with their turns, and beliefs with the lessons that changed them.
        """
        told = self.turns or self.assertions or self.lessons or self.points
        return not (told or self.aliases or self.questions or self.outlays or self.jobs)

    def unlearnt(self, recorded: Callable[[Lesson], bool]) -> Batch:
        """Return the batch without the lessons that were recorded before, and without what came of them (DESIGN I27).

        Args:
            recorded: whether a lesson of this episode by this judge stands in the log.

        Raises:
            ValueError: it has such lessons and others too; what came of which, its beliefs do not say.
        """
        keys = {(lesson.space, *lesson.key) for lesson in self.lessons}
        new = len(keys) - len({(one.space, *one.key) for one in self.lessons if recorded(one)})
        if new == len(self.lessons):
            return self
        if new:
            raise ValueError("a batch has lessons that were recorded before, or twice, and others that were not")
        return replace(self, lessons=(), beliefs=())
