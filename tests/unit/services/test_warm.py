"""Warming reads sentences into the graph of cues in the background and changes no result."""

from unit.services.learning_memory import memory, told

from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.services.background import warm


async def test_after_warming_the_graph_has_every_sentence(monkeypatch):
    monkeypatch.setattr("mcp_memory.services.background.WARMED_AT_ONCE", 1)
    one = await told(memory(), "Ann: Rufus met Bella. They ran.", "Bob: Bella won.")
    await warm(one.store)
    async with one.store.reading() as view:
        (space,) = view.spaces.values()
        graph = space.index(CueGraph)
        assert all(graph.cues(row) for row in range(len(space.sentences)))
        assert graph.catch_up(space, 0)
