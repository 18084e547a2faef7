"""One writer at a time on this machine, and who has the store open.

Lock files are the operating system's own locks (``filelock``: flock or msvcrt), so they are freed when a process dies
however it dies. Waiting polls, because a wait that the system does for us could neither be cancelled nor time out on
every platform. Polling alone is unfair: a process with ten calls in flight would take the lock again in the
microseconds between two polls of another. Hence two locks, as at a turnstile: who wants ``write.lock`` first takes
``next.lock``, keeps it until it has ``write.lock``, and so is next for certain.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import anyio

from mcp_memory.errors import StoreBusy, StoreUnwritable

if TYPE_CHECKING:
    from filelock import BaseFileLock

POLL_S = 0.002
"""Between two tries; one try costs some 30 microseconds."""


def lock_file(path: Path) -> BaseFileLock:
    """Return the lock of a file, not taken yet."""
    from filelock import FileLock

    # A soft lock, filelock's answer to file systems that know none, would outlive a process that is killed.
    return FileLock(path, thread_local=False, fallback_to_soft=False)


def taken(lock: BaseFileLock) -> bool:
    """Take a lock if it is free, and say whether it is ours now."""
    from filelock import Timeout

    try:
        lock.acquire(blocking=False)
    except Timeout:
        return False
    return True


class WriteLock:
    """The right to write to a store.

    Attributes:
        folder: of the store; None for a store that is no local folder, where only this process's calls queue up.
        timeout_s: how long to wait.
    """

    def __init__(self, folder: Path | None, timeout_s: float) -> None:
        self.folder = folder
        self.timeout_s = timeout_s
        self._queue = anyio.Lock()
        self._files: tuple[BaseFileLock, BaseFileLock] | None = None

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Hold the right to write; calls of one process come in the order in which they asked.

        Raises:
            StoreBusy: it was not to be had within ``timeout_s``.
            StoreUnwritable: there can be no lock file here.
        """
        deadline = anyio.current_time() + self.timeout_s
        with anyio.move_on_after(self.timeout_s) as waited:
            await self._queue.acquire()
        if waited.cancelled_caught:
            raise self._busy("other writes of this process are still under way")
        try:
            await self._take(deadline)
            try:
                yield
            finally:
                if self._files:
                    self._files[1].release()
        finally:
            self._queue.release()

    async def _take(self, deadline: float) -> None:
        if self.folder is None:
            return
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
        while not taken(lock):
            if anyio.current_time() > deadline:
                raise self._busy("another process is writing")
            await anyio.sleep(POLL_S)

    def _busy(self, why: str) -> StoreBusy:
        return StoreBusy(
            f"The memory was busy for {self.timeout_s:g} s: {why}. Nothing was stored. "
            "Try again; storage.lock_timeout_s sets how long to wait."
        )


class Holders:
    """A lock file for each process that has the store open, held for as long as it lives."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "holders"
        self._own: BaseFileLock | None = None

    def enter(self) -> None:
        """Show that this process has the store open; not possible, and not needed, where nothing can be written."""
        if self._own is not None:
            return
        with suppress(OSError, NotImplementedError):
            self._folder.mkdir(exist_ok=True)
            own = lock_file(self._folder / f"{os.getpid()}-{secrets.token_hex(4)}.lock")
            own.acquire(blocking=False)
            self._own = own
            self.living()  # takes away what dead processes left

    def uprooted(self) -> bool:
        """Return whether the folder in which we showed ourselves was taken away; if so, we show ourselves anew."""
        if self._own is None or Path(self._own.lock_file).exists():
            return False
        self._own.release()
        self._own = None
        return True

    def living(self) -> list[int]:
        """Return the ids of the processes that have the store open; what dead ones left is removed."""
        found = {os.getpid()} if self._own is not None else set()
        with suppress(OSError, NotImplementedError, ValueError):  # ValueError: a file that is none of ours
            for path in sorted(self._folder.glob("*.lock")):
                if self._own is not None and path == Path(self._own.lock_file):
                    continue
                lock = lock_file(path)
                if taken(lock):
                    with suppress(OSError):  # a folder we may only read
                        path.unlink()
                    lock.release()
                else:
                    found.add(int(path.name.partition("-")[0]))
        return sorted(found)

    def leave(self) -> None:
        """Show that this process has the store open no longer."""
        if self._own is not None:
            with suppress(OSError):
                Path(self._own.lock_file).unlink()
            self._own.release()
            self._own = None
