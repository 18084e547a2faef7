"""The three navigators of QRMeM (§2.2): reflection, graph expansion search, and the entity trial.

**Reflection** (Algorithm 1) begins with S_imp, the segments that are known to matter, and an empty S_add. Each step
takes the edge to a first-order neighbour that is nearest to [question; reason; entities]; the neighbour's segments join
S_add with the score of the edge. If the window is full, the lowest-scored of S_add are dropped (`fit_window`).

**Departures.** Line 8 of the algorithm takes the neighbours of E_s, the text those of the *current* entities. Taken
literally, line 8 never leaves the first hop, so it is the current ones (DESIGN D21), and what is reached at step n is
within n hops of E_s (DESIGN I31). The paper has no limit of trials; here it is a number (DESIGN D22). The paper asks a
model before each step whether the segments answer; here the loop goes on between two calls while parts or names of the
query stand in nothing that was found (``reconstruct/loop.py``). The reason is not embedded here: the graph compares
with the text that the caller embedded, which contains question, reason and entities. A step adds the two nearest
segments of its entity, not all, and never takes a hub.

**Measured**: after retrieving ten texts, one call adds five more. The share of the missing relevant texts that they
contain, compared with propagation and with the next five texts of the first retrieval:

======================================================  =======  ===========  =========
questions                                               a call   propagation  next five
======================================================  =======  ===========  =========
two to four hops, passages of an encyclopedia           27 %     9 %          22 %
two hops, after retrieving two texts instead of ten     39 %     20 %         91 %
long dated articles (11 missing texts)                  36 %     9 %          55 %
dialogues, whose sentences rarely name anybody but      4 %      6 %          17 %
their speaker
======================================================  =======  ===========  =========

Of the 27 %, half are not even among the first 15 texts of the retrieval. In the first row, a call without expansion
finds 26 %, with fewer wrong texts, and an entity trial alone 12 %. Reflection alone, of four steps, finds 21 % if an
entity counts as a hub from 30 sentences on, 20 % if from 100 on, and 15 % if none does; with all segments of an entity
instead of two it finds 15 %. One step finds 6 %, two 14 %, four 21 %, eight 26 %.

**Graph expansion search** adds, in each round, the neighbours whose edges are nearest to the question, for a number of
rounds or until no edge is near enough. **Departures.** "Near enough" is calibrated as for navigation's paths: so many
deviations above the background similarity of the space. The paper then has a model write a longer query from what was
found and retrieves with it; here the segments of the entities are available without a search, with the score of their
edge. A round adds only a few entities: in a large space hundreds of edges are near enough.

**The entity trial** uses only who is named where. The graph is bipartite, entities and segments. From the given
segments it adds the entities that they share, and their segments, until the window is full. **Departures.** The paper's
model picks the entities from the text of the segments, and says when these suffice. Here they are those that most of
the given segments name, the rarer first among equals; hubs, which lead everywhere, are left out. What is covered
decides between two calls, as for reflection. The paper does not run this on sets of many documents, which have too many
entities: so each round adds a few, and of each the nearest segments.

**One operator**, `Reflect`: one call runs the three one after another. The paper has them as alternatives, each better
than the one before. Here they build on each other: graph expansion adds the entities near the question (`expand`),
reflection takes one entity after another (`reflect`), and if neither finds anything, because the question names nothing
known, the entity trial starts from what the given segments share (`entity_trial`). They are one operator and not three
because they serve one purpose: finding evidence beyond the question's entities. A caller that chooses an operator by
name cannot know which navigator will find it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import takewhile

from mcp_memory.domain.evidence import Evidence, Suggestion
from mcp_memory.language.tokens import words
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reflection.graph import EntityGraph, NavigatorResult, RelationEdge, WindowSegment, fit_window
from mcp_memory.reflection.settings import ReflectionSettings
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.evidence import rows_of, segment_evidence


def nearest_edge(graph: EntityGraph, entities: Collection[str]) -> RelationEdge | None:
    """Return the edge that one step takes from the current entities; None if they have no further neighbour."""
    met = frozenset(entities)
    ahead = (next((edge for edge in graph.edges(key) if edge.end not in met), None) for key in dict.fromkeys(entities))
    best = [edge for edge in ahead if edge is not None]
    return min(best, key=lambda edge: (-edge.score, edge.end)) if best else None


def reflect(
    graph: EntityGraph, begin: Iterable[str], given: Iterable[WindowSegment], settings: ReflectionSettings
) -> NavigatorResult:
    """Run Algorithm 1; each step adds exactly one entity, or ends the search.

    Args:
        graph: the graph of the space, for the question.
        begin: E_s, keys of the question's entities.
        given: S_imp.
        settings: the window, the number of steps, and how many segments each adds at most.
    """
    entities = list(dict.fromkeys(begin))
    start = len(entities)
    important, added = fit_window(given, (), settings.window)
    present = {piece.row for piece in important}
    while len(entities) - start < settings.trials and (edge := nearest_edge(graph, entities)) is not None:
        entities.append(edge.end)
        new = graph.new_segments(edge.end, edge.score, present, settings.segments)
        important, added = fit_window(important, (*added, *new), settings.window)
    return NavigatorResult(tuple(entities[start:]), important, added)


def expand(graph: EntityGraph, begin: Iterable[str], settings: ReflectionSettings) -> dict[str, RelationEdge]:
    """Return the entities that graph expansion adds, in order, each with the edge that led to it.

    Args:
        graph: the graph of the space, for the question.
        begin: E_s, keys of the question's entities.
        settings: rounds, entities of each round, and which edges are near enough.
    """
    entities = list(dict.fromkeys(begin))
    least = graph.threshold(settings.deviations)
    added: dict[str, RelationEdge] = {}
    for _ in range(settings.rounds):
        near = _near(graph, [*entities, *added], least)
        if not near:
            break
        for end in sorted(near, key=lambda end: (-near[end].score, end))[: settings.width]:
            added[end] = near[end]
    return added


def _near(graph: EntityGraph, entities: list[str], least: float) -> dict[str, RelationEdge]:
    """Return the nearest edge to each first-order neighbour of the entities, if it is near enough."""
    found: dict[str, RelationEdge] = {}
    for key in entities:
        for edge in takewhile(lambda edge: edge.score >= least, graph.edges(key)):
            if edge.end not in entities and (edge.end not in found or edge.score > found[edge.end].score):
                found[edge.end] = edge
    return found


def entity_trial(
    graph: EntityGraph, begin: Iterable[str], given: Iterable[WindowSegment], settings: ReflectionSettings
) -> NavigatorResult:
    """Run an entity trial.

    Args:
        graph: the graph of the space, for the question.
        begin: E_s, keys of the question's entities.
        given: S_imp.
        settings: the window, the rounds, how many entities each adds, and how many segments each of these.
    """
    entities = list(dict.fromkeys(begin))
    start = len(entities)
    important, added = fit_window(given, (), settings.window)
    present = {piece.row for piece in important}
    for _ in range(settings.trials):
        fresh = shared_entities(graph, (piece.row for piece in (*important, *added)), entities)[: settings.width]
        if not fresh:
            break
        entities += fresh
        wider = [
            *added,
            *(piece for key in fresh for piece in graph.new_segments(key, None, present, settings.segments)),
        ]
        important, added = fit_window(important, wider, settings.window)
        if len(added) < len({piece.row for piece in wider}):
            break  # the window is full
    return NavigatorResult(tuple(entities[start:]), important, added)


def shared_entities(graph: EntityGraph, segments: Iterable[int], known: Collection[str]) -> list[str]:
    """Return the entities that segments name, those named by most segments first, then the rarer.

    Args:
        graph: the graph of the space.
        segments: rows.
        known: keys that are left out; hubs and entities that no other sentence names are too.
    """
    space, met = graph.space, frozenset(known)
    counts: Counter[str] = Counter()
    for row in segments:
        counts.update(
            {key for one in space.sentences_within(space.segments[row]) for key in graph.entities_in(one)} - met
        )
    leading = [key for key in counts if graph.degree(key) > 1 and not graph.hub(key)]
    return sorted(leading, key=lambda key: (-counts[key], graph.degree(key), key))


_NEXT = 3
"""Suggestions besides the next step."""
_READ = 200
"""Words of a query that are searched for names; a pasted page is not a question."""


class Reflect:
    """Find further entities along the relations of those in the query, and their segments.

    The view must keep an `EntityIndex`.
    """

    name = "reflect"
    needs = ("query",)
    uses = ("query", "entity", "ids", "since", "until")

    def __init__(self, settings: ReflectionSettings | None = None) -> None:
        self._settings = settings or ReflectionSettings()

    def __call__(self, call: OperatorInput) -> OperatorResult:
        """See `ports.Operator`; starts from the names in ``query`` and from ``entity``.

        The query is [Q; R; E] of the paper: the question, what is missing, and the known entities, in any words; each
        part after a semicolon may be a name. The evidence of ``ids`` is S_imp and is not found again. The time window
        hides what was said outside it.
        """
        if call.weigh is None or call.query is None:
            return OperatorResult(())
        graph = EntityGraph(call.space, call.weigh, hub=self._settings.hub)
        begin = _entities(graph, call)
        given = graph.segments_with(rows_of(call.space, call.ids))
        entities, segments = self._navigate(graph, begin, given)
        shown = segments[: call.limit]
        best = shown[0].score if shown else 1.0
        items = [segment_evidence(call.space, piece.row, piece.score / best, (self.name,)) for piece in shown]
        return OperatorResult(tuple(items), tuple(self._next(call, graph, entities, items)))

    def _navigate(
        self, graph: EntityGraph, begin: Sequence[str], given: Sequence[WindowSegment]
    ) -> tuple[list[str], tuple[WindowSegment, ...]]:
        """Return the entities that were added, and the segments that fit the window beside the given ones."""
        settings = self._settings
        present = {piece.row for piece in given}
        segments: list[WindowSegment] = []
        entities: list[str] = []
        if settings.expansion:
            for end, edge in expand(graph, begin, settings).items():
                entities.append(end)
                segments += graph.new_segments(end, edge.score, present, settings.segments)
        if settings.enabled:
            reflected = reflect(graph, (*begin, *entities), given, settings)
            entities += reflected.entities
            segments += reflected.added
        if settings.entity_trial and not segments:
            tried = entity_trial(graph, (*begin, *entities), given, settings)
            entities += tried.entities
            segments += tried.added
        return entities, fit_window(given, segments, settings.window)[1]

    def _next(
        self, call: OperatorInput, graph: EntityGraph, entities: Sequence[str], items: Sequence[Evidence]
    ) -> Iterator[Suggestion]:
        """Suggest the next step from what this one added, and steps about the new entities."""
        if call.query is None or not items:
            return
        names = {key: graph.name(key) for key in entities}
        query = "; ".join(dict.fromkeys((call.query.text, *names.values())))
        ids = tuple(dict.fromkeys((*call.ids, *(item.id for item in items))))
        yield Suggestion(self.name, {"query": query, "ids": ids}, "what lies beyond these")
        for key in entities[:_NEXT]:
            operator = "expand_facts" if graph.space.facts.degree(key) else "propagate"
            args = {"entity": names[key], "query": call.query.text}
            yield Suggestion(operator, args, f"what else is known of {names[key]}")


def _entities(graph: EntityGraph, call: OperatorInput) -> list[str]:
    """Return E: the keys of the entities that the query or the caller names."""
    query = call.query
    if query is None:
        return []
    parts = [part.strip() for part in query.text.split(";")[1:]]
    entity = () if call.entity is None else (call.entity,)
    keys = [graph.find(name) for name in (*entity, *query.speakers, *query.names, *parts)]
    index = graph.space.index(EntityIndex)
    keys += [graph.key(number) for number in index.entities_in(words(query.text)[:_READ])]
    return list(dict.fromkeys(key for key in keys if key is not None))
