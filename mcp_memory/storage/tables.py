"""LanceDB, the library, and its tables: open, read, append, drop. All calls block.

Every read looks for the latest version of its table first (``checkout_latest``, 0.2 ms), so a version needs to live
only as long as one read; one whose files a compaction removed meanwhile is repeated once. A table that cannot be read
is broken, and made again from the log. When a data file does not fit on the disk, LanceDB 0.40 cuts it short without an
error, so nothing is written to a disk that is nearly full (`SPARE_BYTES`).

The library is imported without the client of a remote catalogue, which is never used: Python would run the package
around its value classes, with every request that a catalogue knows: .4 of .9 s, and 14 MB, before the first write of
every process. That package is put in place without being run until somebody asks it for a name of its own.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any, TypeVar

from mcp_memory.errors import StoreError, StoreUnwritable
from mcp_memory.storage.place import Place, keep_private, remove_folder
from mcp_memory.storage.rows import TableRows

Table = Any
"""A table of LanceDB, which comes without types."""
FAILURES = (OSError, RuntimeError, ValueError, LookupError, ArithmeticError)
"""What LanceDB raises when a file cannot be read or written; see also `no_panics`."""
PANICS = ("PanicException", "RustPanic")
"""Names of the classes by which libraries of Rust raise a panic, the second one in a task of theirs; each library has
classes of its own by these names, and the first is no `Exception`."""
CLIENT = "lance_namespace_urllib3_client"
METADATA_BYTES = 16 << 20
"""Of manifests and descriptions of data files that a connection keeps in memory. Every commit makes new ones, most of
them are never asked for again, and LanceDB's own bound is a gigabyte."""
SPARE_BYTES = 64 << 20
"""Bytes that a rewrite of files leaves free on the disk."""

Out = TypeVar("Out")


class Tables:
    """The tables of one store, opened when first needed and created with their first row.

    Attributes:
        folder: the folder of the store; None for a store that is no local folder.
        broken: names of tables that lack rows or could not be read; a rebuild makes them again.
    """

    def __init__(self, place: Place | str) -> None:
        self.place = place if isinstance(place, Place) else Place(place)
        self.uri = self.place.uri
        self.folder = self.place.folder
        self.log = self.place.log
        self.broken: set[str] = set()
        self._database: Any = None
        self._open: dict[str, Table] = {}

    # Opening

    def reopen(self) -> None:
        """Open every table again at its next use: another store has taken the place of the known one."""
        self._database = None
        self._open.clear()
        self.broken.clear()

    def exists(self) -> bool:
        """Return whether the store's folder exists; true for a store that is no local folder."""
        try:
            return self.folder is None or self.folder.is_dir()
        except PermissionError as error:
            raise StoreUnwritable(
                f"storage.uri {self.uri!r} cannot be read ({error}). Set storage.uri "
                "(or MCP_MEMORY_STORAGE_URI) to a folder that you may write to."
            ) from error

    def make_folder(self) -> None:
        """Create the store's folder and missing folders above it, for their owner alone.

        Raises:
            StoreUnwritable: it cannot be created, or the object store cannot be written to by several writers.
        """
        if self.folder is None:
            _ = self.place.keeps_versions
        if self.folder is not None and not self.exists():
            self.place.check_noted()
            with self.write_errors():
                keep_private()  # the folders above it as well, where they do not exist yet
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def latest(self, name: str) -> Table | None:
        """Return a table at its latest version; None if there is no table."""
        table = self._open.get(name)
        if table is not None:
            try:
                with no_panics():
                    table.checkout_latest()
                return table
            except FAILURES:  # the table was dropped, or its folder was removed
                self._open.pop(name, None)  # which another thread may have done
        if not self.exists():
            return None
        try:
            if self.folder is not None and not self._table_folder(name).is_dir():
                return None  # LanceDB would take 0.5 ms to say so: many a store has no facts, and each writer asks
            with no_panics():
                table = self._connection().open_table(name)
                if not {"tx", "place" if name.startswith("point") else "space"}.issubset(table.schema.names):
                    raise OSError("its newest version has not the columns that it should")
        except FAILURES as error:
            if isinstance(error, ValueError) and "not found" in str(error):
                return None
            self.broken.add(name)
            raise self.unreadable(name, without_rust_positions(error)) from error
        self._open[name] = table
        return table

    def _connection(self) -> Any:
        if self._database is None:
            self._database = connect(self.uri, self.folder, self.place.options if self.folder is None else {})
        return self._database

    def _table_folder(self, name: str) -> Path:
        return (self.folder or Path()) / f"{name}.lance"

    def unreadable(self, name: str, why: str) -> StoreError:
        """Return the error to raise for a table that cannot be read."""
        problem = f"the table {name!r} cannot be read ({why}). `mcp-memory doctor` says what is wrong."
        return StoreError(f"storage.uri {self.uri!r}: {problem}")

    @contextmanager
    def write_errors(self) -> Iterator[None]:
        """Convert LanceDB's errors in the body to ours.

        Raises:
            StoreUnwritable: LanceDB could not do it.
        """
        try:
            with no_panics():
                yield
        except FAILURES as error:
            raise StoreUnwritable(
                f"storage.uri {self.uri!r} cannot be written to: {without_rust_positions(error)}. Nothing of this "
                "call was stored; what was stored before can still be read. Make room, give the right to write, or set "
                "MCP_MEMORY_STORAGE_URI to another folder, and try again."
            ) from error

    # Reading

    def names(self) -> list[str]:
        """Return the names of all tables."""
        names: list[str] = []
        token = "" if self.exists() else None
        while token is not None:
            page = self._connection().list_tables(page_token=token or None)
            names, token = [*names, *page.tables], page.page_token or None
        return names

    def count(self, name: str, where: str | None = None) -> int:
        """Return how many rows there are."""
        return self._read(name, lambda table: int(table.count_rows(where)), 0)

    def rows(self, name: str, where: str | None = None, columns: Sequence[str] | None = None) -> TableRows | None:
        """Return rows in no particular order; None if there is no table."""

        def read(table: Table) -> TableRows:
            query = table.search()
            query = query.where(where) if where else query
            return (query.select(list(columns)) if columns else query).to_arrow()

        return _without_repeats(self._read(name, read, None), local=self.folder is not None)

    def fragments(self, name: str) -> int:
        """Return how many fragments a table consists of."""
        return self._read(name, lambda table: int(table.stats()["fragment_stats"]["num_fragments"]), 0)

    def _read(self, name: str, read: Callable[[Table], Out], default: Out) -> Out:
        """Return the result of ``read`` for a table at its latest version, ``default`` if there is no table.

        Raises:
            StoreError: it cannot be read; it is broken from now on.
        """
        failure: Exception | None = None
        for _ in (1, 2):  # a compaction may have removed the files in the middle of the first read
            table = self.latest(name)
            if table is None:
                return default
            try:
                with no_panics():
                    return read(table)
            except FAILURES as error:
                failure = error
        self.broken.add(name)
        raise self.unreadable(name, without_rust_positions(failure)) from failure

    # Changing

    def append(self, name: str, rows: TableRows) -> None:
        """Append rows.

        Raises:
            StoreUnwritable: some rows may be in the table nevertheless.
        """
        with self.write_errors():
            if (table := self.latest(name)) is None:
                self._open[name] = self._connection().create_table(name, rows)
            else:
                table.add(rows)

    def fold(self) -> None:
        """Let every row of the log be in its table; the write lock must be held."""
        with self.write_errors():
            self.log.fold(self._take_over)

    def _take_over(self, name: str, rows: TableRows) -> None:
        """Append rows out of the log, in place of those that a process left which died meanwhile.

        On object storage one that was only stopped may still append its own, which are equal.
        """
        since = f"tx >= {min(rows['tx'].to_pylist())}"
        if self.count(name, since):
            self.delete(name, since)
        self.append(name, rows)

    def delete(self, name: str, where: str) -> None:
        """Delete rows."""
        with self.write_errors():
            if (table := self.latest(name)) is not None:
                table.delete(where)

    def drop(self, name: str) -> None:
        """Remove a table with its files."""
        with self.write_errors():
            self._open.pop(name, None)
            if self.folder is None:
                self._connection().drop_table(name, ignore_missing=True)
            else:  # also where LanceDB sees no table in it
                remove_folder(self._table_folder(name))


def _without_repeats(rows: TableRows | None, *, local: bool) -> TableRows | None:
    """Return rows each once: on object storage a server that was stopped may append rows twice (`Tables.fold`)."""
    keys = [key for key in ("tx", "place", "id") if rows is not None and key in rows.column_names]
    if local or rows is None or keys == ["tx"]:
        return rows
    seen = {key: place for place, key in enumerate(zip(*(rows[key].to_pylist() for key in keys), strict=True))}
    return rows if len(seen) == len(rows) else rows.take(sorted(seen.values()))


def import_lancedb() -> Any:
    """Return the module of LanceDB, which comes without types."""
    if "lancedb" not in sys.modules and CLIENT not in sys.modules:
        _put_in_place(CLIENT)
    import lancedb

    return lancedb


def connect(uri: str, folder: Path | None, options: Mapping[str, str]) -> Any:
    """Return a connection to the tables of a store.

    Raises:
        StoreError: none can be opened with this uri.
    """
    os.environ.setdefault("LANCEDB_LOG", "error")
    lancedb, session = import_lancedb(), new_session()
    try:
        if folder is not None:
            return lancedb.connect(folder, session=session)
        return lancedb.connect(uri, storage_options=dict(options) or None, session=session)
    except FAILURES as error:
        raise StoreError(
            f"storage.uri {uri!r} cannot be opened: {without_rust_positions(error)}. "
            "Set storage.uri (or MCP_MEMORY_STORAGE_URI) to a folder, or to a URI that LanceDB opens."
        ) from error


def new_session() -> Any:
    """Return the caches of one connection. Another one has others: a store may have taken the place of this one."""
    return import_lancedb().Session(metadata_cache_size_bytes=METADATA_BYTES)


def _put_in_place(name: str) -> None:
    """Let the modules of a package be imported while the package itself is run only when it is asked for a name."""
    spec = find_spec(name)
    if spec is None or spec.loader is None:
        return
    package, loader = module_from_spec(spec), spec.loader

    def run(attribute: str) -> Any:
        if vars(package).pop("__getattr__", None) is not None:
            loader.exec_module(package)
        return getattr(package, attribute)

    vars(package)["__getattr__"] = run
    sys.modules[name] = package


@contextmanager
def no_panics() -> Iterator[None]:
    """Raise a panic inside LanceDB, which is no `Exception`, as one of `FAILURES`; damaged files cause it.

    Raises:
        RuntimeError: LanceDB panicked.
    """
    try:
        yield
    except BaseException as error:
        if type(error).__name__ not in PANICS:
            raise
        raise RuntimeError(f"a damaged file: {error}") from error


def without_rust_positions(error: object) -> str:
    """Return LanceDB's error message without the positions in its own source."""
    return re.sub(r",? ?\S+\.rs:\d+(:\d+)?", "", str(error)).strip().rstrip(".")
