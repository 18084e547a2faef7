"""The real server process over stdio with a fixed clock: one millisecond before midnight (UTC)."""

from __future__ import annotations

from mcp_memory.domain.language_model import DAY_MS

NOW = 1_704_067_200_000 + DAY_MS - 1
"""The end of 2024-01-01."""

if __name__ == "__main__":
    from mcp_memory.memory import Memory
    from mcp_memory.server.process import serve
    from mcp_memory.settings import load
    from mcp_memory.wiring import open_memory

    config = load()

    async def opened() -> Memory:
        memory = await open_memory(config)
        memory.clock = lambda: NOW
        return memory

    serve(config, opened)
