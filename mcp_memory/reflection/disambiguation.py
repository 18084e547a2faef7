"""Disambiguation: find names that certainly mean one person (QRMeM §2.1, DESIGN 2.5).

The paper asks a language model whether two nodes of its graph are the same, and merges them. Here one rule is sure
enough to act on: two people, one of whose names holds all words of the other ("Anna Patel", "Anna Maria Patel"), who
come up in the same session, if no third name would fit as well, no fact joins the two, no single-valued fact tells them
apart, and not both of them speak. A wrong merge misleads, a missed one only costs a step.

A caller can state others by a fact ``also_known_as``. Names that were stated to be different stay apart.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import pairwise

from mcp_memory.view.facts import Facts
from mcp_memory.view.space import Space

GENERATIONS = frozenset(("jr", "sr", "junior", "senior", "ii", "iii", "iv", "elder", "younger"))
"""Words that distinguish a father from his son."""
REASON = "one name holds the other, and both come up in one session"
_ALIAS = "also_known_as"


def same_people(space: Space) -> list[tuple[str, str]]:
    """Return the pairs of names that surely mean one person, as written most often; known aliases are left out.

    The longer name, which is kept, stands before its alias, and each alias in one pair.
    """
    facts, sessions = space.facts, _sessions(space)
    speakers = {facts.key(who) for who in space.speakers}

    def is_one(short: str, long: str) -> bool:
        together = not sessions.get(short, set()).isdisjoint(sessions.get(long, set()))
        return (
            together
            and not {short, long} <= speakers  # two who speak are two people
            and not _joined(facts, short, long)
            and not _told_apart(facts, short, long)
            and not facts.alias_denied(short, long)
            and facts.could_be_alias(short, long)
        )

    pairs = (pair for pair in _contained_names(facts) if is_one(*pair))
    return [(facts.name(long), facts.name(short)) for short, long in pairs]


def _contained_names(facts: Facts) -> Iterator[tuple[str, str]]:
    """Yield people with the only longer name that holds theirs; of nested longer names the shortest."""
    people = [key for key in facts.entities() if facts.kind(key) == "person"]
    having: dict[str, set[str]] = defaultdict(set)
    for key in people:
        for word in set(key.split()):
            having[word].add(key)
    for key in people:
        words = set(key.split())
        holding = set.intersection(*(having[word] for word in words)) - {key}
        longer = sorted((name for name in holding if words < set(name.split())), key=lambda n: (len(n.split()), n))
        nested = all(set(a.split()) < set(b.split()) for a, b in pairwise(longer))
        if longer and nested and not (set(longer[0].split()) - words) & GENERATIONS:
            yield key, longer[0]


def _sessions(space: Space) -> Mapping[str, set[str]]:
    """Return the sessions in which each entity comes up, by key."""
    sessions: dict[str, set[str]] = defaultdict(set)
    for assertion in space.facts.rows:
        for name in (assertion.head, assertion.tail):
            sessions[space.facts.key(name)].add(space.turns[assertion.turn_id].session)
    return sessions


def _joined(facts: Facts, one: str, other: str) -> bool:
    """Return whether a fact joins the two: a person who knows another is not that person."""
    return any(
        version.relation != _ALIAS and facts.key(version.tail) == tail
        for head, tail in ((one, other), (other, one))
        for version in facts.from_(head, suspected=True)
    )


def _told_apart(facts: Facts, one: str, other: str) -> bool:
    """Return whether a single-valued relation has two values for them at some time."""
    shared = set(facts.relations_of(one)) & set(facts.relations_of(other))
    return any(
        facts.key(a.tail) != facts.key(b.tail) and a.holds(b.since, b.until)
        for relation in shared
        if facts.cardinality(relation) == "single"
        for a in facts.versions(one, relation)
        for b in facts.versions(other, relation)
    )
