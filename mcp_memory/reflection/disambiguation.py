"""Disambiguation: find names that certainly mean one entity (QRMeM §2.1, DESIGN 2.5).

The paper asks a language model whether two nodes of its graph are the same, and merges them. Here two rules are sure
enough to act on. Both are cautious: a wrong merge misleads, a missed one only costs a step.

- names that are the same but for punctuation ("e-mail" and "email"); case, accents and titles never count;
- people, one of whose names holds all words of the other ("Anna Patel", "Anna Maria Patel"), who come up in the same
  session, if no third name would fit as well, no fact joins the two, no single-valued fact tells them apart, and not
  both of them speak.

A caller can state others by a fact ``also_known_as``. Names that were stated to be different stay apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from mcp_memory.domain.entities import entity_key
from mcp_memory.view.facts import Facts
from mcp_memory.view.space import Space

GENERATIONS = frozenset(("jr", "sr", "junior", "senior", "ii", "iii", "iv", "elder", "younger"))
"""Words that distinguish a father from his son."""
_ALIAS = "also_known_as"


@dataclass(frozen=True, slots=True)
class AliasPair:
    """Two names that mean one entity.

    Attributes:
        name: the name to keep: of the two the one with more facts, as written most often.
        alias: the other name.
        reason: in words.
    """

    name: str
    alias: str
    reason: str


def normalise(name: str) -> str:
    """Return a name without case, accents, punctuation, articles and titles; words stay apart."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    kept = "".join(one for one in letters if one.isalnum() or one.isspace() or one in "+#")
    return entity_key(" ".join(kept.split())) if kept.strip() else ""


class Entities:
    """The entities of one space, compared with each other."""

    def __init__(self, space: Space) -> None:
        self._space = space
        self._facts: Facts = space.facts
        self.keys = self._facts.entities()

    def same(self) -> list[AliasPair]:
        """Return the pairs that surely mean one entity, each alias once; known aliases are left out."""
        found: dict[str, AliasPair] = {}
        for one, other in self._spelt_alike():
            self._add(found, one, other, "the names differ in punctuation alone")
        for short, long in self._contained_names():
            if short not in found and self._one_person(short, long):
                self._add(found, long, short, "one name holds the other, and both come up in one session", fixed=True)
        return list(found.values())

    # Sure pairs

    def _add(self, found: dict[str, AliasPair], one: str, other: str, reason: str, *, fixed: bool = False) -> None:
        """Add a pair, named by the entity with more facts, or with ``fixed`` by the first."""
        name, alias = (one, other) if fixed else self._better_known_first(one, other)
        if alias not in found and not self._apart(name, alias) and self._facts.could_be_alias(alias, name):
            found[alias] = AliasPair(self._facts.name(name), self._facts.name(alias), reason)

    def _spelt_alike(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs whose names are the same but for punctuation."""
        by_norm: dict[str, list[str]] = defaultdict(list)
        for key in self.keys:
            by_norm[normalise(self._facts.name(key))].append(key)
        for norm, keys in by_norm.items():
            first, *others = sorted(keys, key=lambda key: (-self._facts.degree(key), -len(key), key))
            for other in others if norm else ():
                if _numbers(first) == _numbers(other):  # "3.5" is not 35
                    yield first, other

    def _contained_names(self) -> Iterator[tuple[str, str]]:
        """Yield people with the only longer name that holds theirs; of nested longer names the shortest."""
        people = [key for key in self.keys if self._facts.kind(key) == "person"]
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

    def _one_person(self, one: str, other: str) -> bool:
        speakers = {self._facts.key(who) for who in self._space.speakers}
        if {one, other} <= speakers:
            return False  # two who speak are two people
        together = self._sessions.get(one, set()) & self._sessions.get(other, set())
        return bool(together) and not self._joins(one, other) and not self._conflict(one, other)

    def _apart(self, one: str, other: str) -> bool:
        """Return whether two cannot be one entity: they are of two kinds, or an assertion denies it."""
        kinds = {kind for key in (one, other) if (kind := self._facts.kind(key)) is not None}
        return len(kinds) > 1 or self._facts.alias_denied(one, other)

    def _joins(self, one: str, other: str) -> bool:
        """Return whether a fact joins the two: a person who knows another is not that person."""
        ends = ((one, other), (other, one))
        return any(
            version.relation != _ALIAS and self._facts.key(version.tail) == tail
            for head, tail in ends
            for version in self._facts.from_(head, suspected=True)
        )

    def _conflict(self, one: str, other: str) -> bool:
        """Return whether a single-valued relation has two values for them at some time."""
        facts = self._facts
        for relation in set(facts.relations_of(one)) & set(facts.relations_of(other)):
            if facts.cardinality(relation) == "single":
                for a in facts.versions(one, relation):
                    for b in facts.versions(other, relation):
                        if facts.key(a.tail) != facts.key(b.tail) and a.holds(b.since, b.until):
                            return True
        return False

    @cached_property
    def _sessions(self) -> Mapping[str, set[str]]:
        """The sessions in which each entity comes up, by key."""
        sessions: dict[str, set[str]] = defaultdict(set)
        for assertion in self._facts.rows:
            for name in (assertion.head, assertion.tail):
                sessions[self._facts.key(name)].add(self._space.turns[assertion.turn_id].session)
        return sessions

    def _better_known_first(self, one: str, other: str) -> tuple[str, str]:
        """Return the two, the one with more facts first, then the longer."""
        first, second = sorted((one, other), key=lambda key: (-self._facts.degree(key), -len(key), key))
        return first, second


def _numbers(name: str) -> list[str]:
    return re.findall(r"\d+", name)
