"""Which occurrence a time means that comes again and again: "5 May", "on Friday", "in June", "last summer", "the 17th".

Who names a day without its year nearly always means the one nearest to the telling: in long chats with assistants,
nearly all dates that the tense of the verb put more than half a year away were wrong. So the nearest occurrence holds.
Tense and words of order ("last", "next") choose only between two that are nearly as near. Where they point at another
one that could still be meant, both remain likely; then, and beyond nine months, nothing is claimed: a wrong date is
worse than none. Every rule for times without a year resolves them here.

A question is asked long after the telling, and claims nothing: "on 8 May" in it is the last or next one by its tense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from mcp_memory.domain.times import Millis
from mcp_memory.language.iso import DAY, Interval, civil, day_at, week_at, weekday

Direction = Literal[-1, 0, 1]
"""-1 past, 0 unknown, 1 future."""
NEARLY_AS_NEAR = 60 * DAY
"""By how much farther away an occurrence may be that tense or order choose."""
FARTHEST = 274 * DAY
"""Nine months: nobody means an occurrence beyond that without saying the year."""


def each_year(said_at: Millis, of_year: Callable[[int], Interval | None]) -> list[Interval]:
    """Return the occurrences of the year of the telling and of those beside it that exist: 29 February may not."""
    year = civil(said_at)[0]
    return [span for one in (year - 1, year, year + 1) if (span := of_year(one)) is not None]


def each_week(said_at: Millis, number: int) -> list[Interval]:
    """Return the days of the weeks around the telling that are a weekday, 0 for Monday."""
    monday = week_at(said_at).since
    return [day_at(monday + (7 * step + number) * DAY) for step in range(-2, 3)]


def nearest(
    spans: Iterable[Interval], said_at: Millis, pointing: Direction = 0, *, asked: bool = False
) -> Interval | None:
    """Return which of the occurrences is meant.

    Args:
        spans: the occurrences around the telling.
        said_at: the time of the telling.
        pointing: where tense or order point.
        asked: whether a question names it.

    Returns:
        The nearest one, or that to which ``pointing`` points if it is less than `NEARLY_AS_NEAR` farther. None if two
        remain likely, or all are farther than `FARTHEST`.
    """
    today = day_at(said_at)
    if asked and pointing:
        begun = [span for span in spans if (span.since <= today.since if pointing < 0 else span.until >= today.until)]
        return min(begun, key=lambda span: _distance(span, today), default=None)
    likely = sorted((far, span) for span in spans if (far := _distance(span, today)) <= FARTHEST)
    if not likely:
        return None
    first = likely[0]
    alone = len(likely) == 1 or likely[1][0] - first[0] >= NEARLY_AS_NEAR
    if pointing == 0 or first[1] == today:  # "Friday", said on a Friday, may be today or another
        return first[1] if alone else None
    there = [one for one in likely if (one[1].since <= today.since if pointing < 0 else one[1].until >= today.until)]
    if not there:
        return first[1]
    return there[0][1] if there[0][0] - first[0] < NEARLY_AS_NEAR else None


def in_order(
    spans: Iterable[Interval], said_at: Millis, order: str, unit: Interval, *, asked: bool = False
) -> Interval | None:
    """Return the occurrence that "last", "past", "next" or "coming" means; None where both the near and the far may be.

    "Next Friday", said on a Monday, may be this week's or the one after, and "last summer", said in October, this
    year's or that of the year before. "Last Wednesday", said on a Thursday, is hardly yesterday.

    Args:
        spans: the occurrences around the telling, in order.
        said_at: the time of the telling.
        order: the word of order.
        unit: the week or year of the telling.
        asked: whether a question names it, which means the near one.
    """
    today = day_at(said_at)
    if order in ("last", "past"):
        over = [span for span in spans if span.until <= today.since]
        if not over or (order == "last" and not asked and _goes_on(over[-1], today, unit)):
            return None
        return nearest(over[-1:], said_at)
    ahead = [span for span in spans if span.since >= today.until]
    if not ahead or (order == "next" and not asked and ahead[0].since < unit.until):
        return None
    return nearest(ahead[:1], said_at)


def of_present(spans: Iterable[Interval], said_at: Millis, pointing: Direction, unit: Interval) -> Interval | None:
    """Return the occurrence that "this" means: the one of the present week or year if it is not over.

    Args:
        spans: the occurrences around the telling, in order.
        said_at: the time of the telling.
        pointing: where the tense points.
        unit: the week or year of the telling.
    """
    today = day_at(said_at)
    here = [span for span in spans if unit.since <= span.since < unit.until and span.until >= today.until]
    if here and here[0].until - here[0].since == DAY:
        return None if here[0] == today else here[0]
    return nearest(spans, said_at, pointing or (1 if here else 0))


def _goes_on(span: Interval, today: Interval, unit: Interval) -> bool:
    """Return whether what "last" names lies so near that the one before may be meant.

    Of days that is yesterday, between days of work and between those of a weekend: on a Saturday, "last Friday" is
    yesterday. Of months and seasons it is one of the present year.
    """
    if unit.until - unit.since > 7 * DAY:
        return span.since >= unit.since
    alike = (weekday(today.since) >= 5) == (weekday(span.since) >= 5)
    return span.until == today.since and alike and span.until - span.since == DAY


def _distance(span: Interval, today: Interval) -> Millis:
    """Return how far a span lies from a day, 0 if it holds that day and a day for the day before."""
    if span.since < today.until and span.until > today.since:
        return 0
    return DAY + max(span.since - today.until, today.since - span.until)
