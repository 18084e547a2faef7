"""The three navigators of QRMeM (§2.2), and the operator `reflect_step`, which runs them one after another.

- **Reflection** (`reflect`, Algorithm 1) begins with S_imp, the segments that are known to matter. Each step takes the
  edge to a first-order neighbour that is nearest to [question; reason; entities], and its segments join S_add.
- **Graph expansion** (`expand`) adds, round by round, the neighbours whose edges are near enough to the question.
- **The entity trial** (`entity_trial`), for what the two do not reach, adds the entities that segments share.

**The graph** (`EntityGraph`): an edge between two entities is the sentences that name both, as near to the question as
the nearest of them. **The window** (`fit_window`, lines 16 to 20): if S_imp ∪ S_add is longer than L, the lowest-scored
of S_add are dropped.

**Measured** on questions of two to four hops over passages of an encyclopedia: five texts that a call adds to ten hold
27 % of the missing ones, the next five of the retrieval 22 %, propagation 9 %; in dialogues, whose sentences rarely
name anybody but their speaker, 4, 17 and 6 %. An entity in more than 30 sentences counts as a hub (reflection alone:
21 % with that, 15 without), two segments of each are better than all (15), four steps better than two (14).

**Departures.** The paper has the three as alternatives, and a model that judges before each step whether the segments
answer; here the caller of `reflect_step` judges that.

- *Graph:* the paper has a model write a paragraph on each pair of entities of a segment (§2.1). Here the stored text
  says it, so nothing is written or embedded, and the graph is for no question in particular (DESIGN D23).
- *Reflection:* line 8 takes the neighbours of E_s, the text those of the *current* entities. The line never leaves the
  first hop, so it is the current ones (DESIGN D21), and step n is within n hops of E_s (DESIGN I31). The paper varies
  the limit of trials (§3.6, Fig. 4); here it is four (DESIGN D22). A step adds the two nearest segments of its entity,
  not all, and never takes a hub. [question; reason; entities] is scored once a call.
- *Expansion:* "near enough" is so many deviations above the background, as for REAL's paths. The paper retrieves with
  a longer query by a model; here the segments of the entities come with the score of their edge, of a few entities a
  round: in a large space hundreds of edges are near enough.
- *Trial:* the paper's model picks the entities from the text. Here they are those that most segments name, the rarer
  first, without hubs, a few a round, since sets of many documents have too many.
- *Window:* where the important segments alone exceed L, for which the paper has no rule (DESIGN D22), they are dropped
  by their similarity to the question, down to one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

import numpy as np

from mcp_memory.domain.evidence import Suggestion
from mcp_memory.language.tokens import count_tokens, words
from mcp_memory.ports import OperatorInput, OperatorResult, Weigh
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.evidence import rows_of, segment_evidence
from mcp_memory.view.space import Space

WINDOW = 4_096
"""Tokens of all passages together. L (§3.2: 4,096)."""
TRIALS = 4
"""Entities that are added one after the other: steps of reflection, and rounds of a trial, in one call (DESIGN D22: the
paper's text has no number)."""
SEGMENTS = 2
"""Passages of each: the most similar to the query; the paper adds all. Measured: see above."""
HUB = 30
"""An entity in more sentences or facts than this is not added. Ours, measured above, too."""
ROUNDS = 2
"""Before that, rounds that add every entity near the query: iterations of graph expansion; ours, the paper has one
without a number."""
WIDTH = 3
"""Entities of each round, of expansion and of a trial; ours."""
DEVIATIONS = 2.0
"""How far above the background "near" is, in standard deviations: the threshold of an edge; as for REAL's paths (DESIGN
3.2)."""
Added = tuple[list[int], list["WindowSegment"]]
"""What a navigator adds: entities in order, and their segments (S_add)."""


def reflect(graph: EntityGraph, begin: Collection[int], given: Iterable[WindowSegment]) -> Added:
    """Run Algorithm 1, from E_s and S_imp, without its window; each step adds one entity, or ends the search."""
    new, added, present = list[int](), list[WindowSegment](), {piece.row for piece in given}
    while len(new) < TRIALS and (edge := nearest_edge(graph, (*begin, *new))) is not None:
        new.append(edge.end)
        added += graph.new_segments(edge.end, edge.score, present)
    return new, added


def nearest_edge(graph: EntityGraph, entities: Collection[int]) -> RelationEdge | None:
    """Return the edge that one step takes from the current entities; None if they have no further neighbour."""
    met = frozenset(entities)
    ahead = (edge for one in met for edge in graph.edges(one) if edge.end not in met)
    return min(ahead, key=lambda edge: (-edge.score, edge.end), default=None)


def expand(graph: EntityGraph, begin: Collection[int]) -> dict[int, RelationEdge]:
    """Return the entities that graph expansion adds to E_s, in order, each with the edge that led to it."""
    least = graph.threshold()
    added: dict[int, RelationEdge] = {}
    for _ in range(ROUNDS):
        near: dict[int, RelationEdge] = {}
        for entity in (*begin, *added):
            for edge in takewhile(lambda edge: edge.score >= least, graph.edges(entity)):
                if edge.end not in begin and edge.end not in added:
                    near[edge.end] = max(edge, near.get(edge.end, edge), key=lambda one: one.score)
        for edge in sorted(near.values(), key=lambda edge: (-edge.score, edge.end))[:WIDTH]:
            added[edge.end] = edge
    return added


def entity_trial(graph: EntityGraph, begin: Collection[int], given: Iterable[WindowSegment]) -> Added:
    """Run an entity trial, from E_s and S_imp, until nothing more is shared or the window is full."""
    new = list[int]()
    important, added = fit_window(given, ())
    present = {piece.row for piece in important}
    for _ in range(TRIALS):
        fresh = shared_entities(graph, [piece.row for piece in (*important, *added)], (*begin, *new))[:WIDTH]
        new += fresh
        offered = [*added, *(piece for one in fresh for piece in graph.new_segments(one, None, present))]
        important, added = fit_window(important, offered)
        if not fresh or len(added) < len({piece.row for piece in offered}):
            break
    return new, added


def shared_entities(graph: EntityGraph, segments: Iterable[int], known: Collection[int]) -> list[int]:
    """Return the entities that segments name, those named by most segments first, then the rarer.

    Hubs, entities that no other sentence names, and those that are known are left out.
    """
    space, met = graph.space, frozenset(known)
    counts: Counter[int] = Counter()
    for row in segments:
        named = (graph.index.entities(one) for one in space.sentences_within(space.segments[row]))
        counts.update({entity for entities in named for entity in entities} - met)
    leading = [one for one in counts if graph.index.degree(one) > 1 and not graph.is_hub(one)]
    return sorted(leading, key=lambda one: (-counts[one], graph.index.degree(one), one))


_SUGGESTIONS = 3
"""Suggestions besides the next step."""
_READ = 200
"""Words of a query that are searched for names; a pasted page is not a question."""


def reflect_step(call: OperatorInput, *, enabled: bool = True) -> OperatorResult:
    """Find further entities along the relations of those in the query, and their segments.

    It starts from the names in ``query`` and from ``entity``. The query is [Q; R; E] of the paper: the question, what
    is missing, and the known entities, in any words; each part after a semicolon may be a name. The evidence of ``ids``
    is S_imp and is not found again. The time window hides what was said outside it. The next step goes on from what
    this one added. The view must keep an `EntityIndex`.
    """
    if not enabled:
        return OperatorResult((), warnings=("The switch reflection is off, so this step finds nothing.",))
    if call.weigh is None or call.query is None:
        return OperatorResult(())
    graph = EntityGraph(call.space, call.weigh)
    given = graph.segments_with(rows_of(call.space, call.ids))
    entities, segments = _navigate(graph, _entities(graph, call), given)
    shown = fit_window(given, segments)[1][: call.limit]
    if not shown:
        return OperatorResult(())
    best = shown[0].score
    items = tuple(segment_evidence(call.space, piece.row, piece.score / best, ("reflect",)) for piece in shown)
    names = {entity: graph.name(entity) for entity in entities}
    query = "; ".join(dict.fromkeys((call.query.text, *names.values())))
    ids = tuple(dict.fromkeys((*call.ids, *(item.id for item in items))))
    following = [Suggestion("reflect", {"query": query, "ids": ids}, "what lies beyond these")]
    for name in list(names.values())[:_SUGGESTIONS]:
        key = call.space.facts.resolve(name)
        operator = "expand_facts" if key and call.space.facts.degree(key) else "propagate"
        args = {"entity": name, "query": call.query.text}
        following.append(Suggestion(operator, args, f"what else is known of {name}"))
    return OperatorResult(items, tuple(following))


def _navigate(graph: EntityGraph, begin: Sequence[int], given: Sequence[WindowSegment]) -> Added:
    """Return what expansion and reflection add; an entity trial only where they find no segment."""
    near = expand(graph, begin)
    entities, segments = reflect(graph, (*begin, *near), given)
    entities = [*near, *entities]
    present = {piece.row for piece in given}
    for end, edge in near.items():
        segments += graph.new_segments(end, edge.score, present)
    if not segments:
        further, segments = entity_trial(graph, (*begin, *entities), given)
        entities += further
    return entities, segments


def _entities(graph: EntityGraph, call: OperatorInput) -> list[int]:
    """Return E: the entities that the query or the caller names, under each of their names."""
    query, facts = call.query, call.space.facts
    if query is None:
        return []
    parts = [part.strip() for part in query.text.split(";")[1:]]
    said = (*(() if call.entity is None else (call.entity,)), *query.speakers, *query.names, *parts)
    also = (other for name in said if (key := facts.resolve(name)) for other in facts.names(key))
    found = [graph.index.find(name) for name in (*said, *also)]
    found += graph.index.entities_in(words(query.text)[:_READ])
    return list(dict.fromkeys(one for one in found if one is not None))


_SAMPLE = 256
"""Sentences sampled for the background similarity."""
MOST_SENTENCES = 2_000
"""Sentences of one entity that are considered, the newest: a hub may have any number."""
_HIGH = 0.5
"""Similarity that is high in any space; a space of a few sentences has no background to compare with."""


class RelationEdge(NamedTuple):
    """An edge from an entity to a neighbour (the paper's open relation).

    Attributes:
        end: the neighbour.
        score: the similarity to the question of the most similar sentence that names the two, above 0.
    """

    end: int
    score: float


class EntityGraph:
    """Entities, by their numbers in the `EntityIndex`, and their edges for one question, computed once for each."""

    def __init__(self, space: Space, weigh: Weigh) -> None:
        self.space = space
        self.weigh = weigh
        self.index = space.index(EntityIndex)
        self._edges: dict[int, tuple[RelationEdge, ...]] = {}

    def name(self, entity: int) -> str:
        """Return the name of an entity as the newest sentence that names it writes it."""
        newest = int(self.index.sentences(entity)[-1])
        return self.index.spellings_in(self.space, newest).get(entity, self.index.key(entity))

    def is_hub(self, entity: int) -> bool:
        """Return whether an entity is a hub, to which no edge leads: it leads everywhere."""
        return self.index.degree(entity) > HUB

    def edges(self, entity: int) -> Sequence[RelationEdge]:
        """Return the edges of an entity to its first-order neighbours, one each, most similar to the question first.

        Edges to hubs and edges without any similarity to the question are left out.
        """
        if entity not in self._edges:
            best: dict[int, float] = {}
            for row, weight in self._weighed(self._naming(entity)):
                for end in self.index.entities(row):
                    if end != entity and weight > 0 and not self.is_hub(end):
                        best[end] = max(weight, best.get(end, 0.0))
            edges = (RelationEdge(end, score) for end, score in best.items())
            self._edges[entity] = tuple(sorted(edges, key=lambda edge: (-edge.score, edge.end)))
        return self._edges[entity]

    def new_segments(self, entity: int, score: float | None, present: Container[int]) -> list[WindowSegment]:
        """Return the `SEGMENTS` nearest segments that name an entity and are not ``present`` yet.

        Each has the score, if one is given, else its own similarity.
        """
        new = [piece for piece in self.segments_with(self._naming(entity), score) if piece.row not in present]
        return sorted(new, key=lambda piece: (-piece.own, piece.row))[:SEGMENTS]

    def segments_with(self, sentences: Iterable[int], score: float | None = None) -> list[WindowSegment]:
        """Return the segments that hold some of these sentences, by row; those without any weight are left out.

        The similarity of a segment is that of its nearest sentence among these; it is its score unless one is given.
        """
        own: dict[int, float] = {}
        for row, weight in self._weighed(sorted(set(sentences))):
            for segment in self.space.segments_of(row) if weight > 0 else ():
                own[segment] = max(weight, own.get(segment, 0.0))
        found = []
        for row, similarity in sorted(own.items()):
            tokens = max(1, count_tokens(self.space.text(self.space.segments[row])))
            found.append(WindowSegment(row, tokens, similarity if score is None else score, similarity))
        return found

    def threshold(self) -> float:
        """Return the similarity `DEVIATIONS` above the background, at most `_HIGH`.

        The background is the mean over an even sample of the sentences of the space.
        """
        count = len(self.space.sentences)
        sample = np.unique(np.linspace(0, count - 1, min(count, _SAMPLE)).astype(np.intp))
        weights = self.weigh(sample) if count else np.zeros(1, dtype=np.float32)
        return min(_HIGH, float(weights.mean()) + DEVIATIONS * float(weights.std()))

    def _naming(self, entity: int) -> list[int]:
        """Return the rows of the sentences that name an entity, ascending; of a hub only the newest."""
        rows: list[int] = self.index.sentences(entity)[-MOST_SENTENCES:].tolist()
        return rows

    def _weighed(self, rows: list[int]) -> Iterator[tuple[int, float]]:
        return zip(rows, self.weigh(np.array(rows, dtype=np.intp)).tolist() if rows else [], strict=True)


class WindowSegment(NamedTuple):
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


def fit_window(
    important: Iterable[WindowSegment], added: Iterable[WindowSegment]
) -> tuple[list[WindowSegment], list[WindowSegment]]:
    """Return S_imp and S_add as they fit the window, each best first, ties by own similarity, then row.

    Args:
        important: S_imp; the best segment is kept, however long it is.
        added: S_add; important segments are left out of it. LEN of the result exceeds L only if a single important
            segment does (DESIGN I31).
    """

    def distinct_best_first(segments: Iterable[WindowSegment]) -> list[WindowSegment]:
        unique: dict[int, WindowSegment] = {}
        for piece in sorted(segments, key=lambda piece: (-piece.score, -piece.own, piece.row)):
            unique.setdefault(piece.row, piece)
        return list(unique.values())

    kept = distinct_best_first(important)
    while len(kept) > 1 and sum(piece.tokens for piece in kept) > WINDOW:
        kept.pop()
    rows = {piece.row for piece in kept}
    more = [piece for piece in distinct_best_first(added) if piece.row not in rows]
    while more and sum(piece.tokens for piece in (*kept, *more)) > WINDOW:
        more.pop()
    return kept, more
