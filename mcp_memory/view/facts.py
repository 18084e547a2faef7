"""The facts of one space: the versions that its assertions add up to, entity by entity.

Versions are folded when they are requested (``domain/versions.py``) and cached until new rows change them. Three things
decide the fold, each a function of all that was recorded, so that the order of arrival changes nothing:

- which assertions count (``assertions.py``);
- which names mean the same entity (``names.py``), as far as aliases say so: stated ones, and those the memory inferred;
- how many values a relation has at a time, where the registry does not know (DESIGN 2.4).

What was said since (``frames.py``) changes no version, only whether it is certain still.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from mcp_memory.domain.entities import Alias
from mcp_memory.domain.facts import CERTAIN, STABLE, Assertion, Version, combined, count, learnt
from mcp_memory.domain.relations import Cardinality, EntityType, relations
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import version_id
from mcp_memory.domain.versions import fold_by_confidence
from mcp_memory.view.assertions import Assertions
from mcp_memory.view.names import ALIAS, NAMED, GivenNames, Names, Renamed

_Layers = tuple[tuple[Version, ...], tuple[Version, ...]]  # reliable versions, and those that are only suspected
_NOTHING: _Layers = ((), ())
NAMING = frozenset((ALIAS, NAMED))  # relations whose tails are names of their heads


class Facts:
    """The facts of one space.

    Attributes:
        rows: every assertion, in the order of recording; only appended to.
        stable: the confidence below which a version is only suspected.
    """

    def __init__(
        self,
        stable: float = STABLE,
        text_of: Callable[[str], str] = lambda _turn: "",
        is_meant: Callable[[str], bool] = lambda _turn: True,
        as_of: Callable[[Version], Millis | None] = lambda _version: None,
    ) -> None:
        self.stable = stable
        self._is_meant = is_meant
        self._as_of = as_of
        self._assertions = Assertions()
        self.rows = self._assertions.rows
        self._names = Names()
        self._given = GivenNames(self._assertions, self._names, stable, text_of, is_meant)
        self._inferred: dict[tuple[str, str], Alias] = {}  # keys of name and alias → the alias that the memory inferred
        self._counts: dict[tuple[str, str], tuple[int, int]] = {}
        self._totals: dict[str, tuple[int, int]] = {}
        self._uncounted: dict[str, set[str]] = defaultdict(set)  # relation → heads
        self._folded: dict[tuple[str, str], tuple[bool, str, _Layers]] = {}  # with whether single, and the head's name
        self._by_tail: dict[tuple[str, str], tuple[_Layers, dict[str, _Layers]]] = {}  # of folded versions
        self._current: dict[tuple[str, str], _Layers] = {}  # what has been folded or checked since the last change

    def __getstate__(self) -> dict[str, object]:
        kept = {name: value for name, value in vars(self).items() if name not in ("rows", "_is_meant", "_as_of")}
        return kept | {"_folded": {}, "_by_tail": {}, "_current": {}}

    def set_functions(
        self, text_of: Callable[[str], str], is_meant: Callable[[str], bool], as_of: Callable[[Version], Millis | None]
    ) -> None:
        """Make saved facts whole again, with the functions that they were made with."""
        self._is_meant, self._as_of = is_meant, as_of
        self.rows = self._assertions.rows
        self._given.set_functions(text_of, is_meant)

    # Changes by a refresh

    def add(self, assertions: Iterable[Assertion]) -> None:
        """Add assertions in the order of recording; one that is there already is skipped."""
        self._current.clear()
        for assertion in assertions:
            if assertion.id in self._assertions:
                continue
            relation = relations().get(assertion.relation)
            head, tail = self._add_name(assertion.head, relation.head), self._add_name(assertion.tail, relation.tail)
            better = self._assertions.add(assertion, head, tail)
            for one in (assertion.relation, *self._given.add(len(self.rows) - 1, head, tail)):
                self._invalidate(head, one)
            if better:
                self._invalidate_turn(assertion.turn_id)
            elif assertion.relation == ALIAS:
                self._update_stated_alias(assertion)
        self._update_names()

    def add_aliases(self, aliases: Iterable[Alias]) -> None:
        """Add aliases that the memory inferred; of several about the same two names, the first is kept."""
        self._current.clear()
        for alias in aliases:
            pair = self._names.key(alias.name), self._names.key(alias.alias)
            self._inferred.setdefault(pair, alias)
            self._update_alias(*pair)

    def add_speaker(self, name: str) -> None:
        """Add the name of a speaker, who may have no facts yet."""
        self._current.clear()
        key = self._add_name(name, "person")
        self._given.add_speaker(key)
        self._invalidate_renamed(self._names.add_speaker(key))
        self._update_names()

    def retire(self, turn_id: str) -> None:
        """Exclude the assertions of an old revision of a document."""
        self._current.clear()
        self._assertions.retire(turn_id)
        self._invalidate_turn(turn_id)
        self._update_names()

    def weigh_again(self, turn_ids: Iterable[str]) -> None:
        """Fold the facts of messages again, since they may be meant or no more, and with them the names they give."""
        self._current.clear()
        for turn_id in turn_ids:
            if self._assertions.of_turn(turn_id):
                self._invalidate_turn(turn_id)
        self._update_names()

    # Entities

    def resolve(self, name: str) -> str | None:
        """Return the key of the entity that a name means, or None if no fact and no speaker has the name."""
        return self.known_entity(self._names.key(name))

    def known_entity(self, key: str) -> str | None:
        """Return the key of the entity that is meant by the name with this key, or None as `resolve` does."""
        entity = self._names.entity(key)
        return entity if entity in self._names else None

    def key(self, name: str) -> str:
        """Return the key of the entity that a name means, known or not."""
        return self._names.entity(self._names.key(name))

    def target_key(self, version: Version, *, forward: bool) -> str:
        """Return the key of the entity that a version leads to.

        A version that only states another name of its head leads to that name, which is no entity and leads nowhere.
        """
        if version.relation not in NAMING or not forward or self.key(version.head) != self.key(version.tail):
            return self.key(version.tail if forward else version.head)
        return self._names.key(version.tail)

    def entities(self) -> list[str]:
        """Return the keys of all entities that facts are about, in the order of their first mention."""
        return list(dict.fromkeys(self._names.entity(key) for key in self._names if self._assertions.mention(key)))

    def is_name_word(self, word: str) -> bool:
        """Return whether a word, as `entity_key` writes it, is part of a known name."""
        return self._names.has_word(word)

    def entities_with_words(self, words: Iterable[str], most: int) -> list[str]:
        """Return the entities with facts and with some of the words in a key; see `Names.keys_with_words`."""
        keys = self._names.keys_with_words(words, most)
        return list(dict.fromkeys(self._names.entity(key) for key in keys if self._assertions.mention(key)))

    def name(self, key: str) -> str:
        """Return the most frequent spelling of an entity; ties go to the longer, then the first in the alphabet."""
        return self._names.usual(key)

    def assumed_names(self, key: str) -> tuple[str, ...]:
        """Return the first or last names that mean a person by their words alone; nothing says so."""
        return self._names.assumed_names(key)

    def names(self, key: str) -> tuple[str, ...]:
        """Return every spelling of an entity's names, the most frequent one first."""
        return self._names.spellings(key)

    def inferred_aliases(self, key: str) -> list[Alias]:
        """Return the inferred aliases of an entity that count, in the order of recording, then those it was given."""
        inferred = [(pair, alias) for pair, alias in self._inferred.items() if self._inferred_counts(*pair)]
        given = [(pair, alias) for pair, alias in self._given.aliases() if len({*map(self._names.entity, pair)}) == 1]
        return [alias for pair, alias in (*inferred, *given) if key in map(self._names.entity, pair)]

    def could_be_alias(self, alias: str, name: str) -> bool:
        """Return whether a name would mean an entity if it became an alias of it, both given by their keys."""
        return self._names.could_be_alias(alias, name)

    def alias_denied(self, first: str, second: str) -> bool:
        """Return whether an assertion states that two names, given by their keys, are not of one entity."""
        stated = (*self._alias_assertions(first, second), *self._alias_assertions(second, first))
        return any(assertion.negated for assertion in stated)

    def kind(self, key: str) -> EntityType | None:
        """Return the type of an entity by the relations that it takes part in, or None if they do not show it."""
        return self._names.kind(key)

    def degree(self, key: str) -> int:
        """Return in how many (head, relation) an entity takes part."""
        return self._assertions.degree(self._names.members(key))

    # Versions

    def relations_of(self, key: str) -> list[str]:
        """Return the relations in which something is asserted about an entity, in the order of first mention."""
        return self._assertions.relations_of(self._names.members(key))

    def versions(self, key: str, relation: str) -> tuple[Version, ...]:
        """Return the reliable versions of one (head, relation), by start, contested ones included."""
        return self._layers(key, relation)[0]

    def suspected(self, key: str, relation: str) -> tuple[Version, ...]:
        """Return the versions of one (head, relation) that nothing has confirmed yet, by start."""
        return self._layers(key, relation)[1]

    def all_versions(self, key: str, relation: str) -> Iterator[Version]:
        """Return the versions of one (head, relation), reliable ones first."""
        return (version for layer in self._layers(key, relation) for version in layer)

    def from_(self, key: str, *, suspected: bool = False) -> Iterator[Version]:
        """Return the versions whose head an entity is; with ``suspected`` also those below the threshold."""
        for relation in self.relations_of(key):
            sure, unsure = self._layers(key, relation)
            yield from (*sure, *unsure) if suspected else sure

    def relations_to(self, key: str) -> list[str]:
        """Return the relations in which an entity is a tail, in the order of first mention."""
        return self._assertions.relations_to(self._names.members(key))

    def to(
        self, key: str, *, suspected: bool = False, first: Callable[[str], float] | None = None
    ) -> Iterator[Version]:
        """Return the versions whose tail an entity is; with ``suspected`` also those below the threshold.

        They are folded one by one on demand, so a reader that stops early pays for no more. The relation with the
        lowest number by ``first`` comes first; without it the relation that was mentioned first.
        """
        for relation in sorted(self.relations_to(key), key=first) if first else self.relations_to(key):
            for head in self._heads_leading_to(key, relation):
                sure, unsure = self._layers_by_tail(head, relation).get(key, _NOTHING)
                yield from (*sure, *unsure) if suspected else sure

    def all(self, *, suspected: bool = False) -> Iterator[Version]:
        """Return every version, by entity and relation in the order of first mention."""
        for key in self.entities():
            yield from self.from_(key, suspected=suspected)

    def assertions_in(self, turn_id: str) -> list[Assertion]:
        """Return the assertions of a turn that count, in the order of recording."""
        return [self._weighed(row) for row in self._assertions.of_turn(turn_id) if self._assertions.counts(row)]

    def assertions_as_recorded(self, turn_id: str) -> list[Assertion]:
        """Return all assertions of a turn as they were recorded, also those that a caller's replace."""
        return [self.rows[row] for row in self._assertions.of_turn(turn_id)]

    def states_certain(self, turn_id: str) -> bool:
        """Return whether a turn by itself states certain facts, and so nothing else."""
        return any(self.rows[row].confidence >= CERTAIN for row in self._assertions.of_turn(turn_id))

    def version_of(self, assertion: Assertion) -> Version | None:
        """Return the version, reliable or suspected, that an assertion supports; None for a negation."""
        versions = self.all_versions(self.key(assertion.head), assertion.relation)
        return next((one for one in versions if any(a.id == assertion.id for a in one.assertions)), None)

    def assertion(self, assertion_id: str) -> Assertion | None:
        """Return an assertion by its id, or None."""
        return self._assertions.get(assertion_id)

    def version(self, fact_id: str) -> Version | None:
        """Return the version that an id names now, which may be wider, or read by a better extractor; or None."""
        assertion = self.assertion("x_" + fact_id.removeprefix("f_"))
        if assertion is None or not fact_id.startswith("f_"):
            return None
        if (version := self.version_of(assertion)) is not None:
            return version
        tail = self._tail_key(assertion.relation)
        place = assertion.turn_id, assertion.sentence, tail(assertion.tail)
        for version in self.all_versions(self.key(assertion.head), assertion.relation):
            if any((a.turn_id, a.sentence, tail(a.tail)) == place for a in version.assertions):
                return version
        return None

    def versions_without(self, key: str, relation: str, ids: Collection[str]) -> tuple[Version, ...]:
        """Return the versions, reliable or not, that there would be if some assertions had not been recorded."""

        def known(row: int) -> bool:
            return self.rows[row].id not in ids

        rows = [row for row in self._rows_of(key, relation) if known(row) and self._assertions.counts(row, known)]
        sure, unsure = self._fold(rows, self.cardinality(relation) == "single", self.name(key))
        return (*sure, *unsure)

    def cardinality(self, relation: str) -> Cardinality:
        """Return how many values a relation has at a time, by the registry or else as learnt from this space."""
        known = relations().get(relation).cardinality
        return known if known != "unknown" else learnt(*self.counts(relation))

    def counts(self, relation: str) -> tuple[int, int]:
        """Return the counters s and m of DESIGN 2.4 for a relation in this space."""
        for head in self._uncounted.pop(relation, ()):
            for member in {head, self._names.entity(head)}:
                self._count(member, relation)
        return self._totals.get(relation, (0, 0))

    # Names and aliases

    def _add_name(self, name: str, kind: EntityType | None) -> str:
        self._invalidate_renamed(self._names.add(name, kind))
        return self._names.key(name)

    def _update_names(self) -> None:
        for join in self._given.update():
            self._update_alias(*join)

    def _update_stated_alias(self, assertion: Assertion) -> None:
        """Update the alias that an assertion is about, in the other direction too if that one was inferred."""
        bearer, alias = self._names.key(assertion.head), self._names.key(assertion.tail)
        self._update_alias(bearer, alias)
        if (alias, bearer) in self._inferred or self._given.joined(alias, bearer):
            self._update_alias(alias, bearer)

    def _update_alias(self, bearer: str, alias: str) -> None:
        """Update whether an alias counts; it is folded separately, so that the result does not depend on aliases.

        A former name still means the same entity; a denial from its start on, for either name, ends an alias.
        """
        stated = [one for one in self._alias_assertions(bearer, alias) if not self._given.reads(one, bearer)]
        sure, _ = fold_by_confidence(stated, single=False, key=self._names.key, stable=self.stable)
        known = any(version.since < version.until for version in sure) or self._inferred_counts(bearer, alias)
        known = known or (self._given.joined(bearer, alias) is not None and not self.alias_denied(bearer, alias))
        self._invalidate_renamed(self._names.set_alias(bearer, alias, known=known))

    def _alias_assertions(self, bearer: str, alias: str) -> list[Assertion]:
        """Return the assertions about an alias that count, in the order of recording."""
        rows = (row for row in self._assertions.about((bearer,), ALIAS) if self._assertions.counts(row))
        return [self.rows[row] for row in rows if self._names.key(self.rows[row].tail) == alias]

    def _inferred_counts(self, bearer: str, alias: str) -> bool:
        """Return whether the memory inferred an alias and no assertion denies it."""
        return (bearer, alias) in self._inferred and not self.alias_denied(bearer, alias)

    def _tail_key(self, relation: str) -> Callable[[str], str]:
        """Return the function that identifies tails of a relation: by their entity, but aliases by their spelling."""
        return self._names.key if relation in NAMING else self.key

    def _invalidate(self, head: str, relation: str) -> None:
        """Forget the fold and the counts of a (head, relation)."""
        self._uncounted[relation].add(head)
        for member in (head, self._names.entity(head)):
            self._folded.pop((member, relation), None)

    def _invalidate_turn(self, turn_id: str) -> None:
        """Drop cached values that depend on which assertions of a turn count."""
        for row in self._assertions.of_turn(turn_id):
            self._invalidate(self._names.key(self.rows[row].head), self.rows[row].relation)
            if self.rows[row].relation == ALIAS:
                self._update_stated_alias(self.rows[row])
        self._given.recheck()

    def _invalidate_renamed(self, renamed: Renamed) -> None:
        """Drop cached values that depend on names that mean another entity than before."""
        if renamed:
            self._folded.clear()
        for key, before in renamed.items():
            for relation in self._assertions.relations_of((key,)):
                self._uncounted[relation] |= {key, before}  # its present entity is counted with it
            for relation in self._assertions.relations_to((key,)):
                self._uncounted[relation].update(self._assertions.heads_leading_to((key,), relation))

    def _count(self, head: str, relation: str) -> None:
        now = 0, 0
        if self._names.entity(head) == head:  # else its assertions are counted with those of the longer name
            counting = [self.rows[row] for row in self._rows_of(head, relation) if self._assertions.counts(row)]
            now = count(counting, self._tail_key(relation))
        before = self._counts.get((head, relation), (0, 0))
        superseded, together = self._totals.get(relation, (0, 0))
        self._counts[head, relation] = now
        self._totals[relation] = superseded + now[0] - before[0], together + now[1] - before[1]

    # Folding

    def _rows_of(self, key: str, relation: str) -> list[int]:
        return self._assertions.about(self._names.members(key), relation)

    def _layers(self, key: str, relation: str) -> _Layers:
        if current := self._current.get((key, relation)):
            return current
        single, usual = self.cardinality(relation) == "single", self.name(key)
        cached = self._folded.get((key, relation))
        if cached is None or cached[:2] != (single, usual):
            rows = [row for row in self._rows_of(key, relation) if self._assertions.counts(row)]
            cached = self._folded[key, relation] = single, usual, self._fold(rows, single, usual)
        sure, unsure = cached[2]
        current = self._current[key, relation] = tuple(map(self._as_left, sure)), unsure
        return current

    def _as_left(self, version: Version) -> Version:
        """Return a version, which is known only as of its last telling if something was said since."""
        as_of = self._as_of(version)
        confidence = CERTAIN - 0.01 if as_of is not None and version.current else version.confidence
        return version if as_of is None else replace(version, confidence=confidence, as_of=as_of)

    def _heads_leading_to(self, key: str, relation: str) -> Iterator[str]:
        """Yield the entities from which a relation leads to this one, each once."""
        yielded: set[str] = set()
        for name in self._assertions.heads_leading_to(self._names.members(key), relation):
            head = self._names.entity(name)
            if head not in yielded:
                yielded.add(head)
                yield head

    def _layers_by_tail(self, head: str, relation: str) -> dict[str, _Layers]:
        """Return the versions of one (head, relation) by the key of their tail."""
        now = self._layers(head, relation)
        cached = self._by_tail.get((head, relation))
        if cached is None or cached[0] is not now:
            grouped: dict[str, tuple[list[Version], list[Version]]] = defaultdict(lambda: ([], []))
            for place, layer in enumerate(now):
                for version in layer:
                    grouped[self.key(version.tail)][place].append(version)
            by_tail = {tail: (tuple(sure), tuple(unsure)) for tail, (sure, unsure) in grouped.items()}
            cached = self._by_tail[head, relation] = now, by_tail
        return cached[1]

    def _weighed(self, row: int) -> Assertion:
        """Return an assertion, which is certain only if the message in which it was read is meant as it stands."""
        one = self.rows[row]
        doubtful = one.extractor == "embedded" and one.confidence >= CERTAIN and not self._is_meant(one.turn_id)
        return replace(one, confidence=STABLE) if doubtful else one

    def _fold(self, rows: list[int], single: bool, usual: str) -> _Layers:
        key = self._tail_key(self.rows[rows[0]].relation) if rows else self.key
        shared, people = self._given.told_apart(rows)
        told = ([self._weighed(row) for row in of_one] for of_one in people)
        folds = zip(*(self._layers_of(one, single, key) for one in told), strict=True)
        most = CERTAIN - 0.01 if shared else 1.0
        sure, unsure = (
            tuple(replace(v, head=usual, confidence=min(v.confidence, most)) for layer in both for v in layer)
            for both in folds
        )
        return sure, unsure

    def _layers_of(self, said: list[Assertion], single: bool, key: Callable[[str], str]) -> _Layers:
        """Return the versions of what was said of one person; what is not certain ends or replaces nothing that is.

        Both then stand side by side, so that neither answers.
        """
        sure, unsure = fold_by_confidence(said, single=single, key=key, stable=self.stable)
        if len({one.confidence >= CERTAIN for one in said}) < 2:
            return sure, unsure
        suspected = {one.id for version in unsure for one in version.assertions}
        reliable = [one for one in said if one.id not in suspected]
        certain, _ = fold_by_confidence(reliable, single=single, key=key, stable=CERTAIN)
        kept = {one.id for version in certain for one in version.assertions}
        rests = [(version, tuple(one for one in version.assertions if one.id not in kept)) for version in sure]
        beside = [
            replace(version, id=version_id(rest[0].id), assertions=rest, confidence=combined(rest))
            for version, rest in rests
            if rest
        ]
        return tuple(sorted((*certain, *beside), key=lambda one: (one.since, one.until, one.id))), unsure
