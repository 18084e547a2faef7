"""Decide which names mean the same entity, its usual spelling, and its type.

Everything is a function of all known names and aliases, so that the order of arrival changes nothing. A name means
another name's entity if it has exactly one candidate of these two sorts:

- a person whose first or last name it is: "Patel" is "Anna Patel" as long as she is the only person of that name in the
  space, no fact makes Patel a place or a thing, and not both names speak (DESIGN 2.5);
- an entity that has it as an alias ("Robert is also known as Bob"), unless the name occurs with a type that the entity
  does not have.

A name with two candidates, by its words or as an alias, means neither of them, but only itself. Links are followed from
name to name, "Bobby" to "Bob" to "Robert"; if the links form a ring, all its names mean the longest one (then the last
in the alphabet).

Entities are identified by their *keys* (``domain/entities.py``). A name that means another entity keeps its own key:
assertions about "Patel" stay where they are, and are read together with those about "Anna Patel" as long as the one
means the other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from mcp_memory.domain.entities import entity_key, titled
from mcp_memory.domain.relations import EntityType
from mcp_memory.domain.turns import USER, USERS

CountedT = TypeVar("CountedT", bound=str)


Renamed = dict[str, str]
"""The keys of names that mean another entity than before, with the key of the entity that each meant."""


class Names:
    """The names that occur in one space."""

    def __init__(self) -> None:
        self._spellings: dict[str, dict[str, int]] = defaultdict(dict)  # with how often each occurs
        self._types: dict[str, dict[EntityType, int]] = defaultdict(dict)
        self._people: dict[str, dict[str, None]] = defaultdict(dict)  # first or last word → people of several words
        self._speakers: set[str] = set()
        self._bearers: dict[str, dict[str, None]] = defaultdict(dict)  # alias → entities that have it
        self._aliases: dict[str, dict[str, None]] = defaultdict(dict)  # and in the other direction
        self._keys: dict[str, str] = {}  # of every spelling
        self._usual: dict[str, str] = {}  # key → most frequent spelling; a cache
        self._words: dict[str, dict[str, None]] = {}  # word → the keys that contain it
        self._entity: dict[str, str] = {}  # key → the entity it means; a cache
        self._members: dict[str, tuple[str, ...]] = {}  # entity → the keys that mean it; a cache

    def __contains__(self, key: str) -> bool:
        return key in self._spellings

    def __iter__(self) -> Iterator[str]:
        """Yield the keys of all names, in the order of their first occurrence."""
        return iter(self._spellings)

    def add(self, name: str, kind: EntityType | None) -> Renamed:
        """Add an occurrence of a name and return what means another entity since then.

        Args:
            name: as written.
            kind: the type of its entity, if that is known.
        """
        key = self._keys.get(name)
        if key is None:
            key = self._keys[name] = entity_key(name)
            for word in key.split():
                self._words.setdefault(word, {})[key] = None
            self._clear_caches()
        _count(self._spellings[key], (name.strip(),))
        self._usual.pop(key, None)
        kinds: set[EntityType] = {"person"} if titled(name) else set()
        if kind:
            kinds.add(kind)
        if kinds <= self._types[key].keys():
            _count(self._types[key], kinds)
            return {}
        before = self._entities_near(key)
        self._clear_caches()
        _count(self._types[key], kinds)
        words = key.split()
        for part in dict.fromkeys((words[0], words[-1])) if len(words) > 1 else ():
            if self._types[key].keys() == {"person"}:
                self._people[part][key] = None
            else:
                self._people[part].pop(key, None)
        return self._renamed(before)

    def set_alias(self, bearer: str, alias: str, *, known: bool) -> Renamed:
        """Set whether an entity has an alias, and return what means another entity since then.

        Args:
            bearer: the key of the name that the alias was stated for.
            alias: the key of the other name.
            known: whether the alias counts.
        """
        if bearer == alias or known == (bearer in self._bearers.get(alias, ())):
            return {}
        self._aliases[bearer][alias] = None  # kept even if it does not count: it only says where to look
        self._members.clear()
        before = self._entities_near(alias)
        self._clear_caches()
        if known:
            self._bearers[alias][bearer] = None
        else:
            del self._bearers[alias][bearer]
        return self._renamed(before)

    def add_speaker(self, key: str) -> Renamed:
        """Add a speaker by the key of their name, and return what means another entity since then.

        Two speakers are two people: the name of the one is not short for that of the other.
        """
        before = self._entities_near(key)
        self._clear_caches()
        self._speakers.add(key)
        return self._renamed(before)

    def assumed_names(self, entity: str) -> tuple[str, ...]:
        """Return the parts of a person's name that mean them by their words alone."""
        words = entity.split()
        parts = dict.fromkeys((words[0], words[-1])) if len(words) > 1 else ()
        return tuple(one for one in parts if one in self and self.entity(one) == entity and not self._bearers.get(one))

    def could_be_alias(self, alias: str, bearer: str) -> bool:
        """Return whether a name would mean an entity if it became its alias, both given by their keys.

        It would if it has no candidate yet, and occurs with no type that the entity does not have.
        """
        own, kinds = (self._types[key].keys() if key in self._types else set() for key in (bearer, alias))
        return not any(True for _ in self._candidates(alias)) and (not own or kinds <= own)

    def key(self, name: str) -> str:
        """Return the key of a name itself, whichever entity it means."""
        return self._keys.get(name) or entity_key(name)

    def entity(self, key: str) -> str:
        """Return the key of the entity that is meant by the name with this key."""
        if key not in self._people and key not in self._bearers:
            return key
        if key not in self._entity:
            self._entity[key] = _end_of_links(key, self._next_link)
        return self._entity[key]

    def members(self, key: str) -> Sequence[str]:
        """Return the keys of all names that occur and mean an entity, its own first."""
        if " " not in key and key not in self._aliases:
            return (key,)
        if key not in self._members:
            near = (other for other in self._reaching(key) if other != key and other in self._spellings)
            self._members[key] = key, *sorted(other for other in near if self.entity(other) == key)
        return self._members[key]

    def usual(self, key: str) -> str:
        """Return the most frequent spelling of an entity; ties go to the longer, then the first in the alphabet.

        The user is "user", however often an import spells it otherwise.
        """
        if key not in self._spellings or key == USER:
            return key
        if key not in self._usual:
            spellings = self._spellings[key]
            self._usual[key] = min(spellings, key=lambda name: (-spellings[name], -len(name), name))
        return self._usual[key]

    def spellings(self, key: str) -> tuple[str, ...]:
        """Return every spelling of an entity's names, the most frequent one first."""
        usual = self.usual(key)
        others = sorted({name for member in self.members(key) for name in self._spellings.get(member, ())} - {usual})
        return (usual, *others)

    def kind(self, key: str) -> EntityType | None:
        """Return the type of an entity by all evidence of it, or None if there is none."""
        votes: Counter[EntityType] = Counter()
        for member in self.members(key):
            votes.update(self._types.get(member, {}))
        ordered: list[EntityType] = sorted(votes, key=lambda kind: (-votes[kind], kind))
        return ordered[0] if ordered else None

    def has_word(self, word: str) -> bool:
        """Return whether a word, as `entity_key` writes it, is part of some name."""
        return word in self._words

    def keys_with_words(self, words: Iterable[str], most: int) -> Iterator[str]:
        """Yield the keys that contain some word, those with rarer words first; a key may come more than once.

        Args:
            words: as `entity_key` writes them.
            most: keys; from the rarest word on, words are used until together they occur in more keys than this.
        """
        known = ((len(keys), word, keys) for word in dict.fromkeys(words) if (keys := self._words.get(word)))
        for number, _, keys in sorted(known, key=lambda entry: entry[:2]):
            most -= number
            if most < 0:
                break
            yield from keys

    def _clear_caches(self) -> None:
        """Forget which entities names mean: a new name, type or alias may change it."""
        self._entity.clear()
        self._members.clear()

    def _candidates(self, key: str) -> Iterator[str]:
        """Yield the keys of the entities that a name may mean other than itself, each once."""
        kinds = self._types[key].keys() if key in self._types else frozenset[EntityType]()
        people = [*self._people.get(key, ())] if kinds <= {"person"} and key not in USERS else []
        if key in self._speakers:
            people = [one for one in people if one not in self._speakers]
        yield from people
        for bearer in self._bearers.get(key, ()):
            own = self._types[bearer].keys()
            if bearer not in people and (not own or kinds <= own):
                yield bearer

    def _only_candidate(self, key: str) -> str:
        """Return the one candidate of a name, or the name itself."""
        if key not in self._people and key not in self._bearers:
            return key
        candidates = list(islice(self._candidates(key), 2))
        return candidates[0] if len(candidates) == 1 else key

    def _next_link(self, key: str) -> str:
        """Return the next link of a name; several candidates count as one if all lead to the same entity."""
        result = None
        for candidate in self._candidates(key):
            entity = _end_of_links(candidate, self._only_candidate)
            if result not in (None, entity):
                return key  # seldom later than at the second candidate: thousands may be called John
            result = entity
        return result or key

    def _reaching(self, key: str) -> list[str]:
        """Return the keys of the names that may mean the same entity as this one, itself among them."""
        found = {key: None}
        left = [key]
        while left:
            words = left[-1].split()
            short = (words[0], words[-1]) if len(words) > 1 else ()
            near = [other for other in (*short, *self._aliases.get(left.pop(), ())) if other not in found]
            found |= dict.fromkeys(near)
            left += dict.fromkeys(near)
        return list(found)

    def _entities_near(self, key: str) -> dict[str, str]:
        """Return the entities of the names whose meaning may change when the meaning of this one does."""
        return {other: self.entity(other) for other in self._reaching(key) if other in self._spellings}

    def _renamed(self, before: Mapping[str, str]) -> Renamed:
        return {key: entity for key, entity in before.items() if self.entity(key) != entity}


def _count(counts: dict[CountedT, int], values: Iterable[CountedT]) -> None:
    for value in values:
        counts[value] = counts.get(value, 0) + 1


def _end_of_links(key: str, step: Callable[[str], str]) -> str:
    """Return where the links from a name end; if they form a ring, the longest name on it."""
    seen = [key]
    while (following := step(key)) != key:
        if following in seen:
            return max(seen[seen.index(following) :], key=lambda name: (len(name), name))
        seen.append(following)
        key = following
    return key
