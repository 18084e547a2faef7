"""Make derived tables anew: all when asked to, and in the background what an older extractor has read or is broken."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from mcp_memory.domain.status import Progressed
from mcp_memory.domain.times import Millis
from mcp_memory.storage.backups import Backups
from mcp_memory.storage.place import Place
from mcp_memory.storage.rebuild import Embed, Make, rebuild
from mcp_memory.storage.refresh import Refresher
from mcp_memory.storage.relearning import Relearn
from mcp_memory.storage.reread import ReadAgain, Rereading
from mcp_memory.storage.tables import Tables


class Renewal:
    """Makes the derived tables of one store anew.

    Args:
        place: of the store.
        alone: holds the write lock, with every commit in the tables.
        refresher: knows the last commit, and which tables are broken.
        backups: those that the store makes by itself.
        derive: returns what derives the turns of one rebuild; None leaves broken tables as they are.
        read_again: returns what reads texts again; None reads none.
        relearn: makes beliefs of lessons.
        embed: for points and questions; None leaves points without vectors.
        vectors: embedder and dimension of the vectors.
        reader: the version of the extractor; 0 for none.
        clock: milliseconds since 1970, UTC.
    """

    def __init__(
        self,
        place: Place,
        alone: Callable[[], AbstractAsyncContextManager[None]],
        refresher: Refresher,
        backups: Backups,
        derive: Callable[[], Make] | None,
        read_again: Callable[[], ReadAgain] | None,
        relearn: Relearn,
        embed: Embed | None,
        vectors: tuple[str, int],
        reader: int,
        clock: Callable[[], Millis],
    ) -> None:
        self._place = place
        self._alone = alone
        self._refresher = refresher
        self._backups = backups
        self._derive = derive
        self._read_again = read_again
        self._relearn = relearn
        self._embed = embed
        self._vectors = vectors
        self._reader = reader
        self._clock = clock
        self._rereading: Rereading | None = None
        self._not_mended: set[str] = set()  # tables that could not be made anew

    @property
    def due(self) -> bool:
        """Whether an older extractor has read the texts, or a table is broken, as of the last refresh."""
        last = self._refresher.last
        return self._is_broken or (self._read_again is not None and last is not None and last.reader < self._reader)

    @property
    def _is_broken(self) -> bool:
        losses = self._refresher.losses
        return bool(self._derive and not losses.gone and losses.to_rebuild - self._not_mended)

    @property
    def progress(self) -> Progressed | None:
        """How many texts were read again, and of how many; None if none is being read."""
        return self._rereading.progress if self._rereading else None

    async def rebuild(self, make: Make) -> int:
        """Make every derived table anew after a backup, and return the number of turns; see `rebuild`."""
        async with self._alone():
            await self._backups.before("rebuild")
        embedder, dimension = self._vectors
        return await rebuild(
            Tables(self._place), self._alone, make, self._relearn, self._embed,
            embedder=embedder, dimension=dimension, reader=self._reader, clock=self._clock,
        )  # fmt: skip

    async def step(self) -> bool:
        """Rebuild if a table is broken, read some texts again if they are due, and return whether any are left."""
        if self._derive and self._is_broken:
            self._not_mended |= self._refresher.losses.to_rebuild  # if it fails, not to be tried at every call
            await self.rebuild(self._derive())
            self._refresher.losses.note_rebuilt()
            self._not_mended.clear()
        if self._read_again is None or not self._reader:
            return False
        if self._rereading is None:
            tables = Tables(self._place)
            self._rereading = Rereading(tables, self._alone, self._read_again(), self._reader, self._clock)
        try:
            more = await self._rereading.step()
        except BaseException:  # the extractor has seen texts that the next attempt gives it again
            self.close()
            raise
        if not more:
            self._rereading = None
        return more

    def close(self) -> None:
        """Let other processes read or rebuild."""
        if self._rereading is not None:
            self._rereading.close()
            self._rereading = None
