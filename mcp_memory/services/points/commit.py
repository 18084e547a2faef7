"""What is done to memory points, decided and recorded.

It is decided under the store's lock, by what the points are then, so several processes may organise at once.
Descriptions are embedded before it is taken: where a decision needs the vector of words that nobody has embedded yet,
the lock is given back, the words are embedded, and it is decided again. All of a call is one commit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.points import Point, distinct
from mcp_memory.domain.requests import EvolveStep, Improved, Skipped
from mcp_memory.errors import StoreBusy
from mcp_memory.hypergraph.retrieval import absent
from mcp_memory.ports import Embedder, Store
from mcp_memory.vectors import Vector
from mcp_memory.view.space import Space

TRIES = 8
"""How often a decision is taken anew because other words are needed than those that were embedded."""


@dataclass
class Planned:
    """What a call does to the points of a space.

    Attributes:
        now: the points as they will be, by id.
        revisions: to be recorded, in order.
        changes: what the caller is told.
        skipped: what was left out, and why.
    """

    now: dict[str, Point]
    revisions: list[Point] = field(default_factory=list)
    changes: list[Improved] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def record(self, *points: Point) -> None:
        """Let these be the last revisions of their points."""
        self.revisions += points
        self.now |= {point.id: point for point in points}

    def tell(self, step: EvolveStep, point: Point, before: str | None) -> None:
        """Tell of a point that a step made or changed; ``before`` is how it was, in words."""
        joined = ", ".join(point.entities)
        self.changes.append(Improved(step, "point", point.id, joined, before, point.description))

    def skip(self, step: EvolveStep, reason: str) -> None:
        """Tell why something was left out."""
        self.skipped.append(Skipped(step, reason))


Plan = Callable[[Space, Mapping[str, Vector]], Planned]
"""Decides what to do, given a space and the vectors of descriptions; without them it stops short of what needs them."""


async def settle(store: Store, embedder: Embedder, space: str, plan: Plan) -> Planned:
    """Decide, embed what the decision needs, decide again, and record it; return what was decided.

    Raises:
        StoreError: nothing is changed.
    """
    vectors: dict[str, Vector] = {}
    for _ in range(TRIES):
        async with store.writing() as transaction:
            planned = plan(transaction.view.space(space), vectors)
            texts = dict.fromkeys(point.description for point in planned.revisions)
            missing = [text for text in texts if text not in vectors]
            if not missing:
                revisions = tuple(planned.revisions)
                if revisions:
                    rows = np.array([vectors[point.description] for point in revisions], dtype=np.float32)
                    await transaction.commit(Batch(points=revisions, point_vectors=rows))
                break
        vectors |= zip(missing, await embedder.embed(missing), strict=True)
    else:
        raise StoreBusy("The memory points were changed by others all the time. Nothing was changed. Try again.")
    planned.changes[:0] = await _placeholders(store, space, planned.revisions)
    return planned


async def _placeholders(store: Store, space: str, points: Sequence[Point]) -> list[Improved]:
    """Return which entities of new points were inserted by force, since nothing else names them (Alg. 1)."""
    new = [point for point in points if not point.revision and not point.parents]
    if not new:
        return []
    async with store.reading() as view:
        held = view.space(space)
        names = distinct(name for point in new for name in point.entities)
        return [Improved("points", "entity", name, name, None, _PLACEHOLDER) for name in names if absent(held, name)]


_PLACEHOLDER = "placeholder: only memory points name it so far"
