"""Local investigation and global exploration as operators (HGMem §3.3.2, eqs 6 and 7).

**Departures.** The paper's model decides which points to investigate and writes the subquery; here the caller of the
operator does. What a subquery retrieves is shown by the sentences that name it, most similar to the query first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.domain.points import Point
from mcp_memory.hypergraph.retrieval import RetrievedEntity, neighbourhood, retrieve, uncovered_entities
from mcp_memory.hypergraph.settings import PointSettings
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.view.evidence import point_evidence, sentence_evidence
from mcp_memory.view.hypergraph import vertices
from mcp_memory.view.space import Space

_NEXT = 3
"""Suggestions of one kind at most."""


class LocalPoints:
    """Local investigation: sentences about entities one step around points, and the points that share an entity."""

    name = "local_points"
    needs = ("ids",)
    uses = ("ids", "query")

    def __init__(self, settings: PointSettings | None = None) -> None:
        self._settings = settings or PointSettings()

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; ``ids`` are of points, each a subquery of its own (DESIGN D01).

        A merged point counts as its successor; an id of no point is ignored.
        """
        space = call.space
        working = {point.id: point for point in call.points}
        named = [point for one in call.ids if (point := working.get(one) or space.hypergraph.resolve(one)) is not None]
        points = list({point.id: point for point in named}.values())
        found: dict[str, RetrievedEntity] = {}
        for point in points:
            for one in retrieve(space, neighbourhood(space, point, call.points), call.weigh, self._settings.n_v):
                found.setdefault(one.key, one)
        joined = {key for point in points for key in vertices(space.facts, point)}
        others = [one for one in space.hypergraph.incident(space.facts, joined) if one not in points]
        items = _evidence(call, found.values(), others, self.name)
        query = {} if call.query is None else {"query": call.query.text}
        following = [
            Suggestion(self.name, {"ids": (one.id,), **query}, f"it shares {_shared_names(space, one, joined)}")
            for one in others[:_NEXT]
        ]
        return OperatorResult(tuple(items[: call.limit]), (*following, *_expansions(space, found.values(), joined)))


class GlobalPoints:
    """Global exploration: sentences about the most relevant entities that no memory point joins."""

    name = "global_points"
    needs = ("query",)
    uses = ("query", "since", "until")

    def __init__(self, settings: PointSettings | None = None) -> None:
        self._settings = settings or PointSettings()

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; starts from ``query``."""
        space = call.space
        found = retrieve(space, uncovered_entities(space, call.points), call.weigh, self._settings.n_v)
        items = _evidence(call, found, (), self.name)
        return OperatorResult(tuple(items[: call.limit]), tuple(_expansions(space, found, set())))


def _evidence(
    call: OperatorInput, found: Iterable[RetrievedEntity], points: Sequence[Point], operator: str
) -> list[Evidence]:
    """Return sentences about entities, and points, most similar to the query first."""
    space = call.space
    weights = {row: weight for one in found for row, weight in zip(one.rows, one.weights, strict=True) if weight > 0}
    best = max(weights.values(), default=0.0) or 1.0
    shown = sorted(weights, key=lambda row: (-weights[row], space.sentences[row].id))
    items = [sentence_evidence(space, space.sentences[row], weights[row] / best, (operator,)) for row in shown]
    scores = [_support_weight(call, point) for point in points]
    weighted = zip(points, scores, strict=True)
    shown_points = [point_evidence(space, point, min(score / best, 1.0), (operator,)) for point, score in weighted]
    return sorted((*shown_points, *items), key=lambda item: -item.score)


def _support_weight(call: OperatorInput, point: Point) -> float:
    """Return the weight of the best sentence that supports a point; 0 without one."""
    pieces = [piece for name in point.sentences if (piece := call.space.sentence(name)) is not None]
    rows = np.array([call.space.sentence_row(piece.turn_id, piece.index) for piece in pieces], dtype=np.intp)
    if call.weigh is None:
        return 1.0
    return float(call.weigh(rows).max()) if len(rows) else 0.0


def _shared_names(space: Space, point: Point, joined: set[str]) -> str:
    return ", ".join(name for name in point.entities if space.facts.key(name) in joined)


def _expansions(space: Space, found: Iterable[RetrievedEntity], joined: set[str]) -> list[Suggestion]:
    """Suggest the facts of retrieved entities that the points do not join."""
    new = [one.key for one in found if one.key not in joined and space.facts.degree(one.key)]
    names = [space.facts.name(key) for key in new[:_NEXT]]
    return [Suggestion("expand_facts", {"entity": name}, f"what is known about {name}") for name in names]
