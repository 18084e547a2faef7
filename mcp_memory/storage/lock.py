"""Locks: one writer at a time, and which processes of this machine have a store open.

**On a local store** they are the operating system's own locks of files (``filelock``), released whenever a process
ends. Waiting polls, because a wait inside the system could neither be cancelled nor time out on every platform. So that
no process takes the lock again between two polls of another, there are two, as at a turnstile: a writer takes
``next.lock`` first, keeps it until it has ``write.lock``, and is certain to be next.

**On object storage** a lock is an object that exists while somebody holds it: whoever puts it (put if absent) has it,
and renews it every third of `TTL_S`. If it has not changed for `TTL_S` by the clock of one who waits, its holder is
dead, and that one removes it; no two clocks are compared. Whoever has just released it waits a little before taking it
again, and lets others go first. That lock only spares writers commits in vain: what keeps the store whole, also where a
holder is stopped and goes on later, is that each commit number can be taken only once (``log.py``).
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio import to_thread

from mcp_memory.errors import StoreBusy, StoreError, StoreUnwritable
from mcp_memory.storage.objects import Bucket
from mcp_memory.storage.place import Place, keep_private, remove_unfinished

if TYPE_CHECKING:
    from filelock import BaseFileLock

_HOLDER = re.compile(r"\d+-[0-9a-f]{8}\.lock")
"""The lock file of a process that has the store open."""
POLL_S = 0.002
"""Between two attempts at the lock of a file; one costs about 30 microseconds."""
TTL_S = 15.0
"""How long a lock may stay unchanged before it counts as left by a dead holder: many times a slow request."""
FIRST_POLL_S = 0.02
"""Between the first two requests for a lock that is held; each later wait is half as long again, to `LAST_POLL_S`."""
LAST_POLL_S = 0.1
YIELD_S = 0.15
"""How long to let others go first after a release: longer than between two polls of theirs."""
LOOK_S = 1.0
"""Between two looks whether the holder is alive."""
WRITE_LOCK, REBUILD_LOCK, COMPACT_LOCK = "write.lock", "rebuild.lock", "compact.lock"


def lock_file(path: Path) -> BaseFileLock:
    """Return the lock of a file, not taken yet."""
    from filelock import FileLock

    # A soft lock, filelock's fallback for file systems without locks, would outlive a process that is killed.
    return FileLock(path, thread_local=False, fallback_to_soft=False)


def try_lock(lock: BaseFileLock) -> bool:
    """Take a lock if it is free, and return whether it was.

    Raises:
        OSError: it cannot be made. Its folder is not made either: it would stand where a disk is to be mounted.
    """
    from filelock import Timeout

    if not os.path.isdir(folder := os.path.dirname(lock.lock_file)):  # noqa: PTH112, PTH120 - every write asks
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), folder)
    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    return True


@asynccontextmanager
async def in_turn(queue: anyio.Lock, timeout_s: float) -> AsyncIterator[float]:
    """Wait for the turn of a call among those of this process, and yield until when it may wait for others.

    Raises:
        StoreBusy: its turn did not come within ``timeout_s``.
    """
    deadline = anyio.current_time() + timeout_s
    with anyio.move_on_after(timeout_s) as timeout:
        await queue.acquire()
    if timeout.cancelled_caught:
        raise busy("other writes of this process are still under way", timeout_s)
    try:
        yield deadline
    finally:
        queue.release()


def busy(why: str, timeout_s: float) -> StoreBusy:
    """Return the error to raise where a write lock did not become free."""
    return StoreBusy(f"The memory was busy for {timeout_s:g} s: {why}. Nothing was stored. Try again.")


class WriteLock:
    """The lock that a process holds while it writes to a store."""

    def __init__(self, folder: Path, timeout_s: float) -> None:
        self.folder = folder
        self.timeout_s = timeout_s
        self._queue = anyio.Lock()
        self._files: tuple[BaseFileLock, BaseFileLock] | None = None

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Hold the write lock; calls of one process get it in the order in which they asked.

        Raises:
            StoreBusy: it did not become free within ``timeout_s``.
            StoreUnwritable: no lock file can be created here.
        """
        async with in_turn(self._queue, self.timeout_s) as deadline:
            await self._take(deadline)
            try:
                yield
            finally:
                if self._files:
                    self._files[1].release()

    async def _take(self, deadline: float) -> None:
        """Take the lock file by way of the turnstile, which is let go again; see above."""
        if self._files is None:
            self._files = lock_file(self.folder / "next.lock"), lock_file(self.folder / "write.lock")
        turnstile, lock = self._files
        try:
            try:
                await self._poll(turnstile, deadline)
                await self._poll(lock, deadline)
            finally:
                turnstile.release()
        except (OSError, NotImplementedError) as error:
            problem = f"storage.uri {str(self.folder)!r}: no lock file can be made there ({error})"
            remedy = "Nothing was stored. Set MCP_MEMORY_STORAGE_URI to a local folder that you may write to."
            raise StoreUnwritable(f"{problem}. {remedy}") from error

    async def _poll(self, lock: BaseFileLock, deadline: float) -> None:
        while not try_lock(lock):
            if anyio.current_time() > deadline:
                raise busy("another process is writing", self.timeout_s)
            await anyio.sleep(POLL_S)


class Holders:
    """A lock file for each process that has the store open, held as long as the process lives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "holders"
        self._own: BaseFileLock | None = None

    def enter(self) -> None:
        """Register this process, also where its file was removed; not possible in a folder without write access."""
        if self.registered:
            return
        keep_private()
        self.leave()
        with suppress(OSError, NotImplementedError):
            self._folder.mkdir(exist_ok=True)
            own = lock_file(self._folder / f"{os.getpid()}-{secrets.token_hex(4)}.lock")
            own.acquire(blocking=False)
            self._own = own
            self.alive()  # removes the files of dead processes
            remove_unfinished(self._folder.parent)

    @property
    def registered(self) -> bool:
        """Whether our lock file is there."""
        return self._own is not None and os.path.exists(self._own.lock_file)  # noqa: PTH110 - each reading asks

    def alive(self) -> list[int]:
        """Return the ids of the processes that have the store open; files of dead processes are removed."""
        pids = {os.getpid()} if self._own is not None else set()
        with suppress(OSError, NotImplementedError):
            for path in sorted(self._folder.glob("*.lock")):
                if _HOLDER.fullmatch(path.name) is None or path.is_symlink():
                    continue
                if self._own is not None and path == Path(self._own.lock_file):
                    continue
                lock = lock_file(path)
                if try_lock(lock):
                    lock.release()  # first: Windows removes no file that is open. No other process gets this name
                    with suppress(OSError):  # we may only read the folder
                        path.unlink()
                else:
                    pids.add(int(path.name.partition("-")[0]))
        return sorted(pids)

    def leave(self) -> None:
        """Unregister this process."""
        if self._own is not None:
            self._own.release()
            with suppress(OSError):
                Path(self._own.lock_file).unlink()
            self._own = None


class BucketLock:
    """A lock of some name on object storage; for writing it stands in for `WriteLock`.

    Attributes:
        timeout_s: how long to wait.
        ttl_s: see `TTL_S`.
    """

    def __init__(self, bucket: Bucket, name: str, timeout_s: float = 0.0, ttl_s: float = TTL_S) -> None:
        self.timeout_s = timeout_s
        self.ttl_s = ttl_s
        self._bucket = bucket
        self._name = name
        self._queue = anyio.Lock()
        self._me = secrets.token_hex(8)
        self._takes = 0
        self._seen: tuple[bytes, float] = b"", 0.0  # what another holder put, and since when it is unchanged
        self._looked = 0.0
        self._released = -YIELD_S

    @asynccontextmanager
    async def hold(self) -> AsyncIterator[None]:
        """Hold the lock; calls of one process get it in the order in which they asked.

        Raises:
            StoreBusy: it did not become free within ``timeout_s``.
            StoreUnwritable: the store cannot be written to.
        """
        async with in_turn(self._queue, self.timeout_s) as deadline:
            await anyio.sleep(max(0.0, self._released + YIELD_S - time.monotonic()))
            await self._wait(deadline)
            renewal = self._renewing()
            try:
                yield
            finally:
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(self._release, renewal)

    async def _wait(self, deadline: float) -> None:
        """Take the lock when it is free."""
        wait = FIRST_POLL_S
        while not await to_thread.run_sync(self._take):
            if anyio.current_time() > deadline:
                raise busy("another server is writing", self.timeout_s)
            await anyio.sleep(wait)
            wait = min(wait * 1.5, LAST_POLL_S)

    def take_if_free(self) -> Callable[[], None] | None:
        """Take the lock if it is free, and return what releases it; None if it is not. Blocking."""
        return partial(self._release, self._renewing()) if self._take() else None

    def _take(self) -> bool:
        """Take the lock if it is free, and return whether it was; remove it if its holder is dead."""
        self._takes += 1
        if self._bucket.put_new(self._name, f"{self._me} {self._takes} 0".encode()) is not None:
            return True
        now = time.monotonic()
        if now - self._looked < min(LOOK_S, self.ttl_s / 3):
            return False
        content, self._looked = self._bucket.get(self._name), now
        if content is not None and content != self._seen[0]:
            self._seen = content, now
        elif content is not None and now - self._seen[1] > self.ttl_s:
            self._bucket.remove([self._name])
        return False

    def _renewing(self) -> tuple[threading.Event, threading.Thread]:
        released = threading.Event()
        renewal = threading.Thread(target=self._renew, args=(released,), name="mcp-memory lock", daemon=True)
        renewal.start()
        return released, renewal

    def _renew(self, released: threading.Event) -> None:
        """Put the lock again from time to time; a failure does no harm unless it lasts."""
        turn = 0
        while not released.wait(self.ttl_s / 3):
            turn += 1
            with suppress(StoreError):
                self._bucket.put(self._name, f"{self._me} {self._takes} {turn}".encode())

    def _release(self, renewal: tuple[threading.Event, threading.Thread]) -> None:
        released, thread = renewal
        released.set()
        thread.join()
        with suppress(StoreError):  # then it is removed once it is `TTL_S` old
            self._bucket.remove([self._name])
        self._released = time.monotonic()


# The locks of a place


def open_write_lock(place: Place, timeout_s: float) -> WriteLock | BucketLock:
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
        return place.locks.setdefault(name, BucketLock(place.bucket, name)).take_if_free()
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
