"""``mcp-memory import --processes``: several processes cut, read and embed the texts of a corpus at the same time.

Threads of one process share the embedding only: cutting and reading facts are plain Python. Each worker opens the model
itself and computes with one thread. Workers end with the process that started them, also if that is killed.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from multiprocessing import connection, get_context, parent_process
from types import TracebackType
from typing import Self

import anyio
from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import Talkers, Turn
from mcp_memory.errors import EmbedderError
from mcp_memory.services.ingest import Reading, derive, silent
from mcp_memory.settings import Settings
from mcp_memory.wiring import choose_embedder, open_extractor, reading_of

CHARACTERS = 16_000
"""Of the texts that a worker takes at once: a second or two, and enough to embed texts of like lengths together."""


class Workers:
    """A pool of processes.

    Args:
        settings: the settings that they open the model and the rules with.
        processes: how many.
    """

    def __init__(self, settings: Settings, processes: int) -> None:
        settings = replace(settings, embedding=replace(settings.embedding, threads=1))
        self._pool = ProcessPoolExecutor(processes, get_context("spawn"), _open, (settings,))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, _kind: type[BaseException] | None, _error: object, _trace: TracebackType | None) -> None:
        self._pool.shutdown(cancel_futures=True)

    async def derive(self, turns: Sequence[Turn], talkers: Sequence[Talkers]) -> list[Batch]:
        """Return each text with the rows derived from it (`mcp_memory.services.ingest.derive`).

        Raises:
            EmbedderError: the model cannot be loaded, or a process was ended from outside.
        """
        futures = [self._pool.submit(_derive, turns[first:end], talkers[first:end]) for first, end in _parts(turns)]
        try:
            return await to_thread.run_sync(
                lambda: [rows for future in futures for rows in future.result()], abandon_on_cancel=True
            )
        except BrokenProcessPool as error:
            raise EmbedderError(
                "A process that embeds texts was killed, perhaps because memory ran out. Run the command again with "
                "fewer --processes; texts that are stored already are skipped."
            ) from error


def _parts(turns: Sequence[Turn]) -> Iterator[tuple[int, int]]:
    """Yield the parts in which texts are stored, as (index of the first text, index after the last)."""
    first = size = 0
    for place, turn in enumerate(turns):
        size += len(turn.text)
        if size >= CHARACTERS:
            yield first, place + 1
            first, size = place + 1, 0
    if first < len(turns):
        yield first, len(turns)


_reading: Reading


def _open(settings: Settings) -> None:
    """Prepare a worker."""
    global _reading
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process gets it, too, and ends the pool
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _reading = reading_of(settings, choose_embedder(settings), open_extractor(settings))


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _derive(turns: Sequence[Turn], talkers: Sequence[Talkers]) -> list[Batch]:
    return anyio.run(lambda: derive(_reading, turns, talkers, progress=silent))
