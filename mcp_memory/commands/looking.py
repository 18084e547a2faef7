"""Open the store to look at what it holds, which takes half of the time that opening the memory takes.

A look needs the store and its view: no model, no reader of facts, no search, whose modules take a second to import.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mcp_memory import __version__
from mcp_memory.errors import StoreError, StoreMismatch
from mcp_memory.language.tokens import mentions
from mcp_memory.privacy.secrets import masking_of
from mcp_memory.services.maintain.status import status
from mcp_memory.settings import Settings
from mcp_memory.storage.place import Place
from mcp_memory.storage.saved_view import FOLDER
from mcp_memory.storage.store import LanceStore
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.view import View
from mcp_memory.wiring import choose_embedder, open_memory, open_unloaded, place_of, stable_confidence

if TYPE_CHECKING:
    from mcp_memory.domain.status import Status
    from mcp_memory.domain.turns import Segment, Sentence, Turn
    from mcp_memory.ports import Embedder, Store, Stored


@dataclass(frozen=True)
class Look:
    """What is stored, to be looked at: of a `Memory` what that needs."""

    store: Store
    embedder: Embedder
    extractor: str | None

    async def status(self) -> Status:
        """See `mcp_memory.services.maintain.status.status`."""
        found = await status(self.store, self.embedder, uptime_s=0.0, version=__version__)
        return replace(found, extractor=self.extractor)

    async def aclose(self) -> None:
        """Close the store."""
        await self.store.aclose()


@dataclass(frozen=True)
class _Cut:
    """Cuts texts that are not indexed yet as `Cutter` does, which is imported for the first of them."""

    segment_tokens: int
    dimension: int

    @cached_property
    def _cutter(self) -> Any:
        from mcp_memory.services.ingest import Cutter

        return Cutter(self.segment_tokens, self.dimension)

    def __call__(self, turn: Turn) -> tuple[list[Segment], list[Sentence]]:
        """See `Cutter`."""
        found: tuple[list[Segment], list[Sentence]] = self._cutter(turn)
        return found


async def open_look(settings: Settings) -> Stored:
    """Return what is stored, to be looked at.

    Where a look is not enough, the memory is opened: for a saved view, which holds the indexes of search, for the costs
    of Claude, and for a store of an older format, which is read again.

    Raises:
        ConfigurationError: a setting cannot be used as it is.
        EmbedderError: the embedder is not installed.
        StoreUnwritable: there is no folder for the store.
    """
    place = place_of(settings)
    if settings.engine.judge != "embedded":
        return await open_memory(settings)
    if any((Path(place) / FOLDER).glob("*.view")):
        return await open_unloaded(settings)
    embedder, limit = choose_embedder(settings), settings.search.vector_limit
    cut = _Cut(settings.search.segment_tokens, embedder.dimension)

    def relearn(*arguments: Any) -> Any:  # of what an unfinished forget has left
        from mcp_memory.gain.kalman import Teacher
        from mcp_memory.services.learn.update import relearner

        return relearner(embedder, Teacher(settings.gain))(*arguments)

    store = LanceStore(
        Place(place, settings.storage.options, settings.storage.noted_in),
        embedder=embedder.name,
        dimension=embedder.dimension,
        make_view=lambda: View([partial(EntityIndex, mentions)], limit, stable_confidence(settings), cut),
        lock_timeout_s=settings.storage.lock_timeout_s,
        relearn=relearn,
        embed=embedder.embed,
        masking=masking_of(settings.privacy),
        backups=settings.storage.backups,
    )
    try:
        async with store.reading(whole=False):
            pass
    except StoreMismatch:
        await store.aclose()
        return await open_unloaded(settings)
    except StoreError:
        pass  # whoever looks meets it again, and reports it
    return Look(store, embedder, "rules" if settings.facts.extraction else None)
