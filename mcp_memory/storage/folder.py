"""Objects of a store in a folder: files, each written beside its place and renamed into it, so that none is ever half.

Whoever puts a new one holds the write lock. It is not synced, as LanceDB's appends are not: a power loss can cost the
last commits. A file of which that left nothing but its name counts as not there.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import IO

from mcp_memory.files import whole_file


class Folder:
    """The objects of one store; see `mcp_memory.storage.log.Objects`.

    Args:
        folder: the folder of the store.
    """

    shared = False

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put_new(self, name: str, content: bytes, *, lasting: bool = False) -> str | None:
        """Put a file that does not exist yet."""
        path = self._folder / name
        if self.tag(name) is not None:
            return None
        path.parent.mkdir(mode=0o700, exist_ok=True)
        with whole_file(path, lasting=lasting) as out:
            out.write(content)
        return self.tag(name)

    def put(self, name: str, content: bytes) -> None:
        """Put a file in place of the one that is there, if any."""
        path = self._folder / name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with whole_file(path) as out:
            out.write(content)

    def get(self, name: str) -> bytes | None:
        """Return the content of a file; None if there is none."""
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def open(self, name: str) -> IO[bytes] | None:
        """Return a file to be read in parts; None if there is none."""
        try:
            return (self._folder / name).open("rb")
        except FileNotFoundError:
            return None

    def tags(self, prefix: str, after: str = "") -> dict[str, str]:
        """Return the files under a prefix that sort after a name, in order, each with the tag of its content."""
        names = [f"{prefix}{name}" for name in self._listed(prefix)]
        if prefix == "log/":
            names = [f"{above}/{name}" for above in names for name in self._listed(above)]
        tags = {name: self.tag(name) for name in sorted(names) if name > after and name.rpartition("/")[2][0] != "."}
        return {name: tag for name, tag in tags.items() if tag is not None}

    def _listed(self, place: str) -> list[str]:
        try:
            return os.listdir(self._folder / place)  # noqa: PTH208 - sooner
        except (FileNotFoundError, NotADirectoryError):
            return []

    def tag(self, name: str) -> str | None:
        """Return what tells the content of a file from any other; None if there is none."""
        try:
            found = os.stat(f"{self._folder}{os.sep}{name}")  # noqa: PTH116 - a third of the time
        except OSError:
            return None
        return f"{found.st_ino} {found.st_size} {found.st_mtime_ns}" if found.st_size else None

    def remove(self, names: Iterable[str]) -> None:
        """Remove files; those that do not exist are passed over."""
        for path in (self._folder / name for name in names):
            with suppress(PermissionError if os.name == "nt" else FileNotFoundError):  # Windows: somebody reads it
                path.unlink(missing_ok=True)
            if path.parent.parent != self._folder:
                with suppress(OSError):  # there is something in it
                    path.parent.rmdir()
