"""Events as anchors of time: "before she moved to Oslo" is before the fact began that these words tell of.

Only facts know when something happened that a question merely names (issue: time in recall). The words have to lead to
one version and no other; else the time stays unknown, and a guess is not made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from mcp_memory.domain.facts import Version
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import BEGINNING, FOREVER, Constraint
from mcp_memory.language.questions import understand
from mcp_memory.language.tokens import words
from mcp_memory.navigation.anchor import anchor
from mcp_memory.navigation.fact_query import fact_query
from mcp_memory.view.facts import Facts

_ENDING = frozenset(("left", "leaving", "quit", "divorced", "divorce", "separated", "resigned", "retired", "sold"))
"""Words for the end of something rather than its beginning."""


def dated(facts: Facts, question: Query) -> Query:
    """Return a question whose event, if it names one, has the time that the facts give it; else as it was.

    Args:
        facts: of the space.
        question: taken apart.
    """
    time = question.time
    if time is None or time.event is None or time.dated:
        return question
    event = understand(time.event, question.speakers)
    asking = fact_query(event)
    own = frozenset(words(time.event))
    ends = bool(own & _ENDING)
    told: list[Version] = []
    named: list[Version] = []
    for version in _told(facts, question, event):
        whole = own.issuperset(words(version.tail))
        if version.since > BEGINNING and (asking.asks(version.relation) >= 1 or (ends and whole)):
            (named if whole else told).append(version)
    meant = named or told
    if len({version.id for version in meant}) != 1:
        return question
    return replace(question, time=_at(time, meant[0], ends=ends))


def _told(facts: Facts, question: Query, event: Query) -> Iterator[Version]:
    """Yield what is known of those whom the words of an event name, and then of those whom the question names."""
    roots = dict.fromkeys(root.key for asked in (event, question) for root in anchor(facts, asked) if not root.soft)
    for key in roots:
        for relation in facts.relations_of(key):
            yield from (version for version in facts.versions(key, relation) if version.since < version.until)


def _at(time: Constraint, version: Version, *, ends: bool) -> Constraint:
    if ends and version.until < FOREVER:
        return replace(time, since=version.until, until=version.until + 1, grain="day")
    if time.order == "within":
        return replace(time, since=version.since, until=version.until, grain="day")
    return replace(time, since=version.since, until=version.since + 1, grain="day")
