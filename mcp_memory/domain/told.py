"""The times at which the fold takes a statement, where the statement itself gives none (DESIGN 1.2).

An event is over: without a stated end it has the day of its start, and without any time the day of its telling. What
was told without a time (precision ``before``) is placed by what else was told of the same value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import NamedTuple

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, day_of_instant

Key = Callable[[str], str]
"""Returns the key of a tail, equal for all its spellings."""


class Told(NamedTuple):
    """An assertion with the times at which the fold takes it.

    Attributes:
        assertion: the assertion.
        since: first instant.
        until: first instant after it; None if it says nothing about the end.
        before: whether nobody said when.
    """

    assertion: Assertion
    since: Millis
    until: Millis | None
    before: bool


def told(assertion: Assertion) -> Told:
    """Return an assertion with the times that it has on its own; an event is over, see the module."""
    since, until, before = assertion.since, assertion.until, assertion.precision == "before"
    if assertion.kind == "event" and not assertion.negated and (until >= FOREVER or since <= BEGINNING):
        before = before or not assertion.stated or since <= BEGINNING
        since, until = day_of_instant(assertion.said_at if before else since)
    return Told(assertion, since, until, before)


def placed(said: Iterable[Told], key: Key) -> list[Told]:
    """Return what was told with the starts at which it counts."""
    dated: dict[str, list[Millis]] = defaultdict(list)
    undated: dict[str, list[Told]] = defaultdict(list)
    placed = []
    for one in said:
        tail = key(one.assertion.tail)
        if one.before and not one.assertion.negated:
            undated[tail].append(one)
            continue
        placed.append(one)
        if not one.assertion.negated:
            dated[tail].append(one.since)
    for tail, together in undated.items():
        alone = []
        for one in together:
            starts = [start for start in dated[tail] if start < (one.until or one.since)]
            if starts:
                placed.append(one._replace(since=max(starts), until=None))
            else:
                alone.append(one)
        if alone:
            first = min(alone, key=lambda one: (one.until or FOREVER, one.since))
            placed += [one._replace(since=first.since, until=first.until) for one in alone]
    return placed
