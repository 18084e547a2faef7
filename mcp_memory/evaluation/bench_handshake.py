"""How soon a client has the list of tools, counted from the start of the process.

The yardstick is a server with nothing in it, of the same SDK, run by the same Python. Both are started in turns, so
that a busy moment of the machine meets both. Clients begin in one of two ways: with ``initialize``, or, since revision
2026-07-28, with ``server/discover``; both are timed.
"""

from __future__ import annotations

import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from mcp import Client, StdioServerParameters

from mcp_memory.evaluation.bench_figures import Figure, Laps, Report
from mcp_memory.evaluation.bench_process import Era, own_server
from mcp_memory.settings import Settings

RUNS = 7
ERAS: dict[Era, str] = {"legacy": "initialize", "auto": "server/discover"}

EMPTY_SERVER = """
import anyio
import mcp_types
from mcp.server import Server
from mcp.server.stdio import stdio_server

async def nothing(context, params):
    return mcp_types.ListToolsResult(tools=[])

async def serve():
    server = Server("empty", on_list_tools=nothing)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(serve)
"""


async def handshake(settings: Settings, folder: Path, report: Report) -> None:
    """Measure the times of both eras and their ratio to those of an empty server.

    Args:
        settings: the settings.
        folder: one that may be written to.
        report: told the figures.
    """
    ours = own_server(settings, folder / "handshake")
    empty = StdioServerParameters(command=sys.executable, args=["-c", EMPTY_SERVER], env=dict(os.environ))
    for era, words in ERAS.items():
        laps, yardstick = Laps(), Laps()
        for _ in range(RUNS):
            await _start(ours, era, laps)
            await _start(empty, era, yardstick)
        ratio = laps.median() / yardstick.median()
        report(Figure("handshake", f"{words}: ours / empty server", ratio, "x", RUNS, aim=1.3))
        report(Figure("handshake", f"{words}: start to the answer of tools/list", laps.median(), "ms", RUNS))
        report(Figure("handshake", f"{words}: the same of an empty server", yardstick.median(), "ms", RUNS))


async def _start(server: StdioServerParameters, era: Era, laps: Laps) -> None:
    async with AsyncExitStack() as stack:
        with laps.lap():
            client = await stack.enter_async_context(Client(server, mode=era, read_timeout_seconds=60))
            await client.list_tools()
