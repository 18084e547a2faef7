"""The values of a fact in time: which of them a query means, when they began and ended, and how the answer words that.

A state ("lives in") is meant where it holds in the time asked about, an event ("visited") where it happened in it; each
statement of an event with a time of its own counts separately. A plan that nothing has confirmed is no value, but the
date of an appointment is, from its telling on. The time of a query may be another fact: "before she
moved to Paris" means before that version began (an event as an anchor of time). Where the words of such an event do
not match exactly one fact, the time stays unknown and no value is selected.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from mcp_memory.domain.answers import KnownFacts, RelationFacts
from mcp_memory.domain.entities import medicine
from mcp_memory.domain.facts import Assertion, Version, told
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Constraint, Grain, Millis
from mcp_memory.language.iso import DAY, civil, midnight
from mcp_memory.language.stated import in_words, stated_times
from mcp_memory.language.tokens import words
from mcp_memory.rules.answers.relations import (
    QueryToken,
    change_positions,
    find_mention,
    mentions_end,
    name_positions,
    query_tokens,
)
from mcp_memory.rules.answers.spans import MOST_WORDS
from mcp_memory.rules.answers.typed_spans import relative_period_text

_RECURS = re.compile(r"\b(?:every|each|daily|weekly|monthly|\w+days)\b", re.I)
_MOVES = frozenset(("lives_in", "located_in"))
"""States that hold from birth on, so that their first value did not begin with a move."""


@dataclass(frozen=True, slots=True)
class ValidValue:
    """A value with the interval in which it holds, or an event with the interval in which it happened.

    Attributes:
        value: as written.
        since: first instant.
        until: first instant after it; of an event without an end, that of its day.
        stated: whether an assertion states ``since``.
        version: the fact.
        assertions: the assertions that support the value.
        reliable: whether the fact is confirmed; a suspected one is not.
    """

    value: str
    since: Millis
    until: Millis
    stated: bool
    version: Version
    assertions: tuple[Assertion, ...]
    reliable: bool

    @property
    def open_ended(self) -> bool:
        """Whether nothing ends it."""
        return self.until >= FOREVER

    def overlaps(self, since: Millis, until: Millis) -> bool:
        """Return whether it holds at some instant of ``[since, until)``."""
        return self.since < until and self.until > since


def planned_values(group: RelationFacts) -> list[ValidValue]:
    """Return the values that are planned, by their start."""
    plans = [version for version in group.versions if version.kind == "planned" and version.since < version.until]
    found = [ValidValue(group.value(one), one.since, one.until, one.stated, one, one.assertions, True) for one in plans]
    return sorted(found, key=lambda one: (one.since, one.version.id))


def valid_values(group: RelationFacts, knowledge: KnownFacts) -> list[ValidValue]:
    """Return the values of a relation by their start, without those that lost to one of the same start."""
    relation = relations().get(group.relation)
    layers = [(group.versions, True), *([(group.suspected, False)] if knowledge.uncertain else [])]
    found = []
    for versions, reliable in layers:
        for version in versions:
            if version.since >= version.until:
                continue
            value = group.value(version)
            if relation.last_told:
                since = min(assertion.said_at for assertion in version.assertions)
                if not (any(letter.isdigit() for letter in value) or _RECURS.search(value)):
                    # "Friday" means another day by now
                    value = in_words(version.since, version.until, "day")
                found.append(ValidValue(value, since, FOREVER, False, version, version.assertions, reliable))
                continue
            if version.kind == "planned":
                continue
            if version.kind != "event" and not relation.event:
                stated = version.stated
                found.append(
                    ValidValue(value, version.since, version.until, stated, version, version.assertions, reliable)
                )
                continue
            said = [told(assertion) for assertion in version.assertions if assertion.kind != "planned"]
            said = [one for one in said if not one.before] or said[:1]
            for since in sorted({one.since for one in said}):
                of_start = [one for one in said if one.since == since]
                assertions = tuple(one.assertion for one in of_start)
                until = min(one.until for one in of_start if one.until is not None)
                stated = any(one.assertion.stated for one in of_start)
                found.append(ValidValue(value, since, until, stated, version, assertions, reliable))
    return sorted(found, key=lambda one: (one.since, one.until, one.version.id))


def doses(values: Iterable[ValidValue], named: Collection[str] = ()) -> list[ValidValue]:
    """Return the values that are doses ("10 mg") of what these words name.

    A dose alone is one of the medicine whose dose it replaced: "I take 10 mg since today".

    Args:
        values: of a relation, those that ended included.
        named: words, a unit or a medicine; empty for any dose.
    """
    values = list(values)
    of_things = []
    for value in values:
        if medicine(value.value) is None:
            continue
        own = {one.id for one in value.assertions}
        before = (other.value for other in values if any(one.id in own for one in other.version.ended_by))
        told = {word for text in (value.value, *before) for word in words(text)}
        if told.issuperset(named):
            of_things.append(value)
    return of_things


def resolve_time(time: Constraint | None, knowledge: KnownFacts) -> Constraint | None:
    """Return the time that a query is about, an event replaced by that event's time; None where it names none.

    Raises:
        LookupError: it names an event that no fact, or more than one, matches.
    """
    if time is None:
        return None
    if time.order == "now":
        return Constraint("within", knowledge.moment, knowledge.moment + 1)
    if time.event is None:
        return time
    event = query_tokens(time.event)
    found = _event_value(event, knowledge)
    if found is None:
        raise LookupError(time.event)
    alone = not any(
        token.content for place, token in enumerate(event) if place not in name_positions(event, (found.value,))
    )
    if mentions_end(time.event) or (alone and time.order == "after"):
        instant = found.until
    elif time.order == "within" and not change_positions(event):
        return Constraint("within", found.since, found.until)
    else:
        instant = found.since
    if not BEGINNING < instant < FOREVER:
        raise LookupError(time.event)
    return Constraint(time.order, instant, instant + 1)


def _event_value(event: Sequence[QueryToken], knowledge: KnownFacts) -> ValidValue | None:
    """Return the one value that the words of an event name, or None."""
    found: dict[str, ValidValue] = {}
    for group in knowledge.groups:
        relation = relations().get(group.relation)
        mention = find_mention(event, relation)
        explained = (
            name_positions(event, group.names)
            | change_positions(event)
            | (mention.positions if mention else frozenset())
        )
        values = valid_values(group, knowledge)
        named = [(value, places) for value in values if (places := name_positions(event, (value.value,)))]
        if not named and mention and mention.strength >= 0.5:
            begun = values[1:] if relation.name in _MOVES else values
            named = [(value, frozenset()) for value in begun] if len(begun) == 1 else []
        for value, places in named:
            if not any(token.content for place, token in enumerate(event) if place not in explained | places):
                found.setdefault(value.version.id, value)
    return next(iter(found.values())) if len(found) == 1 else None


def is_current(time: Constraint | None, moment: Millis) -> bool:
    """Return whether a query is about "now": it names no time, or one that holds this moment."""
    return time is None or (time.order == "within" and time.since <= moment < time.until)


def select_values(
    values: Sequence[ValidValue], time: Constraint | None, *, event: bool, past: bool, moment: Millis
) -> list[ValidValue]:
    """Return the values that a time means, by their start.

    Args:
        values: by their start.
        time: the time asked about, or None where the query names none.
        event: whether the values happen; else they hold.
        past: whether the query is in the past tense; without a time it then means all values so far.
        moment: "now".
    """
    begun = [value for value in values if value.since <= moment]
    if time is None:
        if event or past:
            return begun
        return [value for value in begun if value.until > moment]
    match time.order:
        case "first":
            return _same_start(values[:1], values)
        case "last":
            return _same_start(begun[-1:], begun)
        case "before":
            return _before(begun, time, event=event, moment=moment)
        case "after":
            return _after(values, time, event=event)
        case _:
            if event:
                return [value for value in values if time.since <= value.since < time.until]
            return [value for value in values if value.overlaps(time.since, time.until)]


def _same_start(ends_of: Sequence[ValidValue], values: Sequence[ValidValue]) -> list[ValidValue]:
    """Return all values that begin with the first or last one; several are ambiguous, which the caller handles."""
    return [value for value in values if ends_of and value.since == ends_of[0].since]


def _before(begun: Sequence[ValidValue], time: Constraint, *, event: bool, moment: Millis) -> list[ValidValue]:
    anchor = time.since if time.since > BEGINNING else time.until
    if anchor >= FOREVER:  # "previous": before what holds now
        now = [value for value in begun if value.until > moment and not event] or list(begun[-1:])
        anchor = min((value.since for value in now), default=BEGINNING)
        if anchor <= BEGINNING and not event:  # the order is unknown: all values that ended are meant
            return [value for value in begun if value.until <= moment]
    earlier = [value for value in begun if value.since < anchor]
    if not event and (holding := [value for value in earlier if value.until >= anchor]):
        return holding
    last = max(earlier, key=lambda value: (value.since, value.until), default=None)
    if last and last.since <= BEGINNING:
        return earlier
    return [last] if last else []


def _after(values: Sequence[ValidValue], time: Constraint, *, event: bool) -> list[ValidValue]:
    anchor = time.until - 1 if time.until < FOREVER else time.since
    if not event and (holding := [value for value in values if value.since <= anchor < value.until]):
        return holding
    later = [value for value in values if value.since > anchor]
    return _same_start(later[:1], values)


def contested_values(group: RelationFacts) -> list[str]:
    """Return the values that lost to another of the same start: they are stated too, and may be right."""
    return [group.value(version) for version in group.versions if version.lost]


def assertion_rank(assertion: Assertion) -> tuple[bool, float, int, str]:
    """Return the rank by which an assertion is preferred as the citation of a fact; the highest is best."""
    return assertion.stated, assertion.confidence, -assertion.said_at, assertion.id


def join_values(values: Iterable[str], conjunction: str = "and") -> str:
    """Return the distinct values as a list in words: "Paris, Rome and Oslo".

    A list that is too long for an answer is cut and ends with "…".
    """
    different = list(dict.fromkeys(" ".join(value.split()) for value in values))
    kept: list[str] = []
    for value in different:
        if sum(len(one.split()) + 1 for one in (*kept, value)) > MOST_WORDS:
            return f"{', '.join(kept)} …".strip()
        kept.append(value)
    return f" {conjunction} ".join(filter(None, [", ".join(kept[:-1]), *kept[-1:]]))


def start_text(value: ValidValue, knowledge: KnownFacts) -> str | None:
    """Return when a value began, in words; None where no statement says."""
    if value.since <= BEGINNING:
        return None
    for assertion in value.assertions:
        for time in knowledge.times.get((assertion.turn_id, assertion.sentence), ()):
            if time.since == value.since and (text := relative_period_text(time, knowledge.turns[assertion.turn_id])):
                return text
    return in_words(value.since, value.since + 1, _instant_grain(value.since, value.assertions, knowledge))


def end_text(value: ValidValue, knowledge: KnownFacts) -> str | None:
    """Return when a value ended, in words; None where it did not."""
    if value.until >= FOREVER:
        return None
    assertions = (*value.assertions, *value.version.ended_by)
    if grain := _stated_grain(value.until, assertions, knowledge, end=True):
        return in_words(value.until - 1, value.until, grain)
    return in_words(value.until, value.until + 1, _instant_grain(value.until, assertions, knowledge))


def validity_text(value: ValidValue, knowledge: KnownFacts) -> str | None:
    """Return the validity in words, "2010 to 2015", "since 2015" or "until 2015"; None where no statement gives it."""
    start, end = start_text(value, knowledge), end_text(value, knowledge)
    if start and end:
        return start if start == end else f"{start} to {end}"
    return f"since {start}" if start else f"until {end}" if end else None


def duration_text(since: Millis, until: Millis) -> str:
    """Return a duration in words, in the largest unit that fits at least twice, years to the half.

    It follows the calendar and never exceeds the real duration: incomplete units are left out.
    """
    (year, month, day), (last_year, last_month, last_day) = civil(since), civil(max(until, since))
    months = 12 * (last_year - year) + last_month - month - (last_day < day)
    if months >= 24:
        return f"{months // 12} {'and a half ' if months % 12 >= 6 else ''}years"
    if months == 12:
        return "1 year"
    if months >= 2:
        return f"{months} months"
    if months == 1 and day == last_day:
        return "1 month"
    days = max(until - since, 0) // DAY
    return f"{days // 7} weeks" if days >= 14 else f"{days} days" if days >= 2 else "1 day"


def _instant_grain(instant: Millis, assertions: Sequence[Assertion], knowledge: KnownFacts) -> Grain:
    """Return how exactly an instant was stated; round instants of callers stand for a year or a month."""
    if grain := _stated_grain(instant, assertions, knowledge, end=False):
        return grain
    if instant % DAY or any(one.since == instant and not one.stated for one in assertions):
        return "day"
    _, month, day = civil(instant)
    return "day" if day != 1 else "month" if month != 1 else "year"


def _stated_grain(
    instant: Millis, assertions: Sequence[Assertion], knowledge: KnownFacts, *, end: bool
) -> Grain | None:
    """Return the grain of a stated time that begins (or ends) at the instant, or None."""
    for assertion in assertions:
        for time in knowledge.times.get((assertion.turn_id, assertion.sentence), ()):
            if (time.until if end else time.since) == instant:
                return time.grain
    return None


Interval = tuple[Millis, Millis]
"""Since and until (exclusive)."""


def start_interval(one: ValidValue, group: RelationFacts, knowledge: KnownFacts) -> Interval | None:
    """Return the interval in which a value began, as exactly as it was stated; None where no statement says.

    As an interval, it shows whether two starts are in order.
    """
    if knowledge.chosen and one.since > knowledge.moment:
        return None
    value = one.value.strip()
    if group.relation == "age":
        return _birth_interval(value, max(assertion.said_at for assertion in one.assertions))
    if (named := named_interval(value)) is not None:
        return named
    if relations().get(group.relation).tail == "time" or not one.stated or one.since <= BEGINNING:
        return None
    for assertion in one.assertions:
        for time in knowledge.times.get((assertion.turn_id, assertion.sentence), ()):
            if time.since == one.since and time.until < FOREVER and time.grain != "time":
                return time.since, time.until if time.grain in ("day", "week", "month", "year") else time.since + DAY
    year, month, day = civil(one.since)
    if (month, day) == (1, 1):  # round instants of callers stand for a year or a month
        return one.since, midnight(year + 1, 1, 1)
    return one.since, midnight(year + month // 12, month % 12 + 1, 1) if day == 1 else one.since + DAY


def named_interval(value: str) -> Interval | None:
    """Return the interval that a value names, "May 1950"; None for a value that is no time, or has no end."""
    stated = stated_times(value, None)
    if len(stated) != 1 or (stated[0].start, stated[0].end) != (0, len(value)):
        return None
    time = stated[0]
    return (time.since, time.until) if time.since > BEGINNING and time.until < FOREVER else None


def lies_within(inner: Interval, outer: Interval) -> bool:
    """Return whether an interval lies in another."""
    return outer[0] <= inner[0] and inner[1] <= outer[1]


def _birth_interval(age: str, said_at: Millis) -> Interval | None:
    """Return when somebody was born who had a given age in years at an instant."""
    if not (age.isdecimal() and age.isascii()) or len(age) > 3:
        return None
    year, month, day = civil(said_at)
    latest = midnight(year - int(age), month, min(day, 28)) + 4 * DAY
    return midnight(year - int(age) - 1, month, min(day, 28)), latest
