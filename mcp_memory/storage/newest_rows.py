"""Read the rows of the newest commits from the end of a table."""

from __future__ import annotations

import numpy as np

from mcp_memory.storage.schema import TableRows
from mcp_memory.storage.tables import Tables


def newest_rows(
    tables: Tables, swept: dict[str, int], name: str, after: int, until: int, expected: int, columns: list[str] | None
) -> TableRows | None:
    """Return the rows of the commits after one number up to the last commit.

    The commits say how many rows there are (``expected``), and these were appended last, so they are read from the
    end. If the end holds others (uncommitted rows after them, or a rebuild among the commits), all rows are
    searched.
    """
    import pyarrow.compute as pc

    version = tables.version(name)
    rows = tables.tail(name, expected + 1, columns) if expected else None
    numbers = rows["tx"].to_numpy() if rows is not None else np.empty(0, dtype=np.int64)
    if rows is not None and len(numbers) > expected and numbers[0] <= after:  # the row before them is an older one
        rows, numbers = rows.slice(1), numbers[1:]
    if not (len(numbers) == expected > 0 and after < numbers.min() and numbers.max() <= until):
        rows = tables.rows(name, f"tx > {after}", columns)
    if rows is None:
        return None
    visible = rows.filter(pc.less_equal(rows["tx"], until))
    if len(visible) == len(rows):
        if version is not None and name not in tables.broken:
            swept[name] = version
        return rows
    return visible
