"""Fakes of our own ports with the same behaviour in a few lines; ``tests/contract`` tests them too."""

from __future__ import annotations

import os
import re
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from zlib import crc32

import anyio
import numpy as np
from anyio.lowlevel import checkpoint
from erasing import erased

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.status import StoreStatus
from mcp_memory.errors import StoreBusy, StoreMismatch, StoreUnwritable
from mcp_memory.ports import Work
from mcp_memory.storage.schema import FORMAT
from mcp_memory.vectors import Matrix
from mcp_memory.view.erasure import Erasure, without_forgotten
from mcp_memory.view.view import View


@dataclass
class FakeLog:
    """The disk of a `FakeStore`; several stores may share it, as processes share a folder.

    Attributes:
        commits: the batch of each commit.
        embedder: name and dimension of the model that made the vectors; None while there are none.
        generation: as of the last commit.
        full: whether the disk is full.
        lock: the write lock of the store.
        leases: of whoever does a kind of background work.
        forgotten: what was forgotten.
        hashes: the ids that were forgotten.
    """

    commits: list[Batch] = field(default_factory=list)
    embedder: tuple[str, int] | None = None
    generation: int = 0
    full: bool = False
    lock: anyio.Lock = field(default_factory=anyio.Lock)
    leases: dict[str, threading.Lock] = field(default_factory=lambda: defaultdict(threading.Lock))
    forgotten: int = 0
    hashes: set[str] = field(default_factory=set)


class FakeStore:
    """A store in memory."""

    damage = ()
    outdated = False

    def __init__(
        self,
        log: FakeLog | None = None,
        *,
        embedder: str = "fake",
        dimension: int = 8,
        make_view: Callable[[], View] = View,
        lock_timeout_s: float = 10.0,
    ) -> None:
        self.log = log or FakeLog()
        self.closed = False
        self._embedder = (embedder, dimension)
        self._make_view = make_view
        self._timeout_s = lock_timeout_s
        self._view = make_view()
        self._view_lock = anyio.Lock()

    @asynccontextmanager
    async def reading(self, *, whole: bool = True) -> AsyncIterator[View]:
        async with self._view_lock:
            self._refresh()
            if whole:
                self._view.extend_indexes()
            yield self._view

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[FakeTransaction]:
        with anyio.move_on_after(self._timeout_s) as timeout:
            await self.log.lock.acquire()
        if timeout.cancelled_caught:
            raise StoreBusy("The memory was busy. Nothing was stored. Try again.")
        try:
            async with self._view_lock:
                self._refresh()
            yield FakeTransaction(self)
        finally:
            self.log.lock.release()

    @asynccontextmanager
    async def lease(self, work: Work) -> AsyncIterator[bool]:
        lock = self.log.leases[work]
        free = lock.acquire(blocking=False)
        try:
            yield free
        finally:
            if free:
                lock.release()

    async def forget(self, choose: Callable[[View], Erasure]) -> Erasure:
        with anyio.move_on_after(self._timeout_s) as timeout:
            await self.log.lock.acquire()
        if timeout.cancelled_caught:
            raise StoreBusy("The memory was busy. Nothing was forgotten. Try again.")
        try:
            async with self._view_lock:
                self._refresh()
                found = choose(self._view)
                if self._view.tx and not found.targets.empty:
                    self._erase(found)
                    self.log.forgotten += 1
                    self.log.hashes |= found.ids
                self._refresh()
            return found
        finally:
            self.log.lock.release()

    def _erase(self, found: Erasure) -> None:
        log = self.log
        log.commits = [erased(batch, found) for batch in log.commits]
        if found.relearn:  # beliefs without a lesson; what several lessons taught is not learnt again here
            taught = {name for batch in log.commits for lesson in batch.lessons for name in lesson.labels}
            log.commits = [
                replace(batch, beliefs=tuple(one for one in batch.beliefs if one.sentence_id in taught))
                for batch in log.commits
            ]
        log.generation += 1
        vectors = np.ones((len(found.remade), self._embedder[1]), dtype=np.float32) / self._embedder[1] ** 0.5
        log.commits.append(Batch(points=found.remade, point_vectors=vectors))

    async def forgotten(self) -> int:
        return self.log.forgotten

    async def about(self) -> StoreStatus:
        return StoreStatus(
            uri="memory",
            bytes=None,
            tx=len(self.log.commits),
            generation=self.log.generation,
            format=FORMAT,
            embedder=self.log.embedder[0] if self.log.embedder else None,
            holders=(os.getpid(),),
            queue=0,
            problems=(),
        )

    view_is_due = False

    async def save_view(self) -> None: ...

    async def aclose(self) -> None:
        self.closed = True

    def _refresh(self) -> None:
        if self.log.embedder not in (None, self._embedder):
            raise StoreMismatch(
                f"The store holds vectors of {self.log.embedder}, not of {self._embedder}. "
                "Run `mcp-memory doctor --rebuild`."
            )
        if self._view.generation != self.log.generation:
            self._view = self._make_view()
            self._view.generation = self.log.generation
        for number, batch in enumerate(self.log.commits[self._view.tx :], start=self._view.tx + 1):
            self._view.add(batch, number)


class FakeTransaction:
    """The store while only this transaction may write to it."""

    def __init__(self, store: FakeStore) -> None:
        self._store = store

    @property
    def view(self) -> View:
        return self._store._view

    async def commit(self, batch: Batch) -> int:
        await checkpoint()
        log = self._store.log
        batch = without_forgotten(batch, self.view, log.hashes.__contains__).unlearnt(self.view.has_lesson)
        if batch.empty:
            return len(log.commits)
        if log.full:
            raise StoreUnwritable("storage.uri 'memory' cannot be written to: the disk is full.")
        log.commits.append(batch)
        log.embedder = self._store._embedder
        with anyio.CancelScope(shield=True):
            async with self._store._view_lock:
                self._store._refresh()
        return len(log.commits)


class FakeEmbedder:
    """An embedder whose vectors are similar for texts that share words: each word adds to one dimension.

    Attributes:
        texts: every text that was embedded, in order; of parts of texts their words.
        parts: the words of each part of a text, with the text.
        before: awaited before each call, so that a test can act meanwhile.
    """

    name = "fake"

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.texts: list[str] = []
        self.parts: list[tuple[str, str]] = []
        self.before: Callable[[], Awaitable[None]] = checkpoint

    async def embed(self, texts: Sequence[str]) -> Matrix:
        await self.before()
        self.texts += texts
        vectors = np.full((len(texts), self.dimension), 1e-3, dtype=np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"\w+", text.lower()):
                vectors[row, crc32(word.encode()) % self.dimension] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    async def embed_parts(
        self, texts: Sequence[str], parts: Sequence[Sequence[tuple[int, int]]]
    ) -> tuple[Matrix, Matrix]:
        made = [(text[start:end], text) for text, spans in zip(texts, parts, strict=True) for start, end in spans]
        self.parts += made
        vectors = await self.embed([*texts, *(words for words, _ in made)])
        return vectors[: len(texts)], vectors[len(texts) :]
