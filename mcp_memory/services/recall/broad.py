"""Broad recall: everything that bears on a query as short lines, or an overview of it (modes ``all``, ``overview``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from anyio import to_thread

from mcp_memory.domain.evidence import Evidence
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Breadth, Query
from mcp_memory.ports import Store
from mcp_memory.search.candidates import CandidateSet
from mcp_memory.services.recall.everything import list_all
from mcp_memory.services.recall.overview import outline
from mcp_memory.services.recall.prepare import similarity, wanted_breadth
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.services.recall.units import Lines, Listed, find_units
from mcp_memory.view.space import Space

FEW = 3
"""Fewest lines of a broad recall that ``auto`` shows instead of the best evidence, if that has as many."""


class BroadEvidence(NamedTuple):
    """The lines of a broad recall, and how many there are beyond this page."""

    breadth: Breadth
    evidence: tuple[Evidence, ...]
    total: int


async def broaden(
    store: Store,
    space: Space,
    query: Query,
    found: CandidateSet | None,
    points: Sequence[Point],
    settings: RecallSettings,
) -> BroadEvidence | None:
    """Return everything that bears on a query, or an overview of it; None where the best evidence is wanted.

    ``auto`` leaves documents to the best evidence: their questions are answered by single passages, whole. It also
    takes the best evidence where hardly a line was found (`find`): such a question only looks like one for a list.
    """
    breadth = wanted_breadth(query)
    if breadth == "best" or found is None or query.topic_vector is None:
        return None
    if query.mode == "auto" and not space.talk[found.rows[int(found.total.argmax())]]:
        return None
    cosines = (await similarity(store, space, query.topic_vector[None, :]))[0]
    chosen = settings.breadth

    def page() -> BroadEvidence:
        units = find_units(space, query, found, cosines, points, chosen)
        every: Sequence[Point | Listed | Evidence]
        if breadth == "overview":
            every = outline(space, units, points, chosen.parts)
        else:
            every = list_all(space, query, units, points)
        shown = every[query.skip : query.skip + (query.lines or chosen.lines)]
        lines = Lines(space, query, breadth)
        return BroadEvidence(breadth, tuple(map(lines.of, shown)), len(every))

    return await to_thread.run_sync(page)  # the first that walks cues reads every sentence
