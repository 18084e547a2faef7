"""Memory points: what several entities have to do with each other, in a few words (HGMem §3.2, eqs 3-5).

A point is a hyperedge: it joins two entities or more, and says what joins them. It belongs to the goal that it was made
for, its *scope*. Points are kept as revisions, and nothing is taken back: an update is a further revision with the same
entities (DESIGN D02); a point that was merged into another stays, as one more revision that names it (DESIGN D03).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.ids import digest
from mcp_memory.domain.times import Millis

LEAST = 2
"""|V| of a point (eq. 5)."""
Status = Literal["active", "merged"]


@dataclass(frozen=True, slots=True)
class Point:
    """One revision of a memory point; the last one counts.

    Attributes:
        id: ``h_…``, see `point_id`; the same in every revision.
        space: where it belongs.
        entities: names of its vertices as written, at least `LEAST` that differ by their keys; never changed.
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


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Return the first spelling of each entity, in order."""
    spelt: dict[str, str] = {}
    for name in names:
        spelt.setdefault(entity_key(name), name.strip())
    return tuple(spelt.values())
