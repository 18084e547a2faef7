"""The resource that lists the standing wishes of a space's user."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_memory.language import iso
from mcp_memory.server.resources.uris import (
    FACT,
    SENTENCE,
    WISHES,
    Values,
    next_page,
    page_of,
    read_in_thread,
    without_none,
)
from mcp_memory.server.tools.replies import source_output

if TYPE_CHECKING:
    from mcp_memory.domain.evidence import Wish
    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space


async def wishes(memory: Memory, values: Values) -> dict[str, Any]:
    """The wishes that stand, the newest last; what a later one superseded is left out."""
    return await read_in_thread(memory, values, _wishes)


def _wishes(space: Space, values: Values) -> dict[str, Any]:
    from mcp_memory.search.wishes import standing_wishes  # imports NumPy, which the first reply must not wait for

    standing = standing_wishes(space)
    start, end = page_of(values, len(standing))
    rows = [_row(space, wish) for wish in standing[start:end]]
    rest = next_page(WISHES, {"space": space.name}, end, len(standing))
    return {"space": space.name, "wishes": rows, "total": len(standing)} | rest


def _row(space: Space, wish: Wish) -> dict[str, Any]:
    address = FACT if wish.source is None else SENTENCE
    source = None if wish.source is None else source_output(wish.source.turn).model_dump(exclude_none=True)
    return without_none(
        {
            "id": wish.id,
            "uri": address.expand({"space": space.name, "id": wish.id}),
            "text": wish.text,
            "kind": wish.kind,
            "scope": wish.scope or None,
            "said": iso.show(wish.said_at),
            "source": source,
        }
    )
