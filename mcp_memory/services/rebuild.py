"""Rebuild: everything that is derived, made anew from the log of what was said.

It is what `doctor` does after damage, after a change of the embedder, and what a store of an older format needs.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import Turn
from mcp_memory.ports import Embedder, Progress
from mcp_memory.services.derive import batch_of, derive


def deriver(embedder: Embedder, *, segment_tokens: int, progress: Progress) -> Callable[[list[Turn]], Awaitable[Batch]]:
    """Return what makes a batch of turns anew, the way `write` first made it."""

    async def make(turns: list[Turn]) -> Batch:
        return batch_of(turns, await derive(embedder, turns, segment_tokens=segment_tokens, progress=progress))

    return make
