"""Merge memory points that relate the same entities into one of higher order (HGMem §3.3.3, eq. 8; DESIGN 2.2).

The new point joins what its parents joined and rests on what they rested on. The parents stay and name it (DESIGN D03).
Of one round each point takes part in one merge at most, which the reference code does not see to.

Merging is for questions that relate things to each other. Those that ask for one thing lose by it: 65 to 60 and 60 to
55 points of accuracy on the primitive questions of two data sets (Table 3). So without such a goal nothing is merged
(DESIGN D05).

**Departures.** In the paper a language model chooses pairs with the goal in mind and writes the description; so does
Claude here, where it judges, and it may choose groups (``services/points/proposals.py``). Without it those pairs come
first of which each joins an entity that the goal names and the other does not: it is what the goal relates.
(Measured on questions of two hops over passages of an encyclopedia: of 100 such pairs 89 rest on what answers, both of
them; of pairs that share an entity and are alike by .6 only 16.) After them pairs are merged that share an entity and
whose descriptions are alike, the likeliest first: what says the same twice. The threshold is ours.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.paths import Path, Root
from mcp_memory.domain.points import Point, distinct, point_id
from mcp_memory.domain.times import Millis
from mcp_memory.hypergraph.shaping import Shaping
from mcp_memory.language.questions import Question
from mcp_memory.vectors import Vector
from mcp_memory.view.facts import Facts
from mcp_memory.view.hypergraph import vertices

_RELATING = re.compile(
    r"\b(?:compar\w+|differ\w*|versus|vs|relat\w+|connect\w*|between|summar\w+|overview|common|alike|explain|describe)\b",
    re.IGNORECASE,
)


def relational(question: Question, roots: Sequence[Root], paths: Sequence[Path]) -> bool:
    """Return whether a goal relates things to each other (DESIGN D05): topic, why, how, comparison or several hops.

    Args:
        question: the goal, taken apart.
        roots: what navigation started from.
        paths: what it found, best first.
    """
    if question.asked in ("why", "how", "other") or _RELATING.search(question.text):
        return True
    named = {root.key for root in roots if not root.soft}
    return len(named) > 1 or (bool(paths) and len(paths[0].steps) > 1)


def pairs(
    facts: Facts,
    points: Sequence[Point],
    vector: Callable[[Point], Vector],
    shaping: Shaping,
    among: Collection[str] | None = None,
    asked: Collection[str] = (),
) -> list[tuple[Point, Point]]:
    """Return which active points of a scope are to be merged in one round, the likeliest pair first.

    Args:
        facts: of the space.
        points: active, of one scope.
        vector: of a point's description.
        shaping: how alike they must be, and how many entities a point may join.
        among: ids, of which a pair has at least one; None for any pair.
        asked: keys of the entities that the goal names.
    """
    joined, named = {point.id: vertices(facts, point) for point in points}, frozenset(asked)
    likely = []
    for place, one in enumerate(points):
        for other in points[place + 1 :]:
            fits = len(joined[one.id] | joined[other.id]) <= shaping.order
            meant = among is None or one.id in among or other.id in among
            if not meant or not fits:
                continue
            first, second = named & joined[one.id], named & joined[other.id]
            related = bool(first - second) and bool(second - first)
            if related or joined[one.id] & joined[other.id]:
                cosine = float(vector(one) @ vector(other))
                if related or cosine >= shaping.alike:
                    likely.append((not related, -cosine, one.id, other.id, one, other))
    taken: set[str] = set()
    chosen = []
    for *_, one, other in sorted(likely, key=lambda entry: entry[:4]):
        if not taken & {one.id, other.id}:
            taken |= {one.id, other.id}
            chosen.append((one, other))
    return chosen


def merged(
    parents: Sequence[Point], description: str, scope: str, source: Engine, at: Millis
) -> tuple[Point, tuple[Point, ...]]:
    """Return the point that others become, and their last revisions.

    Args:
        parents: active, of one space, each once.
        description: of the new point.
        scope: of the new point.
        source: whose words that is.
        at: the moment.
    """
    entities = distinct(name for parent in parents for name in parent.entities)
    ids = tuple(parent.id for parent in parents)
    made = Point(
        point_id(parents[0].space, scope, entities, description, ids),
        parents[0].space,
        entities,
        description,
        scope,
        0,
        "active",
        ids,
        None,
        tuple(dict.fromkeys(name for parent in parents for name in parent.sentences)),
        tuple(dict.fromkeys(name for parent in parents for name in parent.facts)),
        source,
        at,
    )
    gone = (replace(one, revision=one.revision + 1, status="merged", merged_into=made.id, at=at) for one in parents)
    return made, tuple(gone)
