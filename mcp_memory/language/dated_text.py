"""Texts with their dates in words: the weekday of a day, and what a relative time such as "last Friday" means.

Whoever answers from a text then need not count days in the head.
"""

from __future__ import annotations

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language.gregorian import MONTHS, WEEKDAYS, civil, weekday
from mcp_memory.language.stated import stated_times


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
        case "day" | "time":
            return weekday_and_day(since)
        case "week":
            return f"{weekday_and_day(since)} to {weekday_and_day(until - 1)}"
        case "month":
            return f"{MONTHS[month - 1]} {year}"
        case "year":
            return str(year)
    return ""
