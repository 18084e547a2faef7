"""Open the store to look at what it holds, which takes half of the time that opening the memory takes.

A look needs the store and its view: no model, no reader of facts, no search, whose modules take a second to import.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mcp_memory import __version__
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.errors import InvalidInput, StoreError
from mcp_memory.services.maintain.status import status
from mcp_memory.settings import Settings
from mcp_memory.storage.saved_view import FOLDER
from mcp_memory.wiring import choose_embedder, open_memory, open_store, open_unloaded, place_of

if TYPE_CHECKING:
    from mcp_memory.domain.status import Status
    from mcp_memory.ports import Embedder, Store, Stored
    from mcp_memory.view.space import Space
    from mcp_memory.view.view import View


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


async def open_look(settings: Settings) -> Stored:
    """Return what is stored, to be looked at.

    Where a look is not enough, the memory is opened: for a saved view, which holds the indexes of search, and for the
    costs of Claude.

    Raises:
        ConfigurationError: a setting cannot be used as it is.
        EmbedderError: the embedder is not installed.
        StoreUnwritable: there is no folder for the store.
    """
    if settings.engine.judge != "embedded":
        return await open_memory(settings)
    if any((Path(place_of(settings)) / FOLDER).glob("*.view")):
        return await open_unloaded(settings)
    embedder = choose_embedder(settings)
    store = open_store(settings, embedder, to_look=True)
    with suppress(StoreError):  # whoever looks meets it again, and reports it
        async with store.reading(whole=False):
            pass
    return Look(store, embedder, "rules" if settings.facts.extraction else None)


def known_space(view: View, name: str) -> Space:
    """Return a space; the default space exists before anything was written to it.

    Raises:
        InvalidInput: nothing was ever written to it.
    """
    if name not in view.spaces and name != MEANT_SPACE.get():
        there = f"There are: {', '.join(sorted(view.spaces))}." if view.spaces else "Nothing is stored yet."
        raise InvalidInput("--space", f"nothing was ever written to a space {name[:60]!r}", there)
    return view.space(name)
