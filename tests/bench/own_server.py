"""Start a server of our own in another process, with exactly some settings, and measure what it does."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psutil
from mcp import Client, StdioServerParameters

from mcp_memory.settings import Settings, as_environment

LIBRARIES = ("mcp", "lancedb", "pyarrow", "numpy", "onnxruntime", "tokenizers")
"""Whose versions figures depend on."""


def own_server(settings: Settings, store: Path, *, wait: bool = True, **server: str) -> StdioServerParameters:
    """Return how to start our server with exactly these settings.

    Args:
        settings: all are passed through the environment, so that no configuration file of the user adds others.
        store: folder of the store.
        wait: whether each write waits until it is indexed.
        server: changes to the section ``[server]``.
    """
    settings = replace(
        settings,
        storage=replace(settings.storage, uri=str(store)),
        server=replace(settings.server, **server),  # type: ignore[arg-type]
        write=replace(settings.write, wait=wait),
    )
    environment = {name: text for name, text in os.environ.items() if not name.startswith("MCP_MEMORY_")}
    environment |= as_environment(settings)
    return StdioServerParameters(command=sys.executable, args=["-m", "mcp_memory", "serve"], env=environment)


@asynccontextmanager
async def connected(server: StdioServerParameters) -> AsyncIterator[tuple[Client, psutil.Process]]:
    """Start a server process and connect to it; the process ends with the context.

    Yields:
        The client and the server process.
    """
    before = {child.pid for child in psutil.Process().children()}
    async with Client(server, read_timeout_seconds=600) as client:
        (process,) = (child for child in psutil.Process().children() if child.pid not in before)
        yield client, process


def machine() -> dict[str, Any]:
    """Return the properties of the machine that figures depend on, but not its name."""
    return {
        "system": platform.system(),
        "processor": platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in LIBRARIES},
    }


def quantile(values: Sequence[float], share: float) -> float:
    """Return the smallest measured value that at least ``share`` of the values do not exceed.

    Args:
        values: at least one, in any order.
        share: in (0, 1].
    """
    ordered = sorted(values)
    place = -int(-share * len(ordered) // 1) - 1  # the ceiling, less one
    return ordered[max(0, place)]
