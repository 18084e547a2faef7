"""The memory points of one space: which entities each joins, which points join an entity, revisions and merges (VH).

Vertices are stored by the key of their name as written. Which entity a name means may change as more is stated, so
`vertices` and `incident` resolve names by the facts at the time of the call: a point about "Patel" is one about Anna
Patel as soon as "Patel" means her. They cost as much as the point has entities, or the entity has points.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.points import Point, active_successor
from mcp_memory.vectors import Matrix, Vector
from mcp_memory.view.facts import Facts


class Hypergraph:
    """The points of one space, as of the last refresh."""

    def __init__(self) -> None:
        self._revisions: dict[str, list[Point]] = {}
        self._vectors: dict[str, Vector] = {}  # of the last revision
        self._incident: dict[str, dict[str, None]] = defaultdict(dict)  # key of a name → active points
        self._scopes: dict[str, dict[str, None]] = defaultdict(dict)  # scope in lower case → points

    def __len__(self) -> int:
        return len(self._revisions)

    def add(self, points: Sequence[Point], vectors: Matrix) -> None:
        """Add revisions in the order of recording, with the vectors of their descriptions, shape ``(n, d)``."""
        for point, vector in zip(points, vectors, strict=True):
            former = self.get(point.id)
            if former is not None and former.scope != point.scope:  # an undone forget gives a goal back
                self._scopes[former.scope.casefold()].pop(point.id, None)
            self._revisions.setdefault(point.id, []).append(point)
            self._vectors[point.id] = vector
            self._scopes[point.scope.casefold()][point.id] = None
            for name in point.entities:
                if point.active:
                    self._incident[entity_key(name)][point.id] = None
                else:
                    self._incident[entity_key(name)].pop(point.id, None)

    # Points

    def get(self, point_id: str) -> Point | None:
        """Return the last revision of a point, merged or not, or None."""
        revisions = self._revisions.get(point_id)
        return revisions[-1] if revisions else None

    def revisions(self, point_id: str) -> Sequence[Point]:
        """Return every revision of a point, oldest first."""
        return self._revisions.get(point_id, ())

    def resolve(self, point_id: str) -> Point | None:
        """Return the active point that the point with an id is, or was merged into; None if there is none."""
        return active_successor(self.get(point_id), self.get)

    def active(self, scope: str | None = None) -> list[Point]:
        """Return the active points of a scope, in any case, or of all scopes, in the order of recording."""
        return [point for point in self.all(scope) if point.active]

    def all(self, scope: str | None = None) -> list[Point]:
        """Return the points of a scope, in any case, or of all scopes, merged ones too, in the order of recording."""
        ids = self._revisions if scope is None else self._scopes.get(scope.casefold(), {})
        return [self._revisions[name][-1] for name in ids]

    def vector(self, point_id: str) -> Vector:
        """Return the vector of a point's description.

        Raises:
            KeyError: there is no such point.
        """
        return self._vectors[point_id]

    # Incidence

    def incident(self, facts: Facts, keys: Iterable[str]) -> list[Point]:
        """Return the active points that join some of these entities, those that join the most of them first."""
        shared: dict[str, int] = defaultdict(int)
        for key in dict.fromkeys(keys):
            keys_of_names = {key, *(entity_key(name) for name in facts.names(key))}
            points = (point for name_key in sorted(keys_of_names) for point in self._incident.get(name_key, ()))
            for point_id in dict.fromkeys(points):
                shared[point_id] += 1
        return [self._revisions[point_id][-1] for point_id in sorted(shared, key=lambda name: (-shared[name], name))]

    def joined_entities(self, facts: Facts) -> set[str]:
        """Return V_M: the keys of the entities that active points join."""
        return {facts.key(name) for name, points in self._incident.items() if points}


def vertices(facts: Facts, point: Point) -> frozenset[str]:
    """Return the keys of the entities that a point joins, by what its names mean now."""
    return frozenset(facts.key(name) for name in point.entities)
