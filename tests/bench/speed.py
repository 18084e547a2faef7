"""``python -m bench``: speed and memory on synthetic text, as ratios within one run.

Each part can run alone. All data is in a temporary folder; the settings are the user's own except for the location of
the store. Without ``--large`` it takes about three minutes, most of them for embedding the text that recall is measured
on. Progress goes to stderr, the table to stdout. Recall has a file of its own; this one measures how soon
a client has the list of tools, how much memory a server takes, and what writing costs.

The handshake is compared with a server without tools, of the same SDK and Python. Both are started in turns, so that
other load on the machine affects both. Clients connect in one of two ways: with ``initialize``, or, since revision
2026-07-28, with ``server/discover``; both are timed.

**Writing**: one message, the time under the store's lock, the wait of another process, disk space. The time under the
lock covers the whole transaction, from preparing its rows before the lock to updating the view after it, so it is a
little too long rather than too short. No other process writes at that time, so it includes no waiting; it includes
refresh, sweep, append and commit.

The wait of another process is measured with two servers, as two clients would have them: one writes the largest allowed
document, the other one message after the other, meanwhile and for some time while the document is indexed, which takes
minutes in all. Neither waits for the index of what it writes, as is the default.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
from anyio import to_thread
from bench.own_server import connected, own_server
from bench.recall_speed import recall
from bench.subjects import (
    SEED,
    Era,
    Figure,
    Laps,
    Report,
    Stores,
    document,
    messages,
    opened,
    peak_mb,
    resident_mb,
    size_mb,
    table,
    write,
)
from bench.synthetic import prose
from mcp import Client, StdioServerParameters

from mcp_memory.commands.demo import call
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.forgetting import ForgetTargets, ForgottenRecord
from mcp_memory.domain.requests import NewItem
from mcp_memory.domain.status import StoreStatus
from mcp_memory.ports import Store, Transaction
from mcp_memory.settings import Settings
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.erasure import Erasure, Keep
from mcp_memory.view.view import View

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
        settings: the settings to start our server with.
        folder: the folder for its store.
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


SINGLE, BATCHES, BATCH = 150, 20, 50
MANY, ENDS = 5_000, 500
PARAGRAPH = 100
"""Sentences of the paragraph that the large document repeats."""
INDEXING_S, PAUSE_S = 30.0, 0.05
"""How long messages are written while it is indexed, and the pause between them."""


class TimedStore:
    """A store that measures the time of its transactions."""

    def __init__(self, store: Store, under_lock: Laps) -> None:
        self._store = store
        self._under_lock = under_lock

    def reading(self, *, whole: bool = True) -> AbstractAsyncContextManager[View]:
        """See `Store.reading`."""
        return self._store.reading(whole=whole)

    @asynccontextmanager
    async def writing(self, batch: Batch | None = None) -> AsyncIterator[Transaction]:
        """See `Store.writing`."""
        with self._under_lock.lap():
            async with self._store.writing(batch) as transaction:
                yield transaction

    def indexing(self) -> AbstractAsyncContextManager[bool]:
        """See `Store.indexing`."""
        return self._store.indexing()

    async def forget(self, choose: Callable[[View], ForgetTargets], by: str, keep: Keep | None = None) -> Erasure:
        """See `Store.forget`."""
        return await self._store.forget(choose, by, keep)

    async def forgotten(self) -> tuple[ForgottenRecord, ...]:
        """See `Store.forgotten`."""
        return await self._store.forgotten()

    @property
    def damage(self) -> tuple[str, ...]:
        """See `Store.damage`."""
        return self._store.damage

    @property
    def outdated(self) -> bool:
        """See `Store.outdated`."""
        return self._store.outdated

    async def about(self) -> StoreStatus:
        """See `Store.about`."""
        return await self._store.about()

    @property
    def view_is_due(self) -> bool:
        """See `Store.view_is_due`."""
        return self._store.view_is_due

    async def save_view(self) -> None:
        """See `Store.save_view`."""
        await self._store.save_view()

    async def aclose(self) -> None:
        """See `Store.aclose`."""
        await self._store.aclose()

    async def nearest(self, space: str, queries: Matrix, count: int) -> list[list[tuple[str, float]]]:
        """See `Store.nearest`."""
        return await self._store.nearest(space, queries, count)


async def writing(stores: Stores, report: Report, *, single: int = SINGLE, batches: int = BATCHES) -> None:
    """Measure the time of a message and of the lock, and the size on disk.

    Args:
        stores: the stores of the run.
        report: called with each figure.
        single: messages written one per call.
        batches: calls with 50 messages.
    """
    folder = stores.folder / "write"
    talk = messages(SEED + 1, single + batches * BATCH)
    under_lock, alone, together = Laps(), Laps(), Laps()
    async with opened(stores.settings, folder) as memory:
        await write(memory, "warm", NewItem(text="warm"))
        timed = replace(memory, store=TimedStore(memory.store, under_lock))
        for item in talk[:single]:
            with alone.lap():
                await write(timed, "single", item)
        for start in range(single, len(talk), BATCH):
            with together.lap():
                await write(timed, "batched", *talk[start : start + BATCH])
    uncompacted = size_mb(folder)
    await to_thread.run_sync(_compact, folder)
    thousands = len(talk) / 1_000
    each = together.median() / BATCH
    report(Figure("write", "a message in a batch of 50 / a single message", each / alone.median(), "x", batches))
    report(Figure("write", "single message p50", alone.median(), "ms", single, aim=40))
    report(Figure("write", "single message p95", alone.p(0.95), "ms", single))
    report(Figure("write", "per message in batches of 50, p50", each, "ms", batches, aim=15))
    report(Figure("write", "under the lock p50", under_lock.median(), "ms", len(under_lock)))
    report(Figure("write", "under the lock p95", under_lock.p(0.95), "ms", len(under_lock), aim=100))
    report(Figure("write", "store size per 1,000 messages, as it lies", uncompacted / thousands, "MB", 1))
    report(Figure("write", "store size per 1,000 messages, compacted", size_mb(folder) / thousands, "MB", 1))


def _compact(folder: Path) -> None:
    """Merge each table into one file and remove all old versions.

    The store's own compaction keeps versions that others may be reading, so this calls LanceDB directly.
    """
    import lancedb

    database = lancedb.connect(folder)
    for name in Tables(str(folder)).names():
        database.open_table(name).optimize(cleanup_older_than=timedelta(milliseconds=1))


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
    size = f"{len(text.encode()) / 1e6:.1f} MB"
    report(Figure("write", f"a document of {size}", large.median() / 1_000, "s", 1))
    report(Figure("write", "another process's message meanwhile, p50", laps.median(), "ms", len(laps)))
    report(Figure("write", "another process's message meanwhile, longest", max(laps.ms), "ms", len(laps), aim=1_000))


async def many(stores: Stores, report: Report) -> None:
    """Measure whether writing stays as fast over 5,000 single messages.

    The machine may be busier for the last messages than it was for the first. So the last 500 are written in turns with
    the first 500 of another store.
    """
    talk = messages(SEED + 2, MANY)
    laps, fresh = Laps(), Laps()
    async with opened(stores.settings, stores.folder / "many") as memory:
        await write(memory, "warm", NewItem(text="warm"))
        for item in talk[:-ENDS]:
            with laps.lap():
                await write(memory, "many", item)
        async with opened(stores.settings, stores.folder / "fresh") as other:
            await write(other, "warm", NewItem(text="warm"))
            for item in talk[-ENDS:]:
                with fresh.lap():
                    await write(other, "many", item)
                with laps.lap():
                    await write(memory, "many", item)
    ratio = Laps(laps.ms[-ENDS:]).median() / fresh.median()
    report(Figure("write", f"median of the last {ENDS} of {MANY:,} / of the first {ENDS}", ratio, "x", ENDS, aim=1.3))
    report(Figure("write", f"single message p99 over {MANY:,}, with compaction", laps.p(0.99), "ms", MANY, aim=500))
