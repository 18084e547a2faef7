"""Server processes for the bench: started with given settings, talked to as a client does, looked at from outside."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import psutil
from mcp import Client, StdioServerParameters

from mcp_memory.settings import Settings, as_environment

Era = Literal["legacy", "auto"]
"""How a client begins: with ``initialize``, or with ``server/discover`` of revision 2026-07-28."""


def own_server(settings: Settings, store: Path, **server: str) -> StdioServerParameters:
    """Return how to start our server with these very settings.

    Args:
        settings: the settings; each is handed over, so that no file of the user's adds another.
        store: its folder.
        server: settings of the section of that name that differ.
    """
    settings = replace(
        settings,
        storage=replace(settings.storage, uri=str(store)),
        server=replace(settings.server, **server),  # type: ignore[arg-type]
    )
    environment = {name: text for name, text in os.environ.items() if not name.startswith("MCP_MEMORY_")}
    environment |= as_environment(settings)
    return StdioServerParameters(command=sys.executable, args=["-m", "mcp_memory", "serve"], env=environment)


@asynccontextmanager
async def connected(server: StdioServerParameters, era: Era = "auto") -> AsyncIterator[tuple[Client, psutil.Process]]:
    """Start a server process and shake hands; on leaving, it ends.

    Yields:
        The client, and the process that it talks to.
    """
    before = {child.pid for child in psutil.Process().children()}
    async with Client(server, mode=era, read_timeout_seconds=600) as client:
        (process,) = (child for child in psutil.Process().children() if child.pid not in before)
        yield client, process


async def call(client: Client, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return a tool's structured result.

    Raises:
        RuntimeError: the tool refused; its words.
    """
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError(f"{tool}: {result.content}")
    return result.structured_content or {}


def resident_mb(process: psutil.Process) -> float:
    """Return the memory that a process has in the machine's RAM now, in millions of bytes."""
    return float(process.memory_info().rss) / 1e6


def peak_mb(process: psutil.Process) -> float | None:
    """Return the most that it ever had, in millions of bytes; None where the system does not keep it (macOS)."""
    try:
        lines = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
        return next(int(line.split()[1]) * 1_024 / 1e6 for line in lines if line.startswith("VmHWM:"))
    except (OSError, StopIteration):
        peak = getattr(process.memory_info(), "peak_wset", None)  # Windows
        return None if peak is None else float(peak) / 1e6
