"""Names exactly as asked, names that may mean several people, and people who merely share a name.

**Names exactly as asked** (`exact`): "Dalia" may or may not be Dalia Barlsen. Where the space takes them for one person
by their words alone (`view.names.Namesakes.assumed`), facts of exactly the name asked for come first, and others count
only with a doubt that the answer words. Where a first name may mean several people (`meanings`), all of them are
answered for. What is told of people who merely share a name with the one asked for (`namesakes`: Dalia Holt) is no
answer at all.
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


def namesakes(facts: Facts, query: Query) -> frozenset[str]:
    """Return the keys of the names that share their first or last word with a name in a query, but mean others.

    A name that may mean the same person, though nobody said so, is among them.
    """
    found: set[str] = set()
    for asked in map(entity_key, query.names):
        own = facts.key(asked)
        for entity in facts.entities_with_words(asked.split(), COMPARED):
            if facts.kind(entity) != "person":
                continue
            doubtful = facts.namesakes.assumed(entity) if entity == own else ()
            keys = {entity_key(name) for name in facts.names(entity)}
            if own == entity and asked in doubtful:
                doubtful = tuple(keys - {asked})
            elif own == entity and asked not in keys:
                continue  # nothing is told under this name: it means the only person who bears it
            found |= {key for key in keys if (own != entity or key in doubtful) and _share_an_end(key, asked)}
    return frozenset(found - set(map(entity_key, query.names)))


def meanings(facts: Facts, query: Query, roots: Sequence[Root]) -> tuple[str, ...]:
    """Return the keys of the people whom a first or last name in a query may mean, if there are several."""
    people = [root.key for root in roots if not root.soft and facts.kind(root.key) == "person"]
    for asked in map(entity_key, query.names):
        found = [key for key in people if key != asked and asked in (key.split()[0], key.split()[-1])]
        if len(found) > 1 and facts.key(asked) not in people:
            return tuple(found)
    return ()


def exact(facts: Facts, query: Query, group: RelationFacts, moment: Millis) -> RelationFacts:
    """Return a group with the facts of exactly the name asked for, or with the doubt that they are of another name.

    Args:
        facts: the facts of the space.
        query: understood.
        group: the facts of one relation of an entity that the query names.
        moment: the time asked about.
    """
    asked = f" {' '.join(words(query.text))} "
    if shorter := _known_in_part(facts, query, group.key):
        return replace(group, doubt=f" (told of {facts.name(shorter)})")
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
    other = next(name for name in group.names if entity_key(name) in others)
    now = _values(group, group.versions, moment)
    if not left:
        return replace(group, doubt=f" (told of {other})")
    mine = _values(group, left, moment)
    rivals = [value for value in now if value not in mine] if group.forward else []
    return replace(
        group,
        versions=tuple(version for version in left if version.confidence >= facts.stable),
        suspected=tuple(version for version in left if version.confidence < facts.stable),
        doubt=f", or {' or '.join(rivals)} ({other})" if rivals else "",
    )


def _values(group: RelationFacts, versions: Sequence[Version], moment: Millis) -> list[str]:
    return list(dict.fromkeys(group.value(version) for version in versions if version.holds(moment, moment + 1)))


def _known_in_part(facts: Facts, query: Query, key: str) -> str | None:
    """Return the key of a person of one word, if the query names somebody of several words with this one among them."""
    if " " in key or facts.kind(key) != "person":
        return None
    names = [entity_key(name) for name in query.names]
    longer = any(
        " " in name and key in (name.split()[0], name.split()[-1]) and facts.key(name) != key for name in names
    )
    return key if longer and key not in names else None


def _share_an_end(one: str, other: str) -> bool:
    first, second = one.split(), other.split()
    return (
        bool(first and second)
        and one != other
        and (
            first[0] == second[0]
            or first[-1] == second[-1]
            or (len(first) == 1 and first[0] == second[-1])
            or (len(second) == 1 and second[0] == first[-1])
        )
    )
