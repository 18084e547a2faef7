"""Time in milliseconds since 1970 (UTC), half-open intervals, the times that sentences state, and time zones.

An interval includes its start and excludes its end, so that adjacent intervals share no instant (DESIGN D27: closed
intervals, as in REAL, overlap wherever a value changes).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Literal, NamedTuple

from mcp_memory.errors import ConfigurationError

Millis = int
"""Milliseconds since 1970-01-01T00:00:00Z."""
FOREVER: Millis = 2**62
"""The end of an interval without an end."""
BEGINNING: Millis = -FOREVER
"""The start of an interval without a start ("until 1980")."""

DAY: Millis = 86_400_000
MINUTE: Millis = 60_000


class Interval(NamedTuple):
    """A half-open span of time."""

    since: Millis
    until: Millis


def day_at(instant: Millis) -> Interval:
    """Return the day (UTC) that holds an instant."""
    start = instant // DAY * DAY
    return Interval(start, start + DAY)


Grain = Literal["time", "day", "week", "month", "season", "year", "decade"]
"""Precision of a stated time: "at noon" is a time, "last week" a week, "the nineties" a decade."""


@dataclass(frozen=True, slots=True)
class StatedTime:
    """A time that a sentence states, "last Friday" or "from 1916 to 1920", resolved to an interval.

    Attributes:
        start: first character of the expression within the whole text; ``end``: first one after it.
        since: first instant of the interval; ``BEGINNING`` for "until 1980".
        until: first instant after it; ``FOREVER`` for "since 1990".
        grain: precision of the text; of a range, of its ends.
        relative: whether it was resolved against the time of the utterance ("yesterday").
    """

    start: int
    end: int
    since: Millis
    until: Millis
    grain: Grain
    relative: bool


def zone_named(name: str) -> tzinfo | None:
    """Return a zone by its IANA name ("Europe/Lisbon"); None, for that of this machine, if it is empty.

    Raises:
        ConfigurationError: there is no such zone.
    """
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        remedy = 'Give a name of the IANA database, such as "Europe/Lisbon", or "" for the zone of this machine.'
        raise ConfigurationError(f"server.time_zone: there is no time zone {name[:80]!r}. {remedy}") from None


def offset_at(instant: Millis, zone: tzinfo | None) -> int:
    """Return how many minutes the clocks of a zone, None for that of this machine, are ahead of UTC at an instant.

    Midnight in UTC stands for a day that was given without a time, which is the same day in every zone: 0.
    """
    if instant % DAY == 0:
        return 0
    try:
        offset = datetime.fromtimestamp(instant / 1000, UTC).astimezone(zone).utcoffset()
    except (OverflowError, ValueError, OSError):  # out of the calendar's range
        return 0
    return 0 if offset is None else round(offset.total_seconds() / 60)
