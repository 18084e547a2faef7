"""LanceDB stores with a fixed clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow
from batches import DIMENSION, batch

from mcp_memory.domain.batch import Batch
from mcp_memory.storage.copies import LOG_COPY
from mcp_memory.storage.schema import COMMITS, Commit, commit_rows
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables

NOW = 1_800_000_000_000


def open_at(uri: str, embedder: str = "fake", dimension: int = DIMENSION, **more: object) -> LanceStore:
    """Return the store as a new process opens it."""
    options = {"clock": lambda: NOW, **more}
    return LanceStore(uri, embedder=embedder, dimension=dimension, **options)  # type: ignore[arg-type]


async def commit_to(store: LanceStore, rows: Batch) -> int:
    """Commit rows and return the number of the commit."""
    async with store.writing() as transaction:
        return await transaction.commit(rows)


async def write(store: LanceStore, *refs: str) -> int:
    """Commit a message of each name, and return the number of the commit."""
    return await commit_to(store, batch(*refs))


async def refs(store: LanceStore) -> set[str]:
    """Return the names of the messages that a store holds."""
    async with store.reading() as view:
        return {turn.ref for turn in view.space("default").turns.values()}


def change_column(uri: str, table: str, column: str, change: Callable[[list[object]], list[object]]) -> None:
    """Replace the values of one column, which ``change`` receives in the order of recording."""
    tables = Tables(uri)
    rows = tables.rows(table).sort_by([("tx", "ascending"), ("place", "ascending")])
    changed = pyarrow.array(change(rows[column].to_pylist()), rows.schema.field(column).type)
    tables.drop(table)
    tables.append(table, rows.set_column(rows.schema.get_field_index(column), column, changed))


def write_older_commits(uri: str, *commits: Commit, lacking: Sequence[str]) -> None:
    """Put commits as an older program wrote them, without some columns, in the place of those of a store.

    Such a program kept no anchor, no sums and no copy of the log beside the tables.
    """
    tables = Tables(uri)
    tables.drop(COMMITS)
    for commit in commits:
        tables.append(COMMITS, commit_rows(commit).drop_columns(list(lacking)))
    for name in ("anchor-0.json", "anchor-1.json", "sums.txt", LOG_COPY):
        (Path(uri) / name).unlink(missing_ok=True)
