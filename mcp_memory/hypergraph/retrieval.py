"""Retrieval with memory points (HGMem §3.4, eqs 6 and 7): subqueries, relevant points, operators.

A local investigation looks around a point, a global exploration beyond all points.

**Departures.** The reference code looks two steps around a point, in the graph of facts alone, for all subqueries at
once, and leaves nothing out of a global exploration. Here it is as the paper says (DESIGN D01): one step, in the graph
of facts (N_G) and in the hypergraph (N_M), and beyond all points only entities that none of them joins. The paper
compares entities with a subquery by vectors of their own; here the weight of an entity is that of the best sentence
that names it.

The paper answers from the descriptions of all points and the passages of their entities (§3.6). Here points are found
in addition to the raw text. A broad recall lists what they rest on. They raise no
sentence in the ranking: that was measured to gain nothing.

The paper's model decides which points to investigate and writes the subquery; here the caller of the operator does, or
Claude, where it judges (``services/follow_ups.py``). The paper keeps at most n_e relationships and n_d texts of what it
retrieves (§3.2, note 2); here the ``limit`` of the call bounds sentences and points together, and facts are only
suggested. What a subquery retrieves is shown by the sentences that name it, most similar to the query first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

import numpy as np

from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.domain.points import Point, scope_of
from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import USER
from mcp_memory.language.tokens import stems
from mcp_memory.ports import OperatorInput, OperatorResult, Weigh
from mcp_memory.vectors import Rows
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.evidence import known_sentences, point_evidence, sentence_evidence
from mcp_memory.view.hypergraph import vertices
from mcp_memory.view.space import Space

LISTED_POINTS = 5
"""Points that a recall lists."""
USER_POINT_COSINE = 0.4
"""Ours: cosine of a question from which on it bears on a point that joins only the user of what it names and has none
of its words. Of 280 pairs of both in a memory of half a year 6 lay above, 4 of them fitting."""
ENTITIES_A_SUBQUERY = 5
"""Entities that one subquery retrieves. n_v (code, graph_run.py: 5)."""


def neighbourhood(space: Space, point: Point, working: Iterable[Point] = ()) -> set[str]:
    """Return N(V) of eq. 6: the keys of a point's entities and of those that facts or other points join to them.

    ``working`` are further points, which are not stored.
    """
    joined = vertices(space.facts, point)
    found = set(joined)
    for key in joined:
        for version in (*space.facts.from_(key), *space.facts.to(key)):
            found |= {space.facts.key(version.head), space.facts.key(version.tail)}
    own = (one for one in working if not joined.isdisjoint(vertices(space.facts, one)))
    for other in (*space.hypergraph.incident(space.facts, joined), *own):
        found |= vertices(space.facts, other)
    return found


def uncovered_entities(space: Space, working: Iterable[Point] = ()) -> set[str]:
    """Return C(M) of eq. 7: the keys of the entities that facts or sentences name and no active point joins."""
    index, facts = space.index(EntityIndex), space.facts
    named = {facts.known_entity(key) or key for key in map(index.key, range(len(index)))}
    joined = space.hypergraph.joined_entities(space.facts).union(*(vertices(space.facts, one) for one in working))
    return (named | set(space.facts.entities())) - joined


Retrieved = dict[str, dict[int, float]]
"""The entities that a subquery retrieves, by key, best first: the weights of the sentences that name each, by row."""


def retrieve(space: Space, keys: Collection[str], weigh: Weigh | None) -> Retrieved:
    """Return R(q) of eq. 1 within a scope: the entities with the highest weights for a subquery, highest first.

    The weight of an entity is that of the best sentence that names it; an entity without one is not retrieved. Without
    weights of sentences each has 1, and the entities named most often come first.
    """
    index = space.index(EntityIndex)
    named: dict[str, Rows] = {}
    for key in keys:
        spelt = {number for name in (key, *space.facts.names(key)) if (number := index.find(name)) is not None}
        if spelt:
            named[key] = np.unique(np.concatenate([index.sentences(number) for number in sorted(spelt)])).astype(
                np.intp
            )
    weights = np.ones(len(space.sentences), dtype=np.float32)
    if weigh is not None and named:
        every = np.unique(np.concatenate(list(named.values())))
        weights[every] = weigh(every)
    best = {key: float(weights[rows].max()) for key, rows in named.items()}
    order = sorted(named, key=lambda key: (-best[key], -len(named[key]) if weigh is None else 0, key))
    return {
        key: dict(zip(named[key].tolist(), weights[named[key]].tolist(), strict=True))
        for key in order[:ENTITIES_A_SUBQUERY]
        if best[key] > 0
    }


def is_placeholder(space: Space, name: str) -> bool:
    """Return whether only points name an entity: a placeholder, inserted by force (HGMem §3.3, note 3)."""
    return space.facts.resolve(name) is None and space.index(EntityIndex).find(name) is None


def relevant_points(space: Space, query: Query, keys: Iterable[str]) -> list[Point]:
    """Return the active points that join entities of a question or were made for it, most similar first (DESIGN 3.2).

    ``keys`` are the entities that navigation started from. The user, whom most points of a personal memory join, is not
    enough: a point of nobody else in the question must be near to it (`USER_POINT_COSINE`), or have one of its words.
    """
    hypergraph = space.hypergraph
    if not len(hypergraph):
        return []
    meant = [*keys, *(space.facts.key(name) for name in query.names)]
    own = hypergraph.active(scope) if (scope := scope_of(query.text)) else []
    found = {point.id: point for point in (*hypergraph.incident(space.facts, meant), *own)}
    points = list(found.values())
    if not points:
        return []
    cosines = np.array([hypergraph.vector(point.id) for point in points]) @ query.vector
    user = {space.facts.key(name) for name in (USER, space.speakers.asker or USER)}
    kept = {point.id for point in (*hypergraph.incident(space.facts, [key for key in meant if key not in user]), *own)}
    asked = _content_stems(space, query, user)
    order = [
        place
        for place, point in enumerate(points)
        if not asked
        or point.id in kept
        or cosines[place] >= USER_POINT_COSINE
        or asked & frozenset(stems(point.description))
    ]
    order.sort(key=lambda place: (-float(cosines[place]), points[place].id))
    return [points[place] for place in order[:LISTED_POINTS]]


def _content_stems(space: Space, query: Query, user: Iterable[str]) -> frozenset[str]:
    """Return the stems of the words that tell what a question is about, without names of the user and numbers."""
    own = {stem for key in user for name in space.facts.names(key) for stem in stems(name)} | {USER}
    said = {stem for words, _ in query.content_words for stem in stems(words)}
    return frozenset(stem for stem in said - own if not stem.isdecimal())


_SUGGESTIONS = 3
"""Suggestions of one kind at most."""


def local_points(call: OperatorInput) -> OperatorResult:
    """Local investigation: sentences about entities one step around points, and the points that share an entity.

    ``ids`` are of points, each a subquery of its own (DESIGN D01). A merged point counts as its successor; an id of no
    point is ignored.
    """
    space = call.space
    working = {point.id: point for point in call.points}
    named = [point for one in call.ids if (point := working.get(one) or space.hypergraph.resolve(one)) is not None]
    points = list({point.id: point for point in named}.values())
    found: Retrieved = {}
    for point in points:
        found |= retrieve(space, neighbourhood(space, point, call.points), call.weigh)
    joined = {key for point in points for key in vertices(space.facts, point)}
    others = [one for one in space.hypergraph.incident(space.facts, joined) if one not in points]
    items = _evidence(call, found, others, "local_points")
    following = [
        Suggestion("local_points", {"ids": (one.id,), **call.query_argument}, "it shares an entity")
        for one in others[:_SUGGESTIONS]
    ]
    return OperatorResult(tuple(items[: call.limit]), (*following, *_expansions(space, found, joined)))


def global_points(call: OperatorInput) -> OperatorResult:
    """Global exploration: sentences about the entities that no memory point joins, the most relevant for a query."""
    found = retrieve(call.space, uncovered_entities(call.space, call.points), call.weigh)
    items = _evidence(call, found, (), "global_points")
    return OperatorResult(tuple(items[: call.limit]), tuple(_expansions(call.space, found, set())))


def _evidence(call: OperatorInput, found: Retrieved, points: Sequence[Point], operator: str) -> list[Evidence]:
    """Return sentences about entities, and points, most similar to the query first."""
    space = call.space
    weights = {row: weight for own in found.values() for row, weight in own.items() if weight > 0}
    best = max(weights.values(), default=0.0) or 1.0
    shown = sorted(weights, key=lambda row: (-weights[row], space.sentences[row].id))
    items = [sentence_evidence(space, space.sentences[row], weights[row] / best, (operator,)) for row in shown]
    scores = [_support_weight(call, point) for point in points]
    weighted = zip(points, scores, strict=True)
    shown_points = [point_evidence(space, point, min(score / best, 1.0), (operator,)) for point, score in weighted]
    return sorted((*shown_points, *items), key=lambda item: -item.score)


def _support_weight(call: OperatorInput, point: Point) -> float:
    """Return the weight of the best sentence that supports a point; 0 without one."""
    pieces = known_sentences(call.space, point.sentences)
    rows = np.array([call.space.sentence_row(piece.turn_id, piece.index) for piece in pieces], dtype=np.intp)
    if call.weigh is None:
        return 1.0
    return float(call.weigh(rows).max()) if len(rows) else 0.0


def _expansions(space: Space, found: Iterable[str], joined: set[str]) -> list[Suggestion]:
    """Suggest the facts of retrieved entities that the points do not join."""
    new = [key for key in found if key not in joined and space.facts.degree(key)]
    names = [space.facts.name(key) for key in new[:_SUGGESTIONS]]
    return [Suggestion("expand_facts", {"entity": name}, f"what is known about {name}") for name in names]
