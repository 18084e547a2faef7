"""Store the memory points that a judge made while it answered a question, for the next question of that goal.

In HGMem they are lost with the question (§3.2); here they are kept under the question as their goal (DESIGN D04): after
an answer that the memory may learn from, and where a goal is organised with the episode of a recall that has them. They
are checked against the points as they are by then, like every proposal of a judge (``proposals.py``).
"""

from __future__ import annotations

from collections.abc import Iterable

from mcp_memory.domain.points import (
    Point,
    PointEvidence,
    PointProposals,
    ProposedMerge,
    ProposedPoint,
    ProposedUpdate,
    scope_of,
)
from mcp_memory.domain.requests import Improved, Skipped
from mcp_memory.domain.times import Millis
from mcp_memory.services.points.edits import PointContext
from mcp_memory.services.points.proposals import apply_proposals
from mcp_memory.view.space import Space


async def store_points(
    space: str, question: str, points: Iterable[Point], context: PointContext, *, now: Millis
) -> tuple[list[Improved], list[Skipped]]:
    """Store the points of a question in one commit; return the changes, and what was left out with its reason.

    A point that was merged from points which are not stored is stored as one that joins all of their entities.

    Args:
        space: its name.
        question: that they were made for.
        points: as the judge left them; those that are stored just so change nothing.
        context: what points are made with.
        now: the moment of the call.

    Raises:
        StoreError: nothing is stored.
    """
    insert: list[ProposedPoint] = []
    update: list[ProposedUpdate] = []
    merge: list[ProposedMerge] = []
    scope = scope_of(question)
    async with context.store.reading() as view:
        current = view.space(space)
        stored = {point.id: point for point in current.hypergraph.active(scope)}
        for point in points:
            before = stored.get(point.id)
            parents = tuple(stored[name] for name in point.parents if name in stored)
            if before is not None:
                if before.description != point.description:
                    update.append(ProposedUpdate(before, point.description, _evidence(current, point)))
            elif parents and len(parents) == len(point.parents):
                merge.append(ProposedMerge(parents, point.description))
            else:
                insert.append(ProposedPoint(point.entities, point.description, _evidence(current, point)))
    if not insert and not update and not merge:
        return [], []
    proposals = PointProposals(tuple(insert), tuple(update), tuple(merge))
    return await apply_proposals(space, scope, proposals, context, "anthropic", now=now, shown=stored)


def _evidence(space: Space, point: Point) -> tuple[PointEvidence, ...]:
    pieces = [piece for name in point.sentences if (piece := space.sentence(name)) is not None]
    return tuple(PointEvidence(space.text(piece), None, (piece.id,)) for piece in pieces)
