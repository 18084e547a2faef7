"""Find and resolve the times that a sentence states (English only).

The rules of ``absolute.py`` and ``relative.py`` find single times. This module combines them: a clock time next to a
day, two times that form a range, "since" and "until" that leave one end open. Most sentences state no time, so a rule
is tried only if one of its trigger words occurs. Clock times are UTC, like every time without a zone.
"""

from __future__ import annotations

import re
from dataclasses import replace

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, StatedTime
from mcp_memory.language.absolute import ABSOLUTE
from mcp_memory.language.expressions import Direction, S, SentenceContext, compiled
from mcp_memory.language.iso import DAY, FIRST, HOUR, LAST, MINUTE
from mcp_memory.language.relative import RELATIVE
from mcp_memory.language.segments import is_repetitive

_WORD = re.compile(r"[a-z]+|[0-9]")
_WORDS_ABSOLUTE = frozenset[str]().union(*(rule.words for rule in ABSOLUTE))
_WORDS_RELATIVE = frozenset[str]().union(*(rule.words for rule in RELATIVE))
_EITHER = _WORDS_ABSOLUTE | _WORDS_RELATIVE

_CLOCK = (
    r"(?:(?P<h12>1[0-2]|0?[1-9])(?:[:.](?P<m12>[0-5]\d))?\s?(?P<half>[ap])\.?m\b\.?|(?P<h24>[01]?\d|2[0-3]):(?P<m24>[0-5]\d)(?![:\d])"
    r"|(?P<noon>noon|midday)\b)"
)
_CLOCK_AFTER = compiled(rf"(?:,?{S}(?:(?:at|around|about|by){S})?|,){_CLOCK}")
_CLOCK_BEFORE = compiled(rf"(?<![\w:.]){_CLOCK},?{S}(?:(?:on|of){S})?(?:the{S})?$")
_BETWEEN = compiled(r"\s?[-–—]\s?|\s{1,3}(?:to|until|till|through|thru|up\sto)\s{1,3}(?:the\s)?(?:year\s)?")
_AND = compiled(r"\s{1,3}and\s{1,3}")
_OPENS = compiled(
    rf"\b(?P<word>between|from|since|until|till|up{S}to|before|prior{S}to|after){S}(?:the{S})?(?:year{S})?$"
)
_ONWARDS = compiled(rf"{S}(?:on|onwards?)\b(?!{S}the)")
_NEAR = 32
"""Characters before an expression that are searched for a word that belongs to it."""


def stated_times(
    text: str, said_at: Millis | None, start: int = 0, end: int | None = None, *, tense: Direction | None = None
) -> tuple[StatedTime, ...]:
    """Return the times that a sentence states, in order and without overlap.

    Args:
        text: the whole text.
        said_at: when it was said; None ignores everything relative, also a day without a year.
        start: first character of the sentence within ``text``.
        end: first character after it; None for the end of the text.
        tense: where the verb points, if that is known: it decides which "8 January" or "Friday" is meant. None takes it
            from words near each expression.

    Returns:
        Half-open intervals with offsets into the whole text; none of a sentence that repeats itself. Never raises.
        Times outside the years 1 to 9999 are ignored.
    """
    sentence = text[start:end]
    words = frozenset(_WORD.findall(sentence.lower()))
    if words.isdisjoint(_WORDS_ABSOLUTE if said_at is None else _EITHER) or is_repetitive(sentence, 0, len(sentence)):
        return ()
    points = _points(SentenceContext(sentence, said_at, tense), words)
    points = _with_clocks(sentence, points)
    points = [_with_open_end(sentence, point) for point in _with_ranges(sentence, points)]
    return tuple(
        replace(point, start=point.start + start, end=point.end + start)
        for point in points
        if (point.since >= FIRST or point.since == BEGINNING) and (point.until <= LAST or point.until == FOREVER)
    )


def _points(context: SentenceContext, words: frozenset[str]) -> list[StatedTime]:
    taken = bytearray(len(context.sentence))
    points = []
    for rule in ABSOLUTE if context.said_at is None else (*ABSOLUTE, *RELATIVE):
        if words.isdisjoint(rule.words):
            continue
        for match in rule.pattern.finditer(context.sentence):
            first, last = match.span()
            if taken.find(1, first, last) >= 0:
                continue
            found = rule.resolve(match, context)
            if found:
                taken[first:last] = b"\x01" * (last - first)
                points.append(StatedTime(first, last, *found.interval, found.grain, found.relative))
    return sorted(points, key=lambda point: point.start)


def _with_clocks(sentence: str, points: list[StatedTime]) -> list[StatedTime]:
    """Narrow each day to the clock time next to it, unless that belongs to another day."""
    clocked: list[StatedTime] = []
    for place, point in enumerate(points):
        found = _with_clock(sentence, point)
        free = clocked[-1].end if clocked else 0
        taken = points[place + 1].start if place + 1 < len(points) else len(sentence)
        clocked.append(found if free <= found.start and found.end <= taken else point)
    return clocked


def _with_clock(sentence: str, point: StatedTime) -> StatedTime:
    """Narrow a day to the clock time next to it, "tomorrow at 5 pm"."""
    if point.grain != "day" or point.until - point.since != DAY:
        return point
    before = max(0, point.start - _NEAR)
    if clock := _CLOCK_AFTER.match(sentence, point.end):
        first, last = point.start, clock.end()
    elif clock := _CLOCK_BEFORE.search(sentence[before : point.start]):
        first, last = before + clock.start(), point.end
    else:
        return point
    if clock["noon"]:
        hour, minute = 12, 0
    elif clock["half"]:
        hour, minute = int(clock["h12"]) % 12 + 12 * (clock["half"].lower() == "p"), int(clock["m12"] or 0)
    else:
        hour, minute = int(clock["h24"]), int(clock["m24"])
    exact = bool(clock["m12"] or clock["m24"])
    since = point.since + hour * HOUR + minute * MINUTE
    return replace(point, start=first, end=last, since=since, until=since + (MINUTE if exact else HOUR), grain="time")


def _with_ranges(sentence: str, points: list[StatedTime]) -> list[StatedTime]:
    """Join two times that form a range, "from 1916 to 1920"."""
    ranges: list[StatedTime] = []
    for point in points:
        if ranges:
            left = ranges[-1]
            opening = _opening(sentence, left)
            between = opening is not None and opening["word"].lower() == "between"
            joint = (_AND if between else _BETWEEN).fullmatch(sentence, left.end, point.start)
            if joint and left.since < point.since and left.until <= point.until:
                first = left.start
                if opening and opening["word"].lower() in ("between", "from"):
                    first -= len(opening[0])
                ranges[-1] = replace(point, start=first, since=left.since, relative=left.relative or point.relative)
                continue
        ranges.append(point)
    return ranges


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
    return _OPENS.search(sentence[max(0, point.start - _NEAR) : point.start])
