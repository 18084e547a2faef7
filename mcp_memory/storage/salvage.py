"""Read what is left of a table with damaged files: the rows of every version that lie in whole files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from mcp_memory.storage.data_files import FAILURES, Table, manifests_of, no_panics
from mcp_memory.storage.schema import TableRows


def collected(folder: Path | None, name: str, earlier: Callable[[str, int], Table | None]) -> TableRows | None:
    """Return the rows of a table, those of each commit from the version that has most of them; None for no rows.

    Args:
        folder: of the store.
        name: of the table.
        earlier: returns a table at one of its versions; None if it cannot be opened.
    """
    rows: TableRows | None = None
    for version in manifests_of(folder, name):
        table = earlier(name, version)
        rows = joined(rows, _readable(table) if table is not None else None)
        if table is not None and rows is not None and len(rows) == _count(table):  # earlier versions had no more
            break
    return rows


def joined(one: TableRows | None, other: TableRows | None) -> TableRows | None:
    """Return the rows of two versions of one table, those of each commit from the version that has more of them."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if one is None or other is None:
        return other if one is None else one
    here, there = (Counter(rows["tx"].to_pylist()) for rows in (one, other))
    better = [number for number, count in there.items() if count > here[number]]
    if not better:
        return one
    chosen = pa.array(better, pa.int64())
    kept, added = one.filter(pc.invert(pc.is_in(one["tx"], chosen))), other.filter(pc.is_in(other["tx"], chosen))
    return pa.concat_tables([kept, added], promote_options="default").sort_by("tx")


def _count(table: Table) -> int:
    try:
        with no_panics():
            return int(table.count_rows())
    except FAILURES:
        return 0


def _readable(table: Table) -> TableRows | None:
    """Return the rows of a version that lie in whole files; None for none."""
    import pyarrow as pa

    parts = list(_parts(table, 0, _count(table)))
    return pa.concat_tables(parts) if parts else None


def _parts(table: Table, first: int, count: int) -> Iterator[TableRows]:
    if not count:
        return
    try:
        with no_panics():
            yield table.search().offset(first).limit(count).to_arrow()
    except FAILURES:
        if count > 1:
            yield from _parts(table, first, count // 2)
            yield from _parts(table, first + count // 2, count - count // 2)
