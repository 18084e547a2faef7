"""The connection to one store: its tables, opened when first needed, and the words for what goes wrong with them.

A table is looked at anew before every read (``checkout_latest``, 0.2 ms), so a version needs to live only as long as
one read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from mcp_memory.errors import StoreError, StoreUnwritable
from mcp_memory.storage.mend import FAILURES, Table


class Connection:
    """Where a store lies, and its tables as LanceDB gives them.

    Attributes:
        uri: of the store.
        folder: that it lies in; None for a store that is no local folder.
        broken: tables whose latest version could not be read, until they are mended.
    """

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self.folder = local_folder(uri)
        self.broken: set[str] = set()
        self._database: Any = None
        self._open: dict[str, Table] = {}

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
            page = self.connected().list_tables(page_token=token)
            names += page.tables
            token = page.page_token
            if not token:
                return names

    def exists(self) -> bool:
        """Return whether the store's folder is there; true for a store that is no local folder."""
        try:
            return self.folder is None or self.folder.is_dir()
        except PermissionError as error:
            raise StoreUnwritable(
                f"storage.uri {self.uri!r} may not be looked into ({error}). Set storage.uri "
                "(or MCP_MEMORY_STORAGE_URI) to a folder that you may write to."
            ) from error

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
            if self.folder is not None and not self.place(name).is_dir():
                return None  # LanceDB would take 0.5 ms to say so: many a store has no facts, and each writer asks
            table = self.connected().open_table(name)
        except FAILURES as error:
            if isinstance(error, ValueError) and "not found" in str(error):
                return None
            raise self.unreadable(name, words(error)) from error
        self._open[name] = table
        return table

    def earlier(self, name: str, version: int) -> Table | None:
        """Return a table as it was; None if that version is gone."""
        try:
            return self.connected().open_table(name, version=version)
        except FAILURES:
            return None

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

    def place(self, name: str) -> Path:
        """Return the folder of a table; of no use where the store is no local folder."""
        return (self.folder or Path()) / f"{name}.lance"

    def connected(self) -> Any:
        """Return LanceDB's own connection.

        Raises:
            StoreError: there is none to be had with this uri.
        """
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


def local_folder(uri: str) -> Path | None:
    """Return the folder that a uri names, or None where it names no local one."""
    if uri.startswith("file:"):
        from urllib.request import url2pathname

        return Path(url2pathname(urlsplit(uri).path))
    return None if "://" in uri else Path(uri).expanduser().absolute()


def words(error: object) -> str:
    """Return what LanceDB says went wrong, without the places in its own source that it names."""
    return re.sub(r",? ?\S+\.rs:\d+(:\d+)?", "", str(error)).strip().rstrip(".")
