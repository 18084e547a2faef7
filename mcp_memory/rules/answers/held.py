"""Which values of a fact a question means by its time: those that held then, the first, the last, the one before.

A state ("lives in") is meant where it holds in the time asked about, an event ("visited") where it happened in it, so
each statement of an event with a time of its own counts by itself. A question's time may be another fact: "before she
moved to Paris" is before that version began (an event as an anchor of time). Where the words of such an event do not
lead to one fact and no other, the time stays unknown and nothing is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_memory.domain.answers import KnownFacts, RelationFacts
from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Constraint, Millis, Order
from mcp_memory.rules.answers.relations import Token, asks, ends, names_in, tokens, turning

_MOVES = frozenset(("lives_in", "located_in"))
"""States that somebody was in from birth on, so that their first value did not begin with a move."""


@dataclass(frozen=True, slots=True)
class Held:
    """A value for one stretch of time, or one time that it happened.

    Attributes:
        value: as written.
        since: first instant.
        until: first instant after it; of an event without an end, right after ``since``.
        stated: whether some statement gives ``since``.
        version: the fact.
        said: the assertions that say so.
        sure: whether it can be relied on; else nothing has confirmed it yet.
    """

    value: str
    since: Millis
    until: Millis
    stated: bool
    version: Version
    said: tuple[Assertion, ...]
    sure: bool

    @property
    def open(self) -> bool:
        """Whether nothing ends it."""
        return self.until >= FOREVER

    def overlaps(self, since: Millis, until: Millis) -> bool:
        """Return whether it holds at some instant of ``[since, until)``."""
        return self.since < until and self.until > since


@dataclass(frozen=True, slots=True)
class When:
    """The time that a question is about, its event replaced by that event's time.

    Attributes:
        order: as in `Constraint`.
        since: first instant.
        until: first instant after it.
    """

    order: Order
    since: Millis
    until: Millis


def held(group: RelationFacts, knowledge: KnownFacts) -> list[Held]:
    """Return the values of a group by their start; those that lost to another of the same start are left out."""
    event = relations().get(group.relation).event
    layers = [(group.versions, True), *([(group.suspected, False)] if knowledge.uncertain else [])]
    found = []
    for versions, sure in layers:
        for version in versions:
            if version.since >= version.until:
                continue
            value = group.value(version)
            if not event:
                said, stated = version.assertions, version.stated
                found.append(Held(value, version.since, version.until, stated, version, said, sure))
                continue
            for since in sorted({assertion.since for assertion in version.assertions}):
                said = tuple(assertion for assertion in version.assertions if assertion.since == since)
                ended = min(assertion.until for assertion in said)
                until = since + 1 if ended >= FOREVER else ended
                stated = any(assertion.stated for assertion in said)
                found.append(Held(value, since, until, stated, version, said, sure))
    return sorted(found, key=lambda one: (one.since, one.until, one.version.id))


def when(time: Constraint | None, knowledge: KnownFacts) -> When | None:
    """Return the time that a question is about; None where it names none.

    Raises:
        LookupError: it names an event that no fact tells of, or more than one.
    """
    if time is None:
        return None
    if time.order == "now":
        return When("within", knowledge.moment, knowledge.moment + 1)
    if time.event is None:
        return When(time.order, time.since, time.until)
    event = tokens(time.event)
    found = _named(event, knowledge)
    if found is None:
        raise LookupError(time.event)
    alone = not any(token.content for place, token in enumerate(event) if place not in names_in(event, (found.value,)))
    if ends(time.event) or (alone and time.order == "after"):
        instant = found.until
    elif time.order == "within" and not turning(event):
        return When("within", found.since, found.until)
    else:
        instant = found.since
    if not BEGINNING < instant < FOREVER:
        raise LookupError(time.event)
    return When(time.order, instant, instant + 1)


def _named(event: Sequence[Token], knowledge: KnownFacts) -> Held | None:
    """Return the one value that the words of an event name, or None."""
    found: dict[str, Held] = {}
    for group in knowledge.groups:
        relation = relations().get(group.relation)
        how = asks(event, relation)
        explained = names_in(event, group.names) | turning(event) | (how.places if how else frozenset())
        values = held(group, knowledge)
        named = [(one, places) for one in values if (places := names_in(event, (one.value,)))]
        if not named and how and how.strength >= 0.5:
            begun = values[1:] if relation.name in _MOVES else values
            named = [(one, frozenset()) for one in begun] if len(begun) == 1 else []
        for one, places in named:
            if not any(token.content for place, token in enumerate(event) if place not in explained | places):
                found.setdefault(one.version.id, one)
    return next(iter(found.values())) if len(found) == 1 else None


def chosen(values: Sequence[Held], at: When | None, *, event: bool, past: bool, moment: Millis) -> list[Held]:
    """Return the values that a time means, by their start.

    Args:
        values: by their start.
        at: the time asked about, or None where the question names none.
        event: whether they happen; else they hold.
        past: whether the question is put in the past tense; without a time it then means all there were.
        moment: "now".
    """
    begun = [one for one in values if one.since <= moment]
    if at is None:
        if event or past:
            return begun
        return [one for one in begun if one.until > moment]
    match at.order:
        case "first":
            return _level(values[:1], values)
        case "last":
            return _level(begun[-1:], begun)
        case "before":
            return _before(begun, at, event=event, moment=moment)
        case "after":
            return _after(values, at, event=event)
        case _:
            if event:
                return [one for one in values if at.since <= one.since < at.until]
            return [one for one in values if one.overlaps(at.since, at.until)]


def _level(ends_of: Sequence[Held], values: Sequence[Held]) -> list[Held]:
    """Return all values that begin when the first or last one does; several are no answer, which the caller sees."""
    return [one for one in values if ends_of and one.since == ends_of[0].since]


def _before(begun: Sequence[Held], at: When, *, event: bool, moment: Millis) -> list[Held]:
    anchor = at.since if at.since > BEGINNING else at.until
    if anchor >= FOREVER:  # "previous": before what holds now
        now = [one for one in begun if one.until > moment and not event] or list(begun[-1:])
        anchor = min((one.since for one in now), default=BEGINNING)
        if anchor <= BEGINNING and not event:  # nobody knows what came first: all that is over is meant
            return [one for one in begun if one.until <= moment]
    earlier = [one for one in begun if one.since < anchor]
    if not event and (holding := [one for one in earlier if one.until >= anchor]):
        return holding
    last = max(earlier, key=lambda one: (one.since, one.until), default=None)
    if last and last.since <= BEGINNING:
        return earlier
    return [last] if last else []


def _after(values: Sequence[Held], at: When, *, event: bool) -> list[Held]:
    anchor = at.until - 1 if at.until < FOREVER else at.since
    if not event and (holding := [one for one in values if one.since <= anchor < one.until]):
        return holding
    later = [one for one in values if one.since > anchor]
    return _level(later[:1], values)


def lost(group: RelationFacts) -> list[str]:
    """Return the values that lost to another of the same start: somebody says so, and may be right."""
    return [group.value(version) for version in group.versions if version.status == "contested"]
