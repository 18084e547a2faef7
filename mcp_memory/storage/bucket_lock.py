"""Locks of a store on object storage: an object that exists while somebody holds the lock.

Whoever puts it (put if absent) has the lock, and deletes it afterwards. The holder renews it by putting it again, with
another number in it, every third of `TTL_S`. Whoever waits looks at it from time to time: if it has not changed for
`TTL_S` *by the waiter's own clock*, its holder is dead, and the waiter removes it. So no two clocks are compared.

Whoever has just released a lock waits a little before it takes it again: it would nearly always be sooner than those
that wait and look at it from time to time.

The lock is for speed alone: with it, writers do not prepare commits in vain. It is not what keeps the store whole,
since a holder may be stopped for longer than `TTL_S` and then go on. That is done by the log, in which each commit
number can be taken only once (``log.py``).
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial

import anyio
from anyio import to_thread

from mcp_memory.errors import StoreError
from mcp_memory.storage.bucket import Bucket, to_json
from mcp_memory.storage.lock import busy, in_turn

TTL_S = 15.0
"""How long a lock may stay unchanged before it counts as left by a dead holder: many times a slow request."""
FIRST_POLL_S = 0.02
"""Between the first two requests for a lock that is held; each later wait is half as long again, to `LAST_POLL_S`."""
LAST_POLL_S = 0.1
YIELD_S = 0.15
"""How long to let others go first after a release: longer than between two polls of theirs."""
LOOK_S = 1.0
"""Between two looks whether the holder is alive."""


class BucketLock:
    """A lock on object storage; for writing it stands in for `mcp_memory.storage.lock.WriteLock`.

    Args:
        bucket: where the objects are.
        name: the name of the lock.
        timeout_s, ttl_s: see the attributes.

    Attributes:
        timeout_s: how long to wait.
        ttl_s: see `TTL_S`.
    """

    def __init__(
        self,
        bucket: Bucket,
        name: str,
        timeout_s: float = 0.0,
        ttl_s: float = TTL_S,
    ) -> None:
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
        if self._bucket.put_new(self._name, to_json([self._me, self._takes, 0])) is not None:
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
                self._bucket.put(self._name, to_json([self._me, self._takes, turn]))

    def _release(self, renewal: tuple[threading.Event, threading.Thread]) -> None:
        released, thread = renewal
        released.set()
        thread.join()
        with suppress(StoreError):  # then it is removed once it is `TTL_S` old
            self._bucket.remove([self._name])
        self._released = time.monotonic()
