"""Find and resolve the times that a sentence states, and write times in words (English only).

The table of ``meanings.py`` finds single times. This module combines them: two times that form a range, "since" and
"until" that leave one end open. Most sentences state no time, so a pattern is tried only if one of its words occurs.
Times are those of the calendar where the text was said, counted as if it were UTC; the hour of a day is not read.

**In words** times are written for texts that people read or that are indexed; ``iso.py`` writes ISO-8601. A text gets
its dates in words beside it, the weekday of a day and what "last Friday" means: whoever answers from it then need not
count days in the head.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from mcp_memory.domain.query import Query
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, MINUTE, Grain, Interval, Millis, StatedTime
from mcp_memory.language.expressions import MONTH, ORDINAL, WEEKDAY, S, compiled
from mcp_memory.language.iso import (
    FIRST_INSTANT,
    HOUR,
    LAST_INSTANT,
    MONTHS,
    PARTS,
    SEASONS,
    WEEKDAYS,
    civil,
    month,
    part_of,
    unit_at,
    week_at,
    weekday,
)
from mcp_memory.language.meanings import NO_TIME, PATTERNS, named
from mcp_memory.language.segments import is_repetitive, split
from mcp_memory.language.yearless import Telling, tense

_WORD = re.compile(r"[a-z]+")
_DIGIT = re.compile(r"[0-9]")
_ALL_WORDS = frozenset[str]().union(*(row.words for row in PATTERNS))

_BETWEEN = compiled(r"\s?[-–—]\s?|\s{1,3}(?:to|until|till|through|thru|up\sto)\s{1,3}(?:the\s)?(?:year\s)?")
_HAS_MONTH = compiled(MONTH)
_HAS_DATE = compiled(rf"{MONTH}.*\d|\d.*{MONTH}|\d(?:st|nd|rd|th)\b")
_A_WEEKDAY = compiled(WEEKDAY)
_ONE_OF_MANY = compiled(rf"{WEEKDAY}(?:{S}(?:morning|afternoon|evening|night))?|the{S}\d{{1,2}}{ORDINAL}")
_ON = compiled(rf"\bon{S}$")
_OPENING_WORDS = 4
"""Words within which a year begins its sentence: "In 2026 my sister and I …"."""
_AND = compiled(r"\s{1,3}and\s{1,3}")
_OPENS = compiled(
    rf"\b(?P<word>between|from|since|until|till|up{S}to|before|prior{S}to|after){S}(?:the{S})?(?:year{S})?$"
)
_ONWARDS = compiled(rf"{S}(?:on|onwards?)\b(?!{S}the)")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_OPTION = re.compile(r"\s--?\w[\w-]*[\s=]\Z")  # of a command: "--since yesterday"
_CLAUSE_CHARS = 200
"""Characters around an expression that are searched for the verb of its sentence."""
_NEAR_CHARS = 32
"""Characters before an expression that are searched for a word that belongs to it."""


def stated_times(
    text: str,
    said_at: Millis | None,
    start: int = 0,
    end: int | None = None,
    *,
    asked: bool = False,
    open_ends: bool = True,
) -> tuple[StatedTime, ...]:
    """Return the times that a sentence states, in order and without overlap.

    Args:
        text: the whole text.
        said_at: when it was said; None ignores everything relative, also a day without a year.
        start: first character of the sentence within ``text``.
        end: first character after it; None for the end of the text.
        asked: whether it is a question, asked at ``said_at``.
        open_ends: whether "since May" begins with May and has no end; else it is May.

    Returns:
        Half-open intervals with offsets into the whole text; none of a sentence that repeats itself. Never raises.
        Times outside the years 1 to 9999 are ignored.
    """
    sentence = text[start:end]
    words = {"#", *_WORD.findall(sentence.lower())} if _DIGIT.search(sentence) else set(_WORD.findall(sentence.lower()))
    if words.isdisjoint(_ALL_WORDS) or is_repetitive(sentence, 0, len(sentence)):
        return ()
    points = _with_ranges(sentence, _points(Telling(sentence, said_at, asked), words))
    points = [_with_open_end(sentence, point) for point in points] if open_ends else points
    return tuple(
        replace(point, start=point.start + start, end=point.end + start)
        for point in points
        if (point.since >= FIRST_INSTANT or point.since == BEGINNING)
        and (point.until <= LAST_INSTANT or point.until == FOREVER)
    )


def times_within(text: str, said_at: Millis, *, open_ends: bool = True) -> Iterator[StatedTime]:
    """Yield the times that the sentences of a text state, in order: the tense of one says nothing of the next."""
    for start, end in split(text):
        yield from stated_times(text, said_at, start, end, open_ends=open_ends)


def _points(told: Telling, words: set[str]) -> list[StatedTime]:
    taken = bytearray(len(told.sentence))
    points, yearless = [], set[int]()
    for row in PATTERNS:
        if words.isdisjoint(row.words):
            continue
        for match in row.pattern.finditer(told.sentence):
            first, last = match.span()
            if taken.find(1, first, last) >= 0:
                continue
            found = row.meaning(match, told)
            if found is None:
                continue
            taken[first:last] = b"\x01" * (last - first)
            if found is not NO_TIME:
                points.append(StatedTime(first, last, *found.interval, found.grain, found.relative))
                if found.relative and row.meaning is named and not match.groupdict().get("how"):
                    yearless.add(first)
    points.sort(key=lambda point: point.start)
    return [one for one in points if one.start not in yearless or _agrees(told.sentence, one, points, yearless)]


def _agrees(sentence: str, point: StatedTime, points: Sequence[StatedTime], yearless: AbstractSet[int]) -> bool:
    """Return whether a time without a year may be counted from the telling, whatever else its sentence names.

    A year with which a sentence begins holds for all of it ("Last year I ran it in June"), and a weekday behind a date
    may be one of its week ("The race is on 28 June, the bus leaves on Friday").
    """
    framed = [one for one in points if one.start not in yearless and (not one.relative or one.grain == "year")]
    framed = [one for one in framed if len(sentence[: one.end].split()) <= _OPENING_WORDS]
    if framed and not any(civil(one.since)[0] <= civil(point.since)[0] <= civil(one.until - 1)[0] for one in framed):
        return False
    dates = [one for one in points if one.start < point.start and _HAS_DATE.search(sentence, one.start, one.end)]
    if not dates or not _A_WEEKDAY.fullmatch(sentence, point.start, point.end):
        return True
    return any(abs(one.since - point.since) <= 7 * DAY for one in dates)


def _with_ranges(sentence: str, points: list[StatedTime]) -> list[StatedTime]:
    """Join two times that form a range, "from 1916 to 1920"."""
    ranges: list[StatedTime] = []
    for point in points:
        if ranges:
            left = ranges[-1]
            opening = _opening(sentence, left)
            between = opening is not None and opening["word"].lower() == "between"
            joint = (_AND if between else _BETWEEN).fullmatch(sentence, left.end, point.start)
            if joint and opening and opening["word"].lower() == "from" and left.relative and left.since > point.since:
                left = _before(sentence, left)
            if joint and left.since < point.since and left.until <= point.until:
                first = left.start
                if opening and opening["word"].lower() in ("between", "from"):
                    first -= len(opening[0])
                ranges[-1] = replace(point, start=first, since=left.since, relative=left.relative or point.relative)
                continue
        ranges.append(point)
    return ranges


def _before(sentence: str, left: StatedTime) -> StatedTime:
    """Return a day that begins a range as the one before: said in March, "from 12 January to 30 March" has begun."""
    months = 12 if _HAS_MONTH.search(sentence, left.start, left.end) else 1
    year, number, day = civil(left.since)
    since = month(year, number - months).since + (day - 1) * DAY
    return replace(left, since=since, until=since + left.until - left.since) if left.grain == "day" else left


def _with_open_end(sentence: str, point: StatedTime) -> StatedTime:
    """Open one end of a time that follows "since", "until", "before" or "after"."""
    opening = _opening(sentence, point)
    if not opening:
        return point
    first = point.start - len(opening[0])
    match opening["word"].lower().split()[0]:
        case "since":
            return replace(point, start=first, until=FOREVER)
        case "from" if onwards := _ONWARDS.match(sentence, point.end):
            return replace(point, start=first, end=onwards.end(), until=FOREVER)
        case "until" | "till" | "up":
            return replace(point, start=first, since=BEGINNING)
        case "before" | "prior":
            return replace(point, start=first, since=BEGINNING, until=point.since)
        case "after":
            return replace(point, start=first, since=point.until, until=FOREVER)
    return point


def _opening(sentence: str, point: StatedTime) -> re.Match[str] | None:
    return _OPENS.search(sentence[max(0, point.start - _NEAR_CHARS) : point.start])


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


def _part(interval: Interval, grain: Grain) -> str | None:
    """Return "early 2019", "the late 1990s" or the like if the interval is such a part of its unit; otherwise None."""
    if grain not in ("month", "year", "decade"):
        return None
    whole = unit_at(interval.since, grain)
    for part in PARTS:
        if part_of(whole, part, grain) == interval:
            name = _unit(interval.since, grain)
            return f"the {part} {name.removeprefix('the ')}" if name.startswith("the ") else f"{part} {name}"
    return None


def weekday_and_day(moment: Millis) -> str:
    """Return a day with its weekday, ``Mon 8 May 2023``; empty out of the calendar's range."""
    if not BEGINNING < moment < FOREVER:
        return ""
    year, month, day = civil(moment)
    return f"{WEEKDAYS[weekday(moment)][:3]} {day} {MONTHS[month - 1][:3]} {year}"


def with_dates(text: str, said_at: Millis | None) -> str:
    """Return a text with what its relative times mean behind them, but in code: "last Friday [= Fri 8 Dec 2023]".

    What is only likely is called so (`only_likely`).
    """
    if said_at is None:
        return text
    blocks = [block.span() for block in _CODE.finditer(text)]
    parts, end = list[str](), 0
    for time in times_within(text, said_at, open_ends=False):
        before = text[max(0, time.start - _NEAR_CHARS) : time.start]
        code = any(first <= time.start < last for first, last in blocks) or _OPTION.search(before)
        if time.relative and not code and (meant := _meant(time.since, time.until, time.grain)):
            behind = time.end + 2 * text.startswith(("'s", "’s"), time.end)
            parts += [text[end:behind], f" [= {'probably ' * only_likely(text, time)}{meant}]"]
            end = behind
    return "".join((*parts, text[end:]))


def only_likely(text: str, time: StatedTime) -> bool:
    """Return whether a time is one that comes again each week or month, and no verb says that it is over.

    Of such days in the past tense behind "on", 94 of 98 were right ("I moved on Friday"), of others two thirds.
    """
    if not time.relative or _ONE_OF_MANY.fullmatch(text, time.start, time.end) is None:
        return False
    first = max(0, time.start - _CLAUSE_CHARS)
    near = text[first : time.end + _CLAUSE_CHARS]
    start, end = next(span for span in split(near) if span[0] <= time.start - first < span[1])
    if not _ON.search(near, start, time.start - first):
        return True
    return tense(near[start:end], time.start - first - start, time.end - first - start) >= 0


def _meant(since: Millis, until: Millis, grain: Grain) -> str:
    """Return an interval in words, to its grain; empty where an end is within such a grain."""
    if grain in ("day", "time", "week"):
        first = weekday_and_day(since)
        return first if until - since <= DAY else f"{first} to {weekday_and_day(until - 1)}"
    whole = grain == "month" or (grain == "year" and civil(since)[1] == 1)
    return _unit(since, grain) if whole and civil(since)[2] == 1 else ""


def time_words(question: Query, now: Millis) -> str | None:
    """Return the time that a question states, in words of the calendar; None where it states none."""
    return times_in_words(stated_times(question.text, now, asked=True)) or None if question.time else None
