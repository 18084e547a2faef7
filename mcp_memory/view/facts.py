"""The facts of one space: what its assertions add up to, entity by entity.

Versions are folded when they are asked for (``domain/versions.py``) and kept until something arrives that they depend
on. Three things decide how, each as a function of all that was recorded, so that the order of arrival changes nothing:

- which assertions count (``assertions.py``);
- which names mean the same entity (``names.py``), as far as aliases say so: what somebody said, what the memory thinks;
- how many values a relation has at a time, where the registry does not know (DESIGN 2.4).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace

from mcp_memory.domain.aliases import Alias
from mcp_memory.domain.cardinality import Counts, count, learnt
from mcp_memory.domain.confidence import STABLE
from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.domain.relations import Cardinality, EntityType, relations
from mcp_memory.domain.times import Millis
from mcp_memory.domain.versions import layers
from mcp_memory.view.assertions import Assertions
from mcp_memory.view.names import Names, Renamed

_Layers = tuple[tuple[Version, ...], tuple[Version, ...]]
"""What can be relied on, and what is only suspected."""
_NOTHING: _Layers = ((), ())
_ALIAS = "also_known_as"
"""The relation whose tails are other names of its head."""


class Facts:
    """What is asserted in one space.

    Attributes:
        rows: every assertion, in the order of recording; never changed, only appended to.
        stable: the confidence below which a version is only suspected.
    """

    def __init__(self, stable: float = STABLE) -> None:
        self.stable = stable
        self._assertions = Assertions()
        self.rows = self._assertions.rows
        self._names = Names()
        self._held: dict[tuple[str, str], Alias] = {}  # keys of name and alias → what the memory itself thinks
        self._counts: dict[tuple[str, str], Counts] = {}
        self._totals: dict[str, Counts] = {}
        self._uncounted: dict[str, set[str]] = defaultdict(set)  # relation → heads
        self._folded: dict[tuple[str, str], tuple[bool, str, _Layers]] = {}  # and whether single, and the head's name
        self._tails: dict[tuple[str, str], tuple[_Layers, dict[str, _Layers]]] = {}  # of what was folded, by tail

    # What a refresh may do

    def add(self, assertions: Iterable[Assertion]) -> None:
        """Take in assertions in the order of recording; one that is there already is left out."""
        for assertion in assertions:
            if assertion.id in self._assertions:
                continue
            known = relations().get(assertion.relation)
            head, tail = self._meet(assertion.head, known.head), self._meet(assertion.tail, known.tail)
            better = self._assertions.add(assertion, head, tail)
            self._changed(head, assertion.relation)
            if better:
                self._reread(assertion.turn_id)
            elif assertion.relation == _ALIAS:
                self._recalled(assertion)

    def hold(self, aliases: Iterable[Alias]) -> None:
        """Take in what the memory itself thinks of names; the first word about a pair of them stays."""
        for one in aliases:
            pair = self._names.written(one.name), self._names.written(one.alias)
            self._held.setdefault(pair, one)
            self._called(*pair)

    def meet(self, person: str) -> None:
        """Learn of a speaker, about whom nothing may be asserted yet."""
        self._meet(person, "person")

    def retire(self, turn_id: str) -> None:
        """Leave out what an old revision of a document says."""
        self._assertions.retire(turn_id)
        self._reread(turn_id)

    # Entities

    def resolve(self, name: str) -> str | None:
        """Return the key of the entity that a name means, or None for one that no fact is about and nobody bears."""
        return self.bearer(self._names.written(name))

    def bearer(self, key: str) -> str | None:
        """Return the key of the entity that is meant by a name of which this is the key, or None as `resolve` does."""
        meant = self._names.meant(key)
        return meant if meant in self._names else None

    def key(self, name: str) -> str:
        """Return the key of the entity that a name means, whether or not anything is known of it."""
        return self._names.meant(self._names.written(name))

    def end(self, version: Version, *, forward: bool) -> str:
        """Return the key of the entity that a version leads to.

        What only tells another name of its head leads to that name, which is no entity and from which nothing goes on.
        """
        if version.relation != _ALIAS or not forward or self.key(version.head) != self.key(version.tail):
            return self.key(version.tail if forward else version.head)
        return self._names.written(version.tail)

    def entities(self) -> list[str]:
        """Return the keys of all entities that facts are about, in the order in which they came up."""
        return list(dict.fromkeys(self._names.meant(key) for key in self._names if self._assertions.mention(key)))

    def in_a_name(self, word: str) -> bool:
        """Return whether a word, as `entity_key` writes it, is one of the name of something that was met."""
        return self._names.holds(word)

    def sharing(self, words: Iterable[str], most: int) -> list[str]:
        """Return the entities that facts are about and in whose keys some word stands; arguments as `Names.sharing`."""
        found = self._names.sharing(words, most)
        return list(dict.fromkeys(self._names.meant(key) for key in found if self._assertions.mention(key)))

    def name(self, key: str) -> str:
        """Return how an entity is written most often; ties go to the longer, then the first in the alphabet."""
        return self._names.usual(key)

    def names(self, key: str) -> tuple[str, ...]:
        """Return every way in which an entity is written, its usual name first."""
        return self._names.all(key)

    def held(self, key: str) -> list[Alias]:
        """Return the aliases of an entity that the memory itself came to hold and that count, in their order."""
        return [one for pair, one in self._held.items() if key in map(self._names.meant, pair) and self._thinks(*pair)]

    def may_become(self, alias: str, name: str) -> bool:
        """Return whether a name would mean an entity if it became an alias of it, both given by their keys."""
        return self._names.may_become(alias, name)

    def denied(self, one: str, other: str) -> bool:
        """Return whether somebody said that two names, given by their keys, are not of one entity."""
        return any(said.negated for said in (*self._said(one, other), *self._said(other, one)))

    def kind(self, key: str) -> EntityType | None:
        """Return what an entity is by the relations it takes part in, or None where they do not tell."""
        return self._names.kind(key)

    def degree(self, key: str) -> int:
        """Return in how many (head, relation) an entity takes part."""
        return self._assertions.degree(self._names.members(key))

    # Versions

    def relations_of(self, key: str) -> list[str]:
        """Return the relations that something is asserted about an entity in, in the order in which they came up."""
        return self._assertions.relations_of(self._names.members(key))

    def versions(self, key: str, relation: str) -> tuple[Version, ...]:
        """Return the versions of one (head, relation) that can be relied on, by start, contested ones included."""
        return self._layers(key, relation)[0]

    def suspected(self, key: str, relation: str) -> tuple[Version, ...]:
        """Return the versions of one (head, relation) that nothing has confirmed yet, by start."""
        return self._layers(key, relation)[1]

    def from_(self, key: str, *, suspected: bool = False) -> Iterator[Version]:
        """Return the versions whose head an entity is; with ``suspected`` also those below the threshold."""
        for relation in self.relations_of(key):
            sure, unsure = self._layers(key, relation)
            yield from (*sure, *unsure) if suspected else sure

    def relations_to(self, key: str) -> list[str]:
        """Return the relations in which an entity is a tail, in the order in which they came up."""
        return self._assertions.relations_to(self._names.members(key))

    def to(
        self, key: str, *, suspected: bool = False, first: Callable[[str], float] | None = None
    ) -> Iterator[Version]:
        """Return the versions whose tail an entity is; with ``suspected`` also those below the threshold.

        They are folded one by one as they are wanted, so a reader that stops early pays for no more.

        Args:
            key: of the entity.
            suspected: as said.
            first: a number for each relation; the lowest comes first. None for the order in which they came up.
        """
        for relation in sorted(self.relations_to(key), key=first) if first else self.relations_to(key):
            for head in self._heads_to(key, relation):
                sure, unsure = self._of_tail(head, relation).get(key, _NOTHING)
                yield from (*sure, *unsure) if suspected else sure

    def all(self, *, suspected: bool = False) -> Iterator[Version]:
        """Return every version, by entity and relation in the order in which they came up."""
        for key in self.entities():
            yield from self.from_(key, suspected=suspected)

    def said_in(self, turn_id: str) -> list[Assertion]:
        """Return what counts of the assertions of a turn, in the order of recording."""
        return [self.rows[row] for row in self._assertions.of_turn(turn_id) if self._assertions.counting(row)]

    def version_of(self, assertion: Assertion) -> Version | None:
        """Return the version, relied on or suspected, that an assertion supports; None for a negation."""
        for version in self.both(self.key(assertion.head), assertion.relation):
            if any(support.id == assertion.id for support in version.assertions):
                return version
        return None

    def assertion(self, assertion_id: str) -> Assertion | None:
        """Return an assertion by its id, or None."""
        return self._assertions.get(assertion_id)

    def version(self, fact_id: str) -> Version | None:
        """Return the version that an id names now, or None.

        An id lasts: if the assertion that it was made of supports a wider version meanwhile, that is what it names, and
        if a better extractor read the same value out of the same sentence, what that supports.
        """
        assertion = self.assertion("x_" + fact_id.removeprefix("f_"))
        if assertion is None or not fact_id.startswith("f_"):
            return None
        if version := self.version_of(assertion):
            return version
        tail = self._tail_key(assertion.relation)
        said = assertion.turn_id, assertion.sentence, tail(assertion.tail)
        for version in self.both(self.key(assertion.head), assertion.relation):
            if any((a.turn_id, a.sentence, tail(a.tail)) == said for a in version.assertions):
                return version
        return None

    def without(self, key: str, relation: str, ids: Collection[str]) -> tuple[Version, ...]:
        """Return the versions, relied on or suspected, that there would be had some assertions not been recorded."""
        return self._as_known(key, relation, lambda row: self.rows[row].id not in ids)

    def history(self, key: str, relation: str, limit: int) -> list[tuple[Millis, tuple[Version, ...]]]:
        """Return what was known after each of the last ``limit`` moments of recording about (head, relation).

        Names, cardinalities and retired revisions are as they are known today; what was known before is not told.
        """
        moments = sorted({self.rows[row].recorded_at for row in self._rows_of(key, relation)})
        return [(moment, self._as_known(key, relation, self._recorded_by(moment))) for moment in moments[-limit:]]

    def cardinality(self, relation: str) -> Cardinality:
        """Return how many values a relation has at a time: by the registry, else as learnt from this space."""
        known = relations().get(relation).cardinality
        return known if known != "unknown" else learnt(self.counts(relation))

    def counts(self, relation: str) -> Counts:
        """Return the counters of DESIGN 2.4 for a relation in this space."""
        for head in self._uncounted.pop(relation, ()):
            for member in {head, self._names.meant(head)}:
                self._count(member, relation)
        return self._totals.get(relation, Counts())

    # Within

    def _meet(self, name: str, kind: EntityType | None) -> str:
        for renamed in self._names.meet(name, kind):
            self._renamed(renamed)
        return self._names.written(name)

    def _tail_key(self, relation: str) -> Callable[[str], str]:
        """Return what tells the tails of a relation apart: whom they mean, but of aliases how they are written."""
        return self._names.written if relation == _ALIAS else self.key

    def _rows_of(self, key: str, relation: str) -> list[int]:
        return self._assertions.about(self._names.members(key), relation)

    def _changed(self, head: str, relation: str) -> None:
        """Forget what was folded and counted of a (head, relation)."""
        self._uncounted[relation].add(head)
        for member in (head, self._names.meant(head)):
            self._folded.pop((member, relation), None)

    def _reread(self, turn_id: str) -> None:
        """Take note that other assertions of a turn count than before."""
        for row in self._assertions.of_turn(turn_id):
            self._changed(self._names.written(self.rows[row].head), self.rows[row].relation)
            if self.rows[row].relation == _ALIAS:
                self._recalled(self.rows[row])

    def _recalled(self, said: Assertion) -> None:
        """Take note of what is said of an alias, which either name may be told to be; see `_called`."""
        names = self._names.written(said.head), self._names.written(said.tail)
        self._called(*names)
        if names[::-1] in self._held:
            self._called(*names[::-1])

    def _called(self, bearer: str, alias: str) -> None:
        """Take note of whether an alias can be relied on: folded by itself, so that it does not hang on what it means.

        One that somebody bore once still means them, so its end changes nothing; a denial from its start on does. What
        the memory itself thinks counts as long as nobody has denied it, of the one name or the other.
        """
        sure, _ = layers(self._said(bearer, alias), single=False, key=self._names.written, stable=self.stable)
        known = any(version.since < version.until for version in sure) or self._thinks(bearer, alias)
        for renamed in self._names.call(bearer, alias, known=known):
            self._renamed(renamed)

    def _said(self, bearer: str, alias: str) -> list[Assertion]:
        """Return what counts of what is said of an alias, in the order of recording."""
        rows = (row for row in self._assertions.about((bearer,), _ALIAS) if self._assertions.counting(row))
        return [self.rows[row] for row in rows if self._names.written(self.rows[row].tail) == alias]

    def _thinks(self, bearer: str, alias: str) -> bool:
        """Return whether the memory itself holds an alias that nobody has denied."""
        return (bearer, alias) in self._held and not self.denied(bearer, alias)

    def _renamed(self, renamed: Renamed) -> None:
        """Take note that a name means another entity than before."""
        self._folded.clear()
        for relation in self._assertions.relations_of((renamed.key,)):
            self._uncounted[relation] |= {renamed.key, renamed.before}  # whom it means now is counted with it
        for relation in self._assertions.relations_to((renamed.key,)):
            self._uncounted[relation].update(self._assertions.heads_to((renamed.key,), relation))

    def _count(self, head: str, relation: str) -> None:
        now = Counts()
        if self._names.meant(head) == head:  # else its assertions are counted with those of the longer name
            counting = [self.rows[row] for row in self._rows_of(head, relation) if self._assertions.counting(row)]
            now = count(counting, self._tail_key(relation))
        before, total = self._counts.get((head, relation), Counts()), self._totals.get(relation, Counts())
        self._counts[head, relation] = now
        self._totals[relation] = Counts(
            total.superseded + now.superseded - before.superseded, total.together + now.together - before.together
        )

    def both(self, key: str, relation: str) -> Iterator[Version]:
        """Return the versions of one (head, relation), those relied on first."""
        for layer in self._layers(key, relation):
            yield from layer

    def _layers(self, key: str, relation: str) -> _Layers:
        single, usual = self.cardinality(relation) == "single", self.name(key)
        kept = self._folded.get((key, relation))
        if kept is None or kept[:2] != (single, usual):
            rows = [row for row in self._rows_of(key, relation) if self._assertions.counting(row)]
            kept = self._folded[key, relation] = single, usual, self._fold(rows, single, usual)
        return kept[2]

    def _recorded_by(self, moment: Millis) -> Callable[[int], bool]:
        return lambda row: self.rows[row].recorded_at <= moment

    def _as_known(self, key: str, relation: str, known: Callable[[int], bool]) -> tuple[Version, ...]:
        rows = [row for row in self._rows_of(key, relation) if known(row) and self._assertions.counting(row, known)]
        sure, unsure = self._fold(rows, self.cardinality(relation) == "single", self.name(key))
        return (*sure, *unsure)

    def _heads_to(self, key: str, relation: str) -> Iterator[str]:
        """Yield the entities that a relation leads from to this one, each once."""
        seen: set[str] = set()
        for written in self._assertions.heads_to(self._names.members(key), relation):
            head = self._names.meant(written)
            if head not in seen:
                seen.add(head)
                yield head

    def _of_tail(self, head: str, relation: str) -> dict[str, _Layers]:
        """Return the versions of one (head, relation) by the key of their tail."""
        now = self._layers(head, relation)
        kept = self._tails.get((head, relation))
        if kept is None or kept[0] is not now:
            sorted_out: dict[str, tuple[list[Version], list[Version]]] = defaultdict(lambda: ([], []))
            for place, layer in enumerate(now):
                for version in layer:
                    sorted_out[self.key(version.tail)][place].append(version)
            by_tail = {tail: (tuple(sure), tuple(unsure)) for tail, (sure, unsure) in sorted_out.items()}
            kept = self._tails[head, relation] = now, by_tail
        return kept[1]

    def _fold(self, rows: list[int], single: bool, usual: str) -> _Layers:
        said = [self.rows[row] for row in rows]
        key = self._tail_key(said[0].relation) if said else self.key
        found = layers(said, single=single, key=key, stable=self.stable)
        sure, unsure = (tuple(v if v.head == usual else replace(v, head=usual) for v in layer) for layer in found)
        return sure, unsure
