"""Memory points: short descriptions of how several entities are connected (HGMem §3.3, eqs 3-5).

A point is a hyperedge: it joins two or more entities and describes their connection. Its *scope* is the goal that it
was made for. Points are stored as revisions, and nothing is deleted: an update is a further revision with the same
entities (DESIGN D02); a point that was merged into another stays, with one more revision that names it (DESIGN D03).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

from mcp_memory.codec import Count
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.ids import digest
from mcp_memory.domain.times import Millis

MIN_ENTITIES = 2
"""|V| of a point at least (eq. 5)."""
MAX_ENTITIES = 12
"""At most; the paper's points grow to 7 on average (Table 3), ours may not grow without bound."""
Status = Literal["active", "merged"]


@dataclass(frozen=True, slots=True)
class Point:
    """One revision of a memory point; the last revision counts.

    Attributes:
        id: ``h_…``, see `new_point`; the same in every revision.
        entities: names of its vertices as written, at least `MIN_ENTITIES` with different keys; never changed.
        scope: the goal that it was made for, in the form of `scope_of`; empty for none.
        revision: 0, 1, …
        status: ``merged`` once another point has replaced it.
        parents: ids of the points that were merged into it, in order.
        merged_into: id of the point that replaced it; None for an active point.
        sentences: ids of the sentences that support it; an id may be unknown after a rebuild that split texts again.
    """

    id: str
    space: str
    entities: tuple[str, ...]
    description: str
    scope: str
    revision: Count
    status: Status
    parents: tuple[str, ...]
    merged_into: str | None
    sentences: tuple[str, ...]
    facts: tuple[str, ...]
    source: Engine
    at: Millis

    @property
    def active(self) -> bool:
        """Whether no other point has replaced it."""
        return self.status == "active"


def new_point(
    space: str, scope: str, names: Iterable[str], description: str, source: Engine, at: Millis, *,
    sentences: tuple[str, ...] = (), facts: tuple[str, ...] = (), parents: tuple[str, ...] = (),
) -> Point:  # fmt: skip
    """Return the first revision of a point; ``names`` may name an entity twice.

    Its id is made of what it is, in any order and spelling, so that repeating a call makes no second point.
    """
    entities = distinct_names(names)
    keys = sorted(map(entity_key, entities))
    name = "h_" + digest(space, scope.casefold(), description, str(len(keys)), *keys, *sorted(parents))
    return Point(name, space, entities, description, scope, 0, "active", parents, None, sentences, facts, source, at)


def active_successor(point: Point | None, get: Callable[[str], Point | None]) -> Point | None:
    """Return the active point that a point was merged into, over as many merges as it takes, or itself (DESIGN I13).

    None if there is none, as in damaged rows: no merge of ours is a ring. ``get`` returns the last revision of a point.
    """
    seen: set[str] = set()
    while point is not None and not point.active and point.id not in seen:
        seen.add(point.id)
        point = get(point.merged_into or "")
    return point if point is not None and point.active else None


def scope_of(goal: str) -> str:
    """Return a goal as the scope of points: on one line; `Hypergraph.active` ignores case."""
    return " ".join(goal.split())


def distinct_names(names: Iterable[str]) -> tuple[str, ...]:
    """Return the first spelling of each entity, in order."""
    spelt: dict[str, str] = {}
    for name in names:
        spelt.setdefault(entity_key(name), name.strip())
    return tuple(spelt.values())
