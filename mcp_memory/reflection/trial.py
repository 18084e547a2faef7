"""The entity trial: which entities, and so which segments, are looked at, by nothing but who stands where (QRMeM §2.2).

The graph is bipartite, entities and segments. It begins with the segments that are held. The entities are widened by
what these share, until the window is full.

**Departures.** The paper's model picks the entities from the text of the segments, and says when these suffice. Here
they are those that most of the held segments name, the rarer first among equals; hubs, which lead everywhere, are left
out. Whether it is enough is judged between two calls, as in ``reflect.py``. The paper does not run this on sets of many
documents, which have too many entities: so each round adds a few, and of each the nearest segments.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from mcp_memory.reflection.graph import Graph
from mcp_memory.reflection.settings import Reflecting
from mcp_memory.reflection.window import Piece, Reached, fitting


def entity_trial(graph: Graph, begin: Iterable[str], held: Iterable[Piece], settings: Reflecting) -> Reached:
    """Return what a trial comes to.

    Args:
        graph: of the space, for the question.
        begin: E_s, keys of the question's entities.
        held: S_imp.
        settings: the window, the rounds, how many entities each adds, and how many segments each of these.
    """
    entities = list(dict.fromkeys(begin))
    start = len(entities)
    important, added = fitting(held, (), settings.window)
    there = {piece.row for piece in important}
    for _ in range(settings.trials):
        fresh = shared(graph, (piece.row for piece in (*important, *added)), entities)[: settings.width]
        if not fresh:
            break
        entities += fresh
        wider = [*added, *(piece for key in fresh for piece in graph.gained(key, None, there, settings.segments))]
        important, added = fitting(important, wider, settings.window)
        if len(added) < len({piece.row for piece in wider}):
            break  # the window is full
    return Reached(tuple(entities[start:]), important, added)


def shared(graph: Graph, segments: Iterable[int], known: Collection[str]) -> list[str]:
    """Return the entities that segments name, by how many of them do, then the rarer first.

    Args:
        graph: of the space.
        segments: rows.
        known: keys that are left out, as are hubs and what no other sentence names.
    """
    space, met = graph.space, frozenset(known)
    counts: Counter[str] = Counter()
    for row in segments:
        counts.update({key for one in space.sentences_within(space.segments[row]) for key in graph.named(one)} - met)
    leading = [key for key in counts if graph.degree(key) > 1 and not graph.hub(key)]
    return sorted(leading, key=lambda key: (-counts[key], graph.degree(key), key))
