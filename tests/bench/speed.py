"""``python -m bench``: speed and memory on synthetic text, as ratios within one run.

Each part can run alone. All data is in a temporary folder; the settings are the user's own except for the location of
the store. Progress goes to stderr, the table to stdout. `recall` has a file of its own; this one measures how soon a
client has the list of tools, what writing and forgetting cost, and how much memory a server takes.

The handshake is compared with a server without tools, of the same SDK and Python. Both are started in turns, so that
other load on the machine affects both. Clients connect in one of two ways: with ``initialize``, or, since revision
2026-07-28, with ``server/discover``; both are timed.

Writes are timed until they are acknowledged, and until they are indexed, alone and in batches. Two servers, as two
clients would have them, show what another process waits: one writes the largest allowed document, the other one message
after the other, meanwhile and for some time while the document is indexed.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Collection
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import anyio
from bench.recall import recall
from bench.subjects import (
    SEED,
    SPACE,
    Figure,
    Laps,
    Report,
    Stores,
    connected,
    document,
    messages,
    opened,
    own_server,
    peak_mb,
    resident_mb,
    size_mb,
    table,
)
from bench.synthetic import prose
from mcp import Client, StdioServerParameters

from mcp_memory.commands.demo import call
from mcp_memory.domain.forgetting import ForgetRequest
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.settings import Settings

SIZES, LARGE = (1_000, 10_000), 100_000
"""Sentences in the stores that recall and forgetting are measured on."""
PARTS = ("handshake", "write", "recall", "memory", "forget")
"""In the order in which they run: the part most sensitive to other load comes first, what changes stores last."""
HANDSHAKES = 7
ERAS = {"legacy": "initialize", "auto": "server/discover"}
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
SINGLE, BATCHES, BATCH = 150, 20, 50
PARAGRAPH = 100
"""Sentences of the paragraph that the large document repeats."""
INDEXING_S, PAUSE_S = 30.0, 0.05
"""How long messages are written while it is indexed, and the pause between them."""
FORGETS = 5


def bench(settings: Settings, *, large: bool, output: Path | None, parts: Collection[str]) -> int:
    """Measure, print and return 0; a figure beyond its aim is marked in the table but is not a failure.

    Args:
        settings: the settings to measure with.
        large: also with 100,000 sentences, which takes tens of minutes.
        output: a file to write the figures to as JSON.
        parts: those of `PARTS` to run.
    """
    figures = anyio.run(_measure, settings, large, parts)
    print(table(figures))
    if output:
        output.write_text(json.dumps(document(figures), indent=2) + "\n", encoding="utf-8")
    return 0


async def _measure(settings: Settings, large: bool, parts: Collection[str]) -> list[Figure]:
    figures: list[Figure] = []

    def report(figure: Figure) -> None:
        print(f"... {figure.part}: {figure.name} {figure.value:,.4g} {figure.unit}", file=sys.stderr)
        figures.append(figure)

    sizes = (*SIZES, *([LARGE] if large else []))
    # On Windows a file may stay locked for a moment after its process has ended.
    with tempfile.TemporaryDirectory(prefix="mcp-memory-bench-", ignore_cleanup_errors=True) as folder:
        stores = Stores(settings, Path(folder))
        if "handshake" in parts:
            await handshake(stores, report)
        if "write" in parts:
            await writing(stores, report)
            await waiting(stores, report)
        for size in sizes if "recall" in parts else ():
            await recall(stores, size, report)
        if "memory" in parts:
            await memory(stores, SIZES[-1], report)
        for size in sizes if "forget" in parts else ():
            await forgetting(stores, size, report)
    return figures


async def handshake(stores: Stores, report: Report) -> None:
    """Measure the time to the list of tools, for both ways to connect, and its ratio to that of an empty server."""
    ours = own_server(stores.settings, stores.folder / "handshake")
    empty = StdioServerParameters(command=sys.executable, args=["-c", EMPTY_SERVER], env=dict(os.environ))
    for era, words in ERAS.items():
        laps, yardstick = Laps(), Laps()
        for _ in range(HANDSHAKES):
            for server, times in ((ours, laps), (empty, yardstick)):
                async with AsyncExitStack() as stack:
                    with times.lap():
                        started = Client(server, mode=era, read_timeout_seconds=60)  # type: ignore[arg-type]
                        await (await stack.enter_async_context(started)).list_tools()
        ratio = laps.median() / yardstick.median()
        report(Figure("handshake", f"{words}: ours / empty server", ratio, "x", HANDSHAKES, aim=1.3))
        report(Figure("handshake", f"{words}: start to the answer of tools/list", laps.median(), "ms", HANDSHAKES))


async def writing(stores: Stores, report: Report) -> None:
    """Measure messages until they are acknowledged and until they are indexed, and the size on disk."""
    folder, talk = stores.folder / "write", messages(SEED + 1, 2 * SINGLE + BATCHES * BATCH)
    acknowledged, indexed, together = Laps(), Laps(), Laps()
    async with opened(stores.settings, folder) as memory:

        async def write(laps: Laps, *items: NewItem, wait: bool = True) -> None:
            with laps.lap():
                await memory.write(WriteRequest(SPACE, "talk", "message", items, wait=wait))

        await write(Laps(), NewItem(text="warm"))
        for item in talk[:SINGLE]:
            await write(acknowledged, item, wait=False)
        await write(Laps(), *talk[:SINGLE])  # until these are indexed
        for item in talk[SINGLE : 2 * SINGLE]:
            await write(indexed, item)
        for start in range(2 * SINGLE, len(talk), BATCH):
            await write(together, *talk[start : start + BATCH])
    each = together.median() / BATCH
    report(Figure("write", "a message in a batch of 50 / a single message", each / indexed.median(), "x", BATCHES))
    report(Figure("write", "until acknowledged, p50", acknowledged.median(), "ms", SINGLE))
    report(Figure("write", "until acknowledged, p99", acknowledged.p(0.99), "ms", SINGLE))
    report(Figure("write", "until indexed, p50", indexed.median(), "ms", SINGLE, aim=40))
    report(Figure("write", "until indexed, in batches of 50, each, p50", each, "ms", BATCHES, aim=15))
    report(Figure("write", "store size per 1,000 messages", size_mb(folder) * 1_000 / len(talk), "MB", 1))


async def waiting(stores: Stores, report: Report) -> None:
    """Measure how long messages of one process wait while another process writes a large document."""
    block = prose(SEED, PARAGRAPH) + "\n\n"
    text = block * (stores.settings.limits.document_bytes // len(block.encode()))
    laps, large = Laps(), Laps()
    server = own_server(stores.settings, stores.folder / "waiting", wait=False)
    async with connected(server) as (other, _), connected(server) as (client, _):
        for warm in (other, client):
            await call(warm, "memory_write", {"text": "warm"})
        done = anyio.Event()

        async def write_document() -> None:
            with large.lap():
                await call(client, "memory_write", {"documents": [{"id": "large", "text": text}]})
            await anyio.sleep(INDEXING_S)
            done.set()

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write_document)
            while not done.is_set():
                with laps.lap():
                    await call(other, "memory_write", {"text": f"message {len(laps)}", "session": "other"})
                await anyio.sleep(PAUSE_S)
    report(Figure("write", f"a document of {len(text.encode()) / 1e6:.1f} MB", large.median() / 1_000, "s", 1))
    report(Figure("write", "another process's message meanwhile, p50", laps.median(), "ms", len(laps)))
    report(Figure("write", "another process's message meanwhile, longest", max(laps.ms), "ms", len(laps), aim=1_000))


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
        for number in range(DOCUMENTS):
            text = prose(SEED + number, SENTENCES_EACH)
            await call(client, "memory_write", {"documents": [{"id": f"long-{number}", "text": text}], "space": "long"})
        if (peak := peak_mb(process)) is not None:
            report(Figure("memory", "peak while writing full segments", peak, "MB", DOCUMENTS, aim=650))
        await anyio.sleep(IDLE_S)
        report(Figure("memory", "steady, after writing full segments", resident_mb(process), "MB", 1, aim=520))


async def forgetting(stores: Stores, sentences: int, report: Report) -> None:
    """Measure how long it takes to forget one message or document."""
    filled, laps = await stores.of(sentences), Laps()
    async with opened(stores.settings, filled.folder) as memory:
        async with memory.store.reading() as view:
            turns = list(view.space(SPACE).turns)
        for turn in turns[:: len(turns) // FORGETS][:FORGETS]:
            request = ForgetRequest(SPACE, ids=(turn,))
            preview = await memory.forget(request)
            with laps.lap():
                await memory.forget(replace(request, dry_run=False, token=preview.token))
    report(Figure("forget", f"one of {sentences:,} sentences, p50", laps.median(), "ms", FORGETS))
    report(Figure("forget", f"one of {sentences:,} sentences, longest", max(laps.ms), "ms", FORGETS))
