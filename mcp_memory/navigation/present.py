"""What holds now, where memory also knows what held before.

"Where do I work?" is as near to the first job that somebody told of as to the present one. Where a question of no other
time asks, of one person, for a relation whose value changed, the text that states the present value leads
(`current_statements`), and a message that tells of a state that has ended says so (`mark_outdated`).
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import replace

from mcp_memory.domain.evidence import Evidence, Source
from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.domain.paths import Root
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import FOREVER
from mcp_memory.language.areas import areas_asked
from mcp_memory.language.shapes import topic_of
from mcp_memory.language.stated import weekday_and_day
from mcp_memory.language.tokens import stems
from mcp_memory.navigation.fact_query import fact_query
from mcp_memory.view.facts import Facts
from mcp_memory.view.space import Space

DEMANDED = 0.5
"""How strongly the question must ask for a relation (`FactQuery.demand`)."""
OUTDATED = 3
"""Most states that a message is said to be outdated about."""
TOLD = 0.6
"""Share of a record that states a fact from which on it tells of nothing much else."""


def asks_of_now(query: Query) -> bool:
    """Return whether a query asks of the present: of no other time, and not in the past tense."""
    of_a_time = query.as_of is not None or (query.time is not None and query.time.order != "now")
    return not of_a_time and not fact_query(query).past


def current_statements(facts: Facts, query: Query, roots: Iterable[Root]) -> list[Assertion]:
    """Return the newest statement of each value that holds now and is asked for, where another held before."""
    heads, asked = [root.key for root in roots if not root.soft], fact_query(query)
    if len(heads) != 1 or asked.compares or not asks_of_now(query):
        return []
    current: list[Version] = []
    for relation in facts.relations_of(heads[0]):
        if facts.cardinality(relation) != "single" or asked.demand(relation) < DEMANDED:
            continue
        versions = [one for one in facts.versions(heads[0], relation) if one.kind != "planned"]
        now = [one for one in versions if one.until >= FOREVER and one.status == "active"]
        if len(now) == 1 and any(one.status == "closed" for one in versions):
            current += now
    current.sort(key=lambda one: -one.assertions[-1].said_at)
    return [max(version.assertions, key=lambda one: one.said_at) for version in current]


def mark_outdated(space: Space, query: Query, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Return the evidence, its messages with what the facts know of later: that a state they tell of has ended.

    The state must be what is asked about, or most of what the record says: that somebody no longer plays cards says
    nothing of the broken wrist that the same message tells of.

    Args:
        space: the space of the evidence.
        query: understood; one of a time or of the past leaves the evidence as it is.
        evidence: best first.
    """
    if not asks_of_now(query):
        return tuple(evidence)
    return tuple(
        replace(item, outdated=_holds_instead(space, query, item.sources[0]))
        if item.kind in ("sentence", "segment") and item.sources and item.sources[0].turn.kind != "document"
        else item
        for item in evidence
    )


def _holds_instead(space: Space, query: Query, said: Source) -> str:
    """Return in words what holds instead of a state that a message tells of, or until when it did; "" if it holds."""
    found: dict[str, None] = {}
    for assertion in space.facts.assertions_in(said.turn.id):
        if assertion.negated or not (said.start <= assertion.start < said.end):
            continue
        version = space.facts.version_of(assertion)
        if version is None or version.kind != "state" or version.status != "closed" or version.until > query.now:
            continue
        stated = min(assertion.end, said.end) - assertion.start
        words_said = {*stems(version.tail), *stems(relations().get(version.relation).label)}
        asked = fact_query(query).demand(version.relation) > 0 or words_said.intersection(query.stems)
        if not asked and stated < TOLD * (said.end - said.start) and not _is_in_area(words_said, query):
            continue
        later = None if version.superseded_by is None else space.facts.version(version.superseded_by)
        day = weekday_and_day(version.until)
        found[f"{version.text} until {day}" if later is None else f"{later.text} from {day}"] = None
    return "; ".join(list(found)[:OUTDATED])


def _is_in_area(said: AbstractSet[str], query: Query) -> bool:
    """Return whether one of these stems tells of an area of life that a query asks about."""
    return any(not said.isdisjoint(area.told) for area in areas_asked(topic_of(query.text)))
