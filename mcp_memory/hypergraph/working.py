"""The memory points of one question while it is answered: HGMem's working memory (§3.2, §3.3.3, eqs 2 and 8).

A judge that is asked a question which relates things to each other proposes, with each judgement, what becomes of these
points: an update changes the description alone (DESIGN D02), an insertion joins entities as no point does, a merge
unites the entities of its parents (I13). They begin with the stored points of the question and are kept apart from the
store: `services/points/working.py` stores them once the question is answered and the memory may learn from it.

**Departures.** The paper asks a model for updates and insertions, for merges, for concerns and for each subquery, four
to five requests a step. Here they are one reply with the judgement: an edit brings its concern as a subquery (local
investigation), and the judgement has at most one that no point is about (global exploration).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace

from mcp_memory.domain.answers import PointEdit
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Citation
from mcp_memory.domain.points import MIN_ENTITIES, Point, distinct_names, point_id
from mcp_memory.domain.times import Millis
from mcp_memory.hypergraph.evolution import add_support, merge_points, reword
from mcp_memory.hypergraph.settings import PointSettings

MOST = 8
"""Points of one question."""
Cited = Callable[[Sequence[Citation]], tuple[str, ...]]
"""Returns the ids of the sentences that citations quote."""


def evolve_points(
    shown: Sequence[Point],
    working: Collection[str],
    edits: Iterable[PointEdit],
    *,
    space: str,
    scope: str,
    at: Millis,
    cited: Cited,
    settings: PointSettings,
) -> tuple[list[Point], list[tuple[Point, str]]]:
    """Return the points that a judge is shown next, and its concerns, each with its point.

    An update of a point that belongs to another question makes a new one of this question. An edit that does not fit is
    left out: of a point that is gone, of a caller's words, of fewer than two entities or more than a point may join, of
    nothing that was cited, or beyond `MOST`.

    Args:
        shown: the points before.
        working: the ids of those that belong to this question.
        edits: in order.
        space: its name.
        scope: the question, as `scope_of` has it.
        at: the moment.
        cited: finds the sentences that an edit rests on.
        settings: how many entities a point may join, and whether points are merged.
    """
    kept = {point.id: point for point in shown}
    own = set(working)
    concerns: list[tuple[str, str]] = []
    for edit in edits:
        old = [kept[point.id] for point in edit.points if point.id in kept]
        sentences = tuple(dict.fromkeys((*(name for one in old for name in one.sentences), *cited(edit.citations))))
        if len(old) < len(edit.points) or not sentences:
            continue
        made: Point | None = None
        if len(old) == 1 and old[0].id in own:
            made = reword(add_support(old[0], sentences, (), at), edit.description, "anthropic")
        elif len(old) < 2 and len(own) < MOST:
            made = _new_point(space, scope, old[0].entities if old else edit.entities, edit.description, sentences, at)
        elif len(old) > 1 and settings.merge and not any(point.source == "caller" for point in old):
            merged, _ = merge_points(old, edit.description, scope, "anthropic", at)
            made = replace(merged, sentences=sentences)
        if made is None or not MIN_ENTITIES <= len(made.entities) <= settings.order:
            continue
        if len(old) > 1 or (old and old[0].id not in own):
            kept = {key: point for key, point in kept.items() if point not in old}
        kept[made.id] = made
        own.add(made.id)
        if edit.concern:
            concerns.append((made.id, edit.concern))
    return list(kept.values()), [(kept[name], concern) for name, concern in concerns if name in kept]


def _new_point(
    space: str, scope: str, entities: Iterable[str], description: str, sentences: tuple[str, ...], at: Millis
) -> Point:
    names = distinct_names(name for name in entities if entity_key(name))
    name = point_id(space, scope, names, description)
    return Point(name, space, names, description, scope, 0, "active", (), None, sentences, (), "anthropic", at)
