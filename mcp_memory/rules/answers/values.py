"""The values of a fact in time: which of them a question means, and when they began and ended, in words.

A state ("lives in") is meant where it holds in the time asked about, an event ("visited") where it happened in it; each
statement of an event with a time of its own counts separately. A plan that nothing has confirmed is no value, nor is
the date of an appointment. Only a time that the question names itself is known: "before she moved" depends on another
fact, and so do "first" and "last" on all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from mcp_memory.domain.answers import KnownFacts, RelationFacts
from mcp_memory.domain.facts import Assertion, Version, timed
from mcp_memory.domain.query import Constraint
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, Interval, Millis, StatedTime
from mcp_memory.language.iso import civil, unit_at
from mcp_memory.language.stated import day_in_words, in_words

MOST_WORDS = 25
"""Words of a list of values."""
FEW_DAYS: Millis = 3 * DAY
"""The longest time, a weekend or Christmas, that is one time though it is stated by days."""


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
    """

    value: str
    since: Millis
    until: Millis
    stated: bool
    version: Version
    assertions: tuple[Assertion, ...]


def planned_values(group: RelationFacts) -> list[ValidValue]:
    """Return the values that are planned, by their start."""
    plans = [version for version in group.versions if version.kind == "planned" and version.since < version.until]
    found = [ValidValue(group.value(one), one.since, one.until, one.stated, one, one.assertions) for one in plans]
    return sorted(found, key=lambda one: (one.since, one.version.id))


def valid_values(group: RelationFacts) -> list[ValidValue]:
    """Return the values of a relation by their start, unconfirmed ones too, without those that never held."""
    relation = relations().get(group.relation)
    found = []
    for version in (*group.versions, *group.suspected):
        if version.since >= version.until or relation.last_told:
            continue
        value = group.value(version)
        if version.kind == "planned":
            continue
        if version.kind != "event" and not relation.event:
            found.append(ValidValue(value, version.since, version.until, version.stated, version, version.assertions))
            continue
        said = [timed(assertion) for assertion in version.assertions if assertion.kind != "planned"]
        said = [one for one in said if not one.before] or said[:1]
        for since in sorted({one.since for one in said}):
            of_start = [one for one in said if one.since == since]
            assertions = tuple(one.assertion for one in of_start)
            until = min(one.until for one in of_start if one.until is not None)
            stated = any(one.assertion.stated for one in of_start)
            found.append(ValidValue(value, since, until, stated, version, assertions))
    return sorted(found, key=lambda one: (one.since, one.until, one.version.id))


def known_time(time: Constraint | None, knowledge: KnownFacts) -> Constraint | None:
    """Return the interval that a question is about; None where it names none.

    Raises:
        LookupError: what it names depends on other facts.
    """
    if time is None:
        return None
    if time.order == "now":
        return Constraint("within", knowledge.moment, knowledge.moment + 1)
    if time.order != "within" or not time.dated:
        raise LookupError(time.order)
    return time


def select_values(
    values: Sequence[ValidValue], time: Constraint | None, *, event: bool, past: bool, moment: Millis
) -> list[ValidValue]:
    """Return the values that a time means, by their start.

    Args:
        values: by their start.
        time: the interval asked about, or None where the question names none.
        event: whether the values happen; else they hold.
        past: whether the question is in the past tense; without a time it then means all values so far.
        moment: "now".
    """
    if time is None:
        return [one for one in values if one.since <= moment and (event or past or one.until > moment)]
    if event:
        return [value for value in values if time.since <= value.since < time.until]
    return [value for value in values if value.since < time.until and value.until > time.since]


def assertion_rank(assertion: Assertion) -> tuple[bool, float, int, str]:
    """Return the rank by which an assertion is preferred as the citation of a fact; the highest is best."""
    return assertion.stated, assertion.confidence, -assertion.said_at, assertion.id


def join_values(values: Iterable[str]) -> str:
    """Return the distinct values as a list in words: "Paris, Rome and Oslo".

    A list that is too long for an answer is cut and ends with "…".
    """
    kept: list[str] = []
    for value in dict.fromkeys(" ".join(value.split()) for value in values):
        if sum(len(one.split()) + 1 for one in (*kept, value)) > MOST_WORDS:
            return f"{', '.join(kept)} …".strip()
        kept.append(value)
    return " and ".join(filter(None, [", ".join(kept[:-1]), *kept[-1:]]))


def start_text(value: ValidValue, knowledge: KnownFacts) -> str | None:
    """Return when a value began, in words; None where no statement says."""
    if value.since <= BEGINNING:
        return None
    return _start_in_words(value.since, value.assertions, knowledge)


def end_text(value: ValidValue, knowledge: KnownFacts) -> str | None:
    """Return when a value ended, in words; None where it did not."""
    if value.until >= FOREVER:
        return None
    assertions = (*value.assertions, *value.version.ended_by)
    if time := _stated_time(assertions, knowledge, until=value.until):
        return in_words(value.until - 1, value.until, time.grain)
    return _start_in_words(value.until, assertions, knowledge)


def validity_text(value: ValidValue, knowledge: KnownFacts) -> str | None:
    """Return the validity in words, "2010 to 2015", "since 2015" or "until 2015"; None where no statement gives it."""
    if whole := _stated_time(value.assertions, knowledge, since=value.since, until=value.until):
        return in_words(whole.since, whole.until, whole.grain)
    start, end = start_text(value, knowledge), end_text(value, knowledge)
    if start and end:
        return start if start == end else f"{start} to {end}"
    return f"since {start}" if start else f"until {end}" if end else None


def may_begin_later(value: ValidValue, until: Millis, knowledge: KnownFacts) -> bool:
    """Return whether a value may have begun only at or after an instant: "in May" leaves open what was on 3 May."""
    time = _stated_time(value.assertions, knowledge, since=value.since)
    return time is not None and until < _first_unit(time).until


def _start_in_words(instant: Millis, assertions: Sequence[Assertion], knowledge: KnownFacts) -> str:
    """Return when something began, as exactly as it was stated; round instants of callers stand for a year or a month.

    The moment of a telling is shown as the clock showed it where that was said.
    """
    if time := _stated_time(assertions, knowledge, since=instant):
        return in_words(*_first_unit(time), time.grain)
    if instant % DAY or any(one.since == instant and not one.stated for one in assertions):
        tellings = (knowledge.turns.get(one.turn_id) for one in assertions if not one.stated)
        local = next((turn.local_time for turn in tellings if turn and turn.time == instant), instant)
        return day_in_words(local)
    _, month, day = civil(instant)
    return in_words(instant, instant + 1, "day" if day != 1 else "month" if month != 1 else "year")


def _stated_time(
    assertions: Sequence[Assertion], knowledge: KnownFacts, *, since: Millis | None = None, until: Millis | None = None
) -> StatedTime | None:
    """Return the time with a start, an end, or both, that a sentence of an assertion states; None without one."""
    for assertion in assertions:
        for time in knowledge.times.get((assertion.turn_id, assertion.sentence), ()):
            if since in (None, time.since) and until in (None, time.until):
                return time
    return None


def _first_unit(time: StatedTime) -> Interval:
    """Return the day, weekend, week, month … in which a stated time begins; of a few days, a holiday's, all of them."""
    if time.grain in ("time", "day") and time.until - time.since <= FEW_DAYS:
        return Interval(time.since, time.until)
    return Interval(time.since, min(time.until, unit_at(time.since, time.grain).until))
