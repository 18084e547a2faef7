"""What a space keeps coming back to, as a resource: its topics, the largest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from anyio import to_thread

from mcp_memory.server.paging import SENTENCE, TOPICS, Values, following, page, space_of, told
from mcp_memory.server.records import origin

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.reconstruct.topics import Summary, Topic
    from mcp_memory.view.space import Space


async def topics(memory: Memory, values: Values) -> dict[str, Any]:
    """Every topic with its most typical sentence, its terms and its size; it is worked out in a thread."""
    async with memory.store.reading() as view:
        return await to_thread.run_sync(_found, space_of(view, values), values)


def _found(space: Space, values: Values) -> dict[str, Any]:
    from mcp_memory.reconstruct.graph import CueGraph  # with NumPy, which the server must not need for its first reply
    from mcp_memory.reconstruct.topics import Topics

    held, graph = Topics.of(space), CueGraph.of(space)
    every = held.all(space)
    start, end = page(values, len(every))
    rows = [_row(space, topic, held.summary(space, graph, topic)) for topic in every[start:end]]
    rest = following(TOPICS, {"space": space.name}, end, len(every))
    return {"space": space.name, "topics": rows, "total": len(every)} | rest


def _row(space: Space, topic: Topic, summary: Summary) -> dict[str, Any]:
    row: dict[str, Any] = {"id": topic.id, "passages": len(topic.members), "terms": list(summary.terms)}
    if summary.sentence >= 0:
        sentence = space.sentences[summary.sentence]
        row |= {
            "summary": space.text(sentence),
            "uri": SENTENCE.expand({"space": space.name, "id": sentence.id}),
            "source": origin(space.turns[sentence.turn_id]).model_dump(exclude_none=True),
        }
    return told(row)
