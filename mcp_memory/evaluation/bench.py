"""``mcp-memory bench``: speed and memory on synthetic text, as ratios within one run.

Each part can run alone. All data is in a temporary folder; the settings are the user's own except for the location of
the store. Without ``--large`` it takes about three minutes, most of them for embedding the text that recall is measured
on. Progress goes to stderr, the table to stdout. Recall and writing have their own files; this one measures how soon a
client has the list of tools, and how much memory a server takes.

The handshake is compared with a server without tools, of the same SDK and Python. Both are started in turns, so that
other load on the machine affects both. Clients connect in one of two ways: with ``initialize``, or, since revision
2026-07-28, with ``server/discover``; both are timed.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Collection
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters

from mcp_memory.evaluation.bench_recall import recall
from mcp_memory.evaluation.bench_subjects import (
    SEED,
    Era,
    Figure,
    Laps,
    Report,
    Stores,
    connected,
    document,
    own_server,
    peak_mb,
    resident_mb,
    table,
)
from mcp_memory.evaluation.bench_write import many, waiting, writing
from mcp_memory.evaluation.demo import call
from mcp_memory.evaluation.synthetic import prose
from mcp_memory.settings import Settings

SMALL, MEDIUM, LARGE = 1_000, 10_000, 100_000
"""Sentences in the stores that recall is measured on."""
PARTS = ("handshake", "write", "recall", "memory")
"""In the order in which they run: the part most sensitive to other load comes first."""
HANDSHAKES = 7
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
IDLE_S = 2.0
"""Time after the handshake until a server counts as idle."""
DOCUMENTS, SENTENCES_EACH = 8, 250
"""About 170 segments of 200 tokens: enough to fill every batch of the embedder."""


def bench(settings: Settings, *, large: bool, output: Path | None, parts: Collection[str] | None) -> int:
    """Measure, print and return 0; a figure beyond its aim is marked in the table but is not a failure.

    Args:
        settings: the settings to measure with.
        large: also with 100,000 sentences and 5,000 single writes, which takes tens of minutes.
        output: a file to write the figures to as JSON.
        parts: those of `PARTS` to run; None or empty means all.
    """
    figures = anyio.run(_measure, settings, large, parts or PARTS)
    print(table(figures))
    if output:
        output.write_text(json.dumps(document(figures), indent=2) + "\n", encoding="utf-8")
    return 0


async def _measure(settings: Settings, large: bool, parts: Collection[str]) -> list[Figure]:
    figures: list[Figure] = []

    def report(figure: Figure) -> None:
        print(f"... {figure.part}: {figure.name} {figure.value:,.4g} {figure.unit}", file=sys.stderr)
        figures.append(figure)

    # On Windows a file may stay locked for a moment after its process has ended.
    with tempfile.TemporaryDirectory(prefix="mcp-memory-bench-", ignore_cleanup_errors=True) as folder:
        stores = Stores(settings, Path(folder))
        if "handshake" in parts:
            await handshake(settings, stores.folder, report)
        if "write" in parts:
            await writing(stores, report)
            await waiting(stores, report)
            if large:
                await many(stores, report)
        if "recall" in parts:
            for sentences in (SMALL, MEDIUM, *([LARGE] if large else [])):
                await recall(stores, sentences, report)
        if "memory" in parts:
            await memory(stores, MEDIUM, report)
    return figures


async def handshake(settings: Settings, folder: Path, report: Report) -> None:
    """Measure the time to the list of tools, for both ways to connect, and its ratio to that of an empty server.

    Args:
        settings: to start our server with.
        folder: for its store.
        report: called with each figure.
    """
    ours = own_server(settings, folder / "handshake")
    empty = StdioServerParameters(command=sys.executable, args=["-c", EMPTY_SERVER], env=dict(os.environ))
    for era, words in ERAS.items():
        laps, yardstick = Laps(), Laps()
        for _ in range(HANDSHAKES):
            await _start(ours, era, laps)
            await _start(empty, era, yardstick)
        ratio = laps.median() / yardstick.median()
        report(Figure("handshake", f"{words}: ours / empty server", ratio, "x", HANDSHAKES, aim=1.3))
        report(Figure("handshake", f"{words}: start to the answer of tools/list", laps.median(), "ms", HANDSHAKES))
        report(Figure("handshake", f"{words}: the same of an empty server", yardstick.median(), "ms", HANDSHAKES))


async def _start(server: StdioServerParameters, era: Era, laps: Laps) -> None:
    async with AsyncExitStack() as stack:
        with laps.lap():
            client = await stack.enter_async_context(Client(server, mode=era, read_timeout_seconds=60))
            await client.list_tools()


async def memory(stores: Stores, sentences: int, report: Report) -> None:
    """Measure the memory of an idle server, and of one that recalls from a filled store and writes long documents."""
    idle = own_server(stores.settings, stores.folder / "idle", warm_up="first_call")
    async with connected(idle) as (client, process):
        await client.list_tools()
        await anyio.sleep(IDLE_S)
        report(Figure("memory", "idle after the handshake (first_call)", resident_mb(process), "MB", 1, aim=120))

    filled = await stores.of(sentences)
    async with connected(own_server(stores.settings, filled.folder)) as (client, process):
        await call(client, "memory_reconstruct", {"query": filled.corpus.questions[0].text})
        words = f"after the first recall over {sentences:,} sentences"
        report(Figure("memory", words, resident_mb(process), "MB", 1, aim=520))
        highest = 0.0
        for number in range(DOCUMENTS):
            text = prose(SEED + number, SENTENCES_EACH)
            await call(client, "memory_write", {"documents": [{"id": f"long-{number}", "text": text}], "space": "long"})
            highest = max(highest, resident_mb(process))
        peak = peak_mb(process)
        await anyio.sleep(IDLE_S)
        report(Figure("memory", "steady, after writing full segments", resident_mb(process), "MB", 1, aim=520))
        if peak is not None:
            report(Figure("memory", "peak while writing full segments", peak, "MB", DOCUMENTS, aim=650))
        else:  # macOS records no peak; the highest value between two calls is a lower bound
            report(Figure("memory", "highest seen while writing full segments", highest, "MB", DOCUMENTS, aim=650))
