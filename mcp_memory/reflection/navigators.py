"""The three navigators of QRMeM (§2.2): reflection, graph expansion search, and the entity trial.

**Reflection** (Algorithm 1) begins with S_imp, the segments that are known to matter, and an empty S_add. Each step
takes the edge to a first-order neighbour that is nearest to [question; reason; entities]; the neighbour's segments join
S_add with the score of the edge. If the window is full, the lowest-scored of S_add are dropped (`fit_window`).

**Departures.** Line 8 of the algorithm takes the neighbours of E_s, the text those of the *current* entities. Taken
literally, line 8 never leaves the first hop, so it is the current ones (DESIGN D21), and what is reached at step n is
within n hops of E_s (DESIGN I31). The paper has no limit of trials; here it is a number (DESIGN D22). The paper asks a
model before each step whether the segments answer; here whoever calls `reflect` decides that, since the embedded rules
cannot. The graph compares with the text that the caller embedded, which contains question, reason and entities. A step
adds the two nearest segments of its entity, not all, and never takes a hub.

**Measured** on questions of two to four hops over passages of an encyclopedia: five texts that a call adds to ten hold
27 % of the missing ones, the next five of the retrieval 22 %, propagation 9 %; in dialogues, whose sentences rarely
name anybody but their speaker, 4, 17 and 6 %. An entity in more than 30 sentences counts as a hub (reflection alone:
21 % with that, 15 without), two segments of each are better than all (15), four steps better than two (14).

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

**One operator**, `reflect_step`, runs the three one after another, where the paper has them as alternatives: graph
expansion adds the entities near the question (`expand`), reflection takes one entity after another (`reflect`), and if
neither finds anything, the entity trial starts from what the given segments share (`entity_trial`).

**Graph** (`EntityGraph`). Nodes are entities. QRMeM (§2.1) has a language model write, for each pair of entities of a
segment, one paragraph on how they are related, an *open relation*. Here the stored text says it: an edge is the
sentences that state a fact of the two, or, if no fact joins them, the sentences that name both. An edge is as near to a
question as the nearest of its sentences, whose vectors exist already; so no text is written or embedded to build the
graph (DESIGN D23: it is built on write, for no question in particular).

**Window** (Algorithm 1, lines 16 to 20). S_mix = S_imp ∪ S_add: the important segments, those of the question's
entities, and the segments that reflection added. If they are longer than L together, the lowest-scored of S_add are
dropped. The important ones alone may exceed L, for which the paper has no rule (DESIGN D22): they are then dropped
likewise, by their similarity to the question, down to one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.evidence import Suggestion
from mcp_memory.domain.facts import Version
from mcp_memory.language.tokens import count_tokens, words
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reflection.settings import DEFAULTS, ReflectionSettings
from mcp_memory.vectors import Scores
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.evidence import rows_of, segment_evidence
from mcp_memory.view.space import NONE, Space


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


def reflect_step(call: OperatorInput, settings: ReflectionSettings = DEFAULTS) -> OperatorResult:
    """Find further entities along the relations of those in the query, and their segments.

    It starts from the names in ``query`` and from ``entity``. The query is [Q; R; E] of the paper: the question, what
    is missing, and the known entities, in any words; each part after a semicolon may be a name. The evidence of ``ids``
    is S_imp and is not found again. The time window hides what was said outside it. The next step goes on from what
    this one added. The view must keep an `EntityIndex`.
    """
    if call.weigh is None or call.query is None:
        return OperatorResult(())
    graph = EntityGraph(call.space, call.weigh, hub=settings.hub)
    given = graph.segments_with(rows_of(call.space, call.ids))
    entities, segments = _navigate(graph, _entities(graph, call), given, settings)
    shown = segments[: call.limit]
    best = shown[0].score if shown else 1.0
    items = [segment_evidence(call.space, piece.row, piece.score / best, ("reflect",)) for piece in shown]
    if not items:
        return OperatorResult(())
    names = {key: graph.name(key) for key in entities}
    query = "; ".join(dict.fromkeys((call.query.text, *names.values())))
    ids = tuple(dict.fromkeys((*call.ids, *(item.id for item in items))))
    following = [Suggestion("reflect", {"query": query, "ids": ids}, "what lies beyond these")]
    for key in entities[:_NEXT]:
        operator = "expand_facts" if call.space.facts.degree(key) else "propagate"
        args = {"entity": names[key], "query": call.query.text}
        following.append(Suggestion(operator, args, f"what else is known of {names[key]}"))
    return OperatorResult(tuple(items), tuple(following))


def _navigate(
    graph: EntityGraph, begin: Sequence[str], given: Sequence[WindowSegment], settings: ReflectionSettings
) -> tuple[list[str], tuple[WindowSegment, ...]]:
    """Return the entities that were added, and the segments that fit the window beside the given ones."""
    present = {piece.row for piece in given}
    segments: list[WindowSegment] = []
    entities: list[str] = []
    for end, edge in expand(graph, begin, settings).items():
        entities.append(end)
        segments += graph.new_segments(end, edge.score, present, settings.segments)
    if settings.enabled:
        reflected = reflect(graph, (*begin, *entities), given, settings)
        entities += reflected.entities
        segments += reflected.added
    if not segments:
        tried = entity_trial(graph, (*begin, *entities), given, settings)
        entities += tried.entities
        segments += tried.added
    return entities, fit_window(given, segments, settings.window)[1]


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


Weigh = Callable[[NDArray[np.intp]], Scores]
"""Similarity of sentences to the question, by row, at least 0; 0 outside the window (`ports.OperatorInput.weigh`)."""

_STATED = 16
"""The newest assertions of one fact; older ones are not considered."""
_SAMPLE = 256
"""Sentences sampled for the background similarity."""
_HIGH = 0.5
"""Similarity that is high in any space; a space of a few sentences has no background to compare with."""


@dataclass(frozen=True, slots=True)
class RelationEdge:
    """An edge from an entity to a neighbour (the paper's open relation).

    Attributes:
        end: key of the neighbour.
        row: the row of the sentence most similar to the question among those that join the two.
        score: its similarity, above 0.
    """

    end: str
    row: int
    score: float


class EntityGraph:
    """Entities and their edges for one question; edges are computed once for each entity.

    The key of an entity is that of `view.facts.Facts`, else that of `EntityIndex`.

    Args:
        space: the space whose view keeps an `EntityIndex`.
        weigh: similarity to the question.
        hub: sentences or facts of an entity above which no edge leads to it: a hub leads everywhere.
        most: sentences and facts of one entity that are considered, the newest: a hub may have any number.
    """

    def __init__(self, space: Space, weigh: Weigh, *, hub: int = 30, most: int = 2_000) -> None:
        self.space = space
        self.weigh = weigh
        self._index = space.index(EntityIndex)
        self._hub = hub
        self._most = most
        self._edges: dict[str, tuple[RelationEdge, ...]] = {}
        self._degrees: dict[str, int] = {}

    def find(self, name: str) -> str | None:
        """Return the key of the entity that a name means, or None if no sentence and no fact names it."""
        known = self.space.facts.resolve(name)
        if known is not None:
            return known
        number = self._index.find(name)
        return None if number is None else self._index.key(number)

    def name(self, key: str) -> str:
        """Return the name of an entity, from its facts, else from the newest sentence that names it."""
        name = self.space.facts.name(key)
        rows = self.sentences_naming(key)
        if name != key or not rows:
            return name
        numbers = set(self._numbers(key))
        written = self._index.spellings_in(self.space, rows[-1])
        return next((spelling for number, spelling in written.items() if number in numbers), key)

    def degree(self, key: str) -> int:
        """Return the number of sentences or of facts that name an entity, whichever is greater."""
        if key not in self._degrees:
            sentences_naming = sum(self._index.degree(number) for number in self._numbers(key))
            self._degrees[key] = max(sentences_naming, self.space.facts.degree(key))
        return self._degrees[key]

    def hub(self, key: str) -> bool:
        """Return whether an entity is a hub, to which no edge leads."""
        return self.degree(key) > self._hub

    def sentences_naming(self, key: str) -> list[int]:
        """Return the rows of the sentences that name an entity, ascending; of a hub only the newest."""
        rows = {row for number in self._numbers(key) for row in self._index.sentences(number)[-self._most :].tolist()}
        return sorted(rows)[-self._most :]

    def entities_in(self, row: int) -> list[str]:
        """Return the keys of the entities that a sentence names, each once, in order."""
        return list(dict.fromkeys(self.key(number) for number in self._index.entities(row)))

    def edges(self, key: str) -> Iterator[RelationEdge]:
        """Yield the edges of an entity to its first-order neighbours, one each, most similar to the question first.

        Edges to hubs and edges without any similarity to the question are left out.
        """
        if key not in self._edges:
            joining = self._joining_rows(key)
            rows = sorted({row for joined in joining.values() for row in joined})
            weights = dict(zip(rows, self._weights(rows), strict=True))
            best = (
                (end, max(rows_joining, key=lambda row: (weights[row], -row))) for end, rows_joining in joining.items()
            )
            found = [RelationEdge(end, row, weights[row]) for end, row in best if weights[row] > 0]
            self._edges[key] = tuple(sorted(found, key=lambda edge: (-edge.score, edge.end)))
        return (edge for edge in self._edges[key] if not self.hub(edge.end))

    def segments_of(self, key: str, score: float | None = None) -> list[WindowSegment]:
        """Return the segments of an entity, by row: those that name it, and those that state a fact of it.

        Args:
            key: the key of the entity.
            score: of all of them; None gives each its own similarity, that of its nearest sentence among these.
        """
        stating = (row for version, _ in self._versions(key) for row in self._stating_rows(version))
        return self._pieces({*self.sentences_naming(key), *stating}, score)

    def new_segments(self, key: str, score: float | None, present: Container[int], most: int) -> list[WindowSegment]:
        """Return the nearest segments of an entity that are not ``present`` yet, at most ``most`` of them."""
        new = [piece for piece in self.segments_of(key, score) if piece.row not in present]
        return sorted(new, key=lambda piece: (-piece.own, piece.row))[:most]

    def segments_with(self, sentences: Iterable[int]) -> list[WindowSegment]:
        """Return the segments that hold some of these sentences, each with its own similarity as its score."""
        return self._pieces(set(sentences), None)

    def threshold(self, deviations: float) -> float:
        """Return the similarity so many deviations above the background, at most `_HIGH`.

        The background is the mean over an even sample of the sentences of the space.
        """
        count = len(self.space.sentences)
        sample = np.unique(np.linspace(0, count - 1, min(count, _SAMPLE)).astype(np.intp))
        weights = self.weigh(sample) if count else np.zeros(1, dtype=np.float32)
        return min(_HIGH, float(weights.mean()) + deviations * float(weights.std()))

    def _joining_rows(self, key: str) -> dict[str, set[int]]:
        """Return the rows of the sentences that join an entity to each of its neighbours."""
        joining: dict[str, set[int]] = {}
        for version, end in self._versions(key):
            if end != key and (rows := self._stating_rows(version)):
                joining.setdefault(end, set()).update(rows)
        known = frozenset(joining)
        for row in self.sentences_naming(key):
            for end in self.entities_in(row):
                if end != key and end not in known:
                    joining.setdefault(end, set()).add(row)
        return joining

    def _versions(self, key: str) -> list[tuple[Version, str]]:
        facts = self.space.facts
        out = ((version, facts.target_key(version, forward=True)) for version in facts.from_(key))
        into = ((version, facts.key(version.head)) for version in facts.to(key))
        return [*islice(out, self._most), *islice(into, self._most)]

    def _stating_rows(self, version: Version) -> list[int]:
        """Return the rows of the sentences that state a fact; one of a whole turn counts for its first sentence."""
        newest = version.assertions[-_STATED:]
        rows = (self.space.sentence_row(one.turn_id, max(one.sentence, 0)) for one in newest)
        return [row for row in rows if row != NONE]

    def _pieces(self, rows: set[int], score: float | None) -> list[WindowSegment]:
        """Return the segments that hold some sentences, with their scores; those without any weight are left out."""
        own: dict[int, float] = {}
        ordered = sorted(rows)
        for row, weight in zip(ordered, self._weights(ordered), strict=True):
            sentence = self.space.sentences[row]
            for segment in self.space.segments_with(sentence.turn_id, sentence.index) if weight > 0 else ():
                own[segment] = max(weight, own.get(segment, 0.0))
        found = []
        for row, similarity in sorted(own.items()):
            tokens = max(1, count_tokens(self.space.text(self.space.segments[row])))
            found.append(WindowSegment(row, tokens, similarity if score is None else score, similarity))
        return found

    def _weights(self, rows: list[int]) -> list[float]:
        weights: list[float] = self.weigh(np.array(rows, dtype=np.intp)).tolist() if rows else []
        return weights

    def key(self, number: int) -> str:
        """Return the key of an entity by its number in the `EntityIndex`."""
        key = self._index.key(number)
        return self.space.facts.known_entity(key) or key

    def _numbers(self, key: str) -> list[int]:
        names = dict.fromkeys((key, *self.space.facts.names(key)))
        found = (self._index.find(name) for name in names)
        return list(dict.fromkeys(number for number in found if number is not None))


@dataclass(frozen=True, slots=True)
class WindowSegment:
    """A segment in the window.

    Attributes:
        row: the row of the segment.
        tokens: LEN, above 0.
        score: the score of the edge that led to it; of an important segment its own similarity. Higher is better.
        own: its similarity to the question, which breaks ties.
    """

    row: int
    tokens: int
    score: float
    own: float = 0.0


@dataclass(frozen=True, slots=True)
class NavigatorResult:
    """What a navigator found.

    Attributes:
        entities: keys of those that it added, in order.
        important: S_imp as it fits the window, most similar to the question first.
        added: S_add likewise, best score first.
    """

    entities: tuple[str, ...]
    important: tuple[WindowSegment, ...]
    added: tuple[WindowSegment, ...]


def fit_window(
    important: Iterable[WindowSegment], added: Iterable[WindowSegment], limit: int
) -> tuple[tuple[WindowSegment, ...], tuple[WindowSegment, ...]]:
    """Return S_imp and S_add as they fit the window, each best first, ties by own similarity, then row.

    Args:
        important: S_imp; the best segment is kept, however long it is.
        added: S_add; important segments are left out of it.
        limit: L, in tokens; LEN of the result exceeds it only if a single important segment does (DESIGN I31).
    """

    def distinct_best_first(segments: Iterable[WindowSegment]) -> list[WindowSegment]:
        unique: dict[int, WindowSegment] = {}
        for piece in sorted(segments, key=lambda piece: (-piece.score, -piece.own, piece.row)):
            unique.setdefault(piece.row, piece)
        return list(unique.values())

    kept = distinct_best_first(important)
    while len(kept) > 1 and sum(piece.tokens for piece in kept) > limit:
        kept.pop()
    rows = {piece.row for piece in kept}
    more = [piece for piece in distinct_best_first(added) if piece.row not in rows]
    while more and sum(piece.tokens for piece in (*kept, *more)) > limit:
        more.pop()
    return tuple(kept), tuple(more)
