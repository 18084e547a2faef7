"""LanceDB stores with a fixed clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow
from batches import DIMENSION, batch

from mcp_memory.domain.batch import Batch
from mcp_memory.storage.schema import LOG_KINDS
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


def change_column(uri: str, table: str, column: str, change: Callable[[list[Any]], list[Any]]) -> None:
    """Replace the values of one column, which ``change`` receives in the order of recording, in a table or the log."""
    tables = Tables(uri)
    if table in LOG_KINDS:
        entries = list(tables.log.entries())
        rows = [row for entry in entries for row in entry.rows.get(table, ())]
        for row, value in zip(rows, change([row.get(column) for row in rows]), strict=True):
            row[column] = value
        *before, last = entries
        tables.log.replace(before, last)
        return
    stored = tables.rows(table).sort_by([("tx", "ascending"), ("place", "ascending")])
    changed = pyarrow.array(change(stored[column].to_pylist()), stored.schema.field(column).type)
    tables.drop(table)
    tables.append(table, stored.set_column(stored.schema.get_field_index(column), column, changed))


def next_commit(uri: str, **changes: Any) -> None:
    """Write a commit without rows after the last one."""
    log = Tables(uri).log
    assert log.last is not None
    log.append(log.last.next(NOW, **changes), {})
