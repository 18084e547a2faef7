"""Time as the memory keeps it: milliseconds since 1970 in UTC, and intervals that hold their start, not their end.

Half-open intervals let two neighbours touch without sharing an instant (REAL, with resolution DESIGN D27: closed ones
overlap at every change of a value).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Millis = int
"""Milliseconds since 1970-01-01T00:00:00Z."""
FOREVER: Millis = 2**62
"""The end of what has no end."""
BEGINNING: Millis = -FOREVER
"""The start of what has none ("until 1980")."""

Grain = Literal["time", "day", "week", "month", "season", "year", "decade", "century"]
"""How exactly a text says when: "at noon" is a time, "last week" a week, "the nineties" a decade."""


@dataclass(frozen=True, slots=True)
class StatedTime:
    """A time that a sentence states, "last Friday" or "from 1916 to 1920", resolved to an interval.

    Attributes:
        start: where the expression begins, in characters from the start of the whole text it stands in.
        end: where it ends (exclusive).
        since: first instant of the interval; ``BEGINNING`` for "until 1980".
        until: first instant after it; ``FOREVER`` for "since 1990".
        grain: how exactly the text says it; of a range, the grain of its ends.
        relative: whether it had to be worked out from when it was said ("yesterday").
    """

    start: int
    end: int
    since: Millis
    until: Millis
    grain: Grain
    relative: bool


Order = Literal["within", "before", "after", "first", "last", "now"]
"""How a question's time is meant: inside an interval, on one side of it, or a place in the order of things."""


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a question says about time, "in May 2019", "before she moved", "currently", "first".

    Attributes:
        order: how it is meant. "between", "since" and "until" are ``within``, "now" is at the moment of asking.
        since: first instant; ``BEGINNING`` where the question gives none (also for "first", and for an event whose
            time is not known yet).
        until: first instant after it; ``FOREVER`` likewise.
        grain: how exactly the question says it; None without an interval.
        event: the words of the event that stands for the time ("she moved"), or None.
    """

    order: Order
    since: Millis = BEGINNING
    until: Millis = FOREVER
    grain: Grain | None = None
    event: str | None = None

    @property
    def dated(self) -> bool:
        """Whether it bounds time on some side."""
        return self.since > BEGINNING or self.until < FOREVER
