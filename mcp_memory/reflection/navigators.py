"""Reflection: the search tries, says what is still missing, and takes one more entity (QRMeM §2.2, Algorithm 1).

S_imp is what is held, S_add is empty. The edge of a first-order neighbour that is nearest to [question; reason;
entities] is taken, and its segments join S_add with that score; where the window is full, the lowest-scored of S_add go
(`window`).

**Departures.** Line 8 of the algorithm takes the neighbours of E_s, the text those of the *current* entities: taken
literally the search never leaves the first hop, so it is the current ones (DESIGN D21), and what is reached at step n
is within n hops of E_s (DESIGN I31). The paper has no limit of trials; here it is a number (DESIGN D22). It asks a
model before each whether the segments answer; here whoever navigates judges that between two calls
(``reconstruct/assess.py``). The reason is not embedded here: the graph compares with the text that its caller had
embedded, which has question, reason and entities in it. A step adds the two nearest segments of its entity, not all,
and never takes a hub.

**Measured** as one call beyond the first look, which held ten texts, five more found: of the texts that these ten lack
it finds 27 % on questions of two to four hops over passages of an encyclopedia, half of them not even among the first
15, where propagation finds 9 % and the next five of the first look 22 %; beyond the first two texts, on questions of
two hops, 39 %, 20 % and 91 %. On long dated articles 36 %, 9 % and 55 % (of 11 texts); on dialogues, whose sentences
name hardly anybody but their speaker, 4 %, 6 % and 17 %. Without expansion 26 % of the first, with fewer wrong ones;
an entity trial alone 12 %. All segments of an entity instead of two: 15 %; hubs of 100 sentences 20 % and none at all
15 %, against 21 % with 30 (four steps alone); one step 6 %, two 14 %, four 21 %, eight 26 %.

Graph expansion search: the entities grow along the edges that are near to the question (QRMeM §2.2).

Each round adds the neighbours whose edge is nearest, until a number of rounds is reached or no edge is near enough.

**Departures.** What is near enough is calibrated as navigation's paths are: so many deviations above what sentences of
the space have in common with the question anyway. The paper then has a model write a longer query from what was found
and retrieves with it; here the segments of the entities are there without a search, with the score of their edge. A
round adds only a few entities: in a large space hundreds of edges are near enough.

The entity trial: which entities, and so which segments, are looked at, by nothing but who stands where (QRMeM §2.2).

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
from itertools import takewhile

from mcp_memory.reflection.graph import Edge, Graph, Piece, Reached, fitting
from mcp_memory.reflection.settings import Reflecting


def nearest(graph: Graph, entities: Collection[str]) -> Edge | None:
    """Return the edge that one step takes from the current entities; None where nothing lies around them."""
    met = frozenset(entities)
    ahead = (next((edge for edge in graph.edges(key) if edge.end not in met), None) for key in dict.fromkeys(entities))
    best = [edge for edge in ahead if edge is not None]
    return min(best, key=lambda edge: (-edge.score, edge.end)) if best else None


def reflect(graph: Graph, begin: Iterable[str], held: Iterable[Piece], settings: Reflecting) -> Reached:
    """Return what Algorithm 1 comes to; each step adds exactly one entity, or it ends.

    Args:
        graph: of the space, for the question.
        begin: E_s, keys of the question's entities.
        held: S_imp.
        settings: the window, the number of steps, and how many segments each adds at most.
    """
    entities = list(dict.fromkeys(begin))
    start = len(entities)
    important, added = fitting(held, (), settings.window)
    there = {piece.row for piece in important}
    while len(entities) - start < settings.trials and (edge := nearest(graph, entities)) is not None:
        entities.append(edge.end)
        new = graph.gained(edge.end, edge.score, there, settings.segments)
        important, added = fitting(important, (*added, *new), settings.window)
    return Reached(tuple(entities[start:]), important, added)


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
