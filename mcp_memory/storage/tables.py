"""LanceDB's own calls, and the words for what goes wrong in them. All of them block: call them in a thread.

A table is looked at anew before every read (``checkout_latest``, 0.2 ms), so a version needs to live only as long as
one read; a read that loses its files to a compaction after all is done once more.

A full disk may leave a table with a version that cannot be read (``mend.py``). Readers pass over it, since nothing in
it was ever committed.
"""

from __future__ import annotations

import errno
import logging
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from mcp_memory.errors import StoreError, StoreUnwritable
from mcp_memory.storage.mend import FAILURES, STEPS_BACK, Table, ensure_whole, readable
from mcp_memory.storage.schemas import Rows

COMMITS = "commits"
TURNS = "turns"
SPARE = 64 << 20
"""Bytes that a compaction leaves free."""

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
        from urllib.request import url2pathname

        return Path(url2pathname(urlsplit(uri).path))
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

    def reopen(self, name: str) -> None:
        """Open a table anew when it is next needed."""
        self._open.pop(name, None)

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

    def append(self, name: str, rows: Rows) -> int:
        """Add rows and return the table's new version.

        Raises:
            StoreUnwritable: some rows may be there nevertheless, without a commit.
        """
        with self.changing():
            table = self.latest(name)
            there = self._files(name)
            if table is None:
                table = self._open[name] = self._connected().create_table(name, rows)
                version = int(table.version)
            else:
                version = int(table.add(rows).version)
            if self.folder is not None:
                ensure_whole(table, [self._data(name) / file for file in self._files(name) - there])
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

    def drop(self, name: str) -> None:
        """Remove a table with its files."""
        with self.changing():
            self._open.pop(name, None)
            self._connected().drop_table(name, ignore_missing=True)

    def fragments(self, name: str) -> int:
        """Return how many pieces a table lies in."""
        return self._read(name, lambda table: int(table.stats()["fragment_stats"]["num_fragments"]), 0)

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

    def make_folder(self) -> None:
        """Make the folder that the store lies in, and those above it that are not there yet, for their owner alone.

        Raises:
            StoreUnwritable: it cannot be made.
        """
        if self.folder is not None and not self.exists():
            with self.changing():
                if os.name == "posix":
                    os.umask(0o077)  # for the folders above it as well, where they are not there yet
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

    def _data(self, name: str) -> Path:
        return (self.folder or Path()) / f"{name}.lance" / "data"

    def _files(self, name: str) -> set[str]:
        """Return the names of a table's data files, those of every version; none where they are not local."""
        try:
            return set(os.listdir(self._data(name))) if self.folder else set()  # noqa: PTH208 - a fifth of the time
        except FileNotFoundError:
            return set()

    def _connected(self) -> Any:
        if self._database is None:
            os.environ.setdefault("LANCEDB_LOG", "error")
            import lancedb

            try:
                self._database = lancedb.connect(self.uri if self.folder is None else self.folder)
            except FAILURES as error:
                raise StoreError(
                    f"storage.uri {self.uri!r} cannot be opened: {words(error)}. "
                    "Set storage.uri (or MCP_MEMORY_STORAGE_URI) to a folder, or to a URI that LanceDB opens."
                ) from error
        return self._database

    def latest(self, name: str) -> Table | None:
        """Return a table at its latest version; None if there is no table."""
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
        except FAILURES as error:
            if isinstance(error, ValueError) and "not found" in str(error):
                return None
            raise self.unreadable(name, words(error)) from error
        self._open[name] = table
        return table

    def earlier(self, name: str, version: int) -> Table | None:
        """Return a table as it was; None if that version is gone."""
        try:
            return self._connected().open_table(name, version=version)
        except FAILURES:
            return None

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

    def unreadable(self, name: str, why: str) -> StoreError:
        """Return the error to raise for a table that cannot be read."""
        return StoreError(
            f"storage.uri {self.uri!r}: the table {name!r} cannot be read ({why}). "
            "`mcp-memory doctor` says what is wrong."
        )

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Say in words what keeps the body from changing a table.

        Raises:
            StoreUnwritable: LanceDB could not do it.
        """
        try:
            yield
        except FAILURES as error:
            raise StoreUnwritable(
                f"storage.uri {self.uri!r} cannot be written to: {words(error)}. Nothing of this call was stored; what "
                "was stored before can still be read. Make room, give the right to write, or set "
                "MCP_MEMORY_STORAGE_URI to another folder, and try again."
            ) from error


def words(error: object) -> str:
    """Return what LanceDB says went wrong, without the places in its own source that it names."""
    return re.sub(r",? ?\S+\.rs:\d+(:\d+)?", "", str(error)).strip().rstrip(".")
