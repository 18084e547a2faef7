"""The calendar of ISO-8601: written times, and days, weeks, months and longer spans in milliseconds, in UTC.

A client passes a date, a month, a year or a date-time (`parse`); without a zone it is UTC. Words such as "yesterday"
are resolved in stored texts (``language.stated``); in an argument they are rejected, so that none is misread.

The Gregorian calendar is extended to the years 1 to 9999. Weeks start on Monday, a winter belongs to the year in which
it starts, and seasons are the northern meteorological ones. The day count is Howard Hinnant's
(https://howardhinnant.github.io/date_algorithms.html); unlike ``datetime`` it can express the midnight after the last
day of 9999. Spans are half-open.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

from mcp_memory.domain.times import DAY, MINUTE, Grain, Interval, Millis, day_at

if TYPE_CHECKING:
    from mcp_memory.domain.facts import Precision

HOUR: Millis = 60 * MINUTE
WEEK: Millis = 7 * DAY

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
SEASONS = ("spring", "summer", "autumn", "winter")
_EPOCH = datetime(1970, 1, 1)
_FORM = re.compile(
    r"(\d{4})(?:-(\d\d)(?:-(\d\d)"
    r"(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?([Zz]|[+-]\d\d:?\d\d)?)?)?)?",
    re.ASCII,
)


def parse(text: str) -> tuple[Millis, Millis]:
    """Return the instant that a text names and the first instant after what it names.

    Args:
        text: ``2023-05-08``, which names a day, ``2023-05`` or ``2023``, which name a month or year, or
            ``2023-05-08T14:30:00+02:00``, which names a millisecond.

    Raises:
        ValueError: the text is none of these, or the last month or year of the calendar, which has no end in it.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    in_year, in_month, day, hour, minute, second, fraction, zone = found.groups(default="")
    date = int(in_year), int(in_month or 1), int(day or 1)
    moment = datetime(*date, int(hour or 0), int(minute or 0), int(second or 0))
    if not day:
        whole = month(moment.year, moment.month) if in_month else years(moment.year)
        if whole.until >= LAST_INSTANT:
            raise ValueError(text)
        return whole
    start = (moment - _EPOCH) // timedelta(milliseconds=1) + int(fraction.ljust(3, "0")[:3]) - _offset(zone)
    return (start, start + 1) if hour else (start, start + DAY)


def offset_in(text: str) -> int | None:
    """Return how many minutes a written time is ahead of UTC; 0 for a day, None for a date-time that does not say.

    A day without a time is the same day everywhere.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None or found[4] is None:
        return 0
    return _offset(found[8]) // MINUTE if found[8] else None


def show(moment: Millis, offset: int = 0) -> str | None:
    """Return a time as ISO-8601, a date if it is midnight in UTC; None if out of the calendar's range (``FOREVER``).

    Args:
        moment: the instant.
        offset: the minutes by which the clock on which it is shown is ahead of UTC.
    """
    try:
        when = (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=moment)).astimezone(
            timezone(timedelta(minutes=offset))
        )
    except OverflowError:
        return None
    if moment % DAY == 0 and offset == 0:
        return when.date().isoformat()
    return when.isoformat(timespec="milliseconds" if moment % 1000 else "seconds").replace("+00:00", "Z")


def show_start(since: Millis, precision: Precision | None) -> str | None:
    """Return when a fact began as ISO-8601: to the second, or the month or the year if it was told by that."""
    shown = show(since - since % 1000)
    exact = {"month": -3, "year": -6}.get(precision or "") if since % DAY == 0 else None
    return shown and shown[:exact]


def _offset(zone: str) -> Millis:
    if zone in ("", "Z", "z"):
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > 23 or minutes > 59:
        raise ValueError(zone)
    return (-1 if zone[0] == "-" else 1) * (hours * 60 + minutes) * 60_000


def midnight(year: int, month: int, day: int) -> Millis:
    """Return the first instant of a day of any year; the month is 1 to 12, the day is not checked."""
    shifted = year - (month <= 2)
    era, year_of_era = divmod(shifted, 400)
    day_of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    day_of_era = year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year
    return (era * 146_097 + day_of_era - 719_468) * DAY


def civil(instant: Millis) -> tuple[int, int, int]:
    """Return the year, month and day that an instant lies in."""
    era, day_of_era = divmod(instant // DAY + 719_468, 146_097)
    year_of_era = (day_of_era - day_of_era // 1_460 + day_of_era // 36_524 - day_of_era // 146_096) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    month = (shifted + 2) % 12 + 1
    return era * 400 + year_of_era + (month <= 2), month, day_of_year - (153 * shifted + 2) // 5 + 1


FIRST_INSTANT: Millis = midnight(1, 1, 1)
"""The first instant that can be written in ISO-8601 with four digits of the year."""
LAST_INSTANT: Millis = midnight(10_000, 1, 1)
"""The first instant after the last that can."""


def is_day(year: int, month: int, day: int) -> bool:
    """Whether a day exists, in the years 1 to 9999."""
    return 1 <= year <= 9_999 and 1 <= month <= 12 and 1 <= day <= 31 and civil(midnight(year, month, day))[2] == day


def weekday(instant: Millis) -> int:
    """Return the day of the week, 0 for Monday to 6 for Sunday."""
    return (instant // DAY + 3) % 7


def week_at(instant: Millis) -> Interval:
    """Return the week from Monday to Sunday that holds an instant."""
    start = day_at(instant).since - weekday(instant) * DAY
    return Interval(start, start + WEEK)


def month(year: int, number: int) -> Interval:
    """Return a month; a ``number`` outside 1 to 12 counts into other years."""
    year, number = year + (number - 1) // 12, (number - 1) % 12 + 1
    return Interval(midnight(year, number, 1), midnight(year + number // 12, number % 12 + 1, 1))


def season(year: int, name: str) -> Interval:
    """Return a season by one of `SEASONS`; the winter of a year begins in its December."""
    first = 3 + 3 * SEASONS.index(name)
    return Interval(month(year, first).since, month(year, first + 2).until)


def years(first: int, count: int = 1) -> Interval:
    """Return ``count`` years from ``first`` on."""
    return Interval(midnight(first, 1, 1), midnight(first + count, 1, 1))


def unit_at(instant: Millis, grain: Grain) -> Interval:
    """Return the day, week, month … that holds an instant; the day for "time"."""
    year, number, _ = civil(instant)
    match grain:
        case "time" | "day":
            return day_at(instant)
        case "week":
            return week_at(instant)
        case "month":
            return month(year, number)
        case "season":
            return season(year - (number <= 2), SEASONS[(number - 3) // 3 % 4])
        case "year":
            return years(year)
        case "decade":
            return years(year // 10 * 10, 10)


PARTS = ("early", "mid", "late")
_THIRDS = ((0, 4), (3, 7), (6, 10))


def part_of(whole: Interval, part: str, grain: Grain) -> Interval:
    """Return the early, mid or late third of a month, year or decade; other grains stay whole.

    The thirds of decades, and of the hundred years of "the 1800s", overlap by a year, as in everyday use.
    """
    year = civil(whole.since)[0]
    nth = PARTS.index(part)
    if grain == "month":
        since = whole.since + nth * 10 * DAY
        return Interval(since, whole.until if part == "late" else since + 10 * DAY)
    if grain == "year":
        return Interval(month(year, 1 + 4 * nth).since, month(year, 4 + 4 * nth).until)
    if grain == "decade":
        first, last = (tenths * (civil(whole.until)[0] - year) // 10 for tenths in _THIRDS[nth])
        return years(year + first, last - first)
    return whole
