"""LanceDB stores with a fixed clock."""

from __future__ import annotations

from batches import DIMENSION

from mcp_memory.domain.batch import Batch
from mcp_memory.storage.store import LanceStore

NOW = 1_800_000_000_000


def open_at(uri: str, embedder: str = "fake", dimension: int = DIMENSION, **more: object) -> LanceStore:
    """Return the store as a new process opens it."""
    return LanceStore(uri, embedder=embedder, dimension=dimension, clock=lambda: NOW, **more)  # type: ignore[arg-type]


async def commit_to(store: LanceStore, rows: Batch) -> int:
    """Commit rows and return the number of the commit."""
    async with store.writing() as transaction:
        return await transaction.commit(rows)
