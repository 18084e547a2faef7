"""LanceDB's own calls, and the words for what goes wrong in them. All of them block: call them in a thread.

A table is looked at anew before every read (``checkout_latest``, 0.2 ms), so a version needs to live only as long as
one read; a read that loses its files to a compaction after all is done once more.

**A full disk.** When a data file does not fit, LanceDB 0.40 cuts it short, says nothing, and if the few hundred bytes
of the table's new version still fit, the table has a version that cannot be read. So what was appended is read again
before it counts (only the end of the new file, where its index stands); a version that cannot be read is passed over
by readers, since nothing in it was ever committed; and the next writer puts the version before it back (`mend`).
"""

from __future__ import annotations

import errno
import logging
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

from mcp_memory.errors import StoreError, StoreUnwritable
from mcp_memory.storage.schemas import Rows

Table = Any
"""One of LanceDB, which comes without types."""

COMMITS = "commits"
TURNS = "turns"
STEPS_BACK = 8
"""How many versions that cannot be read are passed over."""
SPARE = 64 << 20
"""Bytes that a compaction leaves free."""
FAILURES = (OSError, RuntimeError, ValueError)
"""What LanceDB raises when a file cannot be read or written."""

Out = TypeVar("Out")

_log = logging.getLogger(__name__)


def segments_table(generation: int) -> str:
    """Return the name of the table of segments."""
    return f"segments_{generation}"


def sentences_table(generation: int) -> str:
    """Return the name of the table of sentences."""
    return f"sentences_{generation}"


def generation_of(table: str) -> int | None:
    """Return which generation a table belongs to; None for commits and the log."""
    number = table.rpartition("_")[2]
    return int(number) if number.isdigit() else None


def local_folder(uri: str) -> Path | None:
    """Return the folder that a uri names, or None where it names no local one."""
    if uri.startswith("file:"):
        return Path(unquote(urlsplit(uri).path))
    return None if "://" in uri else Path(uri).expanduser().absolute()


class Tables:
    """The tables of one store, opened when first needed and made when the first row enters them.

    Attributes:
        broken: tables whose latest version could not be read, until they are mended.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.folder = local_folder(uri)
        self._database: Any = None
        self._open: dict[str, Table] = {}
        self.broken: set[str] = set()

    def forget(self) -> None:
        """Open everything anew from now on: the store under us is not the one that we knew."""
        self._database = None
        self._open.clear()

    def names(self) -> list[str]:
        """Return the names of all tables."""
        if not self.exists():
            return []
        names: list[str] = []
        token = None
        while True:
            page = self._connected().list_tables(page_token=token)
            names += page.tables
            token = page.page_token
            if not token:
                return names

    def version(self, name: str) -> int | None:
        """Return the latest version of a table, which every change by anyone raises; None if there is no table."""
        table = self._latest(name)
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

    def append(self, name: str, rows: Rows) -> int:
        """Add rows and return the table's new version.

        Raises:
            StoreUnwritable: some rows may be there nevertheless, without a commit.
        """
        with self._writing():
            table = self._latest(name)
            if table is None:
                table = self._open[name] = self._connected().create_table(name, rows)
                version = int(table.version)
            else:
                version = int(table.add(rows).version)
            if self.folder is not None:
                _read_again(table)
            return version

    def mend(self, name: str) -> None:
        """Put the last version that can be read back in place of a later one that cannot. Hold the write lock.

        Raises:
            StoreUnwritable: that cannot be written down now.
            StoreError: no version can be read.
        """
        table = self._latest(name)
        if table is None or _readable(table):
            self.broken.discard(name)
            return
        with self._writing():
            version = int(table.version)
            for earlier in range(version - 1, max(0, version - STEPS_BACK), -1):
                old = self._earlier(name, earlier)
                if old is not None and _readable(old):
                    _log.warning("%s: version %s was cut short by a full disk; %s is put back", name, version, earlier)
                    old.restore()
                    self._open.pop(name, None)
                    self.broken.discard(name)
                    return
            if version == 1:  # its very first rows were cut short: there is nothing to lose
                self.drop(name)
                self.broken.discard(name)
                return
        raise self._unreadable(name, "no version of it can be read")

    def delete(self, name: str, where: str) -> None:
        """Delete rows.

        Raises:
            StoreUnwritable: they are still there.
        """
        with self._writing():
            table = self._latest(name)
            if table is not None:
                table.delete(where)

    def drop(self, name: str) -> None:
        """Remove a table with its files."""
        with self._writing():
            self._open.pop(name, None)
            self._connected().drop_table(name, ignore_missing=True)

    def fragments(self, name: str) -> int:
        """Return how many pieces a table lies in."""
        return self._read(name, lambda table: int(table.stats()["fragment_stats"]["num_fragments"]), 0)

    def optimize(self, name: str, kept: timedelta) -> None:
        """Merge the files that a table lies in, and remove versions older than ``kept``.

        The version before the merge is kept whatever its age: should a full disk cut the merged files short, it is
        what is read instead. Nothing is begun on a disk that is nearly full.

        Raises:
            OSError, RuntimeError, ValueError: it could not be done; nothing is lost.
        """
        table = self._latest(name)
        if table is None:
            return
        if self.folder is not None:
            size = int(table.stats()["total_bytes"])
            if shutil.disk_usage(self.folder).free < 2 * size + SPARE:
                raise OSError(errno.ENOSPC, f"too little room to compact {name}, which takes {size} bytes")
        written = max(version["timestamp"] for version in table.list_versions())
        idle = datetime.now(written.tzinfo) - written
        table.optimize(cleanup_older_than=max(kept, idle + timedelta(seconds=1)))
        if not _readable(table):
            raise OSError(errno.ENOSPC, f"the merged files of {name} were cut short")

    def make_folder(self) -> None:
        """Make the folder that the store lies in, for its owner alone.

        Raises:
            StoreUnwritable: it cannot be made.
        """
        if self.folder is not None and not self.exists():
            with self._writing():
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def exists(self) -> bool:
        """Return whether the store's folder is there; true for a store that is no local folder."""
        try:
            return self.folder is None or self.folder.is_dir()
        except PermissionError as error:
            raise StoreUnwritable(
                f"storage.uri {self.uri!r} may not be looked into ({error}). Set storage.uri "
                "(or MCP_MEMORY_STORAGE_URI) to a folder that you may write to."
            ) from error

    def _connected(self) -> Any:
        if self._database is None:
            os.environ.setdefault("LANCEDB_LOG", "error")
            import lancedb

            self._database = lancedb.connect(self.uri if self.folder is None else self.folder)
        return self._database

    def _latest(self, name: str) -> Table | None:
        table = self._open.get(name)
        if table is not None:
            try:
                table.checkout_latest()
            except FAILURES:  # the table was dropped, or its folder went away
                del self._open[name]
            else:
                return table
        if not self.exists():
            return None
        try:
            table = self._connected().open_table(name)
        except ValueError as error:
            if "not found" in str(error):
                return None
            raise
        self._open[name] = table
        return table

    def _earlier(self, name: str, version: int) -> Table | None:
        try:
            return self._connected().open_table(name, version=version)
        except FAILURES:
            return None

    def _read(self, name: str, read: Callable[[Table], Out], otherwise: Out) -> Out:
        failure: Exception | None = None
        version = 0
        for _ in (1, 2):
            table = self._latest(name)
            if table is None:
                return otherwise
            try:
                return read(table)
            except FAILURES as error:
                failure, version = error, int(table.version)
        self.broken.add(name)
        for earlier in range(version - 1, max(0, version - STEPS_BACK), -1):
            old = self._earlier(name, earlier)
            if old is not None:
                try:
                    found = read(old)
                except FAILURES:
                    continue
                _log.warning("%s: version %s cannot be read, version %s is", name, version, earlier)
                return found
        if version == 1 and name != COMMITS:  # its very first rows were cut short, and never committed
            return otherwise
        raise self._unreadable(name, str(failure)) from failure

    def _unreadable(self, name: str, why: str) -> StoreError:
        return StoreError(
            f"storage.uri {self.uri!r}: the table {name!r} cannot be read ({why}). "
            "`mcp-memory doctor` says what is wrong."
        )

    @contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except FAILURES as error:
            raise StoreUnwritable(
                f"storage.uri {self.uri!r} cannot be written to: {error}. Nothing of this call was stored; what was "
                "stored before can still be read. Make room or give the right to write, and try again."
            ) from error


def _read_again(table: Table) -> None:
    """Read the last row, for which the index at the end of its file must be there."""
    table.search().offset(max(0, table.count_rows() - 1)).limit(1).select(["tx"]).to_arrow()


def _readable(table: Table) -> bool:
    """Return whether every file of a table has its index."""
    try:
        table.search().select(["tx"]).to_arrow()
    except FAILURES:
        return False
    return True
