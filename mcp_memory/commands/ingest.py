"""``mcp-memory import --processes``: several processes cut, read and embed the texts of a corpus at the same time.

Threads of one process share the embedding only: cutting and reading facts are plain Python. Each worker opens the model
itself and computes with one thread; anyio ends the workers with the process that started them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import anyio
from anyio import BrokenWorkerProcess, to_process

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import Talkers, Turn
from mcp_memory.errors import EmbedderError
from mcp_memory.services.ingest import Reading, derive, silent
from mcp_memory.settings import Settings
from mcp_memory.wiring import choose_embedder, open_extractor, reading_of

CHARACTERS = 16_000
"""Of the texts that a worker takes at once: a second or two, and enough to embed texts of like lengths together."""


class Workers:
    """Processes that derive.

    Args:
        settings: the settings that they open the model and the rules with.
        processes: how many.
    """

    def __init__(self, settings: Settings, processes: int) -> None:
        self._settings = replace(settings, embedding=replace(settings.embedding, threads=1))
        self._limiter = anyio.CapacityLimiter(processes)

    async def derive(self, turns: Sequence[Turn], talkers: Sequence[Talkers]) -> list[Batch]:
        """Return each text with the rows derived from it (`mcp_memory.services.ingest.derive`).

        Raises:
            EmbedderError: the model cannot be loaded, or a process was ended from outside.
        """
        derived: dict[int, list[Batch]] = {}
        failures: list[Exception] = []

        async def derive_part(first: int, end: int) -> None:
            work = self._settings, turns[first:end], talkers[first:end]
            try:
                derived[first] = await to_process.run_sync(_derive, *work, cancellable=True, limiter=self._limiter)
            except (BrokenWorkerProcess, EmbedderError) as error:
                failures.append(error)
                tasks.cancel_scope.cancel()

        async with anyio.create_task_group() as tasks:
            for first, end in _parts(turns):
                tasks.start_soon(derive_part, first, end)
        if failures and isinstance(failures[0], EmbedderError):
            raise failures[0]
        if failures:
            raise EmbedderError(
                "A process that embeds texts was killed, perhaps because memory ran out. Run the command again with "
                "fewer --processes; texts that are stored already are skipped."
            ) from failures[0]
        return [batch for first in sorted(derived) for batch in derived[first]]


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


_reading: Reading | None = None
"""What a worker has opened."""


def _derive(settings: Settings, turns: Sequence[Turn], talkers: Sequence[Talkers]) -> list[Batch]:
    global _reading
    _reading = reading = _reading or reading_of(settings, choose_embedder(settings), open_extractor(settings))
    return anyio.run(lambda: derive(reading, turns, talkers, progress=silent))
