"""What a dead writer left: rows above the last commit.

They are invisible, yet they carry the very number that the next commit will have, so they go before anything is
appended. A table that nobody changed since it was last known to be clean is not looked at; that costs 0.2 ms.
"""

from __future__ import annotations

import logging

from mcp_memory.errors import StoreBusy, StoreUnwritable
from mcp_memory.storage.lock import lock_file
from mcp_memory.storage.mend import mend
from mcp_memory.storage.names import COMMITS, tables_of
from mcp_memory.storage.schemas import Commit
from mcp_memory.storage.tables import Tables

WAIT_S = 10.0
"""For a compaction of another process to finish: the two may not change one table at once."""

_log = logging.getLogger(__name__)


def sweep(tables: Tables, last: Commit | None, swept: dict[str, int]) -> None:
    """Delete the rows above the last commit. The write lock must be held.

    Args:
        tables: of the store.
        last: the last commit; None for an empty store.
        swept: of each table, the version at which it was last known to be clean; brought up to date.

    Raises:
        StoreBusy: there are commits, and whoever calls knows of none: every row would be swept.
        StoreUnwritable: there is something to delete and it cannot be deleted.
    """
    if last is None and tables.count(COMMITS):
        raise StoreBusy("The memory could not be read just now. Nothing was stored. Try again.")
    tx, generation = (last.tx, last.generation) if last else (0, 0)
    version = tables.version(COMMITS)
    if version is not None and (version != swept.get(COMMITS) or COMMITS in tables.broken):
        mend(tables, COMMITS)
        swept[COMMITS] = tables.version(COMMITS) or version
    for name in tables_of(generation):
        version = tables.version(name)
        if version is None or (version == swept.get(name) and name not in tables.broken):
            continue
        mend(tables, name)
        if tables.count(name, f"tx > {tx}"):
            _log.warning("%s: rows of a writer that died before its commit are removed", name)
            _delete(tables, name, f"tx > {tx}")
        version = tables.version(name)
        if version is not None:
            swept[name] = version


def _delete(tables: Tables, name: str, where: str) -> None:
    from filelock import Timeout

    if tables.folder is None:
        tables.delete(name, where)
        return
    try:
        with lock_file(tables.folder / "compact.lock").acquire(timeout=WAIT_S):
            tables.delete(name, where)
    except Timeout as error:
        raise StoreUnwritable(
            f"storage.uri {tables.uri!r}: another process is compacting the memory. Nothing was stored. Try again."
        ) from error
