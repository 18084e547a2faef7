"""The beliefs about the sentences of a space (GAM-RAG's sentence memories) in arrays, and the lessons behind them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.episodes import Belief, Episode, Lesson
from mcp_memory.domain.facts import Engine
from mcp_memory.vectors import Column, Matrix, Scores, Vector


class Beliefs:
    """The learnt state of one space.

    Each number and vector is stored once, in an array that grows at the end; a lesson costs as much as the sentences
    that it changes. The arrays are windows on this storage: read them while the view is locked, and do not keep them.

    Attributes:
        sentence_ids: the ids of the sentences with beliefs, in the order in which this view received them; the arrays
            below have the same order.
    """

    def __init__(self) -> None:
        self.sentence_ids: list[str] = []
        self._rows: dict[str, int] = {}
        self._spaces: list[str] = []
        self._task = _Vectors()
        self._time = _Vectors()
        self._timed: Column[np.bool_] = Column(np.bool_)
        self._task_doubts: Column[np.float64] = Column(np.float64)
        self._time_doubts: Column[np.float64] = Column(np.float64)
        self._supported: Column[np.int64] = Column(np.int64)
        self._unsupported: Column[np.int64] = Column(np.int64)
        self._lessons: dict[tuple[str, Engine], Lesson] = {}
        self._by_episode: dict[str, list[Lesson]] = defaultdict(list)
        self._by_query: dict[str, list[Lesson]] = defaultdict(list)
        self._by_sentence: dict[str, list[Lesson]] = defaultdict(list)

    def __len__(self) -> int:
        return len(self.sentence_ids)

    def add(self, beliefs: Iterable[Belief], lessons: Iterable[Lesson] = ()) -> None:
        """Add new beliefs and lessons; a later belief replaces an earlier one about the same sentence."""
        for belief in beliefs:
            row = self._rows.setdefault(belief.sentence_id, len(self))
            if row == len(self):
                self.sentence_ids.append(belief.sentence_id)
                self._spaces.append(belief.space)
                for column in self._columns:
                    column.append(0)
            self._task.put(row, belief.task)
            self._time.put(row, np.zeros_like(belief.task) if belief.time is None else belief.time)
            values = belief.time is not None, belief.task_doubt, belief.time_doubt, belief.supported, belief.unsupported
            for column, value in zip(self._columns, values, strict=True):
                column[row] = value
        for lesson in lessons:
            if lesson.key not in self._lessons:
                self._lessons[lesson.key] = lesson
                self._by_episode[lesson.episode_id].append(lesson)
                self._by_query[lesson.query].append(lesson)
                for name in lesson.labels:
                    self._by_sentence[name].append(lesson)

    def get(self, sentence_id: str) -> Belief | None:
        """Return a copy of the belief about a sentence, or None for the initial one."""
        row = self._rows.get(sentence_id)
        if row is None:
            return None
        timed, task_doubt, time_doubt, supported, unsupported = (c.values[row].item() for c in self._columns)
        time = self.time[row].copy() if timed else None
        return Belief(
            sentence_id,
            self._spaces[row],
            self.task[row].copy(),
            task_doubt,
            time,
            time_doubt,
            supported,
            unsupported,
        )

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

    def episode(self, episode_id: str) -> Episode | str | None:
        """Return an episode by its lessons, or in words why none of them holds it, or None if it has no lesson."""
        episode = None
        for lesson in self.lessons(episode_id):
            episode = lesson.episode()
            if isinstance(episode, Episode):
                break
        return episode

    @property
    def task(self) -> Matrix:
        """m_task of each believed sentence, shape ``(len(self), d)``."""
        return self._task.values

    @property
    def time(self) -> Matrix:
        """m_time, shape ``(len(self), d)``; zeros for a sentence without one."""
        return self._time.values

    @property
    def task_doubts(self) -> Scores:
        """π_task, shape ``(len(self),)``."""
        return self._task_doubts.values.astype(np.float32)

    @property
    def time_doubts(self) -> Scores:
        """π_time, shape ``(len(self),)``."""
        return self._time_doubts.values.astype(np.float32)

    @property
    def _columns(self) -> Sequence[Column[Any]]:
        return self._timed, self._task_doubts, self._time_doubts, self._supported, self._unsupported


class _Vectors:
    """One vector for each row; the array doubles when it is full, and any row can be overwritten."""

    def __init__(self) -> None:
        self._array: Matrix = np.zeros((0, 0), dtype=np.float32)
        self._length = 0

    def put(self, row: int, vector: Vector) -> None:
        """Write a row, or add it at the end."""
        if row == len(self._array):
            grown = np.zeros((max(16, 2 * row), len(vector)), dtype=np.float32)
            if row:
                grown[:row] = self._array
            self._array = grown
        self._array[row] = vector
        self._length = max(self._length, row + 1)

    @property
    def values(self) -> Matrix:
        """Every row; a read-only window on the array."""
        window: NDArray[np.float32] = self._array[: self._length]
        window.flags.writeable = False
        return window
