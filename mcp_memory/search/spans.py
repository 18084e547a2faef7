"""The spans of time of many segments as flat arrays, so that a query is compared with thousands of them at once.

All in years since 1970, as float32: exact to two minutes today, and to an hour in Roman times.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcp_memory.search.channels import Rows
from mcp_memory.vectors import Column, Scores

FAR = 1e6
"""In years: stands for an open end, so that differences stay finite."""
NEARNESS_DECAY = np.float32(8)
"""Years of gap after which nearness has fallen to 1/e (measured: 6 to 12 are alike)."""
OUTSIDE = np.float32(0.5)
"""Years added to the gap of spans that do not overlap, so that a span that only touches scores below one within."""
OPEN_END_DECAY = np.float32(20)
"""Years along an open end after which nearness has fallen to 1/e (measured: +.4 points of R@5; 12 to 40 are alike)."""
VALIDITY_DECAY = np.float32(2)
"""Years beyond a span of validity after which validity has fallen to 1/e (measured: 1 to 4 are alike)."""
LATER_FACTOR = np.float32(2)
"""By what gaps after an interval are multiplied (measured: 1 loses .4 points of R@5)."""


@dataclass(frozen=True, slots=True)
class Spans:
    """Spans of time, those of one segment side by side.

    Attributes:
        segments: rows of the segments that have any, ascending, shape ``(n,)``.
        starts: where the spans of each of them begin, ascending, shape ``(n,)``.
        sentences: rows of the sentences that state them, shape ``(m,)`` like all below; -1 where none does.
        since: where they begin; ``-FAR`` for "until 1980".
        until: where they end; ``FAR`` for "since 1990".
        valid_until: until when their statements are valid; ``-FAR`` where unknown.
        worth: how far they count, in [0, 1].
    """

    segments: Rows
    starts: Rows
    sentences: Rows
    since: Scores
    until: Scores
    valid_until: Scores
    worth: Scores

    def nearness(self, since: float, until: float) -> Scores:
        """Return the nearness of each span to an interval, in [0, 1]."""
        gaps = np.maximum(since - self.until, 0) + OUTSIDE * (self.until <= since)
        gaps += LATER_FACTOR * (np.maximum(self.since - until, 0) + OUTSIDE * self._begins_after(since, until))
        along = np.where(self.until == FAR, np.maximum(since - self.since, 0), 0)
        along += np.where(self.since == -FAR, np.maximum(self.until - until, 0), 0)
        near: Scores = np.exp(-gaps / NEARNESS_DECAY - along / OPEN_END_DECAY) * self.worth
        return near

    def validity(self, since: float, until: float) -> Scores:
        """Return how far an interval lies within the validity of each span, in [0, 1]; 0 before the span begins."""
        fading = np.exp(-np.maximum(since - self.valid_until, 0) / VALIDITY_DECAY)
        valid: Scores = fading * ~self._begins_after(since, until)
        return valid

    def _begins_after(self, since: float, until: float) -> NDArray[np.bool_]:
        return (self.since >= until) & (self.since > since)  # a single moment overlaps itself

    def best(self, values: Scores, count: int) -> Scores:
        """Return the greatest of each segment's values for all ``count`` segments; 0 for those without spans."""
        best = np.zeros(count, dtype=np.float32)
        if len(values):
            best[self.segments] = np.maximum.reduceat(values, self.starts)
        return best


class SpanColumns:
    """The spans of a space's segments, which grow at the end."""

    def __init__(self) -> None:
        self._segments: Column[np.intp] = Column(np.intp)
        self._starts: Column[np.intp] = Column(np.intp)
        self._sentences: Column[np.intp] = Column(np.intp)
        self._since: Column[np.float32] = Column(np.float32)
        self._until: Column[np.float32] = Column(np.float32)
        self._valid_until: Column[np.float32] = Column(np.float32)
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
        self._valid_until.extend([-FAR] * len(spans))
        self._worth.extend([worth] * len(spans))

    def set_valid_until(self, position: int, until: float) -> None:
        """Set until when the span at a position is valid."""
        self._valid_until[position] = until

    def all(self) -> Spans:
        """Return all spans, not copied: they must only be read, and not be kept."""
        return Spans(
            segments=self._segments.values,
            starts=self._starts.values,
            sentences=self._sentences.values,
            since=self._since.values,
            until=self._until.values,
            valid_until=self._valid_until.values,
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
        every = self.all()
        return Spans(
            segments=every.segments[at],
            starts=starts,
            sentences=every.sentences[places],
            since=every.since[places],
            until=every.until[places],
            valid_until=every.valid_until[places],
            worth=every.worth[places],
        )
