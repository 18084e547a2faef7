"""Organising: what belongs to a goal, and what a judge proposes to make of it (HGMem §3.5; DESIGN L7 and L8).

What a judge proposes is no change yet: it has seen the points as they were, and time has passed. Whoever takes it in
looks at the points again (``services/points/proposals.py``).
"""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.domain.points import Point


@dataclass(frozen=True, slots=True)
class Ground:
    """A piece of evidence, as far as points are made of it.

    Attributes:
        text: what it says, after the name of who says it or of what it stands in.
        when: it was said, as a date; None where that was not told.
        sentences: ids of the sentences that say it.
        facts: ids of the facts that it is.
    """

    text: str
    when: str | None
    sentences: tuple[str, ...]
    facts: tuple[str, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """What tells it from other evidence: its sentences, or its facts where no sentence says it."""
        return self.sentences or self.facts


@dataclass(frozen=True, slots=True)
class Matter:
    """What belongs to a goal.

    Attributes:
        goal: a question or topic; empty for the newest that was written.
        points: active, those that have most to do with the evidence first.
        grounds: the evidence that is not in their words yet, best first.
        order: names that a point joins at most.
    """

    goal: str
    points: tuple[Point, ...]
    grounds: tuple[Ground, ...] = ()
    order: int = 12


@dataclass(frozen=True, slots=True)
class Insertion:
    """A new point: names in any spelling, of things that may be unknown, and what it rests on."""

    entities: tuple[str, ...]
    description: str
    grounds: tuple[Ground, ...]


@dataclass(frozen=True, slots=True)
class Update:
    """What a point, as it was shown, is to say from now on, and what that takes in."""

    point: Point
    description: str
    grounds: tuple[Ground, ...]


@dataclass(frozen=True, slots=True)
class Merging:
    """Points, as they were shown, that are to become one, and what that is to say."""

    points: tuple[Point, ...]
    description: str


@dataclass(frozen=True, slots=True)
class Proposed:
    """What a judge proposes.

    Attributes:
        insert: new points.
        update: new descriptions.
        merge: points that become one.
        left_out: why other proposals of the judge are none, in words.
        seen: of the evidence, what the judge was shown.
    """

    insert: tuple[Insertion, ...] = ()
    update: tuple[Update, ...] = ()
    merge: tuple[Merging, ...] = ()
    left_out: tuple[str, ...] = ()
    seen: tuple[Ground, ...] = ()
