"""Where the parts are put together: which adapter stands behind which port, and which settings go where.

Importing this module imports what the services need; the server does it after its first reply. The heavier libraries
(LanceDB, ONNX Runtime) are imported by their adapters when they are first used.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field

from anyio import to_thread

from mcp_memory import __version__
from mcp_memory.config import Config
from mcp_memory.domain.evidence import Answer, Recall
from mcp_memory.domain.requests import AnswerRequest, RecallRequest, WriteRequest, WriteResult
from mcp_memory.domain.status import Status
from mcp_memory.domain.times import Millis
from mcp_memory.embedding.onnx import OnnxEmbedder
from mcp_memory.embedding.sentence_transformers import SentenceTransformersEmbedder
from mcp_memory.errors import StoreError, StoreUnwritable
from mcp_memory.heap import give_back
from mcp_memory.ports import Answerer, Embedder, Progress, Store
from mcp_memory.reasoning.embedded.answer import EmbeddedAnswerer
from mcp_memory.search.look import INDEXES, Switches, Weights
from mcp_memory.services.answer import Bar, answer
from mcp_memory.services.rebuild import deriver
from mcp_memory.services.reconstruct import reconstruct
from mcp_memory.services.status import status
from mcp_memory.services.write import write
from mcp_memory.storage.store import LanceStore
from mcp_memory.view.view import View


def now() -> Millis:
    """Return milliseconds since 1970 in UTC."""
    return time.time_ns() // 1_000_000


async def silent(_done: float, _total: float, _what: str) -> None:
    """Report progress to nobody."""


@dataclass
class Memory:
    """The services, one method for each tool, with their adapters plugged in.

    Attributes:
        config: every setting.
        store: the rows.
        embedder: the vectors.
        clock: milliseconds since 1970, UTC; a test gives its own.
        answerer: whose judgement answers.
        weights: what each channel of recall counts.
    """

    config: Config
    store: Store
    embedder: Embedder
    clock: Callable[[], Millis] = now
    answerer: Answerer = field(default_factory=EmbeddedAnswerer)
    weights: Weights = field(default_factory=Weights)
    _began: float = field(default_factory=time.monotonic)

    async def write(self, request: WriteRequest, progress: Progress = silent) -> WriteResult:
        """See `mcp_memory.services.write.write`."""
        return await write(
            self.store,
            self.embedder,
            request,
            now=self.clock(),
            segment_tokens=self.config.search.segment_tokens,
            progress=progress,
        )

    async def reconstruct(self, request: RecallRequest) -> Recall:
        """See `mcp_memory.services.reconstruct.reconstruct`."""
        return await reconstruct(self.store, self.embedder, request, weights=self.weights, switches=self._switches)

    async def answer(self, request: AnswerRequest) -> Answer:
        """See `mcp_memory.services.answer.answer`."""
        return await answer(
            self.store,
            self.embedder,
            self.answerer,
            request,
            weights=self.weights,
            switches=self._switches,
            bar=Bar(**asdict(self.config.answer)),
        )

    async def status(self) -> Status:
        """See `mcp_memory.services.status.status`."""
        uptime = time.monotonic() - self._began
        return await status(self.store, self.embedder, uptime_s=uptime, version=__version__)

    async def aclose(self) -> None:
        """Let background work come to an end and let go of the store."""
        await self.store.aclose()

    @property
    def _switches(self) -> Switches:
        return Switches(**asdict(self.config.switches))


async def open_memory(config: Config) -> Memory:
    """Return a memory with the adapters that the settings name, ready for its first call.

    Raises:
        EmbedderError: the model cannot be had.
        StoreUnwritable: no place for the store can be found.
    """
    embedder = await open_embedder(config)
    memory = Memory(config, open_store(config, embedder), embedder)
    with suppress(StoreError):  # each call says what is wrong in its own words, and status can still be asked
        async with memory.store.reading():
            pass
    await to_thread.run_sync(give_back)
    return memory


async def open_embedder(config: Config) -> Embedder:
    """Return the embedder that the settings name, its model loaded: in a thread, and before the first question waits.

    Raises:
        EmbedderError: the model cannot be had.
    """
    chosen = config.embedding
    embedder: Embedder
    if chosen.adapter == "onnx":
        embedder = OnnxEmbedder(threads=chosen.threads)
    else:
        embedder = SentenceTransformersEmbedder(
            chosen.model, device=chosen.device or None, batch_size=chosen.batch_size
        )
    await embedder.embed(["ready"])
    return embedder


def open_store(config: Config, embedder: Embedder, progress: Progress = silent) -> LanceStore:
    """Return the store that the settings name; nothing is opened or made before its first call.

    Raises:
        StoreUnwritable: ``storage.uri`` is empty and the user has no data folder.
    """
    limit = config.search.vector_limit
    return LanceStore(
        config.storage.uri or _usual_place(),
        embedder=embedder.name,
        dimension=embedder.dimension,
        make_view=lambda: View(INDEXES, vector_limit=limit),
        lock_timeout_s=config.storage.lock_timeout_s,
        compact_after=config.storage.compact_after,
        derive=deriver(embedder, segment_tokens=config.search.segment_tokens, progress=progress),
    )


def _usual_place() -> str:
    """Return the store's folder within the user's data folder."""
    from platformdirs import user_data_path

    try:
        return str(user_data_path("mcp-memory", appauthor=False).expanduser() / "store")
    except (OSError, RuntimeError) as error:  # no home folder, neither in the environment nor in the system's records
        raise StoreUnwritable(
            "storage.uri is not set and there is no home folder to keep the memory in. "
            "Set MCP_MEMORY_STORAGE_URI to a folder that you may write to."
        ) from error
