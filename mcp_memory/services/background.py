"""Run background jobs after calls, one after another, each in its own transaction; no caller waits for them.

A job starts only when there were no calls for a while, since it shares the model and the store with the calls: started
at once, a job slows the next write by half (88 to 131 ms) and the next recall by more than that. The indexing of what
was written runs beside the others, in a lane of its own: after half a second in any case, since what was just said is
asked about next.

A job is left out if one of the same name is waiting. Its result follows from stored rows, so the queue is not stored:
whoever opens the store next finds what is left to do.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from math import inf

import anyio
from anyio import to_thread

from mcp_memory.errors import McpMemoryError
from mcp_memory.heap import give_back
from mcp_memory.ports import Store
from mcp_memory.reconstruct.graph import CueGraph

REST_S = 2.0
"""Seconds without a call before a job starts."""
SOON_S = 0.1
"""The same for what is urgent."""
AT_LAST_S = 0.5
"""Seconds after which an urgent job starts whatever is called."""
WARMED_AT_ONCE = 200
"""Sentences that `warm` reads while it holds the view: some hundredths of a second, a tenth on a busy machine."""

QueuedJob = Callable[[], Awaitable[object]]
"""Does a part of some work; it is run again if it returns that there is more to do."""

_log = logging.getLogger(__name__)


class _Lane:
    """Jobs that run one after another, each after a while without a call, or when it has waited for long."""

    def __init__(self, rest_s: float, at_last_s: float, clock: Callable[[], float]) -> None:
        self.rest_s, self.at_last_s, self._clock = rest_s, at_last_s, clock
        self.since = 0.0  # when the oldest waiting job came
        self.waiting: dict[str, tuple[QueuedJob, bool]] = {}  # by name the job, and whether it is durable
        self.added = anyio.Event()
        self.running: anyio.CancelScope | None = None
        self.cut = False  # whether the running job is cancelled when the process ends
        self._one = anyio.Lock()

    def put(self, name: str, job: QueuedJob, durable: bool) -> None:
        """Let a job wait, unless one of the same name does."""
        if not self.waiting:
            self.since = self._clock()
        self.waiting.setdefault(name, (job, durable))
        self.added.set()

    async def next(self) -> None:
        """Run the oldest waiting job, if there is one."""
        async with self._one:
            if not self.waiting:
                return
            name = next(iter(self.waiting))
            job, durable = self.waiting.pop(name)
            try:
                with anyio.CancelScope() as self.running:
                    self.cut = not durable
                    if await job():
                        self.put(name, job, durable)
            except McpMemoryError as error:
                _log.warning("A background job was not done: %s", error)
            except Exception:
                _log.exception("A background job failed.")
            finally:
                self.running = None

    async def drain(self) -> None:
        """Run all durable jobs; cancel a running job that is not durable."""
        self.waiting = {name: one for name, one in self.waiting.items() if one[1]}
        if self.running is not None and self.cut:
            self.running.cancel()
        while self.waiting or self.running:
            await self.next()


class Background:
    """The jobs of this process that wait or run.

    Attributes:
        working: whether `work` runs.
    """

    def __init__(
        self,
        rest_s: float = REST_S,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._clock, self._sleep = clock, sleep
        self._called = clock()
        self.working = False
        self._usual, self._urgent = _Lane(rest_s, inf, clock), _Lane(min(SOON_S, rest_s), AT_LAST_S, clock)
        self._lanes = self._usual, self._urgent

    def __len__(self) -> int:
        return sum(len(lane.waiting) + (lane.running is not None) for lane in self._lanes)

    def put(self, name: str, job: QueuedJob, *, durable: bool = True, urgent: bool = False) -> None:
        """Run a job later, unless one of the same name is waiting; an urgent one very soon, beside the others.

        The result of a durable one outlives this process; other jobs are not run when it ends.
        """
        (self._urgent if urgent else self._usual).put(name, job, durable)

    def note_call(self) -> None:
        """Record that the memory is called now."""
        self._called = self._clock()

    async def work(self) -> None:
        """Run jobs for ever, each when there were no calls for a while."""
        self.working = True
        try:
            async with anyio.create_task_group() as tasks:
                for lane in self._lanes:
                    tasks.start_soon(self._work, lane)
        finally:
            self.working = False

    async def _work(self, lane: _Lane) -> None:
        while True:
            await lane.added.wait()
            lane.added = anyio.Event()
            while lane.waiting:
                while (left := min(self._called + lane.rest_s, lane.since + lane.at_last_s) - self._clock()) > 0:
                    await self._sleep(left)
                await lane.next()

    async def drain(self, seconds: float) -> None:
        """Run the durable jobs at once, for at most this time; a cancelled job changes nothing."""
        with anyio.move_on_after(seconds):
            async with anyio.create_task_group() as tasks:
                for lane in self._lanes:
                    tasks.start_soon(lane.drain)


async def warm(store: Store) -> None:
    """Read every sentence of every space into its graph of cues, a few at a time."""
    async with store.reading() as view:
        names = list(view.spaces)
    for name in names:
        done = False
        while not done:
            async with store.reading() as view:
                space = view.space(name)
                done = await to_thread.run_sync(space.index(CueGraph).catch_up, space, WARMED_AT_ONCE)
    await to_thread.run_sync(give_back)
