"""What a project's space shows of the default space: the user's standing wishes.

Spaces are walls. A person who has a space for each project (``server.space`` = ``workspace``) still is one person:
"answer in Dutch" holds in all of them. So a recall in the space of the caller's project also shows the wishes that
stand in the default space. Nothing else of that space is read, nothing is written to it, and each of these wishes says
that it is from there.
"""

from __future__ import annotations

from dataclasses import replace

from mcp_memory.domain.access import CALLER, DEFAULT_SPACE, MEANT_SPACE
from mcp_memory.domain.evidence import RecallResult
from mcp_memory.domain.query import Query
from mcp_memory.ports import Embedder, Store
from mcp_memory.search.wishes import SHOWN, newest_wishes, wishes_for
from mcp_memory.services.recall.pipeline import embed_query


async def with_shared_wishes(store: Store, embedder: Embedder, query: Query, result: RecallResult) -> RecallResult:
    """Return the result of a recall in a project's space with the wishes of the default space that apply to its query.

    A space that the caller names, and that is not the one of their project, gets its result as it is, and so does a
    caller who may not read the default space.
    """
    of_project = query.space == MEANT_SPACE.get() != DEFAULT_SPACE
    if not of_project or not CALLER.get().may(("read",), DEFAULT_SPACE):
        return result
    query = replace(query, space=DEFAULT_SPACE, mode="best")
    if query.text:
        query = await embed_query(store, embedder, query)
    async with store.reading() as view:
        space = view.space(DEFAULT_SPACE)
        standing = (await wishes_for(space, query, embedder))[0] if query.text else newest_wishes(space)
    known = {wish.text for wish in result.wishes}
    shared = [replace(wish, space=DEFAULT_SPACE) for wish in standing if wish.text not in known]
    return replace(result, wishes=(*result.wishes, *shared)[:SHOWN])
