"""What tests of damaged stores share: a store, its files, and what it holds."""

from pathlib import Path

import pytest
from batches import batch
from lance_at import commit_to, fold_all, open_at, refs

from mcp_memory.errors import StoreDamaged
from mcp_memory.storage.store import LanceStore

COMMITS = 5


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
    async with store.reading() as view:
        space = view.space("default")
        facts = sum(one.extractor == "embedded" for one in space.facts.rows)
        return len(space.sentences), len(space.segments), facts
