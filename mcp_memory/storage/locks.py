"""The locks of a store: files on this machine (``lock.py``), or objects beside a store on object storage."""

from __future__ import annotations

import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

from mcp_memory.errors import StoreUnwritable
from mcp_memory.storage.bucket_journal import BucketJournal
from mcp_memory.storage.bucket_lock import BucketLock
from mcp_memory.storage.lock import WriteLock, lease, lock_file, try_lock
from mcp_memory.storage.place import Place

WRITE_LOCK, REBUILD_LOCK, COMPACT_LOCK = "write.lock", "rebuild.lock", "compact.lock"
SOON_S = 0.02


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
    journal = place.journal if isinstance(place.journal, BucketJournal) else None
    return BucketLock(place.bucket, WRITE_LOCK, timeout_s, journal=journal)


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
    except (OSError, NotImplementedError) as error:
        raise StoreUnwritable(
            f"storage.uri {place.uri!r}: no lock file can be made there ({error}). Nothing was changed."
        ) from error


def take_soon(place: Place, name: str, wait_s: float) -> Callable[[], None]:
    """Take a lock when it becomes free, and return what releases it; after some seconds go on without it. Blocking.

    Raises:
        StoreUnwritable: there can be no lock here.
    """
    until = time.monotonic() + wait_s
    while (release := take_if_free(place, name)) is None:
        if time.monotonic() > until:
            return lambda: None
        time.sleep(SOON_S)
    return release


def open_lease(place: Place, name: str, local: threading.Lock) -> AbstractAsyncContextManager[bool]:
    """Return a context that takes a lock if it is free, and yields whether it was."""
    if place.folder is not None:
        return lease(place.folder, name, local)
    return _lease(place, name, local)


@asynccontextmanager
async def _lease(place: Place, name: str, local: threading.Lock) -> AsyncIterator[bool]:
    if not local.acquire(blocking=False):
        yield False
        return
    try:
        async with place.lock(name).lease() as free:
            yield free
    finally:
        local.release()
