"""The ids of an export: on their way out of a store (`Leaving`), and into one (`Renaming`).

Each store makes ids of its own, with a key that never leaves it (``domain/ids.py``). Lessons, memory points and
questions refer to sentences, segments, facts and points by id. In an export these ids are made again without a key, of
what the export shows: so they tell nothing that it does not show, and whoever reads it can make them, too. On the way
in each is replaced by that of the same row in the store. An id that belongs to no row any more leads nowhere there, as
it did before.

**Texts** are named by space, session and ref. A ref that another store made says nothing here, so the same text is
found by what it says; else it is stored with that ref.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from mcp_memory.domain.facts import Assertion, restated
from mcp_memory.domain.ids import UNKEYED, mark_of
from mcp_memory.domain.points import Point, point_id
from mcp_memory.domain.turns import Turn, derived_ref, segment_id, sentence_id, turn_id, version_id
from mcp_memory.view.same_texts import SameTexts
from mcp_memory.view.space import Space
from mcp_memory.view.view import View
from mcp_memory.visible import with_masks

_ID = re.compile(r"[sgxfhoi]_[0-9a-f]{20}")
Place = tuple[str, str, str, int]
"""Space, session, ref and revision of a text in a file."""


def fact_id(fact: Assertion, turn: str) -> str:
    """Return the id of an assertion as one of another text, as `mcp_memory.domain.facts.new_assertion` makes it."""
    return restated(replace(fact, turn_id=turn), (fact.head, fact.relation, fact.tail)).id


def turn_in_file(turn: Turn, space: str, ref: str) -> str:
    """Return the id that a text has in an export, where it stands in a space under a ref."""
    return turn_id(space, turn.session, ref, with_masks(turn.text), turn.revision)


def fact_in_file(fact: Assertion, text: str, turn: str) -> str:
    """Return the id that an assertion has in an export.

    Args:
        fact: the assertion.
        text: the text that states it, as the store has it.
        turn: the id of that text in the export.
    """
    start, end = (len(with_masks(text[:at])) for at in (fact.start, fact.end))
    head, tail = with_masks(fact.head), with_masks(fact.tail)
    return fact_id(replace(fact, start=start, end=end, head=head, tail=tail), turn)


def replaced(value: Any, id_of: Callable[[str], str]) -> Any:
    """Return a JSON value with every id in it replaced."""
    if isinstance(value, str):
        return id_of(value) if _ID.fullmatch(value) else value
    if isinstance(value, list):
        return [replaced(one, id_of) for one in value]
    if isinstance(value, dict):
        return {id_of(name) if _ID.fullmatch(name) else name: replaced(one, id_of) for name, one in value.items()}
    return value


class Leaving:
    """The ids of one space in an export.

    Args:
        space: the space, as it is shown.
    """

    def __init__(self, space: Space) -> None:
        self._space = space
        self._points: dict[str, str] = {}

    def ref(self, turn: Turn) -> str:
        """Return the ref of a text; an older program made that of a masked one of what it masks, so this is keyed."""
        if turn.original is None or mark_of(turn.ref) != "":
            return turn.ref
        return self._space.ids.ref(f"{turn.ref[:-20]}{UNKEYED}{turn.ref[-20:]}")

    def point(self, point: Point) -> Point:
        """Return a revision of a point with the ids that it has in the export; earlier ones come first."""
        parents = tuple(map(self.id, point.parents))
        if point.revision == 0:
            description, names = with_masks(point.description), tuple(map(with_masks, point.entities))
            self._points[point.id] = point_id(point.space, with_masks(point.scope), names, description, parents)
        into = None if point.merged_into is None else self.id(point.merged_into)
        sentences, facts = (tuple(map(self.id, names)) for names in (point.sentences, point.facts))
        return replace(point, id=self.id(point.id), parents=parents, merged_into=into, sentences=sentences, facts=facts)

    def fact(self, fact: Assertion) -> str:
        """Return the id of an assertion."""
        turn = self._space.turns.get(fact.turn_id)
        return self._unknown(fact.id) if turn is None else fact_in_file(fact, turn.text, self._turn(turn))

    def id(self, name: str) -> str:
        """Return the id of a row, or of something made of rows, that is mentioned."""
        space, kind = self._space, name[:1]
        if name in self._points:
            return self._points[name]
        if kind == "s" and (sentence := space.sentence(name)) is not None:
            text = with_masks(space.text(sentence))
            return sentence_id(self._turn(space.turns[sentence.turn_id]), sentence.index, text)
        if kind == "g" and (row := space.segment_row(name)) >= 0:
            segment = space.segments[row]
            return segment_id(self._turn(space.turns[segment.turn_id]), segment.index, with_masks(space.text(segment)))
        if kind in "xf" and (fact := space.facts.assertion(f"x_{name[2:]}")) is not None:
            return kind + self.fact(fact)[1:]
        return self._unknown(name)

    def _turn(self, turn: Turn) -> str:
        return turn_in_file(turn, turn.space, self.ref(turn))

    def _unknown(self, name: str) -> str:
        return name[:2] + self._space.ids.of("unknown", name[2:])


class Renaming:
    """How records are renamed on their way into a store.

    Args:
        into: the space that everything goes into; None for those of the file.
        view: the view of the store.

    Attributes:
        key: the key of the store when the file was read first; a store that is just being begun may get another one.
        former: the id that each text has in the file, by its id in the store.
        ids: the id in the store of each row of which that in the file is known.
    """

    def __init__(self, into: str | None, view: View) -> None:
        self._into = into
        self._view = view
        self._ids = view.ids
        self.key = view.ids.key
        self._texts: dict[Place, tuple[str, str]] = {}
        self._taken: set[tuple[str, str, str]] = set()
        self._same: dict[str, SameTexts] = {}
        self._points: dict[str, dict[str, str]] = {}  # by their ids in an export
        self.former: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self._done: dict[str, tuple[int, int, int]] = {}

    def space(self, name: str) -> str:
        """Return the space that a space of the file goes into."""
        return self._into or name

    def id(self, name: str) -> str:
        """Return the id of a row in the store."""
        return self.ids.get(name, name)

    def all(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return the ids of rows in the store."""
        return tuple(map(self.id, names))

    def turn(self, turn: Turn, space: str) -> Turn:
        """Return a text with the ref and the id that it has in the store, or will have.

        Args:
            turn: the text, as it is shown, in the space that it goes into.
            space: its space in the file.
        """
        place = space, turn.session, turn.ref, turn.revision
        if (held := self._held(self._view.space(turn.space), turn, space)) is not None:
            self._texts[place] = held.ref, held.id
        of_store = self._ids.turn(turn.space, turn.session, turn.ref, turn.text, turn.revision)
        ref, name = self._texts.get(place) or (turn.ref, of_store)
        self.former[name] = turn_in_file(turn, space, turn.ref)
        return replace(turn, ref=ref, id=name)

    def names(self, turn: Turn) -> tuple[str, ...]:
        """Return the ids that a text of the file has or had in the store, if it was stored there."""
        said_at = None if turn.said_at is None else str(turn.said_at)
        own = self._ids.ref(derived_ref(turn.speaker, turn.role, said_at, turn.title, turn.text, 0))
        refs, here = [turn.ref], (turn.space, turn.session)
        refs += [] if mark_of(turn.ref) is None else [own]
        keyed = [self._ids.turn(*here, ref, turn.text, turn.revision) for ref in refs]
        return self.former[turn.id], turn_id(*here, turn.ref, turn.text, turn.revision), *keyed

    def _held(self, space: Space, turn: Turn, former: str) -> Turn | None:
        """Return the text that the store has in place of one of the file."""
        ref, _ = self._texts.get((former, turn.session, turn.ref, 0), (turn.ref, ""))
        revisions = space.revisions(turn.session, ref)
        mark = mark_of(turn.ref)
        if not revisions and turn.revision == 0 and mark is not None:
            if (same := self._same.get(space.name)) is None:
                same = self._same[space.name] = SameTexts()
                for one in space.turns.values():
                    if mark_of(one.ref) is not None:
                        same.add(one)
            others = (one for one in same.find(turn, space.turns) if mark_of(one) != mark)
            ref = next((one for one in others if (space.name, turn.session, one) not in self._taken), "")
            revisions = space.revisions(turn.session, ref)
            self._taken.add((space.name, turn.session, ref))
        return next((one for one in revisions if one.revision == turn.revision), None)

    def fact(self, fact: Assertion) -> Assertion:
        """Return an assertion of a text, whose id is known, with its own id in the store."""
        space, former = self._view.space(fact.space), self.former[fact.turn_id]
        text = space.turns[fact.turn_id].text if fact.turn_id in space.turns else ""
        rows, of_file = space.facts.assertions_in(fact.turn_id), fact_id(fact, former)
        held = next((one.id for one in rows if fact_in_file(one, text, former) == of_file), None)
        now = held or fact_id(fact, fact.turn_id)
        self.add_fact(fact.id, now)
        return replace(fact, id=now)

    def point(self, point: Point) -> Point:
        """Return a point of the file with its own id in the store and its parents'; the others that it names stay."""
        parents = self.all(point.parents)
        if point.space not in self._points:
            space = self._view.space(point.space)
            leaving, held = Leaving(space), [space.hypergraph.revisions(one.id)[0] for one in space.hypergraph.all()]
            self._points[point.space] = {leaving.point(one).id: one.id for one in held}
        if point.revision == 0 and point.id not in self.ids:
            made = point_id(point.space, point.scope, point.entities, point.description, parents)
            self.ids[point.id] = self._points[point.space].get(point.id, made)
        return replace(point, id=self.id(point.id), parents=parents)

    def learn_from(self, space: Space) -> None:
        """Learn the former ids of the rows that a space has got since the last call."""
        sentences, segments, facts = self._done.get(space.name, (0, 0, 0))
        rows = space.facts.rows
        if sentences > len(space.sentences) or segments > len(space.segments) or facts > len(rows):
            sentences = segments = facts = 0  # the view was read again
        for sentence in space.sentences[sentences:]:
            if former := self.former.get(sentence.turn_id):
                self.ids[sentence_id(former, sentence.index, with_masks(space.text(sentence)))] = sentence.id
        for segment in space.segments[segments:]:
            if former := self.former.get(segment.turn_id):
                self.ids[segment_id(former, segment.index, with_masks(space.text(segment)))] = segment.id
        for fact in rows[facts:]:
            if former := self.former.get(fact.turn_id):
                self.add_fact(fact_in_file(fact, space.turns[fact.turn_id].text, former), fact.id)
        self._done[space.name] = len(space.sentences), len(space.segments), len(rows)

    def add_fact(self, former: str, now: str) -> None:
        """Record the new id of an assertion, which is that of its fact as well."""
        self.ids[former] = now
        self.ids[version_id(former)] = version_id(now)
