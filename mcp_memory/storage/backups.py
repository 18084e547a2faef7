"""Backups: of a whole store into one file, of a store back from it, and those that the store makes by itself.

The store makes one before its derived tables are rebuilt and before its format changes, never before a forget, in the
folder ``backups`` beside its tables, and keeps the last few. They are exact copies. A forget takes what goes out of
them too (`Backups.without`), in an unpacked copy; a backup in which that cannot be done is removed.
"""

from __future__ import annotations

import logging
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from anyio import to_thread

from mcp_memory import __version__
from mcp_memory.domain.times import Millis
from mcp_memory.errors import StoreBusy, StoreUnwritable
from mcp_memory.storage.archive import pack, unpack
from mcp_memory.storage.commits import last_commit
from mcp_memory.storage.data_files import size_in_bytes
from mcp_memory.storage.lock import WriteLock, lock_file
from mcp_memory.storage.tables import SPARE, Tables
from mcp_memory.storage.transaction import merge_journal

FOLDER = "backups"
SUFFIX = ".backup"
WAIT_S = 120.0
"""How long to wait for another process's compaction to finish."""
PROGRAM = f"mcp-memory {__version__}"
_NAME = re.compile(r"\d{8}T\d{6}\d{3}Z-\d+-[a-z-]+\.backup")

_log = logging.getLogger(__name__)


@asynccontextmanager
async def still(tables: Tables, lock: WriteLock) -> AsyncIterator[None]:
    """Hold the write lock and the compaction lock of a store: no file of it changes or goes meanwhile.

    Every commit is in the tables then.
    """
    async with lock.hold():
        await to_thread.run_sync(merge_journal, tables)
        async with without_compaction(tables):
            yield


@asynccontextmanager
async def without_compaction(tables: Tables) -> AsyncIterator[None]:
    """Hold the compaction lock, so that no process compacts a table meanwhile.

    Raises:
        StoreBusy: another process is compacting for too long.
    """
    from filelock import Timeout

    if tables.folder is None:
        yield
        return
    lock = lock_file(tables.folder / "compact.lock")
    try:
        await to_thread.run_sync(lambda: lock.acquire(timeout=WAIT_S))
    except Timeout as error:
        raise StoreBusy(
            f"storage.uri {tables.uri!r}: another process is compacting the memory. Nothing was changed. Try again."
        ) from error
    try:
        yield
    finally:
        lock.release()


class Backups:
    """The backups that a store makes by itself.

    Args:
        tables: of the store.
        keep: how many; 0 for none.
        place: their folder; empty for one in the store's.
        clock: milliseconds since 1970, UTC.
    """

    def __init__(self, tables: Tables, keep: int, place: str, clock: Callable[[], Millis]) -> None:
        self._tables = tables
        self._keep = keep
        self._clock = clock
        own = tables.folder / FOLDER if tables.folder is not None else None
        self.folder = Path(place).expanduser() / _slug(own.parent) if place and own is not None else own

    def files(self) -> list[Path]:
        """Return those there are, the oldest first."""
        if self.folder is None or not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    @property
    def last(self) -> Path | None:
        """The newest one; None if there is none."""
        return next(reversed(self.files()), None)

    def make(self, reason: str) -> Path | None:
        """Make one and remove those that are too many; the locks of `pack` must be held. Blocking.

        Args:
            reason: in a word or two, joined by hyphens; part of its name.

        Raises:
            StoreUnwritable: it cannot be written.
        """
        if self.folder is None or not self._keep or last_commit(self._tables) is None:
            return None
        now = self._clock()
        moment = datetime.fromtimestamp(now / 1000, UTC)
        with self._tables.write_errors():
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        size = sum(map(size_in_bytes, self._tables.folder.glob("*.lance"))) if self._tables.folder is not None else 0
        if shutil.disk_usage(self.folder).free < size + SPARE:
            raise StoreUnwritable(
                f"storage.uri {self._tables.uri!r}: too little room for a backup, which takes {size:,} bytes. Nothing "
                "was changed. Make room, or set storage.backups to 0 to do without."
            )
        name = f"{moment:%Y%m%dT%H%M%S}{now % 1000:03}Z-{len(self.files())}-{reason}{SUFFIX}"
        file = self.folder / name
        pack(self._tables, file, program=PROGRAM, made=moment.isoformat(timespec="seconds"))
        for old in self.files()[: -self._keep]:
            old.unlink(missing_ok=True)
        return file

    async def before(self, reason: str) -> None:
        """Make one before something; the write lock must be held.

        Raises:
            StoreBusy: another process is compacting for too long.
            StoreUnwritable: it cannot be written.
        """
        async with without_compaction(self._tables):
            await to_thread.run_sync(self.make, reason)

    async def without(self, forget: Callable[[Path, str, int], Awaitable[None]]) -> None:
        """Take out of every backup what is being forgotten; one in which that fails is removed.

        Args:
            forget: forgets it in a store in a folder, with the embedder and dimension of its vectors.
        """
        if self.folder is None:
            return
        if self.folder.is_dir():
            for left in self.folder.glob(".*"):  # of a process that died at it
                await to_thread.run_sync(_remove, left)
        for file in self.files():
            work = self.folder / f".{file.name}.work"
            try:
                header = await to_thread.run_sync(_unpacked, file, work)
                await forget(work, header["embedder"], header["dimension"])
                tables = Tables(str(work))
                await to_thread.run_sync(lambda: pack(tables, file, program=PROGRAM, made=header["made"]))  # noqa: B023
            except Exception as error:
                _log.warning("%s: what was forgotten could not be taken out of it (%s), so it is removed", file, error)
                await to_thread.run_sync(_remove, file)
            finally:
                await to_thread.run_sync(_remove, work)


def _unpacked(file: Path, work: Path) -> dict[str, Any]:
    work.mkdir(mode=0o700)
    return dict(unpack(file, work))


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _slug(folder: Path) -> str:
    """Return a name for a store's own backups in a folder that several stores may share."""
    from hashlib import blake2b

    return f"{folder.name or 'store'}-{blake2b(str(folder).encode(), digest_size=4).hexdigest()}"


async def back_up(tables: Tables, lock: WriteLock, file: Path, made: Millis) -> int:
    """Write a whole store into a file while others use it, and return the number of the commit that it is as of.

    Raises:
        InvalidInput: nothing is stored.
        StoreBusy: others write or compact all the time.
        StoreUnwritable: the file cannot be written.
    """
    if tables.folder is None:
        raise StoreUnwritable(
            f"storage.uri {tables.uri!r} is no local folder. Nothing was written. Use the copies of that service, or "
            "`mcp-memory export`."
        )
    moment = datetime.fromtimestamp(made / 1000, UTC).isoformat(timespec="seconds")
    async with still(tables, lock):
        return await to_thread.run_sync(lambda: pack(tables, file, program=PROGRAM, made=moment))
