"""The graph that the navigators walk for one question, and the window that their segments must fit (QRMeM §2.1, §2.2).

**Graph.** Nodes are entities. QRMeM (§2.1) has a language model write, for each pair of entities of a segment, one
paragraph on how they are related, an *open relation*. Here the stored text says it: an edge is the sentences that state
a fact of the two, or, if no fact joins them, the sentences that name both. An edge is as near to a question as the
nearest of its sentences, whose vectors exist already; so no text is written or embedded to build the graph (DESIGN D23:
it is built on write, for no question in particular).

**Window** (Algorithm 1, lines 16 to 20). S_mix = S_imp ∪ S_add: the important segments, those of the question's
entities, and the segments that reflection added. If they are longer than L together, the lowest-scored of S_add are
dropped. The important ones alone may exceed L, for which the paper has no rule (DESIGN D22): they are then dropped
likewise, by their similarity to the question, down to one.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.language.tokens import count_tokens
from mcp_memory.vectors import Scores
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import NONE, Space

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

    def background(self) -> tuple[float, float]:
        """Return mean and standard deviation of the similarity of sentences, over an even sample of the space."""
        count = len(self.space.sentences)
        sample = np.unique(np.linspace(0, count - 1, min(count, _SAMPLE)).astype(np.intp))
        weights = self.weigh(sample) if count else np.zeros(1, dtype=np.float32)
        return float(weights.mean()), float(weights.std())

    def threshold(self, deviations: float) -> float:
        """Return the similarity so many deviations above the background, at most `_HIGH`."""
        mean, deviation = self.background()
        return min(_HIGH, mean + deviations * deviation)

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
        rows = (self._row(assertion) for assertion in version.assertions[-_STATED:])
        return [row for row in rows if row != NONE]

    def _row(self, assertion: Assertion) -> int:
        return self.space.sentence_row(
            assertion.turn_id, max(assertion.sentence, 0)
        )  # a fact of a whole turn counts for its first sentence

    def _pieces(self, rows: set[int], score: float | None) -> list[WindowSegment]:
        """Return the segments that hold some sentences, with their scores; those without any weight are left out."""
        own: dict[int, float] = {}
        ordered = sorted(rows)
        for row, weight in zip(ordered, self._weights(ordered), strict=True):
            sentence = self.space.sentences[row]
            for segment in self.space.segments_with(sentence.turn_id, sentence.index):
                if weight > 0:
                    own[segment] = max(weight, own.get(segment, 0.0))
        segments = self.space.segments
        return [
            WindowSegment(
                row,
                max(1, count_tokens(self.space.text(segments[row]))),
                own_score if score is None else score,
                own_score,
            )
            for row, own_score in sorted(own.items())
        ]

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
    kept = _distinct_best_first(important)
    while len(kept) > 1 and _tokens(kept) > limit:
        kept.pop()
    rows = {piece.row for piece in kept}
    more = [piece for piece in _distinct_best_first(added) if piece.row not in rows]
    while more and _tokens(kept) + _tokens(more) > limit:
        more.pop()
    return tuple(kept), tuple(more)


def _distinct_best_first(segments: Iterable[WindowSegment]) -> list[WindowSegment]:
    unique: dict[int, WindowSegment] = {}
    for piece in sorted(segments, key=lambda piece: (-piece.score, -piece.own, piece.row)):
        unique.setdefault(piece.row, piece)
    return list(unique.values())


def _tokens(segments: Iterable[WindowSegment]) -> int:
    return sum(piece.tokens for piece in segments)
