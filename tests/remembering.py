"""What tests tell a memory, and read of one."""

from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.ports import Store
from mcp_memory.settings import load
from mcp_memory.view.space import Space
from mcp_memory.wiring import open_memory


async def remember(text: str) -> None:
    """Write one message of Ines into the memory that the environment names."""
    memory = await open_memory(load())
    try:
        await memory.write(WriteRequest("default", "s", "message", (NewItem(text, speaker="Ines"),)))
    finally:
        await memory.aclose()


async def space_in(store: Store, name: str = "default", *, whole: bool = True) -> Space:
    """Return all that a store holds of a space now; ``whole`` as for `Store.reading`."""
    async with store.reading(whole=whole) as view:
        return view.space(name)
