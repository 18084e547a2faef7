"""Work after a call: jobs that nobody waits for, one after another, each a transaction of its own.

Each waits until nobody has called for a while, since a job shares the model and the store with the calls: begun at
once, one slows the next write by half (88 to 131 ms) and the next recall more than that.

A job is left out where the same is waiting already, and the oldest goes where too many wait: what it would have made
follows from what is stored, so nothing that anybody said is lost. For the same reason no job is written down: one that
the end of the process cut off is not looked for at the next start, which would have to make every one of them anew to
find it; the next answer to such a question makes it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable

import anyio

from mcp_memory.errors import McpMemoryError

MOST = 32
"""Jobs that may wait."""

REST_S = 2.0
"""So long nobody must have called before a job begins."""

Job = Callable[[], Awaitable[object]]

_log = logging.getLogger(__name__)


class Background:
    """The jobs of this process that wait or are under way.

    Args:
        most: that may wait; see `MOST`.
        rest_s: see `REST_S`.
        clock: seconds, from any moment on.
        sleep: for so many seconds.
    """

    def __init__(
        self,
        most: int = MOST,
        rest_s: float = REST_S,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._most = most
        self._rest_s = rest_s
        self._clock = clock
        self._sleep = sleep
        self._called = clock()
        self._waiting: dict[str, Job] = {}
        self._fleeting: set[str] = set()  # names of jobs of which nothing lasts
        self._came = anyio.Event()
        self._working = anyio.Lock()
        self._under_way = False

    def __len__(self) -> int:
        return len(self._waiting) + self._under_way

    def put(self, name: str, job: Job, *, lasting: bool = True) -> None:
        """Let a job be done later; one of the same name that waits still is done instead.

        Args:
            name: tells it from others.
            job: does it.
            lasting: whether any of it outlives this process; else it need not be done at its end.
        """
        self._waiting.setdefault(name, job)
        if not lasting:
            self._fleeting.add(name)
        while len(self._waiting) > self._most:
            self._waiting.pop(next(iter(self._waiting)))
        self._came.set()

    def called(self) -> None:
        """Take note that somebody calls the memory now."""
        self._called = self._clock()

    async def work(self) -> None:
        """Do what comes, for good, each job once nobody has called for a while."""
        while True:
            await self._came.wait()
            self._came = anyio.Event()
            while self._waiting:
                while (left := self._called + self._rest_s - self._clock()) > 0:
                    await self._sleep(left)
                await self._next()

    async def drain(self, seconds: float) -> None:
        """Do at once what waits and lasts, for so long at most; of a job that is cut off all is done or nothing."""
        for name in self._fleeting:
            self._waiting.pop(name, None)
        with anyio.move_on_after(seconds):
            while self._waiting or self._under_way:
                await self._next()

    async def _next(self) -> None:
        async with self._working:
            if self._waiting:
                await self._do(self._waiting.pop(next(iter(self._waiting))))

    async def _do(self, job: Job) -> None:
        self._under_way = True
        try:
            await job()
        except McpMemoryError as error:
            _log.warning("Background work was left undone: %s", error)
        except Exception:
            _log.exception("Background work failed.")
        finally:
            self._under_way = False
