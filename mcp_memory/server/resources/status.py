"""Resources that show how much the memory holds, and whether it is healthy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_memory.domain.status import SpaceStatus
from mcp_memory.server.resources.uris import SPACES_PAGED, Values, next_page, page_of, space_of
from mcp_memory.server.tools.status import space_counts

if TYPE_CHECKING:
    from mcp_memory.memory import Memory


async def spaces(memory: Memory, values: Values) -> dict[str, Any]:
    """Every space and how much it holds."""
    rows = [space_counts(space).model_dump() for space in (await memory.status()).spaces]
    start, end = page_of(values, len(rows))
    return {"spaces": rows[start:end], "total": len(rows)} | next_page(SPACES_PAGED, {}, end, len(rows))


async def status(memory: Memory, values: Values) -> dict[str, Any]:
    """How much a space holds, and whether the memory is healthy."""
    async with memory.store.reading() as view:
        name = space_of(view, values).name
    status = await memory.status()
    counts = next((space for space in status.spaces if space.name == name), SpaceStatus(name, 0, 0, 0, 0, 0))
    health = {"embedder": status.embedder, "engine": status.engine, "healthy": status.healthy}
    return space_counts(counts).model_dump() | health
