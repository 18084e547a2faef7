"""memory_graph: what is known as a graph, which hosts with MCP Apps draw; others show its text."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from mcp_memory.server.resources.graph import Drawing, drawing_of, graph_page
from mcp_memory.server.resources.uris import PAGE, read_in_thread, uri_of
from mcp_memory.server.tools.arguments import GraphInput, allowed_space, shown
from mcp_memory.server.tools.replies import HEADER, Reply, quantity, reply_of, warning_lines
from mcp_memory.services.graph import mermaid

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.ports import Progress
    from mcp_memory.view.space import Space

APPS: ContextVar[bool] = ContextVar("APPS", default=False)
"""Whether the client whose call is running shows MCP Apps."""
LISTED = 25
"""Edges and hyperedges in a reply to a host without MCP Apps, which may give all of it to its model."""
DRAWN_CHARS = 8_000
"""UTF-16 units of the flowchart in a reply, 2,000 tokens; the resource graph.mermaid has up to 45,000."""


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
        mermaid(drawing.graph, drawing.points, DRAWN_CHARS).rstrip(),
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
    size = PAGE if APPS.get() else LISTED

    def content(space: Space, values: Mapping[str, str]) -> Reply:
        drawing = drawing_of(space, values)
        return graph_reply(drawing, graph_page(drawing, values, size))

    return await read_in_thread(memory, values, content)
