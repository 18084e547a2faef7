"""What the lessons of a space have taught: the beliefs of its sentences as they are now, side by side in arrays."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.episodes import Belief, Episode, Lesson
from mcp_memory.domain.evidence import Engine
from mcp_memory.vectors import Matrix, Scores, Vector
from mcp_memory.view.columns import Column


class Beliefs:
    """The learnt state of one space.

    Each number and vector is held once, in an array that grows at the end; a lesson costs as much as the sentences that
    it changes. The arrays are windows on what is held, to be read while the view is held still, and not to be kept.

    Attributes:
        sentence_ids: of the sentences that anything was learnt about, in the order in which this view met them; place
            by place with the arrays below.
    """

    def __init__(self) -> None:
        self.sentence_ids: list[str] = []
        self._places: dict[str, int] = {}
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
        """Take in what a refresh found new: a later belief takes the place of an earlier one of the same sentence."""
        for belief in beliefs:
            place = self._places.setdefault(belief.sentence_id, len(self))
            if place == len(self):
                self.sentence_ids.append(belief.sentence_id)
                self._spaces.append(belief.space)
                for column in self._columns:
                    column.append(0)
            self._task.put(place, belief.task)
            self._time.put(place, np.zeros_like(belief.task) if belief.time is None else belief.time)
            values = belief.time is not None, belief.task_doubt, belief.time_doubt, belief.supported, belief.unsupported
            for column, value in zip(self._columns, values, strict=True):
                column[place] = value
        for lesson in lessons:
            if lesson.key not in self._lessons:
                self._lessons[lesson.key] = lesson
                self._by_episode[lesson.episode_id].append(lesson)
                self._by_query[lesson.query].append(lesson)
                for name in lesson.labels:
                    self._by_sentence[name].append(lesson)

    def of(self, sentence_id: str) -> Belief | None:
        """Return the belief about a sentence, which may be kept, or None for the initial one."""
        place = self._places.get(sentence_id)
        if place is None:
            return None
        timed, task_doubt, time_doubt, supported, unsupported = (c.values[place].item() for c in self._columns)
        time = self.time[place].copy() if timed else None
        return Belief(
            sentence_id,
            self._spaces[place],
            self.task[place].copy(),
            task_doubt,
            time,
            time_doubt,
            supported,
            unsupported,
        )

    def lesson(self, episode_id: str, source: Engine) -> Lesson | None:
        """Return what a judge said of an episode, or None."""
        return self._lessons.get((episode_id, source))

    def lessons(self, episode_id: str | None = None) -> list[Lesson]:
        """Return the lessons of an episode, or of all, in the order in which they were recorded."""
        return list(self._lessons.values() if episode_id is None else self._by_episode.get(episode_id, ()))

    def taught(self, query: str) -> Sequence[Lesson]:
        """Return the lessons about the very same question, in the order in which they were recorded."""
        return self._by_query.get(query, ())

    def about(self, sentence_id: str) -> Sequence[Lesson]:
        """Return the lessons that label a sentence, in the order in which they were recorded."""
        return self._by_sentence.get(sentence_id, ())

    def episode(self, episode_id: str) -> Episode | str | None:
        """Return an episode that was learnt from, in words why none of its lessons can tell it, or None without one."""
        found = None
        for lesson in self.lessons(episode_id):
            found = lesson.episode()
            if isinstance(found, Episode):
                break
        return found

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
    """One vector for each row; the array behind it doubles when it is full, and any row can be written anew."""

    def __init__(self) -> None:
        self._held: Matrix = np.zeros((0, 0), dtype=np.float32)
        self._length = 0

    def put(self, row: int, vector: Vector) -> None:
        """Write a row, or add it at the end."""
        if row == len(self._held):
            grown = np.zeros((max(16, 2 * row), len(vector)), dtype=np.float32)
            if row:
                grown[:row] = self._held
            self._held = grown
        self._held[row] = vector
        self._length = max(self._length, row + 1)

    @property
    def values(self) -> Matrix:
        """Every row; a window on what is held."""
        window: NDArray[np.float32] = self._held[: self._length]
        window.flags.writeable = False
        return window
