"""Rules for times that are counted: "the last Friday of this month", "a week from Tuesday", "a year ago today".

And for what only looks like one day, because it comes again and again: "the first Thursday of each month", "every
Friday", "Saturdays except in August". Such words are taken, so that no other rule reads a date out of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.domain.times import Millis, StatedTime
from mcp_memory.language.expressions import (
    MONTH,
    NO_TIME,
    NUMBER,
    WEEKDAY,
    WEEKDAY_WORDS,
    YEAR,
    ResolvedTime,
    S,
    SentenceContext,
    TimeRule,
    compiled,
    month_number,
    number,
)
from mcp_memory.language.iso import DAY, WEEKDAYS, Interval, civil, day_at, is_day, midnight, month, weekday
from mcp_memory.language.yearless import each_year

_PLACES = {
    "fir": 0,
    "1st": 0,
    "sec": 1,
    "2nd": 1,
    "thi": 2,
    "3rd": 2,
    "fou": 3,
    "4th": 3,
    "fif": 4,
    "5th": 4,
    "las": -1,
}
_ORDINAL = r"(?:first|second|third|fourth|fifth|1st|2nd|3rd|4th|5th)"
_AND = rf"(?:,|/|,?{S}(?:and|or)){S}?"
_LEFT_OUT = (  # "Black Friday", "a Friday", "every Monday and Friday", "the second Tuesday", three in a row
    rf"\b(?:(?:every|each|any|most|(?:every{S})?other|black|good|ash|cyber|an?|one|some|easter|palm|super|man|girl|the"
    rf"|{_ORDINAL}){S}{WEEKDAY}(?:{_AND}{WEEKDAY})*|{WEEKDAY}(?:{_AND}{WEEKDAY}){{2,}}|last{S}{WEEKDAY}{S}(?:of|in)"
    rf"|{WEEKDAY}{S}(?:of|week|in{S}{NUMBER}{S}weeks?))\b"
)
_SHIFT = compiled(
    rf"(?<!\bfor\s)(?<![\w.,-])(?P<count>{NUMBER}){S}(?P<unit>day|week|fortnight|month|year)s?{S}"
    rf"(?:(?P<ago>ago),?(?:{S}on)?|(?P<ahead>from)|on){S}$"
)
_DAY_WORD = compiled(r"(?:today|yesterday|tomorrow)$")
_HAS_MONTH = compiled(MONTH)
_NEAR = 32
"""Characters before a day that are searched for what is counted from it."""


def _nth_weekday(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    name, which = match["day"].capitalize(), _PLACES[match["nth"][:3].lower()]

    def in_month(whole: Interval) -> Interval | None:
        first = whole.since + (WEEKDAYS.index(name) - weekday(whole.since)) % 7 * DAY
        days = [day_at(day) for day in range(first, whole.until, 7 * DAY)]
        return days[which] if which < len(days) else None

    if match["year"]:
        found = in_month(month(int(match["year"]), month_number(match["month"])))
        return ResolvedTime(found, "day") if found else NO_TIME
    if context.said_at is None:
        return NO_TIME
    if match["month"]:
        numbered = month_number(match["month"])
        found = context.nearest(match, each_year(context.said_at, lambda year: in_month(month(year, numbered))))
    else:
        year, present, _ = civil(context.said_at)
        found = in_month(month(year, present + {"last": -1, "this": 0, "next": 1}[match["how"].lower()]))
    return ResolvedTime(found, "day", relative=True) if found else NO_TIME


def _left_out(_: re.Match[str], __: SentenceContext) -> ResolvedTime:
    return NO_TIME


COUNTED_TIMES = (
    TimeRule(
        WEEKDAY_WORDS,
        compiled(
            rf"(?<![\w-])(?:the{S})?(?P<nth>{_ORDINAL}|last){S}(?P<day>{WEEKDAY}){S}(?:of|in){S}"
            rf"(?:(?P<month>{MONTH})(?:,?{S}(?:of{S})?(?P<year>{YEAR}))?|(?P<how>this|last|next){S}month\b)"
        ),
        _nth_weekday,
    ),
    TimeRule(WEEKDAY_WORDS, compiled(_LEFT_OUT), _left_out),
    TimeRule(
        frozenset(("except", "apart", "excluding")),
        compiled(rf"\b(?:except|apart{S}from|excluding)\b[^.,;:!?]{{1,40}}"),
        _left_out,
    ),
)
"""Tried before all other rules."""


def counted_from(sentence: str, points: Sequence[StatedTime]) -> list[StatedTime]:
    """Return the times with each day moved by what is counted from it: "a week from Tuesday", "a year ago today".

    Where such words may mean more than one day ("a week ago Tuesday", "a week on Tuesday") the day is left out.

    Args:
        sentence: the sentence that states them.
        points: the times, in order.
    """
    counted: list[StatedTime] = []
    for point in points:
        near = max(0, point.start - _NEAR)
        words = sentence[point.start : point.end]
        shift = _SHIFT.search(sentence[near : point.start]) if point.relative else None
        if shift is None or _HAS_MONTH.search(words):
            counted.append(point)
            continue
        moved = None
        if point.grain == "day" and (shift["ahead"] or (shift["ago"] and _DAY_WORD.match(words))):
            moved = _moved(point.since, shift["unit"].lower(), number(shift["count"]) * (1 if shift["ahead"] else -1))
        if moved is not None:
            counted = [one for one in counted if one.end <= near + shift.start()]
            counted.append(replace(point, start=near + shift.start(), since=moved, until=moved + DAY))
    return counted


def _moved(day: Millis, unit: str, count: int) -> Millis | None:
    """Return the day that lies some days, weeks, months or years from another; None if no such day exists."""
    if unit in ("day", "week", "fortnight"):
        return day + count * {"day": 1, "week": 7, "fortnight": 14}[unit] * DAY
    year, numbered, date = civil(day)
    months = year * 12 + numbered - 1 + count * (12 if unit == "year" else 1)
    there = months // 12, months % 12 + 1, date
    return midnight(*there) if is_day(*there) else None
