"""Work after a call: jobs that nobody waits for, one after another, each a transaction of its own.

Each waits until nobody has called for a while, since a job shares the model and the store with the calls: begun at
once, one slows the next write by half (88 to 131 ms) and the next recall more than that.

A job that mostly waits for somebody else, as for a language model on another machine, is done beside the others, after
those of its own kind: they need not wait for the twenty seconds that it may take.

A job is left out where the same is waiting already, and the oldest goes where too many wait: what it would have made
follows from what is stored, so nothing that anybody said is lost. For the same reason no job is written down: one that
the end of the process cut off is not looked for at the next start, which would have to make every one of them anew to
find it; the next answer to such a question makes it. (Who reads texts with a language model writes down what is read,
in the store: ``enriching.py``.)

Warming: the graph of cues is read in the background, so that no question waits for it.

Nothing of it is stored, and in a store of many thousand sentences it takes seconds. A question that comes sooner reads
what is left itself, and so finds the same.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable

import anyio
from anyio import to_thread

from mcp_memory.errors import McpMemoryError
from mcp_memory.heap import give_back
from mcp_memory.ports import Store
from mcp_memory.reconstruct.graph import CueGraph

MOST = 32
"""Jobs that may wait, of each kind."""

REST_S = 2.0
"""So long nobody must have called before a job begins."""

Job = Callable[[], Awaitable[object]]

_log = logging.getLogger(__name__)


class _Lane:
    """Jobs that are done one after another."""

    def __init__(self) -> None:
        self.waiting: dict[str, Job] = {}
        self.fleeting: set[str] = set()  # names of jobs of which nothing lasts
        self.came = anyio.Event()
        self.working = anyio.Lock()
        self.doing: str | None = None  # the name of the job that is under way
        self.scope: anyio.CancelScope | None = None  # of that job

    async def next(self) -> None:
        """Do the oldest that waits, if any does."""
        async with self.working:
            if self.waiting:
                name = next(iter(self.waiting))
                await self._do(name, self.waiting.pop(name))

    async def _do(self, name: str, job: Job) -> None:
        self.doing = name
        try:
            with anyio.CancelScope() as self.scope:
                await job()
        except McpMemoryError as error:
            _log.warning("Background work was left undone: %s", error)
        except Exception:
            _log.exception("Background work failed.")
        finally:
            self.doing = None

    async def drain(self) -> None:
        """Do all that lasts; what is under way and does not is cut off."""
        for name in self.fleeting:
            self.waiting.pop(name, None)
        if self.scope is not None and self.doing in self.fleeting:
            self.scope.cancel()
        while self.waiting or self.doing:
            await self.next()


class Background:
    """The jobs of this process that wait or are under way.

    Args:
        most: that may wait, of each kind; see `MOST`.
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
        self._own, self._beside = self._lanes = _Lane(), _Lane()

    def __len__(self) -> int:
        return sum(len(lane.waiting) + (lane.doing is not None) for lane in self._lanes)

    def put(self, name: str, job: Job, *, lasting: bool = True, beside: bool = False) -> None:
        """Let a job be done later; one of the same name that waits still is done instead.

        Args:
            name: tells it from others.
            job: does it.
            lasting: whether any of it outlives this process; else it need not be done at its end.
            beside: whether it mostly waits for somebody else, so that others need not wait for it.
        """
        lane = self._beside if beside else self._own
        lane.waiting.setdefault(name, job)
        if not lasting:
            lane.fleeting.add(name)
        while len(lane.waiting) > self._most:
            lane.waiting.pop(next(iter(lane.waiting)))
        lane.came.set()

    def called(self) -> None:
        """Take note that somebody calls the memory now."""
        self._called = self._clock()

    async def work(self) -> None:
        """Do what comes, for good, each job once nobody has called for a while."""
        async with anyio.create_task_group() as tasks:
            for lane in self._lanes:
                tasks.start_soon(self._work, lane)

    async def drain(self, seconds: float) -> None:
        """Do at once what waits and lasts, for so long at most; of a job that is cut off all is done or nothing."""
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as tasks:
                for lane in self._lanes:
                    tasks.start_soon(lane.drain)

    async def _work(self, lane: _Lane) -> None:
        while True:
            await lane.came.wait()
            lane.came = anyio.Event()
            while lane.waiting:
                while (left := self._called + self._rest_s - self._clock()) > 0:
                    await self._sleep(left)
                await lane.next()


AT_ONCE = 200
"""Sentences that are read while the view is held: some hundredths of a second, a tenth where the machine is busy."""


async def warm(store: Store) -> None:
    """Read every sentence of every space into its graph of cues, a few at a time."""
    async with store.reading() as view:
        names = list(view.spaces)
    for name in names:
        done = False
        while not done:
            async with store.reading() as view:
                space = view.space(name)
                done = await to_thread.run_sync(space.index(CueGraph).catch_up, space, AT_ONCE)
    await to_thread.run_sync(give_back)
