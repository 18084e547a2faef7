"""Decide which names mean the same entity, its usual spelling, and its type; and which names were given to whom.

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

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

from mcp_memory.domain.entities import Alias, entity_key, titled
from mcp_memory.domain.facts import CERTAIN, Assertion
from mcp_memory.domain.relations import EntityType, relations
from mcp_memory.domain.times import BEGINNING
from mcp_memory.domain.turns import USER, USERS
from mcp_memory.view.assertions import Assertions

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
        """Add an occurrence of a name, and return what means another entity since then."""
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
        """Set whether the name that was stated as an alias of another counts; return what means another since then.

        Both are given by their keys.
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


# Stated names, which join a speaker, or the description of a relative, with a name (DESIGN 2.5).
#
# "I'm Elin" is a fact: (user, named, Elin). From then on "Elin" and the speaker "user" mean one entity. "My sister
# Nele" is one too, (user, sibling_of, Nele): it joins "user's sister" with "Nele". A join is a function of all that was
# recorded, like every other alias: a later statement that makes it doubtful undoes it, and a denied
# ``also_known_as`` revokes it. A speaker is not joined with
#
# - the name of another speaker, but for the user, who writes under several labels;
# - the name of somebody whom the speaker relates to ("my friend Elin"), or who is another speaker's relative or pet;
# - a second name beside the first, unless the speaker corrected it ("actually I'm Elin"), or one contains the other.
#
# A description with several names ("my sister Nele", "my sister Ida") is joined with none of them. A name with several
# descriptions ("my brother Sam", "my boss Sam") may be that of several people. What is told of them is folded apart by
# its description, so that nothing about the one ends what is told of the other, and none of it is certain.

NAMED = "named"
"""The relation whose tail is the name of its head."""
ALIAS = "also_known_as"
"""The relation whose tails are other names of its head."""
_OWNING = "'s "
_AROUND = 60  # characters beside a statement in which the words that describe somebody are looked for
_CALLED = r"(?:(?:['’]s| is| was) (?:called|named)|['’]s name(?:['’]s| is| was)|,)?"
_OWNED = re.compile(
    r"(?:\b(?:[Mm]y|[Oo]ur|[Hh]is|[Hh]er|[Tt]heir)|\w['’]s)\s(?:[\w-]+\s){0,2}?(?P<what>[a-z][a-z-]+)\s$"
)
_NO_KIND = frozenset(("is", "was", "and", "or", "with", "to", "of", "not", "called", "named"))

Join = tuple[str, str]
"""The key of an entity and the key of another name of it."""


class GivenNames:
    """The names that were given to speakers and to described relatives in one space.

    Args:
        assertions: the assertions of the space.
        names: the names of the space.
        stable: the confidence below which a statement joins nothing.
        text_of: returns the text of a turn by its id, "" if it is not known.
        is_meant: returns whether a turn, by its id, is certain to be meant as it stands (``frames.py``).

    Attributes:
        speakers: the keys of the names of all speakers.
    """

    def __init__(
        self,
        assertions: Assertions,
        names: Names,
        stable: float,
        text_of: Callable[[str], str],
        is_meant: Callable[[str], bool],
    ) -> None:
        self.set_functions(text_of, is_meant)
        self._assertions = assertions
        self._names = names
        self._stable = stable
        self.speakers = {USER}
        self._naming: dict[str, list[tuple[int, str]]] = defaultdict(list)  # head → rows and the names that they give
        self._joins: dict[Join, Assertion] = {}
        self._found: dict[str, list[tuple[Join, Assertion]]] = {}  # by head
        self._left: set[str] = set()  # heads to decide on again
        self._descriptions: dict[str, set[str]] = defaultdict(set)  # of a head: "brother", "boss"
        self._description: dict[int, str] = {}  # row → that of its head
        self._shared: set[str] = set()  # heads with several

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in vars(self).items() if name not in ("_text_of", "_is_meant")}

    def set_functions(self, text_of: Callable[[str], str], is_meant: Callable[[str], bool]) -> None:
        """Give a saved one the functions that it was made with."""
        self._text_of, self._is_meant = text_of, is_meant

    def add_speaker(self, key: str) -> None:
        """Add a speaker by the key of their name."""
        if key not in self.speakers:
            self.speakers.add(key)
            # Whose name is a stranger's depends on the speakers; what names a described relative does not.
            self._left.update(one for one in self.speakers if one in self._naming)

    def add(self, row: int, head: str, tail: str) -> Sequence[str]:
        """Take note of a recorded assertion: its row, and the keys of its head and its tail.

        Returns the relations of the head, if the name turns out to be that of several people.
        """
        said = self._assertions.rows[row]
        shared = self._describe(row, said, head)
        if self.reads(said, head):
            self._naming[head].append((row, tail))
            self._left.add(head)
        elif relations().get(said.relation).family:
            for description, name in self._described(said, head, tail):
                self._naming[description].append((row, name))
                self._left.add(description)
        if self._naming and (head in self.speakers or tail in self.speakers) and _personal(said.relation):
            self._left.update(one for one in self.speakers if one in self._naming)
        return self._assertions.relations_of((head,)) if shared else ()

    def _describe(self, row: int, said: Assertion, head: str) -> bool:
        """Note by what an assertion describes its head, and return whether that is the second description."""
        text = self._text_of(said.turn_id) if said.head[:1].isupper() and head not in self.speakers else ""
        place = text.find(said.head, max(0, said.start - _AROUND), said.end + _AROUND)
        found = _OWNED.search(text, max(0, place - _AROUND), place) if place > 0 else None
        if found is None:
            return False
        self._description[row] = found["what"]
        self._descriptions[head].add(found["what"])
        if len(self._descriptions[head]) < 2 or head in self._shared:
            return False
        self._shared.add(head)
        return True

    def told_apart(self, rows: Sequence[int]) -> tuple[bool, list[list[int]]]:
        """Return whether the head of rows of one relation may be several people, and those of each description."""
        heads = {self._names.key(self._assertions.rows[row].head) for row in rows} if self._shared else set[str]()
        if self._shared.isdisjoint(heads):
            return False, [[*rows]]
        groups: dict[str, list[int]] = defaultdict(list)
        for row in rows:
            groups[self._description.get(row, "")].append(row)
        return True, [*groups.values()]

    def _described(self, said: Assertion, head: str, tail: str) -> Iterator[tuple[str, str]]:
        """Yield the keys of a description and of the name beside it: "my sister Nele", "Nele is my sister"."""
        text = self._text_of(said.turn_id)[max(0, said.start - _AROUND) : said.end + _AROUND]
        if said.negated or not text:
            return
        for owner, key, name in ((said.head, head, said.tail), (said.tail, tail, said.head)):
            owns = ("My", "my", "Our", "our") if key in self.speakers else (f"{owner}'s", f"{owner}’s")
            if name not in text or not any(one in text for one in owns):
                continue  # making a pattern takes many times longer
            own = "(?:[Mm]y|[Oo]ur)" if key in self.speakers else re.escape(owner) + "['’]s"
            what, who = "(?P<what>[a-z-]+(?: [a-z-]+)?)", re.escape(name)
            for form in (rf"\b{own} {what}{_CALLED} {who}(?!\w)", rf"(?<!\w){who} is {own} {what}(?=[\s.!,;]|$)"):
                if (found := re.search(form, text)) and found["what"].split()[-1] not in _NO_KIND:
                    described = self._names.key(f"{owner}'s {found['what']}")
                    yield described, self._names.key(name)

    def reads(self, assertion: Assertion, head: str) -> bool:
        """Return whether an assertion gives a name to a speaker or to a description.

        A caller's ``also_known_as`` is no matter of this class: it joins two names without any guard. What was told at
        no time, in an import, names nobody who speaks here.
        """
        if head in self.speakers and assertion.since <= BEGINNING:
            return False
        if assertion.relation == ALIAS:
            return head in self.speakers and assertion.extractor == "embedded"
        return assertion.relation == NAMED and (head in self.speakers or _OWNING in head)

    def recheck(self) -> None:
        """Note that other assertions count than before, or that more names are those of speakers."""
        self._left.update(self._naming)

    def update(self) -> list[Join]:
        """Decide again if anything may have changed, and return the joins that were made or undone."""
        changed = False
        for head in self._left:
            found = list(self._find(head))
            changed |= found != self._found.get(head, [])
            self._found[head] = found
        self._left.clear()
        if not changed:
            return []
        joins = (found for head in self._naming for found in self._found.get(head, ()))
        before, self._joins = self._joins, dict(joins)
        return [*(join for join in before if join not in self._joins), *(j for j in self._joins if j not in before)]

    def joined(self, entity: str, name: str) -> Assertion | None:
        """Return the statement that joins a name with an entity, both given by their keys, or None."""
        return self._joins.get((entity, name))

    def aliases(self) -> Iterator[tuple[Join, Alias]]:
        """Yield each join as an alias, in the order of recording."""
        for join, said in self._joins.items():
            name, alias = map(self._names.usual, join)
            yield join, Alias(said.space, name, alias, "the name was given", said.extractor, said.recorded_at)

    def _find(self, head: str) -> Iterator[tuple[Join, Assertion]]:
        said = [(self._assertions.rows[row], name) for row, name in self._naming[head] if self._assertions.counts(row)]
        denied = {name for one, name in said if one.negated}
        given = [(one, name) for one, name in said if not one.negated and one.confidence >= self._stable]
        given = [(one, name) for one, name in given if name != head and name not in denied]
        if head not in self.speakers:
            if _agree(given):
                yield from (((name, head), one) for one, name in given[:1])
            return
        given = [(one, name) for one, name in given if self._is_sure(one)]
        proper = [(one, name) for one, name in given if one.relation == NAMED]
        for one, name in (*_first_name(proper), *((one, name) for one, name in given if one.relation == ALIAS)):
            if not self._is_stranger(name, head):
                yield (head, name), one

    def _is_sure(self, said: Assertion) -> bool:
        """Return whether a name is certain to be that of its speaker: a pasted "I am Bob" makes nobody Bob."""
        return said.confidence >= CERTAIN and (said.extractor != "embedded" or self._is_meant(said.turn_id))

    def _is_stranger(self, name: str, speaker: str) -> bool:
        """Return whether a name is that of somebody other than the speaker who gave it."""
        if name in self.speakers:
            return speaker != USER
        linked = self._assertions
        related = [
            (one, head) for one in linked.relations_to((name,)) for head in linked.heads_leading_to((name,), one)
        ]
        for one in linked.relations_of((name,)):
            if _personal(one):
                tails = (self._names.key(linked.rows[row].tail) for row in linked.about((name,), one))
                related += [(one, tail) for tail in tails]
        return any(
            _personal(one) and (end == speaker or (end in self.speakers and relations().get(one).family))
            for one, end in related
        )


def _personal(relation: str) -> bool:
    """Return whether a relation joins two different people, or a person with a pet."""
    known = relations().get(relation)
    return known.family or (known.head == "person" and known.tail == "person")


_Given = tuple[Assertion, str]
"""A statement and the key of the name that it gives."""


def _first_name(given: Sequence[_Given]) -> list[_Given]:
    """Return the names that agree with the first one, or with the last correction; none if that one is unclear."""
    if not given:
        return []
    corrected = [one.said_at for one, _ in given if one.change]
    moment = max(corrected) if corrected else min(one.said_at for one, _ in given)
    chosen = [entry for entry in given if entry[0].said_at == moment and entry[0].change == bool(corrected)]
    return [entry for entry in given if _agree((entry, chosen[0]))] if _agree(chosen) else []


def _agree(given: Sequence[_Given]) -> bool:
    """Return whether all names may be one person's: the longest one holds the words of each."""
    words = [set(name.split()) for _, name in given]
    return all(one <= max(words, key=len) for one in words)
