"""Names exactly as asked, and names that may mean several people.

**Names exactly as asked** (`exact`): "Dalia" may or may not be Dalia Barlsen. Where the space takes them for one person
by their words alone (`view.names.Namesakes.assumed`), facts of exactly the name asked for count, and where others speak
otherwise, or there are only others, it is doubtful who is meant. Where a first name may mean several people
(`meanings`), nobody knows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.domain.answers import RelationFacts
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import Version
from mcp_memory.domain.paths import Root
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.language.tokens import words
from mcp_memory.view.facts import Facts

COMPARED = 256
"""Entities with a word in common that are compared with a name."""


def meanings(facts: Facts, query: Query, roots: Sequence[Root]) -> tuple[str, ...]:
    """Return the keys of the people whom a first or last name in a query may mean, if there are several."""
    people = [root.key for root in roots if not root.soft and facts.kind(root.key) == "person"]
    for asked in map(entity_key, query.names):
        found = [key for key in people if key != asked and asked in (key.split()[0], key.split()[-1])]
        if len(found) > 1 and facts.key(asked) not in people:
            return tuple(found)
    return ()


def exact(facts: Facts, query: Query, group: RelationFacts, moment: Millis) -> RelationFacts:
    """Return a group with the facts of exactly the name asked for, or as doubtful where they may be of another.

    Args:
        facts: the facts of the space.
        query: understood.
        group: the facts of one relation of an entity that the query names.
        moment: the time asked about.
    """
    asked = f" {' '.join(words(query.text))} "
    if _known_in_part(facts, query, group.key):
        return replace(group, doubtful=True)
    assumed = facts.namesakes.assumed(group.key)
    if not assumed:
        return group
    whole = f" {' '.join(words(group.key))} " in asked
    others = set(assumed) if whole else {entity_key(name) for name in group.names} - set(assumed)
    if not whole and not any(f" {part} " in asked for part in assumed):
        return group
    told = [one for version in (*group.versions, *group.suspected) for one in (*version.assertions, *version.ended_by)]
    ids = {one.id for one in told if entity_key(one.head if group.forward else one.tail) in others}
    if not ids:
        return group
    if group.forward:
        left = facts.versions_without(group.key, group.relation, ids)
    else:
        left = tuple(
            version
            for version in (*group.versions, *group.suspected)
            if any(one.id not in ids for one in version.assertions)
        )
    now = _values(group, group.versions, moment)
    if not left:
        return replace(group, doubtful=True)
    mine = _values(group, left, moment)
    return replace(
        group,
        versions=tuple(version for version in left if version.confidence >= facts.stable),
        suspected=tuple(version for version in left if version.confidence < facts.stable),
        doubtful=group.forward and not now <= mine,
    )


def _values(group: RelationFacts, versions: Sequence[Version], moment: Millis) -> set[str]:
    return {group.value(version) for version in versions if version.holds(moment, moment + 1)}


def _known_in_part(facts: Facts, query: Query, key: str) -> bool:
    """Return whether somebody is known by one word, which the query has in a longer name of a person."""
    if " " in key or facts.kind(key) != "person":
        return False
    names = [entity_key(name) for name in query.names]
    longer = any(
        " " in name and key in (name.split()[0], name.split()[-1]) and facts.key(name) != key for name in names
    )
    return longer and key not in names
