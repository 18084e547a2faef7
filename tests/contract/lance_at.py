"""LanceDB stores with a fixed clock, whole and damaged, and what tests write to any store and read of it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from batches import DIMENSION, batch, belief, derive, unit_vectors
from remembering import space_in

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreDamaged
from mcp_memory.ports import Store
from mcp_memory.storage.log import Entry
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Space

NOW = 1_800_000_000_000
COMMITS = 5
"""Of a store that is damaged."""


def open_at(uri: str, embedder: str = "fake", dimension: int = DIMENSION, **more: object) -> LanceStore:
    """Return the store as a new process opens it."""
    options = {"clock": lambda: NOW, **more}
    return LanceStore(uri, embedder=embedder, dimension=dimension, **options)


async def commit_to(store: Store, rows: Batch) -> int:
    """Commit rows and return the number of the commit."""
    async with store.writing() as transaction:
        return await transaction.commit(rows)


async def write(store: Store, *refs: str) -> int:
    """Commit a message of each name, and return the number of the commit."""
    return await commit_to(store, batch(*refs))


async def refs(store: Store, space: str = "default") -> list[str]:
    """Return the names of the messages that a store holds, in their order."""
    return [turn.ref for turn in (await space_in(store, space)).turns.values()]


async def forgotten(store: Store) -> int:
    """Return how many times something was forgotten in a store."""
    async with store.reading(whole=False):
        return len(store._book.records)


def fold_all(uri: str) -> Tables:
    """Let every row be in its table, and return the tables."""
    tables = Tables(uri)
    tables.fold()
    return tables


def next_commit(uri: str, **changes: Any) -> None:
    """Write a commit without rows after the last one."""
    log = Tables(uri).log
    log.append(Entry(log.last.next(NOW, **changes), {}))


async def make_rows(turns: Sequence[Turn]) -> Batch:
    """Derive turns, as `Make` of a rebuild does."""
    return derive(turns)


async def embed(texts: Sequence[str]) -> Matrix:
    """Return a vector for each text, as `Embed` of a rebuild does."""
    return unit_vectors(texts)


async def relearn(_: Space, lessons: Sequence[Lesson]) -> list[Belief]:
    """Return a belief about each sentence that lessons label, as `Relearn` of a rebuild does."""
    return [belief(sentence) for lesson in lessons for sentence in lesson.labels]


# Stores that are damaged


async def make(folder: Path, *, folded: bool = False) -> Path:
    """Write a store of some commits; ``folded``: each of them is in the tables."""
    store = open_at(str(folder))
    for number in range(COMMITS):
        await commit_to(store, batch(f"m{number}"))
        if folded:
            fold_all(str(folder))
    await store.aclose()
    return folder


def newest(folder: Path, pattern: str) -> Path:
    return max(folder.glob(pattern), key=lambda path: path.stat().st_mtime_ns)


def data_files(folder: Path) -> list[Path]:
    return list(folder.glob("*.lance/data/*.lance"))


def oldest(folder: Path, pattern: str) -> Path:
    return min(folder.glob(pattern), key=lambda path: path.stat().st_mtime_ns)


async def is_damaged(folder: Path) -> list[str]:
    """Return what can still be recalled of a store that says that it is damaged and takes no write."""
    store = open_at(str(folder))
    left = await refs(store)
    assert store.damage
    assert any("restore a backup" in problem for problem in (await store.about()).problems)
    with pytest.raises(StoreDamaged, match="restore a backup"):
        await commit_to(store, batch("new"))
    await store.aclose()
    return left


async def held(store: LanceStore) -> tuple[int, int, int]:
    """Return how many sentences, segments and facts of the rules a store has."""
    space = await space_in(store)
    facts = sum(one.extractor == "embedded" for one in space.facts.rows)
    return len(space.sentences), len(space.segments), facts
