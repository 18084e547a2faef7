"""Remove the earlier versions of a table, where what they hold is to be gone for good."""

from __future__ import annotations

import errno
import time
from datetime import timedelta
from pathlib import Path

from mcp_memory.storage.tables import Tables

PATIENCE_S = 10.0
"""Seconds for which it is tried again: a version may look younger than it is."""


def purge(tables: Tables, name: str) -> None:
    """Remove every version of a table but the latest, with all files that only they need.

    Without an earlier version LanceDB looks for no files to remove, so the rows are written once more if there are
    some: a process died after it had removed the version, and not the files. Nor does it ever remove what a process
    was killed in the middle of: each file is written under another name first, ``.tmp…``, with the rows in it. The
    write lock must be held, so nobody else is writing now.

    Raises:
        StoreUnwritable: some of them may be there still.
    """
    pause, until = 0.0, time.monotonic() + PATIENCE_S
    with tables.write_errors():
        while True:
            time.sleep(pause)  # what is younger than a millisecond stays
            if (table := tables.latest(name)) is None:
                return
            for path in unfinished_files(tables, name):
                path.unlink(missing_ok=True)
            table.optimize(cleanup_older_than=timedelta(milliseconds=1), delete_unverified=True)
            versions, files, fragments = len(table.list_versions()), len(tables.files(name)), tables.fragments(name)
            if versions == 1 and files <= fragments:
                return
            if time.monotonic() > until:
                left = f"{versions - 1} versions and {max(0, files - fragments)} files"
                raise OSError(errno.EBUSY, f"of earlier rows of {name} {left} are still there; is the clock right?")
            tables.replace(name, tables.rows(name))
            pause = min(0.2, 2 * pause + 0.01)


def has_leftovers(tables: Tables, name: str) -> bool:
    """Return whether a process that died while it wrote or purged a table in a folder left a file there."""
    return len(tables.files(name)) > tables.fragments(name) or bool(unfinished_files(tables, name))


def unfinished_files(tables: Tables, name: str) -> list[Path]:
    """Return the files of a table that LanceDB has not finished writing; none of a table on object storage."""
    return list((tables.folder / f"{name}.lance").rglob(".tmp*")) if tables.folder is not None else []
