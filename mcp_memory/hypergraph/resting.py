"""What memory points rest on: the sentences that a question gains by the points that bear on it (DESIGN 3.2).

**Departures.** The paper gives a model the descriptions of all points, and the passages of their entities, to answer
from (§3.3.4). Here points are found beside the raw text, and hand what is theirs to the sentences that they were made
of: as much as the point is like the question. So what was once found to belong together is found together again.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from mcp_memory.domain.points import Point
from mcp_memory.vectors import Scores, Vector
from mcp_memory.view.space import Space


def resting(space: Space, points: Iterable[Point], vector: Vector) -> Scores | None:
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
