"""The graph of what is known: as JSON, which the viewer draws, as mermaid and as GraphML, and as a tool's reply.

Hosts with MCP Apps draw the reply of memory_graph; others show its text.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field, StrictInt

from mcp_memory.configurable import LimitSettings
from mcp_memory.domain.relations import relations
from mcp_memory.language import iso
from mcp_memory.server.resources.facts import SHOWN_SOURCES, entity_uris, fact_row, known_entity_key, point_row
from mcp_memory.server.resources.uris import PAGE_ENTRIES, Values, next_page, page_of, read_in_thread, uri_of
from mcp_memory.server.tools.arguments import (
    AsOf,
    Input,
    Name,
    SpaceName,
    allowed_space,
    moment_of,
    read_arguments,
    shown,
)
from mcp_memory.server.tools.replies import (
    HEADER,
    QUOTE_CHARS,
    Reply,
    json_of,
    quantity,
    reply_of,
    source_row,
    warning_lines,
)
from mcp_memory.services import graph as drawings
from mcp_memory.view.evidence import known_sentences

if TYPE_CHECKING:
    from networkx import MultiDiGraph

    from mcp_memory.domain.facts import Version
    from mcp_memory.domain.points import Point
    from mcp_memory.domain.times import Millis
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress
    from mcp_memory.view.space import Space

CLIENT_SHOWS_APPS: ContextVar[bool] = ContextVar("CLIENT_SHOWS_APPS", default=False)
"""Whether the client whose call is running shows MCP Apps."""
LISTED_EDGES = 25
"""Edges and hyperedges in a reply to a host without MCP Apps, which may give all of it to its model."""
DRAWN_CHARS = 8_000
"""UTF-16 units of the flowchart in a reply, 2,000 tokens; the resource graph.mermaid has up to 45,000."""


class GraphInput(Input):
    """Arguments of memory_graph, and of the URI of a graph."""

    entity: Annotated[Name | None, Field(description="Around it; else all.")] = None
    depth: Annotated[StrictInt, Field(ge=1, le=10), "a whole number from 1 to 10"] = 2
    as_of: AsOf = None
    space: SpaceName = None


@dataclass(frozen=True, slots=True)
class Drawing:
    """The part of a space's graph that a URI or a call asks for.

    Attributes:
        space: drawn.
        graph: the graph of its facts.
        points: the memory points that belong to it.
        key: the key of the entity at the centre; None for the whole space.
        as_of: the instant whose facts are drawn; None for those of all times.
        parameters: values of the URI, without the page.
    """

    space: Space
    graph: MultiDiGraph[str]
    points: list[drawings.Hyperedge]
    key: str | None
    as_of: Millis | None
    parameters: Values

    @property
    def edges(self) -> list[tuple[str, str, Version]]:
        """Keys of head and tail, and the version."""
        return drawings.edges_of(self.graph)


def drawing_of(space: Space, values: Values) -> Drawing:
    """Return what the values of a URI ask for.

    Raises:
        InvalidInput: a value is wrong, or no fact is about the entity.
    """
    parameters = {name: value for name, value in values.items() if name in GraphInput.model_fields}
    asked = read_arguments(GraphInput, parameters, LimitSettings())
    key = known_entity_key(space, asked.entity, "entity") if asked.entity else None
    as_of = moment_of(asked.as_of)
    whole = drawings.graph_of(space.facts, as_of)
    drawn = whole if key is None else drawings.around(whole, key, asked.depth)
    return Drawing(space, drawn, drawings.hyperedges_of(space, drawn, key), key, as_of, parameters)


def graph_page(drawing: Drawing, values: Values, size: int = PAGE_ENTRIES) -> dict[str, Any]:
    """Return a page of a graph: at most ``size`` edges and hyperedges together, and the nodes of both."""
    space, drawn, points, edges = drawing.space, drawing.graph, drawing.points, drawing.edges
    start, end = page_of(values, len(edges) + len(points), size)
    page_points = points[max(start - len(edges), 0) : max(end - len(edges), 0)]
    joined = {key: {"name": name} for hyperedge in page_points for key, name in hyperedge.nodes.items()}
    nodes = dict.fromkeys((*(node for edge in edges[start:end] for node in edge[:2]), *joined))
    only_joined = {key for hyperedge in points for key in hyperedge.nodes if key not in drawn}
    row = {
        "space": space.name,
        "entity": drawing.key,
        "as_of": None if drawing.as_of is None else iso.show(drawing.as_of),
        "nodes": [_node_row(drawing, node, joined) for node in nodes],
        "edges": [
            {"from": head, "to": tail, "label": relations().get(version.relation).label} | fact_row(space, version)
            for head, tail, version in edges[start:end]
        ],
        "hyperedges": [
            point_row(space, one.point) | {"nodes": list(one.nodes), "sources": _point_sources(space, one.point)}
            for one in page_points
        ],
        "total": {"nodes": drawn.number_of_nodes() + len(only_joined), "edges": len(edges), "hyperedges": len(points)},
        **next_page("graph", drawing.parameters, end, len(edges) + len(points)),
    }
    shown: dict[str, Any] = json_of(row)
    return shown


def _node_row(drawing: Drawing, key: str, joined: dict[str, dict[str, str]]) -> dict[str, Any]:
    """Return a node; ``facts`` counts the (head, relation) that it takes part in, drawn or not."""
    if key not in drawing.graph:
        return {"id": key} | joined[key]
    known = {"facts": drawing.space.facts.degree(key)} | entity_uris(drawing.space, key)
    return {"id": key} | drawing.graph.nodes[key] | known


def _point_sources(space: Space, point: Point) -> list[dict[str, Any]]:
    """Return the first sentences that a memory point rests on, as the sources of a fact are shown."""
    known = known_sentences(space, point.sentences)
    return [
        source_row(space.turns[sentence.turn_id])
        | {"sentence": sentence.id, "quote": space.text(sentence)[:QUOTE_CHARS]}
        for sentence in known[:SHOWN_SOURCES]
    ]


def graph(space: Space, values: Values) -> dict[str, Any]:
    """Entities and what joins them; each page has the nodes of its edges and hyperedges."""
    return graph_page(drawing_of(space, values), values)


def mermaid(space: Space, values: Values) -> str:
    """The graph as a flowchart."""
    drawing = drawing_of(space, values)
    return drawings.mermaid(drawing.graph, drawing.points)


def graphml(space: Space, values: Values) -> str:
    """The graph for other programs."""
    drawing = drawing_of(space, values)
    return drawings.graphml(drawing.graph, drawing.points)


def graph_reply(drawing: Drawing, row: Mapping[str, Any]) -> Reply:
    """Return the reply to a call."""
    edges, total = drawing.edges, row["total"]
    current = sum(version.current for _, _, version in edges)
    centre = f" around {shown(drawing.space.facts.name(drawing.key))}" if drawing.key is not None else ""
    moment = f" as of {row['as_of']}" if "as_of" in row else ""
    warnings = []
    if waiting := len(drawing.space.unindexed):
        warnings.append(f"{quantity(waiting, 'text')} of this space not read for facts yet.")
    lines = [
        f"Graph of space {drawing.space.name!r}{centre}{moment}: {quantity(total['nodes'], 'entity')} and values, "
        f"{quantity(total['edges'], 'fact')} ({current:,} current, dotted arrows are past), "
        f"{quantity(total['hyperedges'], 'memory point')}.",
        f"All of it: {uri_of('graph as mermaid', dict(drawing.parameters))}",
        HEADER,
        "```mermaid",
        drawings.mermaid(drawing.graph, drawing.points, DRAWN_CHARS).rstrip(),
        "```",
        *warning_lines(warnings),
    ]
    return reply_of(lines, engine="embedded", warnings=warnings, **row)


def graph_values(args: GraphInput) -> dict[str, str]:
    """Return what a call asks for, as the values of a URI of a graph."""
    chosen = {"space": allowed_space(args.space), "entity": args.entity, "depth": str(args.depth), "as_of": args.as_of}
    return {name: value for name, value in chosen.items() if value is not None}


async def run(memory: Memory, values: Mapping[str, str], _args: GraphInput, _progress: Progress) -> Reply:
    """Draw the graph: a page for a host with MCP Apps, less for others."""
    size = PAGE_ENTRIES if CLIENT_SHOWS_APPS.get() else LISTED_EDGES

    def content(space: Space, values: Mapping[str, str]) -> Reply:
        drawing = drawing_of(space, values)
        return graph_reply(drawing, graph_page(drawing, values, size))

    return await read_in_thread(memory, values, content)
