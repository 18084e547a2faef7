"""Memory points as resources: what each joins, what it says and said, what it rests on, and what became of it.

Of what a point rests on only what is still there is shown: a rebuild may have cut a text otherwise, or read other facts
out of it. An entity that nothing but points names is marked as a placeholder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.server import checks
from mcp_memory.server.paging import ENTITY, FACT, POINT, POINTS, SENTENCE, Values, following, page, space_of, told

if TYPE_CHECKING:
    from mcp_memory.domain.points import Point
    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space


async def points(memory: Memory, values: Values) -> dict[str, Any]:
    """The points of a space that are in use, in the order in which they were made."""
    async with memory.store.reading() as view:
        space = space_of(view, values)
        active = space.hypergraph.active()
        start, end = page(values, len(active))
        rows = [summary(space, point) for point in active[start:end]]
        rest = following(POINTS, {"space": space.name}, end, len(active))
        return {"space": space.name, "points": rows, "total": len(active)} | rest


async def point(memory: Memory, values: Values) -> dict[str, Any]:
    """One point, in use or merged: its entities, its sources, its earlier words."""
    async with memory.store.reading() as view:
        space = space_of(view, values)
        found = space.hypergraph.get(values["id"])
        if found is None:
            problem = f"space {space.name!r} has no memory point {checks.shown(values['id'])}"
            raise InvalidInput("id", problem, f"See {POINTS.expand({'space': space.name})}.")
        become = space.hypergraph.resolve(found.id)
        whole = {
            "space": space.name,
            "joins": [_vertex(space, name) for name in found.entities],
            "source": found.source,
            "changed": iso.show(found.at),
            "parents": [_address(space, name) for name in found.parents] or None,
            "merged_into": _address(space, found.merged_into) if found.merged_into else None,
            "has_become": _address(space, become.id) if become and become.id != found.id else None,
            "sentences": [_sentence(space, name) for name in found.sentences if space.sentence(name) is not None],
            "facts": [_fact(space, name) for name in found.facts if space.facts.version(name) is not None],
            "history": [
                {"revision": one.revision, "text": one.description, "status": one.status, "recorded": iso.show(one.at)}
                for one in space.hypergraph.revisions(found.id)
            ],
        }
        return summary(space, found) | told(whole)


def summary(space: Space, point: Point) -> dict[str, Any]:
    """Return what a point is, in few lines."""
    return told(
        {
            "id": point.id,
            "uri": POINT.expand({"space": space.name, "id": point.id}),
            "text": point.description,
            "entities": list(point.entities),
            "goal": point.scope or None,
            "status": point.status,
            "revision": point.revision,
        }
    )


def _vertex(space: Space, name: str) -> dict[str, Any]:
    from mcp_memory.hypergraph.retrieval import absent  # needs numpy, which no handshake waits for

    if absent(space, name):
        return {"name": name, "state": "placeholder"}
    if space.facts.resolve(name) is None:
        return {"name": name}  # sentences name it, but no fact is about it
    return {"name": name, "uri": ENTITY.expand({"space": space.name, "name": name})}


def _address(space: Space, point_id: str) -> dict[str, str]:
    return {"id": point_id, "uri": POINT.expand({"space": space.name, "id": point_id})}


def _sentence(space: Space, sentence_id: str) -> dict[str, str]:
    piece = space.sentence(sentence_id)
    text = space.text(piece) if piece is not None else ""
    return {"id": sentence_id, "uri": SENTENCE.expand({"space": space.name, "id": sentence_id}), "text": text}


def _fact(space: Space, fact_id: str) -> dict[str, str]:
    version = space.facts.version(fact_id)
    text = version.text if version is not None else ""
    return {"id": fact_id, "uri": FACT.expand({"space": space.name, "id": fact_id}), "text": text}
