"""The beliefs about the sentences of a space (GAM-RAG's sentence memories), also as arrays, and their lessons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from mcp_memory.domain.episodes import Belief, Episode, Lesson
from mcp_memory.domain.facts import Engine
from mcp_memory.vectors import Matrix, Scores


class Beliefs:
    """The learnt state of one space.

    The arrays are made when they are first read after a change, and have the beliefs in the order of `sentence_ids`.
    """

    def __init__(self) -> None:
        self._beliefs: dict[str, Belief] = {}
        self._lessons: dict[tuple[str, Engine], Lesson] = {}
        self._by_episode: dict[str, list[Lesson]] = defaultdict(list)
        self._by_query: dict[str, list[Lesson]] = defaultdict(list)
        self._by_sentence: dict[str, list[Lesson]] = defaultdict(list)
        self._task: Matrix | None = None  # caches
        self._time: Matrix | None = None

    def __getstate__(self) -> dict[str, object]:
        return vars(self) | {"_task": None, "_time": None}

    def __len__(self) -> int:
        return len(self._beliefs)

    def add(self, beliefs: Iterable[Belief], lessons: Iterable[Lesson] = ()) -> None:
        """Add new beliefs and lessons; a later belief replaces an earlier one about the same sentence."""
        for belief in beliefs:
            self._beliefs[belief.sentence_id] = belief
            self._task = self._time = None
        for lesson in lessons:
            if lesson.key not in self._lessons:
                self._lessons[lesson.key] = lesson
                self._by_episode[lesson.episode_id].append(lesson)
                self._by_query[lesson.query].append(lesson)
                for name in lesson.labels:
                    self._by_sentence[name].append(lesson)

    def get(self, sentence_id: str) -> Belief | None:
        """Return the belief about a sentence, or None for the initial one."""
        return self._beliefs.get(sentence_id)

    def lesson(self, episode_id: str, source: Engine) -> Lesson | None:
        """Return the lesson of one judge about an episode, or None."""
        return self._lessons.get((episode_id, source))

    def lessons(self, episode_id: str | None = None) -> list[Lesson]:
        """Return the lessons of an episode, or all lessons, in the order of recording."""
        return list(self._lessons.values() if episode_id is None else self._by_episode.get(episode_id, ()))

    def lessons_for(self, query: str) -> Sequence[Lesson]:
        """Return the lessons about exactly the same question, in the order of recording."""
        return self._by_query.get(query, ())

    def lessons_about(self, sentence_id: str) -> Sequence[Lesson]:
        """Return the lessons that label a sentence, in the order of recording."""
        return self._by_sentence.get(sentence_id, ())

    def episode(self, episode_id: str) -> Episode | None:
        """Return an episode by the first of its lessons, or None if it has none."""
        lessons = self.lessons(episode_id)
        return lessons[0].episode() if lessons else None

    @property
    def sentence_ids(self) -> list[str]:
        """The ids of the sentences with beliefs, in the order in which this view received them."""
        return list(self._beliefs)

    @property
    def task(self) -> Matrix:
        """m_task of each believed sentence, shape ``(len(self), d)``."""
        if self._task is None:
            self._task = np.array([one.task for one in self._beliefs.values()], dtype=np.float32)
        return self._task

    @property
    def time(self) -> Matrix:
        """m_time, shape ``(len(self), d)``; zeros for a sentence without one."""
        if self._time is None:
            times = [np.zeros_like(one.task) if one.time is None else one.time for one in self._beliefs.values()]
            self._time = np.array(times, dtype=np.float32)
        return self._time

    @property
    def task_doubts(self) -> Scores:
        """π_task, shape ``(len(self),)``."""
        return np.array([one.task_doubt for one in self._beliefs.values()], dtype=np.float32)

    @property
    def time_doubts(self) -> Scores:
        """π_time, shape ``(len(self),)``."""
        return np.array([one.time_doubt for one in self._beliefs.values()], dtype=np.float32)
