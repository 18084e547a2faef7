"""Measure what writing costs: one message, the time under the store's lock, the wait of another process, disk space.

The time under the lock covers the whole transaction, from preparing its rows before the lock to updating the view after
it, so it is a little too long rather than too short. No other process writes at that time, so it includes no waiting;
it includes refresh, sweep, append and commit.

The wait of another process is measured with two servers, as two clients would have them: one writes the largest allowed
document, the other one message after the other, meanwhile and for some time while the document is indexed, which takes
minutes in all. Neither waits for the index of what it writes, as is the default.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import anyio
from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.forgetting import ForgetTargets, ForgottenRecord
from mcp_memory.domain.requests import NewItem
from mcp_memory.domain.status import StoreStatus
from mcp_memory.evaluation.bench_subjects import (
    SEED,
    Figure,
    Laps,
    Report,
    Stores,
    connected,
    messages,
    opened,
    own_server,
    size_mb,
    write,
)
from mcp_memory.evaluation.demo import call
from mcp_memory.evaluation.synthetic import prose
from mcp_memory.ports import Store, Transaction
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.erasure import Erasure, Keep
from mcp_memory.view.view import View

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
        stores: of the run.
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
