"""When a fact began, as exactly as it was said: an interval, so that it can be told whether two are in order."""

from __future__ import annotations

from mcp_memory.domain.answers import KnownFacts, RelationFacts
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language.gregorian import DAY, civil, midnight
from mcp_memory.language.stated import stated_times
from mcp_memory.rules.answers.held import Held

Interval = tuple[Millis, Millis]
"""Since and until (exclusive)."""


def began(one: Held, group: RelationFacts, knowledge: KnownFacts) -> Interval | None:
    """Return the interval in which a fact began, as exactly as it was said; None where nobody said."""
    if knowledge.chosen and one.since > knowledge.moment:
        return None
    value = one.value.strip()
    if group.relation == "age":
        return _born(value, max(said.said_at for said in one.said))
    if (named := spanned(value)) is not None:
        return named
    if relations().get(group.relation).tail == "time" or not one.stated or one.since <= BEGINNING:
        return None
    for said in one.said:
        for time in knowledge.times.get((said.turn_id, said.sentence), ()):
            if time.since == one.since and time.until < FOREVER and time.grain != "time":
                return time.since, time.until if time.grain in ("day", "week", "month", "year") else time.since + DAY
    year, month, day = civil(one.since)
    if (month, day) == (1, 1):  # round ones of callers stand for a year or a month
        return one.since, midnight(year + 1, 1, 1)
    return one.since, midnight(year + month // 12, month % 12 + 1, 1) if day == 1 else one.since + DAY


def spanned(value: str) -> Interval | None:
    """Return the interval that a value names, "May 1950"; None for one that is no time, or has no end."""
    stated = stated_times(value, None)
    if len(stated) != 1 or (stated[0].start, stated[0].end) != (0, len(value)):
        return None
    time = stated[0]
    return (time.since, time.until) if time.since > BEGINNING and time.until < FOREVER else None


def within(inner: Interval, outer: Interval) -> bool:
    """Return whether an interval lies in another."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _born(age: str, said_at: Millis) -> Interval | None:
    """Return when somebody was born who had a number of years at an instant."""
    if not (age.isdecimal() and age.isascii()) or len(age) > 3:
        return None
    year, month, day = civil(said_at)
    latest = midnight(year - int(age), month, min(day, 28)) + 4 * DAY
    return midnight(year - int(age) - 1, month, min(day, 28)), latest
