"""Where a store is: a folder of this machine, or objects under a URI, with the options to reach them.

Its locks are files on this machine, or objects beside a store on object storage (``lock.py``).
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

import anyio
from anyio import to_thread

from mcp_memory.errors import StoreBusy, StoreMismatch, StoreUnwritable
from mcp_memory.storage.arrival import settle
from mcp_memory.storage.lock import LAST_POLL_S, BucketLock, WriteLock, lock_file, try_lock
from mcp_memory.storage.log import Log
from mcp_memory.storage.noted import PlaceNote, is_of_older_program, local_folder
from mcp_memory.storage.objects import KEEPS_VERSIONS, Bucket, Folder, Objects, storage_options
from mcp_memory.storage.own_files import open_to_others
from mcp_memory.storage.schema import older_format


@dataclass(frozen=True)
class Place:
    """Where a store is.

    Attributes:
        uri: a folder, or any URI that LanceDB opens.
        text: ``storage.options``.
        noted_in: the folder of the notes of places (``noted.py``); "" for none.
    """

    uri: str
    text: str = ""
    noted_in: str = ""

    @cached_property
    def folder(self) -> Path | None:
        """The folder of the store; None for a store that is no local folder.

        Raises:
            StoreUnwritable: the memory is not where it was.
            StoreMismatch: it is that of an older program.
        """
        folder = settle(local_folder(self.uri))
        self.note.check(folder)
        if folder is not None and is_of_older_program(folder):
            raise StoreMismatch(older_format(str(folder)))
        return folder

    @cached_property
    def note(self) -> PlaceNote:
        """The note that this place holds a store."""
        return PlaceNote(self.uri, self.noted_in)

    @cached_property
    def options(self) -> Mapping[str, str]:
        """The options of an object store."""
        return storage_options(self.text)

    @cached_property
    def bucket(self) -> Bucket:
        """The objects of a store on object storage; nothing is asked of them yet."""
        return Bucket(self.uri, dict(self.options))

    @cached_property
    def keeps_versions(self) -> bool:
        """Whether the object store keeps earlier versions of objects, by a few requests at the first write.

        Raises:
            StoreUnwritable: it cannot be written to, or not by several writers.
        """
        return self.bucket.probe()

    @property
    def notes(self) -> tuple[str, ...]:
        """What should be known of the place, in words.

        Raises:
            StoreUnwritable: see `keeps_versions`.
        """
        if self.folder is not None:
            return open_to_others(self.folder)
        return (KEEPS_VERSIONS,) if self.keeps_versions else ()

    @cached_property
    def objects(self) -> Objects:
        """The objects of the store: of its log, and the book of what was forgotten."""
        return Folder(self.folder) if self.folder is not None else self.bucket

    @cached_property
    def log(self) -> Log:
        """The log of the store."""
        return Log(self.objects)

    def lock(self, name: str) -> BucketLock:
        """Return the lock of a name on object storage.

        Every call returns the same object, since it remembers since when another holder has given no sign.
        """
        return self._locks.setdefault(name, BucketLock(self.bucket, name))

    @cached_property
    def _locks(self) -> dict[str, BucketLock]:
        return {}


WRITE_LOCK, REBUILD_LOCK, COMPACT_LOCK = "write.lock", "rebuild.lock", "compact.lock"


class Lock(Protocol):
    """The lock that a process holds while it writes to a store."""

    def hold(self) -> AbstractAsyncContextManager[None]:
        """Hold the lock.

        Raises:
            StoreBusy: it did not become free in time.
            StoreUnwritable: there can be no lock here.
        """


def open_write_lock(place: Place, timeout_s: float) -> Lock:
    """Return the write lock of a store; the probe of an object store comes before the first use of it."""
    if place.folder is not None:
        return WriteLock(place.folder, timeout_s)
    return BucketLock(place.bucket, WRITE_LOCK, timeout_s)


def take_if_free(place: Place, name: str) -> Callable[[], None] | None:
    """Take a lock if it is free, and return what releases it; None if somebody else holds it. Blocking.

    Raises:
        StoreUnwritable: there can be no lock here.
    """
    if place.folder is None:
        return place.lock(name).take_if_free()
    lock = lock_file(place.folder / name)
    try:
        return lock.release if try_lock(lock) else None
    except FileNotFoundError:  # there is no store yet, and the lock would make its folder
        return None
    except (OSError, NotImplementedError) as error:
        raise StoreUnwritable(
            f"storage.uri {place.uri!r}: no lock file can be made there ({error}). Nothing was changed."
        ) from error


@asynccontextmanager
async def lease(place: Place, name: str) -> AsyncIterator[bool]:
    """Take a lock if it is free, and yield whether it was; the context, or the end of the process, releases it.

    Raises:
        StoreUnwritable: there can be no lock here.
    """
    release = await to_thread.run_sync(take_if_free, place, name)
    try:
        yield release is not None
    finally:
        if release is not None:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(release)


@asynccontextmanager
async def without_compaction(place: Place, wait_s: float = 120.0) -> AsyncIterator[None]:
    """Hold the compaction lock of a store, so that no process compacts a table meanwhile.

    Raises:
        StoreBusy: another process is compacting for longer than ``wait_s``.
        StoreUnwritable: there can be no lock here.
    """
    until = anyio.current_time() + wait_s
    while anyio.current_time() < until:
        async with lease(place, COMPACT_LOCK) as taken:
            if taken:
                yield
                return
        await anyio.sleep(LAST_POLL_S)
    raise StoreBusy(
        f"storage.uri {place.uri!r}: another process is compacting the memory. Nothing was changed. Try again."
    )
