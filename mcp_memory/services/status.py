"""Status: counts of what the memory holds, and the health of the store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.status import Judging, SpaceStatus, Status
from mcp_memory.errors import StoreError
from mcp_memory.ports import Embedder, Extractor, PairReader, Store
from mcp_memory.services.enrichment import texts_read
from mcp_memory.view.space import Space
from mcp_memory.view.view import View


async def status(
    store: Store,
    embedder: Embedder,
    extractor: Extractor | None = None,
    *,
    judging: Judging | None = None,
    reader: PairReader | None = None,
    today: Callable[[View], Spending] = lambda _: Spending(),
    uptime_s: float,
    version: str,
) -> Status:
    """Return counts for each space and the state of the store; a damaged store is reported, not raised."""
    problem = ""
    spaces: tuple[SpaceStatus, ...] = ()
    try:
        async with store.reading() as view:
            spaces = tuple(_count(space) for _, space in sorted(view.spaces.items()))
            judging = replace(judging, today=today(view)) if judging else None
            if judging and judging.texts:
                judging = replace(judging, texts=replace(texts_read(view), resting=judging.texts.resting))
    except StoreError as error:
        problem = str(error)
    about = await store.about()
    if problem:
        about = replace(about, problems=tuple(dict.fromkeys((*about.problems, problem))))
    return Status(
        spaces=spaces,
        embedder=embedder.name,
        store=about,
        uptime_s=uptime_s,
        version=version,
        engine="anthropic" if judging and judging.when == "anthropic" and judging.key else "embedded",
        extractor=extractor.name if extractor else None,
        judging=judging,
        reader=reader.name if reader else None,
        notes=(reader.problem,) if reader and reader.problem else (),
    )


def _count(space: Space) -> SpaceStatus:
    kinds = [turn.kind for turn in space.turns.values()]
    return SpaceStatus(
        name=space.name,
        messages=kinds.count("message"),
        documents=kinds.count("document"),
        sessions=len(space.sessions),
        segments=len(space.segments),
        sentences=len(space.sentences),
        assertions=len(space.facts.rows),
        entities=len(space.facts.entities()),
        lessons=len(space.beliefs.lessons()),
        points=len(space.hypergraph.active()),
        pending=len(space.unindexed),
    )
