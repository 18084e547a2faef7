"""LanceDB's own calls on the tables of one store. All of them block: call them in a thread.

A read that loses its files to a compaction after all is done once more. A full disk may leave a table with a version
that cannot be read (``mend.py``): readers pass over it, since nothing in it was ever committed.
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any, TypeVar

from mcp_memory.storage.connection import Connection, words
from mcp_memory.storage.mend import FAILURES, STEPS_BACK, Table, ensure_whole, readable
from mcp_memory.storage.names import COMMITS
from mcp_memory.storage.schemas import Rows

SPARE = 64 << 20
"""Bytes that a compaction leaves free."""

Out = TypeVar("Out")

_log = logging.getLogger(__name__)


class Tables(Connection):
    """The tables of one store, made when the first row enters them."""

    def version(self, name: str) -> int | None:
        """Return the latest version of a table, which every change by anyone raises; None if there is no table."""
        table = self.latest(name)
        return None if table is None else int(table.version)

    def count(self, name: str, where: str | None = None) -> int:
        """Return how many rows there are."""
        return self._read(name, lambda table: int(table.count_rows(where)), 0)

    def rows(self, name: str, where: str | None = None, columns: Sequence[str] | None = None) -> Rows | None:
        """Return rows in no particular order; None if there is no table."""

        def read(table: Table) -> Rows:
            query = table.search()
            query = query.where(where) if where else query
            return (query.select(list(columns)) if columns else query).to_arrow()

        return self._read(name, read, None)

    def tail(self, name: str, count: int, columns: Sequence[str] | None = None) -> Rows | None:
        """Return the last rows of a table, those that were appended last; None if there is no table.

        This opens only the files that they are in (2 ms), where a condition would open every file (up to 18 ms at 128).
        """

        def read(table: Table) -> Rows:
            query = table.search().offset(max(0, table.count_rows() - count)).limit(count)
            return (query.select(list(columns)) if columns else query).to_arrow()

        return self._read(name, read, None)

    def columns(self, name: str) -> list[str]:
        """Return the names of a table's columns; none if there is no table."""
        return self._read(name, lambda table: list(table.schema.names), [])

    def near(self, name: str, query: Any, where: str, count: int) -> list[tuple[str, float]]:
        """Return the ids of the rows with the nearest vectors and their cosine, best first."""

        def search(table: Table) -> list[tuple[str, float]]:
            found = (
                table.search(query, vector_column_name="vector").distance_type("cosine").where(where, prefilter=True)
            )
            rows = found.select(["id", "_distance"]).limit(count).to_arrow()
            return [(row["id"], 1.0 - row["_distance"]) for row in rows.to_pylist()]

        return self._read(name, search, [])

    def fragments(self, name: str) -> int:
        """Return how many pieces a table lies in."""
        return self._read(name, lambda table: int(table.stats()["fragment_stats"]["num_fragments"]), 0)

    def append(self, name: str, rows: Rows) -> int:
        """Add rows and return the table's new version.

        Raises:
            StoreUnwritable: some rows may be there nevertheless, without a commit.
        """
        with self.changing():
            table = self.latest(name)
            there = self._files(name)
            if table is None:
                table = self._open[name] = self.connected().create_table(name, rows)
                version = int(table.version)
            else:
                version = int(table.add(rows).version)
            if self.folder is not None:
                ensure_whole(table, [self.place(name) / "data" / file for file in self._files(name) - there])
            return version

    def delete(self, name: str, where: str) -> None:
        """Delete rows.

        Raises:
            StoreUnwritable: they are still there.
        """
        with self.changing():
            table = self.latest(name)
            if table is not None:
                table.delete(where)

    def widen(self, name: str, rows: Rows) -> None:
        """Add the columns that some rows have and a table lacks; they are empty in the rows that are there already.

        Whoever does not know of them reads and appends as before, and leaves them empty.

        Raises:
            StoreUnwritable: they are not there.
        """
        with self.changing():
            table = self.latest(name)
            missing = [] if table is None else set(rows.schema.names) - set(table.schema.names)
            if table is not None and missing:
                table.add_columns([column.with_nullable(True) for column in rows.schema if column.name in missing])

    def drop(self, name: str) -> None:
        """Remove a table with its files."""
        with self.changing():
            self._open.pop(name, None)
            self.connected().drop_table(name, ignore_missing=True)

    def optimize(self, name: str, kept: timedelta) -> None:
        """Merge the files that a table lies in, and remove versions older than ``kept``.

        The version before the merge is kept whatever its age, though it takes as much room again until the next one:
        it is what is read should a full disk cut the merged files short, or a power loss take them, since the system
        may not have put them on the disk yet. Nothing is begun on a disk that is nearly full.

        Raises:
            OSError, RuntimeError, ValueError: it could not be done; nothing is lost.
        """
        table = self.latest(name)
        if table is None:
            return
        if self.folder is not None:
            size = int(table.stats()["total_bytes"])
            if shutil.disk_usage(self.folder).free < 2 * size + SPARE:
                raise OSError(errno.ENOSPC, f"too little room to compact {name}, which takes {size} bytes")
        written = max(version["timestamp"] for version in table.list_versions())
        idle = datetime.now(written.tzinfo) - written
        table.optimize(cleanup_older_than=max(kept, idle + timedelta(seconds=1)))
        if not readable(table):
            raise OSError(errno.ENOSPC, f"the merged files of {name} were cut short")

    def _files(self, name: str) -> set[str]:
        """Return the names of a table's data files, those of every version; none where they are not local."""
        try:
            return set(os.listdir(self.place(name) / "data")) if self.folder else set()  # noqa: PTH208 - a fifth of the time
        except FileNotFoundError:
            return set()

    def _read(self, name: str, read: Callable[[Table], Out], otherwise: Out) -> Out:
        failure: Exception | None = None
        version = 0
        for _ in (1, 2):
            table = self.latest(name)
            if table is None:
                return otherwise
            try:
                return read(table)
            except FAILURES as error:
                failure, version = error, int(table.version)
        self.broken.add(name)
        for earlier in range(version - 1, max(0, version - STEPS_BACK), -1):
            old = self.earlier(name, earlier)
            if old is not None:
                try:
                    found = read(old)
                except FAILURES:
                    continue
                _log.warning("%s: version %s cannot be read, version %s is", name, version, earlier)
                return found
        if version == 1 and name != COMMITS:  # its very first rows were cut short, and never committed
            return otherwise
        raise self.unreadable(name, words(failure)) from failure
