"""Resources that show memory points, and the topics of a space.

Of the sentences and facts behind a point only those that still exist are shown: a rebuild may have cut a text
otherwise, or extracted other facts. An entity that only points name is marked as a placeholder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.server.resources.uris import Values, page, uri_of
from mcp_memory.server.tools.arguments import shown
from mcp_memory.server.tools.replies import row, source_row

if TYPE_CHECKING:
    from mcp_memory.domain.points import Point
    from mcp_memory.reconstruct.topics import Topic
    from mcp_memory.view.space import Space


def points(space: Space, values: Values) -> dict[str, Any]:
    """The points of a space that are in use, in the order in which they were made."""
    active = space.hypergraph.active()
    return page("points", values, {"space": space.name}, active, lambda point: point_row(space, point))


def point(space: Space, values: Values) -> dict[str, Any]:
    """One point, in use or merged: its entities, its sources, its earlier descriptions."""
    point = space.hypergraph.get(values["id"])
    if point is None:
        problem = f"space {space.name!r} has no memory point {shown(values['id'])}"
        raise InvalidInput("id", problem, f"See {uri_of('points', {'space': space.name})}.")
    current = space.hypergraph.resolve(point.id)
    return {
        **point_row(space, point),
        "space": space.name,
        "joins": [_entity_row(space, name) for name in point.entities],
        "source": point.source,
        "changed": iso.show(point.at),
        "parents": [_point_address(space, name) for name in point.parents] or None,
        "merged_into": _point_address(space, point.merged_into) if point.merged_into else None,
        "has_become": _point_address(space, current.id) if current and current.id != point.id else None,
        "sentences": [
            {"id": name, "uri": uri_of("sentence", {"space": space.name, "id": name}), "text": space.text(sentence)}
            for name in point.sentences
            if (sentence := space.sentence(name)) is not None
        ],
        "facts": [
            {"id": name, "uri": uri_of("fact", {"space": space.name, "id": name}), "text": version.text}
            for name in point.facts
            if (version := space.facts.version(name)) is not None
        ],
        "history": [
            {"revision": one.revision, "text": one.description, "status": one.status, "recorded": iso.show(one.at)}
            for one in space.hypergraph.revisions(point.id)
        ],
    }


def point_row(space: Space, point: Point) -> dict[str, Any]:
    """Return the row of a point in a list."""
    return {
        **_point_address(space, point.id),
        "text": point.description,
        "entities": list(point.entities),
        "goal": point.scope or None,
        **row(point, "status", "revision"),
    }


def _entity_row(space: Space, name: str) -> dict[str, Any]:
    from mcp_memory.hypergraph.retrieval import is_placeholder  # imports NumPy, which the first reply must not wait for

    if is_placeholder(space, name):
        return {"name": name, "state": "placeholder"}
    if space.facts.resolve(name) is None:
        return {"name": name}  # sentences name it, but no fact is about it
    return {"name": name, "uri": uri_of("entity", {"space": space.name, "name": name})}


def _point_address(space: Space, point_id: str) -> dict[str, str]:
    return {"id": point_id, "uri": uri_of("point", {"space": space.name, "id": point_id})}


def topics(space: Space, values: Values) -> dict[str, Any]:
    """Every topic with its most typical sentence, its terms and its size, the largest topic first."""
    from mcp_memory.reconstruct.graph import CueGraph  # imports NumPy, which the first reply must not wait for
    from mcp_memory.reconstruct.topics import Topics

    topics, graph = Topics.of(space), CueGraph.of(space)

    def topic_row(topic: Topic) -> dict[str, Any]:
        summary = topics.summary(space, graph, topic)
        shown: dict[str, Any] = {"id": topic.id, "passages": len(topic.members), "terms": list(summary.terms)}
        if summary.sentence >= 0:
            sentence = space.sentences[summary.sentence]
            shown |= {
                "summary": space.text(sentence),
                "uri": uri_of("sentence", {"space": space.name, "id": sentence.id}),
                "source": source_row(space.turns[sentence.turn_id]),
            }
        return shown

    return page("topics", values, {"space": space.name}, topics.all(space), topic_row)
