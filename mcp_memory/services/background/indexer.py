"""The indexing of one process: when it runs (``indexing.py`` says what), and what a recall waits for."""

from __future__ import annotations

import anyio

from mcp_memory.ports import Progress, Store
from mcp_memory.services.background.indexing import YIELD_S, Indexing
from mcp_memory.services.background.queue import Background
from mcp_memory.services.ingest import Reading
from mcp_memory.services.settings import WriteSettings

BUSY_S = 0.25
"""Pause while another process is indexing."""
POLL_S = 0.02
"""Between two looks of a recall that waits; one takes half a millisecond."""


class Indexer:
    """Indexes what any process has stored, while this one has nothing better to do.

    Args:
        store: the store of the texts.
        reading: how they are read.
        background: runs the work.
    """

    def __init__(self, store: Store, reading: Reading, background: Background) -> None:
        self._store = store
        self._indexing = Indexing(store, reading)
        self._reading = reading
        self._background = background
        self._seen: int | None = None  # the commit at the last look
        self._checked: int | None = None  # the commit as of which nothing was left, or indexing was queued

    def later(self) -> None:
        """Queue the indexing; it queues itself until nothing is left."""
        self._background.put("index", self._index, urgent=True)

    def load_later(self) -> None:
        """Queue the loading of the embedder, so that a first recall waits less."""
        self._background.put("load", lambda: self._reading.embedder.embed(["ready"]), durable=False)

    async def _index(self) -> None:
        step = await self._indexing.step()
        if step != "done":
            self.later()  # also if this is cancelled in the pause
            await anyio.sleep(BUSY_S if step == "busy" else YIELD_S)

    async def look(self) -> None:
        """Queue the indexing if something is left that nobody works at; to be called every few seconds.

        The process that wrote a text indexes it; this is for those that died. Only when nothing was committed between
        two calls everything is read and looked through.
        """
        async with self._store.reading(whole=False) as view:
            tx = view.tx
        quiet, self._seen = self._seen in (None, tx), tx
        if quiet and tx != self._checked:
            async with self._store.reading() as view:
                left = any(space.unindexed for space in view.spaces.values())
                self._checked = view.tx
            if left:
                self._checked = None
                self.later()

    async def note(self, space: str, settings: WriteSettings) -> tuple[str, ...]:
        """Wait a little for messages that are just being indexed, and return what a recall says of what is left."""
        texts = await self.wait_for_talk(space, settings.recall_wait_s)
        if not texts:
            return ()
        what = "1 text of this space is" if texts == 1 else f"{texts:,} texts of this space are"
        return (f"{what} being indexed: until then found by the words only.",)

    async def wait_for_talk(self, space: str, seconds: float) -> int:
        """Wait for the messages of a space that are just being indexed; return how many of its texts are not then.

        Args:
            space: that is to be recalled from.
            seconds: to wait at most; none if this process does not run its background work.
        """
        limit = anyio.current_time() + seconds
        while True:
            async with self._store.reading() as view:
                found = view.space(space)
                talk = any(found.turns[name].kind != "document" for name in found.unindexed)
                left = len(found.unindexed)
            if not talk or not self._background.working or anyio.current_time() >= limit:
                return left
            self.later()
            await anyio.sleep(POLL_S)

    async def drain(self, progress: Progress) -> None:
        """Index everything, or wait until another process has.

        Raises:
            StoreError: it could not be recorded.
            EmbedderError: the model cannot be loaded.
        """
        async with self._store.reading() as view:
            left = {space.name: tuple(space.unindexed) for space in view.spaces.values() if space.unindexed}
        for space, turns in left.items():
            await self._indexing.finish(space, turns, progress)
