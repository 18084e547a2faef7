"""Tell something to the memory that the environment names."""

from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.settings import load
from mcp_memory.wiring import open_memory


async def remember(text: str) -> None:
    """Write one message of Ines."""
    memory = await open_memory(load())
    try:
        await memory.write(WriteRequest("default", "s", "message", (NewItem(text, speaker="Ines"),)))
    finally:
        await memory.aclose()
