"""Before a writer appends: repair tables that a full disk damaged, and sweep rows that have no commit.

A writer that died between its first row and its commit leaves rows above the last commit. They are invisible, yet they
carry the very number that the next commit will have, so they are deleted before anything is appended. A table that
nobody has changed since it was last known to be clean is skipped; finding that out costs 0.2 ms.
"""

from __future__ import annotations

import logging

from mcp_memory.errors import StoreBusy, StoreUnwritable
from mcp_memory.storage.lock import lock_file
from mcp_memory.storage.schema import COMMITS, Commit, tables_of
from mcp_memory.storage.tables import STEPS_BACK, Tables, is_readable

WAIT_S = 10.0
"""How long to wait for another process's compaction to finish: the two may not change one table at once."""

_log = logging.getLogger(__name__)


def sweep(tables: Tables, last: Commit | None, swept: dict[str, int]) -> None:
    """Repair every table and delete the rows above the last commit. The write lock must be held.

    Args:
        tables: of the store.
        last: the last commit; None for an empty store.
        swept: of each table, the version at which it was last known to be clean; brought up to date.

    Raises:
        StoreBusy: there are commits, and the caller knows of none: every row would be deleted.
        StoreUnwritable: there is something to delete and it cannot be deleted.
    """
    if last is None and tables.count(COMMITS):
        raise StoreBusy("The memory could not be read just now. Nothing was stored. Try again.")
    tx, generation = (last.tx, last.generation) if last else (0, 0)
    version = tables.version(COMMITS)
    if version is not None and (version != swept.get(COMMITS) or COMMITS in tables.broken):
        repair(tables, COMMITS)
        swept[COMMITS] = tables.version(COMMITS) or version
    for name in tables_of(generation):
        version = tables.version(name)
        if version is None or (version == swept.get(name) and name not in tables.broken):
            continue
        repair(tables, name)
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


def repair(tables: Tables, name: str) -> None:
    """Restore the last readable version of a table if a later one cannot be read. The write lock must be held.

    Raises:
        StoreUnwritable: the restored version cannot be written now.
        StoreError: no version can be read.
    """
    table = tables.latest(name)
    if table is None or is_readable(table):
        tables.broken.discard(name)
        return
    with tables.write_errors():
        version = int(table.version)
        for earlier in range(version - 1, max(0, version - STEPS_BACK), -1):
            old = tables.earlier(name, earlier)
            if old is not None and is_readable(old):
                _log.warning("%s: version %s was cut short by a full disk; %s is put back", name, version, earlier)
                old.restore()
                tables.reopen(name)
                tables.broken.discard(name)
                return
        if version == 1:  # its very first rows were cut short: there is nothing to lose
            tables.drop(name)
            tables.broken.discard(name)
            return
    raise tables.unreadable(name, "no version of it can be read")
