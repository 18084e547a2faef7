"""The graph that navigation walks for one question: entities, what joins two of them, and the segments of each.

QRMeM (§2.1) has a language model write, for each pair of entities of a segment, one paragraph on how they are related,
an *open relation*. Here that is said by whoever said it: an edge is the sentences that state a fact of the two, and
where no fact joins them, the sentences that name both. So an edge is as near to a question as the nearest of its
sentences, whose vectors are there already, and no text is written or embedded to build the graph (DESIGN D23: it is
built on write, for no question in particular).

The window: what fits together into what a reader takes in at once (QRMeM, Algorithm 1, lines 16 to 20).

S_mix = S_imp ∪ S_add: the important segments, those of the question's entities, and the ones that reflection added.
Where they are longer than L together, the lowest-scored of S_add go. The important ones may exceed L by themselves, for
which the paper has nothing (DESIGN D22): they are then cut likewise, by how like the question they are, down to one.
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
"""How like the question sentences are, by their rows, at least 0; 0 for what may not be found (`ports.Step.weigh`)."""

_STATED = 16
"""Assertions of one fact that are looked at, the newest."""
_SAMPLE = 256
"""Sentences that tell how like the question any sentence is."""
_ALIKE = 0.5
"""Likeness that is high in any space; one of a few sentences has no background to stand out from."""


@dataclass(frozen=True, slots=True)
class Edge:
    """What joins an entity to a neighbour.

    Attributes:
        start: key of the entity.
        end: key of the neighbour.
        row: of the sentence nearest to the question among those that join them.
        score: how near that is, above 0.
    """

    start: str
    end: str
    row: int
    score: float


class Graph:
    """What lies around entities for one question; each is looked at once.

    An entity goes by the key that `view.facts.Facts` has for it, else by that of `EntityIndex`.

    Args:
        space: of a view that is held still; its view keeps an `EntityIndex`.
        weigh: the question.
        hub: sentences or facts of an entity above which no edge leads to it, for from there it goes everywhere.
        looked: sentences of one entity, and facts, that are looked at, the newest: a hub may have any number.
    """

    def __init__(self, space: Space, weigh: Weigh, *, hub: int = 30, looked: int = 2_000) -> None:
        self.space = space
        self.weigh = weigh
        self._index = space.index(EntityIndex)
        self._hub = hub
        self._looked = looked
        self._edges: dict[str, tuple[Edge, ...]] = {}
        self._degrees: dict[str, int] = {}

    def find(self, name: str) -> str | None:
        """Return the key of the entity that a name means, or None where nothing names it and no fact is about it."""
        known = self.space.facts.resolve(name)
        if known is not None:
            return known
        number = self._index.find(name)
        return None if number is None else self._index.key(number)

    def name(self, key: str) -> str:
        """Return how an entity is written, as far as facts tell; else as its newest sentence has it."""
        name = self.space.facts.name(key)
        rows = self.naming(key)
        if name != key or not rows:
            return name
        numbers = set(self._numbers(key))
        written = self._index.spelling(self.space, rows[-1])
        return next((spelling for number, spelling in written.items() if number in numbers), key)

    def degree(self, key: str) -> int:
        """Return how many sentences name an entity, or facts are about it, whichever is more."""
        if key not in self._degrees:
            naming = sum(self._index.degree(number) for number in self._numbers(key))
            self._degrees[key] = max(naming, self.space.facts.degree(key))
        return self._degrees[key]

    def hub(self, key: str) -> bool:
        """Return whether an entity is one to which no edge leads."""
        return self.degree(key) > self._hub

    def naming(self, key: str) -> list[int]:
        """Return the rows of the sentences that name an entity, ascending: the newest of a hub."""
        rows = {row for number in self._numbers(key) for row in self._index.sentences(number)[-self._looked :].tolist()}
        return sorted(rows)[-self._looked :]

    def named(self, row: int) -> list[str]:
        """Return the keys of the entities that a sentence names, each once, in its order."""
        return list(dict.fromkeys(self.key(number) for number in self._index.entities(row)))

    def edges(self, key: str) -> Iterator[Edge]:
        """Yield the edges of an entity to its first-order neighbours, one to each, nearest to the question first.

        None leads to a hub, and none is there that is not like the question at all.
        """
        if key not in self._edges:
            joining = self._joining(key)
            rows = sorted({row for said in joining.values() for row in said})
            weights = dict(zip(rows, self._weights(rows), strict=True))
            best = ((end, max(said, key=lambda row: (weights[row], -row))) for end, said in joining.items())
            found = [Edge(key, end, row, weights[row]) for end, row in best if weights[row] > 0]
            self._edges[key] = tuple(sorted(found, key=lambda edge: (-edge.score, edge.end)))
        return (edge for edge in self._edges[key] if not self.hub(edge.end))

    def pieces(self, key: str, score: float | None = None) -> list[Piece]:
        """Return the segments of an entity: those that name it, and those that state a fact of it.

        Args:
            key: of the entity.
            score: that all of them get; None for each its own.

        Returns:
            The segments that may be found, in order of their rows; each has as its own likeness that of its nearest
            sentence among these.
        """
        stating = (row for version, _ in self._versions(key) for row in self._stating(version))
        return self._pieces({*self.naming(key), *stating}, score)

    def gained(self, key: str, score: float | None, there: Container[int], most: int) -> list[Piece]:
        """Return the segments that an entity adds to those whose rows are ``there``: at most so many, nearest first."""
        new = [piece for piece in self.pieces(key, score) if piece.row not in there]
        return sorted(new, key=lambda piece: (-piece.own, piece.row))[:most]

    def standing(self, sentences: Iterable[int]) -> list[Piece]:
        """Return the segments in which some of these sentences stand, each with its own likeness as its score."""
        return self._pieces(set(sentences), None)

    def usual(self) -> tuple[float, float]:
        """Return mean and standard deviation of the likeness of sentences of the space, over an even sample."""
        count = len(self.space.sentences)
        sample = np.unique(np.linspace(0, count - 1, min(count, _SAMPLE)).astype(np.intp))
        weights = self.weigh(sample) if count else np.zeros(1, dtype=np.float32)
        return float(weights.mean()), float(weights.std())

    def threshold(self, deviations: float) -> float:
        """Return the likeness so many deviations above the background; never more than what is high anywhere."""
        mean, deviation = self.usual()
        return min(_ALIKE, mean + deviations * deviation)

    def _joining(self, key: str) -> dict[str, set[int]]:
        """Return the rows of the sentences that join an entity to each of its neighbours."""
        joining: dict[str, set[int]] = {}
        for version, end in self._versions(key):
            if end != key and (rows := self._stating(version)):
                joining.setdefault(end, set()).update(rows)
        known = frozenset(joining)
        for row in self.naming(key):
            for end in self.named(row):
                if end != key and end not in known:
                    joining.setdefault(end, set()).add(row)
        return joining

    def _versions(self, key: str) -> list[tuple[Version, str]]:
        facts = self.space.facts
        out = ((version, facts.end(version, forward=True)) for version in facts.from_(key))
        into = ((version, facts.key(version.head)) for version in facts.to(key))
        return [*islice(out, self._looked), *islice(into, self._looked)]

    def _stating(self, version: Version) -> list[int]:
        rows = (self._row(said) for said in version.assertions[-_STATED:])
        return [row for row in rows if row != NONE]

    def _row(self, said: Assertion) -> int:
        return self.space.sentence_row(said.turn_id, max(said.sentence, 0))  # of a whole turn its first sentence

    def _pieces(self, rows: set[int], score: float | None) -> list[Piece]:
        own: dict[int, float] = {}
        ordered = sorted(rows)
        for row, weight in zip(ordered, self._weights(ordered), strict=True):
            sentence = self.space.sentences[row]
            for segment in self.space.segments_with(sentence.turn_id, sentence.index):
                if weight > 0:
                    own[segment] = max(weight, own.get(segment, 0.0))
        segments = self.space.segments
        return [
            Piece(row, max(1, count_tokens(self.space.text(segments[row]))), like if score is None else score, like)
            for row, like in sorted(own.items())
        ]

    def _weights(self, rows: list[int]) -> list[float]:
        weights: list[float] = self.weigh(np.array(rows, dtype=np.intp)).tolist() if rows else []
        return weights

    def key(self, number: int) -> str:
        """Return the key of an entity by its number in the `EntityIndex`."""
        key = self._index.key(number)
        return self.space.facts.bearer(key) or key

    def _numbers(self, key: str) -> list[int]:
        names = dict.fromkeys((key, *self.space.facts.names(key)))
        found = (self._index.find(name) for name in names)
        return list(dict.fromkeys(number for number in found if number is not None))


@dataclass(frozen=True, slots=True)
class Piece:
    """A segment in the window.

    Attributes:
        row: of the segment.
        tokens: LEN, above 0.
        score: of the edge that led to it; of an important one its own likeness to the question. Higher is better.
        own: its own likeness to the question, which tells those with one score apart.
    """

    row: int
    tokens: int
    score: float
    own: float = 0.0


@dataclass(frozen=True, slots=True)
class Reached:
    """What a navigator comes to.

    Attributes:
        entities: keys of those that it added, in the order of the adding.
        important: S_imp, as it fits the window, nearest to the question first.
        added: S_add, likewise, best score first.
    """

    entities: tuple[str, ...]
    important: tuple[Piece, ...]
    added: tuple[Piece, ...]


def fitting(
    important: Iterable[Piece], added: Iterable[Piece], limit: int
) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Return S_imp and S_add as they fit, each best first, ties by own likeness, then row.

    Args:
        important: S_imp; if there is any, the best is kept, however long it is.
        added: S_add; what is important too is not added.
        limit: L, in tokens; LEN of what is returned is at most that, but for one important piece that is longer (DESIGN
            I31).
    """
    first = _best(important)
    while len(first) > 1 and _tokens(first) > limit:
        first.pop()
    held = {piece.row for piece in first}
    then = [piece for piece in _best(added) if piece.row not in held]
    while then and _tokens(first) + _tokens(then) > limit:
        then.pop()
    return tuple(first), tuple(then)


def _best(pieces: Iterable[Piece]) -> list[Piece]:
    unique: dict[int, Piece] = {}
    for piece in sorted(pieces, key=lambda piece: (-piece.score, -piece.own, piece.row)):
        unique.setdefault(piece.row, piece)
    return list(unique.values())


def _tokens(pieces: Iterable[Piece]) -> int:
    return sum(piece.tokens for piece in pieces)
