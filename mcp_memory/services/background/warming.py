"""Warming: the graph of cues is read in the background, so that no question waits for it.

Nothing of it is stored, and in a store of many thousand sentences it takes seconds. A question that comes sooner reads
what is left itself, and so finds the same.
"""

from __future__ import annotations

from anyio import to_thread

from mcp_memory.heap import give_back
from mcp_memory.ports import Store
from mcp_memory.reconstruct.graph import CueGraph

AT_ONCE = 200
"""Sentences that are read while the view is held: some hundredths of a second, a tenth where the machine is busy."""


async def warm(store: Store) -> None:
    """Read every sentence of every space into its graph of cues, a few at a time."""
    async with store.reading() as view:
        names = list(view.spaces)
    for name in names:
        done = False
        while not done:
            async with store.reading() as view:
                space = view.space(name)
                done = await to_thread.run_sync(space.index(CueGraph).catch_up, space, AT_ONCE)
    await to_thread.run_sync(give_back)
