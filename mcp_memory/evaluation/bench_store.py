"""Stores for the bench, filled with made-up text through the same service that the tool calls."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.evaluation.synthetic import Corpus, corpus
from mcp_memory.memory import Memory
from mcp_memory.settings import Settings
from mcp_memory.wiring import open_memory

SEED = 20_261_120
SPACE = "default"
QUESTIONS = 90
ITEMS_A_CALL = 1_000


@dataclass(frozen=True, slots=True)
class Filled:
    """A store with text in it.

    Attributes:
        folder: where it lies.
        corpus: what is in it.
        seconds: how long writing took, opening and loading the model included.
    """

    folder: Path
    corpus: Corpus
    seconds: float


class Stores:
    """The stores of one run: each size is made once, when the first part asks for it."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self._filled: dict[int, Filled] = {}

    async def of(self, sentences: int) -> Filled:
        """Return the store of so many sentences."""
        if sentences not in self._filled:
            text = corpus(SEED, sentences, QUESTIONS)
            folder = self.folder / f"store-{sentences}"
            began = time.perf_counter()
            async with opened(self.settings, folder) as memory:
                for request in requests(text):
                    await memory.write(request)
            self._filled[sentences] = Filled(folder, text, time.perf_counter() - began)
        return self._filled[sentences]


@asynccontextmanager
async def opened(settings: Settings, folder: Path) -> AsyncIterator[Memory]:
    """Open a store in this process; it is closed on leaving."""
    memory = await open_memory(replace(settings, storage=replace(settings.storage, uri=str(folder))))
    try:
        yield memory
    finally:
        await memory.aclose()


def requests(text: Corpus) -> Iterator[WriteRequest]:
    """Yield the calls that write a corpus, large ones, since filling is not what is measured."""
    for collection in text.collections:
        for start in range(0, len(collection.items), ITEMS_A_CALL):
            yield WriteRequest(
                SPACE, collection.session, collection.kind, collection.items[start : start + ITEMS_A_CALL]
            )


def messages(seed: int, number: int) -> list[NewItem]:
    """Return so many messages, as they come in talk."""
    talk: list[NewItem] = []
    for collection in corpus(seed, max(60, 4 * number), 0).collections:
        talk += collection.items if collection.kind == "message" else ()
    return talk[:number]


async def write(memory: Memory, session: str, *items: NewItem) -> None:
    """Write messages in one call."""
    await memory.write(WriteRequest(SPACE, session, "message", items))
