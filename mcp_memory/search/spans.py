"""Spans of time by the thousand, as flat arrays, so that a question is held against many of them at once.

All in years since 1970, as float32: exact to two minutes in our days, and to an hour in those of the Romans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcp_memory.vectors import Scores
from mcp_memory.view.columns import Column

FAR = 1e6
"""In years: what has no end ends there, so that differences stay finite."""
NEAR = np.float32(8)
"""Years after which nearness has fallen to 1/e (measured: 6 to 12 are alike)."""
OUTSIDE = np.float32(0.5)
"""Years that are added to the gap of what does not overlap, so that what only touches is told from what is within."""
OPEN = np.float32(20)
"""Years along an open end after which it is worth 1/e (measured: +.4 points of R@5; 12 to 40 are alike)."""
HELD = np.float32(2)
"""Years off a span of validity after which it is worth 1/e (measured: 1 to 4 are alike)."""
LATER = np.float32(2)
"""How much farther what comes after an interval is than what comes before it (measured: 1 loses .4 points of R@5)."""

Rows = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of time, those of a segment in a row.

    Attributes:
        segments: rows of the segments that have any, ascending, shape ``(n,)``.
        starts: where the spans of each of them begin, ascending, shape ``(n,)``.
        sentences: rows of the sentences that state them, shape ``(m,)`` like all below; -1 where none does.
        since: where they begin; ``-FAR`` for "until 1980".
        until: where they end; ``FAR`` for "since 1990".
        held: until when what they say is valid; ``-FAR`` where nothing tells.
        worth: how far they are to be trusted, in [0, 1].
    """

    segments: Rows
    starts: Rows
    sentences: Rows
    since: Scores
    until: Scores
    held: Scores
    worth: Scores

    def near(self, since: float, until: float) -> Scores:
        """Return the nearness of each span to an interval, in [0, 1]."""
        gaps = np.maximum(since - self.until, 0) + OUTSIDE * (self.until <= since)
        gaps += LATER * (np.maximum(self.since - until, 0) + OUTSIDE * self._begins_after(since, until))
        along = np.where(self.until == FAR, np.maximum(since - self.since, 0), 0)
        along += np.where(self.since == -FAR, np.maximum(self.until - until, 0), 0)
        near: Scores = np.exp(-gaps / NEAR - along / OPEN) * self.worth
        return near

    def valid(self, since: float, until: float) -> Scores:
        """Return how far an interval lies within the validity of each span, in [0, 1]; 0 before it begins."""
        valid: Scores = np.exp(-np.maximum(since - self.held, 0) / HELD) * ~self._begins_after(since, until)
        return valid

    def _begins_after(self, since: float, until: float) -> NDArray[np.bool_]:
        return (self.since >= until) & (self.since > since)  # a single moment holds itself

    def best(self, values: Scores, count: int) -> Scores:
        """Return the greatest of each segment's values for all ``count`` segments; 0 for those without spans."""
        found = np.zeros(count, dtype=np.float32)
        if len(values):
            found[self.segments] = np.maximum.reduceat(values, self.starts)
        return found


class SpanColumns:
    """The spans of a space's segments, which grow at the end."""

    def __init__(self) -> None:
        self._segments: Column[np.intp] = Column(np.intp)
        self._starts: Column[np.intp] = Column(np.intp)
        self._sentences: Column[np.intp] = Column(np.intp)
        self._since: Column[np.float32] = Column(np.float32)
        self._until: Column[np.float32] = Column(np.float32)
        self._held: Column[np.float32] = Column(np.float32)
        self._worth: Column[np.float32] = Column(np.float32)

    def __len__(self) -> int:
        return len(self._since)

    def add(self, row: int, spans: Sequence[tuple[int, float, float]], worth: float = 1.0) -> None:
        """Add the spans of the next segment that has any, each as (row of its sentence, since, until)."""
        if not spans:
            return
        self._segments.append(row)
        self._starts.append(len(self))
        sentences, since, until = zip(*spans, strict=True)
        self._sentences.extend(sentences)
        self._since.extend(since)
        self._until.extend(until)
        self._held.extend([-FAR] * len(spans))
        self._worth.extend([worth] * len(spans))

    def hold(self, place: int, until: float) -> None:
        """Say until when the span at a place is valid."""
        self._held[place] = until

    def every(self) -> Spans:
        """Return all spans, not copied: to be read and not to be kept."""
        return Spans(
            segments=self._segments.values,
            starts=self._starts.values,
            sentences=self._sentences.values,
            since=self._since.values,
            until=self._until.values,
            held=self._held.values,
            worth=self._worth.values,
        )

    def of(self, chosen: NDArray[np.bool_]) -> Spans:
        """Return the spans of some segments.

        Args:
            chosen: which of all segments, by row.
        """
        at = np.flatnonzero(chosen[self._segments.values])
        first = self._starts.values[at]
        counts = np.append(self._starts.values[1:], len(self))[at] - first
        starts = counts.cumsum() - counts
        places = np.repeat(first - starts, counts) + np.arange(counts.sum())
        every = self.every()
        return Spans(
            segments=every.segments[at],
            starts=starts,
            sentences=every.sentences[places],
            since=every.since[places],
            until=every.until[places],
            held=every.held[places],
            worth=every.worth[places],
        )
