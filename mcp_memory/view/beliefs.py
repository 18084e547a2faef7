"""What the lessons of a space have taught: the beliefs of its sentences as they are now, side by side in arrays."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mcp_memory.domain.beliefs import Belief
from mcp_memory.domain.episodes import Lesson
from mcp_memory.domain.evidence import Engine
from mcp_memory.vectors import Matrix, Scores


class Beliefs:
    """The learnt state of one space.

    Attributes:
        sentence_ids: of the sentences that anything was learnt about, in the order in which this view met them; place
            by place with the arrays below.
    """

    def __init__(self) -> None:
        self.sentence_ids: list[str] = []
        self._places: dict[str, int] = {}
        self._beliefs: list[Belief] = []
        self._lessons: dict[tuple[str, Engine], Lesson] = {}
        self._task: Matrix | None = None
        self._time: Matrix | None = None

    def __len__(self) -> int:
        return len(self._beliefs)

    def add(self, beliefs: Iterable[Belief], lessons: Iterable[Lesson] = ()) -> None:
        """Take in what a refresh found new: a later belief takes the place of an earlier one of the same sentence."""
        for belief in beliefs:
            place = self._places.get(belief.sentence_id)
            if place is None:
                self._places[belief.sentence_id] = len(self._beliefs)
                self.sentence_ids.append(belief.sentence_id)
                self._beliefs.append(belief)
            else:
                self._beliefs[place] = belief
            self._task = self._time = None
        for lesson in lessons:
            self._lessons.setdefault(lesson.key, lesson)

    def of(self, sentence_id: str) -> Belief | None:
        """Return the belief about a sentence, or None for the initial one."""
        place = self._places.get(sentence_id)
        return None if place is None else self._beliefs[place]

    def lesson(self, episode_id: str, source: Engine) -> Lesson | None:
        """Return what a judge said of an episode, or None."""
        return self._lessons.get((episode_id, source))

    def lessons(self, episode_id: str | None = None) -> list[Lesson]:
        """Return the lessons of an episode, or of all, in the order in which they were recorded."""
        return [one for one in self._lessons.values() if episode_id in (None, one.episode.id)]

    @property
    def task(self) -> Matrix:
        """m_task of each believed sentence, shape ``(len(self), d)``."""
        if self._task is None:
            self._task = _stacked([belief.task for belief in self._beliefs])
        return self._task

    @property
    def time(self) -> Matrix:
        """m_time, shape ``(len(self), d)``; zeros for a sentence without one."""
        if self._time is None:
            width = self.task.shape[1] if len(self) else 0
            nothing = np.zeros(width, dtype=np.float32)
            self._time = _stacked([nothing if b.time is None else b.time for b in self._beliefs])
        return self._time

    @property
    def task_doubts(self) -> Scores:
        """π_task, shape ``(len(self),)``."""
        return np.array([belief.task_doubt for belief in self._beliefs], dtype=np.float32)

    @property
    def time_doubts(self) -> Scores:
        """π_time, shape ``(len(self),)``."""
        return np.array([belief.time_doubt for belief in self._beliefs], dtype=np.float32)


def _stacked(rows: list[Matrix]) -> Matrix:
    return np.stack(rows).astype(np.float32) if rows else np.empty((0, 0), dtype=np.float32)
