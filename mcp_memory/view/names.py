"""Which names mean the same entity, how it is written, and of what kind it is.

Everything is a function of all names that were met and all aliases that are known, so that the order of arrival changes
nothing. A name means another's bearer where exactly one is left of these two sorts:

- people of whose name it is the first or last word: "Patel" is "Anna Patel" as long as she is the only person of that
  name here and nothing says that Patel is a place or a thing;
- whoever is known by it too ("Robert is also known as Bob"), unless it is met as a kind of thing that they are not.

So a name that two may mean, be it by its words or as an alias, means neither of them, and stands for itself. Links are
followed from name to name, "Bobby" to "Bob" to "Robert"; of names that each stand for the next in a ring, the longest
(then the last in the alphabet) is the one that all of them mean.

Entities go by their *keys* (``domain/entities.py``). The key of a name that means somebody else's is kept beside it:
what was said of "Patel" stays where it is, and is read together with what was said of "Anna Patel" for as long as the
one means the other.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from mcp_memory.domain.entities import entity_key, titled
from mcp_memory.domain.relations import EntityType


@dataclass(frozen=True, slots=True)
class Renamed:
    """A key that means another entity than before.

    Attributes:
        key: of the name.
        before: the key of the entity that it meant.
    """

    key: str
    before: str


class Names:
    """The names that were met in one space."""

    def __init__(self) -> None:
        self._spellings: dict[str, Counter[str]] = defaultdict(Counter)
        self._types: dict[str, Counter[EntityType]] = defaultdict(Counter)
        self._people: dict[str, dict[str, None]] = defaultdict(dict)  # first or last word → people of several words
        self._bearers: dict[str, dict[str, None]] = defaultdict(dict)  # alias → who is said to be known by it
        self._aliases: dict[str, dict[str, None]] = defaultdict(dict)  # and the other way round
        self._keys: dict[str, str] = {}  # of every name as written
        self._usual: dict[str, str] = {}  # key → how it is written most often, as far as anybody asked
        self._words: dict[str, dict[str, None]] = {}  # of keys → the keys that hold them
        self._meant: dict[str, str] = {}  # key → whom it means, as far as anybody asked since the last news
        self._members: dict[str, tuple[str, ...]] = {}  # and the keys that mean it

    def __contains__(self, key: str) -> bool:
        return key in self._spellings

    def __iter__(self) -> Iterator[str]:
        """Yield the keys of all names, in the order in which they came up."""
        return iter(self._spellings)

    def meet(self, name: str, kind: EntityType | None) -> tuple[Renamed, ...]:
        """Take note of a name; the keys that mean something else since then come back.

        Args:
            name: as written.
            kind: what its bearer is, where that is known.
        """
        key = self._keys.get(name)
        if key is None:
            key = self._keys[name] = entity_key(name)
            for word in key.split():
                self._words.setdefault(word, {})[key] = None
            self._forget()
        self._spellings[key][name.strip()] += 1
        self._usual.pop(key, None)
        learnt_kinds: set[EntityType] = {"person"} if titled(name) else set()
        if kind:
            learnt_kinds.add(kind)
        if learnt_kinds <= self._types[key].keys():
            self._types[key].update(learnt_kinds)
            return ()
        before = self._hanging_on(key)
        self._forget()
        self._types[key].update(learnt_kinds)
        words = key.split()
        for part in dict.fromkeys((words[0], words[-1])) if len(words) > 1 else ():
            if self._types[key].keys() == {"person"}:
                self._people[part][key] = None
            else:
                self._people[part].pop(key, None)
        return self._renamed(before)

    def call(self, bearer: str, alias: str, *, known: bool) -> tuple[Renamed, ...]:
        """Take note of whether somebody is known by another name too; what means something else since then comes back.

        Args:
            bearer: the key of the name by which it was said.
            alias: the key of the other name.
            known: whether it counts.
        """
        if bearer == alias or known == (bearer in self._bearers.get(alias, ())):
            return ()
        self._aliases[bearer][alias] = None  # stays, also where it does not count: it only says where to look
        self._members.clear()
        before = self._hanging_on(alias)
        self._forget()
        if known:
            self._bearers[alias][bearer] = None
        else:
            del self._bearers[alias][bearer]
        return self._renamed(before)

    def may_become(self, alias: str, bearer: str) -> bool:
        """Return whether a name would mean somebody if it became their alias, both given by their keys.

        It would where it may mean nobody else yet, and is met as nothing that they are not.
        """
        own, kinds = (self._types[key].keys() if key in self._types else set() for key in (bearer, alias))
        return not any(True for _ in self._may_mean(alias)) and (not own or kinds <= own)

    def written(self, name: str) -> str:
        """Return the key of a name by itself, whomever it means."""
        return self._keys.get(name) or entity_key(name)

    def meant(self, key: str) -> str:
        """Return the key of the entity that is meant by a name of which this is the key."""
        if key not in self._people and key not in self._bearers:
            return key
        if key not in self._meant:
            self._meant[key] = _followed(key, self._stands_for)
        return self._meant[key]

    def members(self, key: str) -> Sequence[str]:
        """Return the keys of all names that were met and mean an entity, its own first."""
        if " " not in key and key not in self._aliases:
            return (key,)
        if key not in self._members:
            near = (other for other in self._reaching(key) if other != key and other in self._spellings)
            self._members[key] = key, *sorted(other for other in near if self.meant(other) == key)
        return self._members[key]

    def usual(self, key: str) -> str:
        """Return how an entity is written most often; ties go to the longer, then the first in the alphabet."""
        if key not in self._spellings:
            return key
        if key not in self._usual:
            spellings = self._spellings[key]
            self._usual[key] = min(spellings, key=lambda name: (-spellings[name], -len(name), name))
        return self._usual[key]

    def all(self, key: str) -> tuple[str, ...]:
        """Return every way in which an entity is written, its usual name first."""
        usual = self.usual(key)
        others = sorted({name for member in self.members(key) for name in self._spellings.get(member, ())} - {usual})
        return (usual, *others)

    def kind(self, key: str) -> EntityType | None:
        """Return what an entity is by all that told its kind, or None where nothing did."""
        votes: Counter[EntityType] = Counter()
        for member in self.members(key):
            votes.update(self._types.get(member, ()))
        ordered: list[EntityType] = sorted(votes, key=lambda kind: (-votes[kind], kind))
        return ordered[0] if ordered else None

    def holds(self, word: str) -> bool:
        """Return whether a word, as `entity_key` writes it, is one of some name."""
        return word in self._words

    def sharing(self, words: Iterable[str], most: int) -> Iterator[str]:
        """Yield the keys in which some word stands, those with rarer words first; a key may come more than once.

        Args:
            words: as `entity_key` writes them.
            most: words are passed over, from the rarest on, once they and those before stand in more keys than this.
        """
        known = ((len(keys), word, keys) for word in dict.fromkeys(words) if (keys := self._words.get(word)))
        for number, _, keys in sorted(known, key=lambda entry: entry[:2]):
            most -= number
            if most < 0:
                break
            yield from keys

    def _forget(self) -> None:
        """Forget what names mean and who means what: it may be otherwise with the next name, kind or alias."""
        self._meant.clear()
        self._members.clear()

    def _may_mean(self, key: str) -> Iterator[str]:
        """Yield the keys of those whom a name may mean beside what bears it itself, each once."""
        kinds = self._types[key].keys() if key in self._types else frozenset[EntityType]()
        people = self._people.get(key, {}) if kinds <= {"person"} else {}
        yield from people
        for bearer in self._bearers.get(key, ()):
            own = self._types[bearer].keys()
            if bearer not in people and (not own or kinds <= own):
                yield bearer

    def _first(self, key: str) -> str:
        """Return whom a name means at the next step, where it can mean one alone."""
        if key not in self._people and key not in self._bearers:
            return key
        meant = list(islice(self._may_mean(key), 2))
        return meant[0] if len(meant) == 1 else key

    def _stands_for(self, key: str) -> str:
        """Return whom a name means at the next step; of several whom it may mean, all may be the same."""
        found = None
        for other in self._may_mean(key):
            meant = _followed(other, self._first)
            if found not in (None, meant):
                return key  # seldom later than at the second: thousands may be called John
            found = meant
        return found or key

    def _reaching(self, key: str) -> list[str]:
        """Return the keys of the names that may mean what this one means, itself among them."""
        found = {key: None}
        left = [key]
        while left:
            words = left[-1].split()
            short = (words[0], words[-1]) if len(words) > 1 else ()
            near = [other for other in (*short, *self._aliases.get(left.pop(), ())) if other not in found]
            found |= dict.fromkeys(near)
            left += dict.fromkeys(near)
        return list(found)

    def _hanging_on(self, key: str) -> dict[str, str]:
        """Return what the names mean whose meaning may change with that of this one."""
        return {other: self.meant(other) for other in self._reaching(key) if other in self._spellings}

    def _renamed(self, before: Mapping[str, str]) -> tuple[Renamed, ...]:
        return tuple(Renamed(key, meant) for key, meant in before.items() if self.meant(key) != meant)


def _followed(key: str, step: Callable[[str], str]) -> str:
    """Return where the steps from a name end; where they go round, the longest name on the ring."""
    seen = [key]
    while (following := step(key)) != key:
        if following in seen:
            return max(seen[seen.index(following) :], key=lambda name: (len(name), name))
        seen.append(following)
        key = following
    return key
