"""Warming reads sentences into the graph of cues in the background and changes no result."""

import pytest
from unit.services.learning_memory import memory, told

from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.services.background.queue import warm

pytestmark = pytest.mark.anyio


async def test_after_warming_the_graph_has_every_sentence(monkeypatch):
    monkeypatch.setattr("mcp_memory.services.background.queue.WARMED_AT_ONCE", 1)
    one = await told(memory(), "Ann: Rufus met Bella. They ran.", "Bob: Bella won.")
    await warm(one.store)
    async with one.store.reading() as view:
        (space,) = view.spaces.values()
        graph = space.index(CueGraph)
        assert all(graph.cues(row) for row in range(len(space.sentences)))
        assert graph.catch_up(space, 0)


async def test_a_large_write_is_followed_by_warming_and_a_small_one_is_not(monkeypatch):
    monkeypatch.setattr("mcp_memory.memory.WARMED_AT_ONCE", 2)
    one = await told(memory(), "Ann: Rufus met Bella.")
    assert len(one.background) == 0
    await told(one, "Bob: Bella won. She was glad.")
    assert len(one.background) == 1
