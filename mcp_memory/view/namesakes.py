"""Tell people apart of whom one bears a part of the other's name: "Dalia" and "Dalia Barlsen" (DESIGN 2.5).

A first or last name usually means the only person in the space who bears it. It means somebody else if both names
speak, or if what is said of the two contradicts itself: for relations with one value at a time they have different
values and hardly ever agree. A single difference may be a change that was told under the shorter name, so three are
needed; a birth or death counts twice, as it never changes.
"""

from __future__ import annotations

from collections.abc import Set

from mcp_memory.domain.relations import relations
from mcp_memory.view.assertions import Assertions
from mcp_memory.view.names import Names, Renamed

APART = 3
"""Differences that tell two people apart, if there are more than twice as many as agreements."""
_LASTING = frozenset(("born_in", "born_on", "died_in", "died_on", "died_of"))


class Namesakes:
    """The short names of one space that mean somebody other than the person with the longer name.

    Args:
        assertions: of the space.
        names: of the space; told which names stand alone.
        speakers: the keys of the names of its speakers, kept up to date elsewhere.
    """

    def __init__(self, assertions: Assertions, names: Names, speakers: Set[str]) -> None:
        self._assertions = assertions
        self._names = names
        self._speakers = speakers
        self._left: dict[str, None] = {}  # short names to decide on again

    def add(self, key: str) -> str:
        """Note that more is known of a name, and return its key."""
        words = key.split()
        for part in (words[0], words[-1]) if words else ():
            if part in self._names:
                self._left[part] = None
        return key

    def update(self) -> list[Renamed]:
        """Decide again on what may have changed, and return the keys that mean another entity since then."""
        left, self._left = self._left, {}
        return [renamed for key in left for renamed in self._names.set_alone(key, alone=self._stands_alone(key))]

    def assumed(self, entity: str) -> tuple[str, ...]:
        """Return the parts of a person's name that mean them by their words alone: nothing told of both agrees."""
        words = entity.split()
        parts = dict.fromkeys((words[0], words[-1])) if len(words) > 1 else ()
        return tuple(
            part
            for part in parts
            if part in self._names
            and self._names.entity(part) == entity
            and not self._names.is_alias(part)
            and not self._compare(part, entity)[1]
        )

    def _stands_alone(self, short: str) -> bool:
        longer = self._names.only_person_called(short)
        if longer is None:
            return False
        differing, agreeing = self._compare(short, longer)
        return {short, longer} <= self._speakers or (differing >= APART and differing > 2 * agreeing)

    def _compare(self, short: str, longer: str) -> tuple[int, int]:
        """Return in how much the facts of two names differ, and in how much they agree."""
        differing = agreeing = 0
        theirs = frozenset(self._assertions.relations_of((longer,)))
        for relation in self._assertions.relations_of((short,)):
            if relation not in theirs:
                continue
            own, other = self._tails(short, relation), self._tails(longer, relation)
            if not own.isdisjoint(other):
                agreeing += 1
            elif own and other and relations().get(relation).cardinality == "single":
                differing += 2 if relation in _LASTING else 1
        return differing, agreeing

    def _tails(self, key: str, relation: str) -> set[str]:
        rows = (row for row in self._assertions.about((key,), relation) if self._assertions.counts(row))
        said = (self._assertions.rows[row] for row in rows)
        return {self._names.key(one.tail) for one in said if not one.negated}
