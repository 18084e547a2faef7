"""Write times in plain English, for texts that people read or that are indexed; ``iso.py`` writes them as ISO-8601.

A text gets its dates in words beside it, the weekday of a day and what "last Friday" means: whoever answers from it
then need not count days in the head.
"""

from __future__ import annotations

from collections.abc import Iterable

from mcp_memory.domain.times import BEGINNING, FOREVER, Grain, Millis, StatedTime
from mcp_memory.language.iso import (
    DAY,
    HOUR,
    MINUTE,
    MONTHS,
    PARTS,
    SEASONS,
    WEEKDAYS,
    Interval,
    civil,
    month,
    part_of,
    week_at,
    weekday,
    years,
)
from mcp_memory.language.stated import stated_times


def day_in_words(instant: Millis) -> str:
    """Return the day of an instant in UTC, "29 December 2023"."""
    year, number, day = civil(instant)
    return f"{day} {MONTHS[number - 1]} {year}"


def in_words(since: Millis, until: Millis, grain: Grain) -> str:
    """Return an interval in words, with the precision of the text that stated it.

    Args:
        since: first instant, or ``BEGINNING``.
        until: first instant after it, or ``FOREVER``.
        grain: precision of its ends.

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


def times_in_words(times: Iterable[StatedTime]) -> str:
    """Return times in words, separated by commas, each once; empty for none."""
    return ", ".join(dict.fromkeys(in_words(time.since, time.until, time.grain) for time in times))


def _unit(instant: Millis, grain: Grain) -> str:
    """Return the name of the day, week, … that contains an instant."""
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
    """Return "early 2019", "the late 1990s" or the like if the interval is such a part of its unit; otherwise None."""
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


def weekday_and_day(moment: Millis) -> str:
    """Return a day with its weekday, ``Mon 8 May 2023``; empty out of the calendar's range."""
    if not BEGINNING < moment < FOREVER:
        return ""
    year, month, day = civil(moment)
    return f"{WEEKDAYS[weekday(moment)][:3]} {day} {MONTHS[month - 1][:3]} {year}"


def with_dates(text: str, said_at: Millis | None) -> str:
    """Return a text with what its relative times mean behind them: "last Friday [= Fri 8 Dec 2023]"."""
    if said_at is None:
        return text
    parts: list[str] = []
    end = 0
    for time in stated_times(text, said_at):
        meant = _meant(time.since, time.until, time.grain) if time.relative else ""
        if meant:
            parts += [text[end : time.end], f" [= {meant}]"]
            end = time.end
    return "".join((*parts, text[end:]))


def _meant(since: Millis, until: Millis, grain: str) -> str:
    """Return an interval in words, to its grain; empty where an end is open or the words say it already."""
    if since <= BEGINNING or until >= FOREVER:
        return ""
    year, month, _ = civil(since)
    match grain:
        case "day" | "time" if until - since <= DAY:
            return weekday_and_day(since)
        case "day" | "time" | "week":  # days of a weekend, too
            return f"{weekday_and_day(since)} to {weekday_and_day(until - 1)}"
        case "month":
            return f"{MONTHS[month - 1]} {year}"
        case "year":
            return str(year)
    return ""
