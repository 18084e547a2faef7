"""Memory points: what several entities have to do with each other, in a few words (HGMem §3.2, eqs 3-5).

A point is a hyperedge: it joins two entities or more, and says what joins them. It belongs to the goal that it was made
for, its *scope*. Points are kept as revisions, and nothing is taken back: an update is a further revision with the same
entities (DESIGN D02); a point that was merged into another stays, as one more revision that names it (DESIGN D03).

Organising: what belongs to a goal, and what a judge proposes to make of it (HGMem §3.5; DESIGN L7 and L8).

What a judge proposes is no change yet: it has seen the points as they were, and time has passed. Whoever takes it in
looks at the points again (``services/points/proposals.py``).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.ids import digest
from mcp_memory.domain.times import Millis

MIN_ENTITIES = 2
"""|V| of a point (eq. 5)."""
Status = Literal["active", "merged"]


@dataclass(frozen=True, slots=True)
class Point:
    """One revision of a memory point; the last one counts.

    Attributes:
        id: ``h_…``, see `point_id`; the same in every revision.
        space: where it belongs.
        entities: names of its vertices as written, at least `MIN_ENTITIES` that differ by their keys; never changed.
        description: what joins them.
        scope: the goal that it was made for, as `scope_of` has it; empty for none.
        revision: 0, 1, …
        status: ``merged`` for one that another took in.
        parents: ids of the points that it was merged of, in their order.
        merged_into: id of the point that took it in; None for an active one.
        sentences: ids of the sentences that support it; of one that a rebuild cut otherwise nothing is left but its id.
        facts: ids of the facts that support it.
        source: whose words the description is.
        at: when this revision was made.
    """

    id: str
    space: str
    entities: tuple[str, ...]
    description: str
    scope: str
    revision: int
    status: Status
    parents: tuple[str, ...]
    merged_into: str | None
    sentences: tuple[str, ...]
    facts: tuple[str, ...]
    source: Engine
    at: Millis

    @property
    def active(self) -> bool:
        """Whether nothing has taken it in."""
        return self.status == "active"


def point_id(space: str, scope: str, entities: Iterable[str], description: str, parents: Iterable[str] = ()) -> str:
    """Return the id of a point by what its first revision says, so that repeating a call makes no second one.

    Args:
        space: where it belongs.
        scope: in any case.
        entities: in any order and spelling.
        description: of the first revision.
        parents: ids of the points that it is merged of, in any order.
    """
    keys = sorted({entity_key(name) for name in entities})
    return "h_" + digest(space, scope.casefold(), description, str(len(keys)), *keys, *sorted(parents))


def scope_of(goal: str) -> str:
    """Return a goal as points are kept under it: on one line; case tells no two goals apart (`Hypergraph.active`)."""
    return " ".join(goal.split())


def distinct_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the first spelling of each entity, in order."""
    spelt: dict[str, str] = {}
    for name in names:
        spelt.setdefault(entity_key(name), name.strip())
    return tuple(spelt.values())


@dataclass(frozen=True, slots=True)
class PointEvidence:
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
class PointJudgeInput:
    """What belongs to a goal.

    Attributes:
        goal: a question or topic; empty for the newest that was written.
        points: active, those that have most to do with the evidence first.
        grounds: the evidence that is not in their words yet, best first.
        order: names that a point joins at most.
    """

    goal: str
    points: tuple[Point, ...]
    grounds: tuple[PointEvidence, ...] = ()
    order: int = 12


@dataclass(frozen=True, slots=True)
class ProposedPoint:
    """A new point: names in any spelling, of things that may be unknown, and what it rests on."""

    entities: tuple[str, ...]
    description: str
    grounds: tuple[PointEvidence, ...]


@dataclass(frozen=True, slots=True)
class ProposedUpdate:
    """What a point, as it was shown, is to say from now on, and what that takes in."""

    point: Point
    description: str
    grounds: tuple[PointEvidence, ...]


@dataclass(frozen=True, slots=True)
class ProposedMerge:
    """Points, as they were shown, that are to become one, and what that is to say."""

    points: tuple[Point, ...]
    description: str


@dataclass(frozen=True, slots=True)
class PointProposals:
    """What a judge proposes.

    Attributes:
        insert: new points.
        update: new descriptions.
        merge: points that become one.
        left_out: why other proposals of the judge are none, in words.
        seen: of the evidence, what the judge was shown.
    """

    insert: tuple[ProposedPoint, ...] = ()
    update: tuple[ProposedUpdate, ...] = ()
    merge: tuple[ProposedMerge, ...] = ()
    left_out: tuple[str, ...] = ()
    seen: tuple[PointEvidence, ...] = ()
