"""Stores and embedders for tests: a real store on a folder that goes with the test, and vectors that are countable."""

import re
import shutil
import tempfile
import weakref
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar
from zlib import crc32

import numpy as np
import pytest
from anyio.lowlevel import checkpoint

from mcp_memory.errors import StoreUnwritable
from mcp_memory.storage.rows import Commit
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Index, View

KEY = b"key"
"""The key of every store on a disk of this kind: what ties is in one order by its ids."""


class Disk:
    """A folder that is removed with the last reference to it; stores on one disk are processes that share a store."""

    place: ClassVar[Path | None] = None  # where the folders are; None for that of temporary files

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="mcp-memory-test-", dir=self.place)
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)

    @property
    def commits(self) -> int:
        """How many commits the store has."""
        last = Tables(self.folder).log.last
        return last.tx if last else 0


class DiskStore(LanceStore):
    """A store on a disk of its own, unless one is given; each has the same key, so that equal texts have equal ids."""

    def __init__(
        self,
        disk: Disk | None = None,
        *,
        embedder: str = "fake",
        dimension: int = 64,
        indexes: Sequence[Callable[[], Index]] = (),
    ) -> None:
        self.disk = disk or Disk()
        make_view = partial(View, indexes, dimension=dimension)
        super().__init__(self.disk.folder, embedder=embedder, dimension=dimension, make_view=make_view)
        self._refresher.ids.use(KEY)


@contextmanager
def full_disk() -> Iterator[None]:
    """Let every commit of this process fail as on a full disk."""

    def refuse(*_given: object) -> Commit:
        raise StoreUnwritable("storage.uri 'memory' cannot be written to: the disk is full.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LanceStore, "_append", refuse)
        yield


class FakeEmbedder:
    """An embedder whose vectors are similar for texts that share words: each word adds to one dimension."""

    name = "fake"

    def __init__(self, dimension: int = 64) -> None:
        self.dimension = dimension
        self.texts: list[str] = []  # every text that was embedded, in order; of parts of texts their words
        self.parts: list[tuple[str, str]] = []  # the words of each part of a text, with the text
        # awaited before each call, so that a test can act meanwhile
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
