"""The spaces that records go into, and the ids of derived rows there.

The ids of texts, and of what is derived from them, contain the space. Lessons, memory points and questions refer to
sentences, segments and facts by id, so in another space each id is replaced by that of the same row there. An id that
belongs to no row any more stays as it is, and leads nowhere, as it did before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.points import Point, point_id
from mcp_memory.domain.turns import assertion_id, segment_id, sentence_id, version_id
from mcp_memory.view.space import Space


class Renaming:
    """How records are renamed on their way into a store.

    Args:
        spaces: the space that each space of the file goes into, by name; the others keep their names.

    Attributes:
        former: the former id of each text that gets another one, by its new id.
        ids: the new id of each row of which the former id is known.
    """

    def __init__(self, spaces: Mapping[str, str]) -> None:
        self._spaces = {old: new for old, new in spaces.items() if old != new}
        self.former: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self._done: dict[str, tuple[int, int, int]] = {}

    def space(self, name: str) -> str:
        """Return the space that a space of the file goes into."""
        return self._spaces.get(name, name)

    def renames(self, name: str) -> bool:
        """Return whether a space of the file goes into another one."""
        return name in self._spaces

    def id(self, name: str) -> str:
        """Return the id of a row in the store."""
        return self.ids.get(name, name)

    def all(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of rows in the store."""
        return tuple(map(self.id, names))

    def point(self, point: Point) -> Point:
        """Return a point of the file with the ids of points as in its new space; the ids that it rests on stay.

        A point may be merged into one that a later line holds, so this is right only if the file was read once before.
        """
        parents = self.all(point.parents)
        if point.revision == 0:
            self.ids[point.id] = point_id(point.space, point.scope, point.entities, point.description, parents)
        into = None if point.merged_into is None else self.id(point.merged_into)
        return replace(point, id=self.id(point.id), parents=parents, merged_into=into)

    def within(self, value: Any) -> Any:
        """Return a JSON value with every id in it replaced."""
        if isinstance(value, str):
            return self.id(value)
        if isinstance(value, list):
            return [self.within(one) for one in value]
        if isinstance(value, dict):
            return {name: self.within(one) for name, one in value.items()}
        return value

    def learn_from(self, space: Space) -> None:
        """Learn the former ids of the rows that a space has got since the last call."""
        if not self.former:
            return
        sentences, segments, facts = self._done.get(space.name, (0, 0, 0))
        rows = space.facts.rows
        if sentences > len(space.sentences) or segments > len(space.segments) or facts > len(rows):
            sentences = segments = facts = 0  # the view was read again
        for sentence in space.sentences[sentences:]:
            if former := self.former.get(sentence.turn_id):
                self.ids[sentence_id(former, sentence.index, space.text(sentence))] = sentence.id
        for segment in space.segments[segments:]:
            if former := self.former.get(segment.turn_id):
                self.ids[segment_id(former, segment.index, space.text(segment))] = segment.id
        for fact in rows[facts:]:
            if former := self.former.get(fact.turn_id):
                self.add_fact(fact_id(fact, former), fact.id)
        self._done[space.name] = len(space.sentences), len(space.segments), len(rows)

    def add_fact(self, former: str, now: str) -> None:
        """Record the new id of an assertion, which is that of its fact as well."""
        self.ids[former] = now
        self.ids[version_id(former)] = version_id(now)


def fact_id(fact: Assertion, turn: str) -> str:
    """Return the id of an assertion as one of another text, as `mcp_memory.domain.facts.new_assertion` makes it."""
    rest = "no" if fact.negated else "yes", str(fact.since), str(fact.until)
    caller = (str(fact.confidence),) if fact.extractor == "caller" else ()
    triple = fact.head, fact.relation, fact.tail
    return assertion_id(turn, fact.start, fact.end, *triple, *rest, *caller, fact.extractor)
