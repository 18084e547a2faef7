"""Graph expansion search: the entities grow along the edges that are near to the question (QRMeM §2.2).

Each round adds the neighbours whose edge is nearest, until a number of rounds is reached or no edge is near enough.

**Departures.** What is near enough is calibrated as navigation's paths are: so many deviations above what sentences of
the space have in common with the question anyway. The paper then has a model write a longer query from what was found
and retrieves with it; here the segments of the entities are there without a search, with the score of their edge. A
round adds only a few entities: in a large space hundreds of edges are near enough.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import takewhile

from mcp_memory.reflection.graph import Edge, Graph
from mcp_memory.reflection.settings import Reflecting


def expand(graph: Graph, begin: Iterable[str], settings: Reflecting) -> dict[str, Edge]:
    """Return the entities that were added, each with the edge that led to it, in the order of the adding.

    Args:
        graph: of the space, for the question.
        begin: E_s, keys of the question's entities.
        settings: rounds, entities of each, and what is near enough.
    """
    entities = list(dict.fromkeys(begin))
    least = graph.threshold(settings.deviations)
    added: dict[str, Edge] = {}
    for _ in range(settings.rounds):
        near = _near(graph, [*entities, *added], least)
        if not near:
            break
        for end in sorted(near, key=lambda end: (-near[end].score, end))[: settings.width]:
            added[end] = near[end]
    return added


def _near(graph: Graph, entities: list[str], least: float) -> dict[str, Edge]:
    """Return the nearest edge to each first-order neighbour of a set of entities, of those that are near enough."""
    found: dict[str, Edge] = {}
    for key in entities:
        for edge in takewhile(lambda edge: edge.score >= least, graph.edges(key)):
            if edge.end not in entities and (edge.end not in found or edge.score > found[edge.end].score):
                found[edge.end] = edge
    return found
