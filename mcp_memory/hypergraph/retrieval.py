"""Where subqueries look: around a point, or beyond all of them (HGMem §3.3.2, eqs 6 and 7); and a question's points.

**Departures.** The reference code looks two steps around a point, in the graph of facts alone, for all subqueries at
once, and leaves nothing out of a global exploration. Here it is as the paper says (DESIGN D01): one step, in the graph
of facts (N_G) and in the hypergraph (N_M), and beyond all points only what none of them joins. The paper compares
entities with a subquery by vectors of their own; here an entity weighs what the best sentence that names it weighs.

What memory points rest on: the sentences that a question gains by the points that bear on it (DESIGN 3.2).

**Departures.** The paper gives a model the descriptions of all points, and the passages of their entities, to answer
from (§3.3.4). Here points are found beside the raw text, and hand what is theirs to the sentences that they were made
of: as much as the point is like the question. So what was once found to belong together is found together again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.points import Point
from mcp_memory.vectors import Scores, Vector
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.hypergraph import vertices
from mcp_memory.view.space import Space

Weigh = Callable[[NDArray[np.intp]], Scores]
"""Returns what sentences weigh for a subquery, by their rows."""


def neighbourhood(space: Space, point: Point) -> set[str]:
    """Return N(V) of eq. 6: the keys of what a point joins, and of what facts or other points join to that."""
    joined = vertices(space.facts, point)
    found = set(joined)
    for key in joined:
        for version in (*space.facts.from_(key), *space.facts.to(key)):
            found |= {space.facts.key(version.head), space.facts.key(version.tail)}
    for other in space.hypergraph.incident(space.facts, joined):
        found |= vertices(space.facts, other)
    return found


def uncovered_entities(space: Space) -> set[str]:
    """Return C(M) of eq. 7: the keys of the entities that facts or sentences name and no active point joins."""
    index = space.index(EntityIndex)
    named = {canonical_key(space, index.key(number)) for number in range(len(index))}
    return (named | set(space.facts.entities())) - space.hypergraph.joined(space.facts)


@dataclass(frozen=True, slots=True)
class RetrievedEntity:
    """An entity that a subquery retrieves.

    Attributes:
        key: as the facts know it.
        rows: of the sentences that name it.
        weights: of these, at least 0.
    """

    key: str
    rows: tuple[int, ...]
    weights: tuple[float, ...]


def retrieve(space: Space, keys: Collection[str], weigh: Weigh | None, most: int) -> list[RetrievedEntity]:
    """Return R(q) of eq. 1 within a scope: the entities that weigh most for a subquery, those first.

    An entity weighs what the best sentence that names it weighs, and nothing where none does: then it is not retrieved.

    Args:
        space: of a view that is held still.
        keys: of the entities in scope.
        weigh: returns what sentences weigh, by their rows; None for 1 each, and the most named first.
        most: n_v.
    """
    index = space.index(EntityIndex)
    named: dict[str, NDArray[np.int64]] = {}
    for key in keys:
        spelt = {number for name in (key, *space.facts.names(key)) if (number := index.find(name)) is not None}
        if spelt:
            named[key] = np.unique(np.concatenate([index.sentences(number) for number in sorted(spelt)]))
    if not named:
        return []
    rows = np.unique(np.concatenate(list(named.values())))
    weights = np.ones(len(rows), dtype=np.float32) if weigh is None else weigh(rows)
    found = [(key, of, weights[np.searchsorted(rows, of)]) for key, of in named.items()]
    ranked = sorted(found, key=lambda one: (-float(one[2].max()), -len(one[1]) if weigh is None else 0, one[0]))
    return [
        RetrievedEntity(key, tuple(of.tolist()), tuple(given.tolist()))
        for key, of, given in ranked[:most]
        if given.max() > 0
    ]


def canonical_key(space: Space, key: str) -> str:
    """Return the key of the entity that a name means of which this is the key."""
    return space.facts.bearer(key) or key


def is_placeholder(space: Space, name: str) -> bool:
    """Return whether nothing but points names an entity: it was inserted by force, and is a placeholder (Alg. 1)."""
    return space.facts.resolve(name) is None and space.index(EntityIndex).find(name) is None


def relevant_points(
    space: Space, names: Iterable[str], keys: Iterable[str], scope: str, vector: Vector, most: int
) -> list[Point]:
    """Return the active points on names that a question has, or made for it, most similar first (DESIGN 3.2).

    Args:
        space: of a view that is held still.
        names: that stand in the question.
        keys: of the entities that navigation started from.
        scope: the question as a goal; empty for none.
        vector: of the question, shape ``(d,)``.
        most: so many at most.
    """
    held = space.hypergraph
    if not len(held):
        return []
    meant = [*keys, *(space.facts.key(name) for name in names)]
    own = held.active(scope) if scope else []
    found = {point.id: point for point in (*held.incident(space.facts, meant), *own)}
    points = list(found.values())
    if not points:
        return []
    cosines = np.array([held.vector(point.id) for point in points]) @ vector
    order = sorted(range(len(points)), key=lambda place: (-float(cosines[place]), points[place].id))
    return [points[place] for place in order[:most]]


def point_support(space: Space, points: Iterable[Point], vector: Vector) -> Scores | None:
    """Return what points give the segments that hold their sentences; None where they give nothing.

    Args:
        space: of a view that is held still.
        points: active, that bear on the question.
        vector: of the question, shape ``(d,)``.

    Returns:
        In [0, 1], of shape ``(len(space.segments),)``: the cosine of the question to the point that is most like it, of
        those that rest on the segment.
    """
    given: dict[int, float] = {}
    for point in points:
        strength = min(float(space.hypergraph.vector(point.id) @ vector), 1.0)
        if strength > 0:
            for piece in (space.sentence(name) for name in point.sentences):
                for row in space.segments_with(piece.turn_id, piece.index) if piece is not None else ():
                    given[row] = max(given.get(row, 0.0), strength)
    if not given:
        return None
    scores = np.zeros(len(space.segments), dtype=np.float32)
    scores[list(given)] = list(given.values())
    return scores
