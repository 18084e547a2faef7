"""Rebuild: everything that is derived, made anew from the log of what was said.

It is what `doctor` does after damage, after a change of the embedder, and what a store of an older format needs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.talkers import Talkers
from mcp_memory.domain.turns import Turn
from mcp_memory.ports import Progress
from mcp_memory.services.ingest import Reading, batch_of, derive


def deriver(reading: Reading, *, progress: Progress) -> Callable[[list[Turn]], Awaitable[Batch]]:
    """Return what makes batches of turns anew, the way `write` first made them; they must come in order, and once."""
    talking: dict[tuple[str, str], Talkers] = defaultdict(Talkers)

    async def make(turns: list[Turn]) -> Batch:
        partners = []
        for turn in turns:
            place = turn.space, turn.session
            partners.append(talking[place].partner(turn))
            talking[place] = talking[place].after(turn)
        return batch_of(turns, await derive(reading, turns, partners, progress=progress))

    return make
