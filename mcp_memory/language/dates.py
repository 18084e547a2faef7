"""Times in writing: ISO-8601 at the rim, plain English in texts that are read or indexed.

`stated_times`, which finds the times that a sentence states, lives in ``stated.py`` and is offered here too, so that
whoever needs a date looks in one place.
"""

from __future__ import annotations

import re

from mcp_memory.domain.times import BEGINNING, FOREVER, Grain, Millis
from mcp_memory.language.gregorian import (
    DAY,
    FIRST,
    HOUR,
    LAST,
    MINUTE,
    MONTHS,
    PARTS,
    SEASONS,
    SECOND,
    Interval,
    civil,
    is_day,
    midnight,
    month,
    part_of,
    week_at,
    years,
)
from mcp_memory.language.stated import stated_times

__all__ = ["day_in_words", "format_time", "in_words", "parse_time", "stated_times"]

_ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?(?:([Zz])|([+-])(\d\d)(?::?(\d\d))?)?)?",
    re.ASCII,
)
_REMEDY = "give an ISO-8601 date or date-time such as 2023-05-07 or 2023-05-07T15:30:00+02:00"


def parse_time(value: str) -> Millis:
    """Return the instant that an ISO-8601 date or date-time names.

    Args:
        value: of the years 0001 to 9999. A date is its first instant, no zone means UTC, digits after the milliseconds
            are dropped.

    Raises:
        ValueError: it is anything else; the message says what would be right.
    """
    found = _ISO.fullmatch(value)
    if not found:
        raise ValueError(f"{_shown(value)} is not a time: {_REMEDY}")
    year, number, day = (int(found[group]) for group in (1, 2, 3))
    hour, minute, second = (int(found[group] or 0) for group in (4, 5, 6))
    if not is_day(year, number, day) or hour > 23 or minute > 59 or second > 59:
        raise ValueError(f"{_shown(value)} is not in the calendar: {_REMEDY}")
    offset_hours, offset_minutes = int(found[10] or 0), int(found[11] or 0)
    if offset_hours > 23 or offset_minutes > 59:
        raise ValueError(f"{_shown(value)} has no such zone: {_REMEDY}")
    offset = (offset_hours * HOUR + offset_minutes * MINUTE) * (-1 if found[9] == "-" else 1)
    clock = hour * HOUR + minute * MINUTE + second * SECOND + int((found[7] or "")[:3].ljust(3, "0"))
    instant = midnight(year, number, day) + clock - offset
    if not FIRST <= instant < LAST:
        raise ValueError(f"{_shown(value)} lies outside the years 1 to 9999 in UTC: {_REMEDY}")
    return instant


def format_time(instant: Millis) -> str:
    """Return an instant as ISO-8601 in UTC, "2023-05-08T13:56:00Z"; with milliseconds only where there are some.

    `parse_time` gives the same instant back. Years outside 0 to 9999 are written with their sign.
    """
    year, number, day = civil(instant)
    seconds, millis = divmod(instant % DAY, SECOND)
    date = f"{year:04d}" if 0 <= year <= 9_999 else f"{year:+07d}"
    fraction = f".{millis:03d}" if millis else ""
    clock = f"{seconds // 3600:02d}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
    return f"{date}-{number:02d}-{day:02d}T{clock}{fraction}Z"


def day_in_words(instant: Millis) -> str:
    """Return the day of an instant in UTC, "29 December 2023"."""
    year, number, day = civil(instant)
    return f"{day} {MONTHS[number - 1]} {year}"


def in_words(since: Millis, until: Millis, grain: Grain) -> str:
    """Return an interval as a person would say it, as exactly as the text that stated it did.

    Args:
        since: first instant, or ``BEGINNING``.
        until: first instant after it, or ``FOREVER``.
        grain: of its ends.

    Returns:
        "7 May 2023", "the week of 5 June 2023", "early 2019", "1916 to 1920", "since May 1972", "until 1980" …
    """
    if since <= BEGINNING:
        return "always" if until >= FOREVER else f"until {_unit(until - 1, grain)}"
    if until >= FOREVER:
        return f"since {_unit(since, grain)}"
    if named := _part(Interval(since, until), grain):
        return named
    first, last = _unit(since, grain), _unit(max(until - 1, since), grain)
    return first if first == last or (grain == "time" and until - since <= HOUR) else f"{first} to {last}"


def _unit(instant: Millis, grain: Grain) -> str:
    """Return the name of the day, week, … that holds an instant."""
    year, number, _ = civil(instant)
    match grain:
        case "time":
            minutes = instant % DAY // MINUTE
            return f"{day_in_words(instant)}, {minutes // 60:02d}:{minutes % 60:02d}"
        case "day":
            return day_in_words(instant)
        case "week":
            return f"the week of {day_in_words(week_at(instant).since)}"
        case "month":
            return f"{MONTHS[number - 1]} {year}"
        case "season":
            return f"{SEASONS[(number - 3) // 3 % 4]} {year - (number <= 2)}"
        case "year":
            return str(year)
        case "decade":
            return f"the {year // 10 * 10}s"
        case "century":
            return f"the {_ordinal(year // 100 + 1)} century"


def _part(interval: Interval, grain: Grain) -> str | None:
    """Return "early 2019", "the late 1990s" or the like where the interval is such a part of its unit."""
    year, number, _ = civil(interval.since)
    match grain:
        case "month":
            whole = month(year, number)
        case "year":
            whole = years(year)
        case "decade":
            whole = years(year // 10 * 10, 10)
        case "century":
            whole = years(year // 100 * 100, 100)
        case _:
            return None
    for part in PARTS:
        if part_of(whole, part, grain) == interval:
            name = _unit(interval.since, grain)
            return f"the {part} {name.removeprefix('the ')}" if name.startswith("the ") else f"{part} {name}"
    return None


def _ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def _shown(value: str) -> str:
    return repr(value if len(value) <= 40 else value[:40] + "…")
