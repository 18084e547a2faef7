"""Describe contradictions between facts in words (DESIGN 4 step 4), so that the caller learns of them.

Three kinds are conflicts: a value that was contested by another with the same start (DESIGN D28), a denial of a value
that holds, and a value that holds together with its opposite ("likes" and "dislikes"). A value that followed another is
a change, not a conflict.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mcp_memory.domain.answers import RelationFacts
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import Version, verbalise
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import Millis


def conflicts(groups: Sequence[RelationFacts], since: Millis, until: Millis) -> tuple[str, ...]:
    """Return the conflicts about a time, each once, in the order of the groups.

    Args:
        groups: relations that the question asks about; opposites are looked for among them.
        since: first instant of the time asked about.
        until: first instant after it.
    """
    found: dict[str, None] = {}
    for group in groups:
        live = [version for version in group.versions if version.holds(since, until)]
        for sentence in (*_contested(group, live), *_denied(group, live), *_opposed(group, live, groups, since, until)):
            found[sentence] = None
    return tuple(found)


def _contested(group: RelationFacts, live: Iterable[Version]) -> Iterable[str]:
    """Yield each contested value that lost to a value that holds."""
    for kept in live:
        for lost in group.versions:
            if lost.status == "contested" and kept.since <= lost.since < kept.until and _key(lost) != _key(kept):
                yield f"{kept.text}, but it was also said: {lost.text}"


def _denied(group: RelationFacts, live: Iterable[Version]) -> Iterable[str]:
    """Yield each value that holds although it was denied for its time."""
    for version in live:
        for denial in group.denials:
            if entity_key(denial.tail) == entity_key(version.tail) and version.since <= denial.since < version.until:
                yield f"{version.text}, but it was also said that this does not hold"


def _opposed(
    group: RelationFacts, live: Iterable[Version], groups: Iterable[RelationFacts], since: Millis, until: Millis
) -> Iterable[str]:
    """Yield each value that holds together with its opposite, once per pair."""
    antonym = relations().get(group.relation).antonym
    if antonym is None or (relations().get(antonym).antonym == group.relation and antonym < group.relation):
        return
    opposites = [one for other in groups if other.relation == antonym for one in other.versions]
    for version in live:
        for other in opposites:
            if other.holds(since, until) and _key(other) == _key(version):
                yield f"{version.text}, but also: {verbalise(other.head, other.relation, other.tail)}"


def _key(version: Version) -> tuple[str, str]:
    return entity_key(version.head), entity_key(version.tail)
