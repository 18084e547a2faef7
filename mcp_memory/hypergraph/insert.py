"""Insert and update: what a group of evidence does to the points of a scope (HGMem §3.3.3, DESIGN 2.1).

Evidence about almost the same entities as a point of the scope updates it: its vertices stay, its description takes in
what is new (DESIGN D02). Else it becomes a point of its own. What a point that was merged would have taken in goes to
the one that it has become. Evidence that is known already changes nothing, so organising twice is organising once.

**Departures.** The paper's model chooses what to update; so does Claude here, where it judges. Where a caller or Claude
has written a description an extract never takes its place: only what supports it is added (`worded` tells the two
apart, so that Claude can take it in later). Claude writes anew what it wrote, and never what a caller wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.points import Point, distinct, point_id
from mcp_memory.domain.times import Millis
from mcp_memory.hypergraph.describe import extract
from mcp_memory.hypergraph.grouping import Group
from mcp_memory.hypergraph.shaping import Shaping
from mcp_memory.language.sentences import split
from mcp_memory.view.facts import Facts
from mcp_memory.view.hypergraph import vertices


def taken_in(
    facts: Facts, points: Mapping[str, Point], group: Group, space: str, scope: str, at: Millis, shaping: Shaping
) -> Point | None:
    """Return the point that a group makes, or the next revision of the one that it updates; None if all is known.

    Args:
        facts: of the space.
        points: of the scope, merged ones too, by id.
        group: the evidence.
        space: its name.
        scope: of the goal.
        at: the moment.
        shaping: when it updates, and how much a description holds.
    """
    keys = frozenset(map(facts.key, group.entities))
    near = [(jaccard(keys, vertices(facts, point)), point) for point in points.values()]
    best = max(near, key=lambda entry: (entry[0], entry[1].active, entry[1].id), default=None)
    if best is not None and best[0] >= shaping.overlap:
        target = _become(points, best[1])
        return None if target is None else _updated(target, group, at, shaping)
    description = extract(group.texts, group.priority, shaping.words, shaping.redundant)
    entities = distinct(group.entities)
    name = point_id(space, scope, entities, description)
    if name in points:
        return None
    return Point(
        name,
        space,
        entities,
        description,
        scope,
        0,
        "active",
        (),
        None,
        group.sentences,
        group.facts,
        "embedded",
        at,
    )


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of what either set has that both have."""
    return len(one & other) / len(one | other) if one | other else 0.0


def _updated(point: Point, group: Group, at: Millis, shaping: Shaping) -> Point | None:
    if {*group.sentences, *group.facts} <= {*point.sentences, *point.facts}:
        return None
    if point.source != "embedded":
        return supported(point, group.sentences, group.facts, at)
    old = [point.description[start:end] for start, end in split(point.description)]
    texts = [*old, *group.texts]
    priority = [*(len(old) + place for place in group.priority), *range(len(old))]
    most = shaping.merged_words if point.parents else shaping.words
    description = extract(texts, priority, most, shaping.redundant)
    return reworded(supported(point, group.sentences, group.facts, at), description, "embedded")


def supported(point: Point, sentences: Iterable[str], facts: Iterable[str], at: Millis) -> Point:
    """Return the next revision of a point, which rests on more."""
    return replace(
        point,
        revision=point.revision + 1,
        sentences=_union(point.sentences, sentences),
        facts=_union(point.facts, facts),
        at=at,
    )


def reworded(point: Point, description: str, source: Engine) -> Point:
    """Return a revision with another description; one that a caller wrote stays (caller > anthropic > embedded)."""
    return point if point.source == "caller" else replace(point, description=description, source=source)


def worded(revisions: Sequence[Point]) -> frozenset[str]:
    """Return the ids of the sentences and facts that the description of a point takes in, as far as a judge wrote it.

    What was added to its support afterwards is not in its words. A caller's description takes in all, since nobody is
    to write it anew; an extract takes in none.

    Args:
        revisions: of one point, all of them, oldest first.
    """
    last = revisions[-1]
    if last.source == "embedded":
        return frozenset()
    first = last
    for one in reversed(revisions):
        if last.source == "caller" or (one.description, one.source) != (last.description, last.source):
            break
        first = one
    return frozenset((*first.sentences, *first.facts))


def _become(points: Mapping[str, Point], point: Point | None) -> Point | None:
    seen: set[str] = set()
    while point is not None and not point.active and point.id not in seen:
        seen.add(point.id)
        point = points.get(point.merged_into or "")
    return point if point is not None and point.active else None


def _union(*lists: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names in lists for name in names))
