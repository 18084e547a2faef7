"""Memory points as evidence: where one says what no text alone says, it leads the texts that it rests on (DESIGN 3.2).

A point becomes an item of evidence where two things hold:

- it rests on at least two of the texts that were found, so that it joins them and brings in nothing that was not found;
- its description, with the names of what it joins, covers more of the question's content, its words weighed by rarity,
  than any one of the texts that were found.

Then it stands where the best of its texts stood, with at most three of them as its sources, the best first: they are
shown with it and not a second time. What a text leads already, such as a fact, it keeps. Each text is a source of one
point only, the one that is likest to the question.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import stems
from mcp_memory.search.candidates import Candidate
from mcp_memory.search.words import WordIndex
from mcp_memory.view.evidence import SOURCES
from mcp_memory.view.space import Space

LEAST = 2
"""Texts that a point joins."""
SLIGHT = 1e-6
"""A sum in another order is no more."""


@dataclass(frozen=True, slots=True)
class Joined:
    """Texts that a memory point joins.

    Attributes:
        point: active.
        hits: those that it rests on, best first: at least `LEAST`, at most `SOURCES`, each of another turn or, of
            documents, another segment.
    """

    point: Point
    hits: tuple[Candidate, ...]


def joined(
    space: Space, question: Query, hits: Sequence[Candidate], points: Sequence[Point], taken: Collection[int] = ()
) -> dict[int, Joined]:
    """Return the points that say more than any one text that was found, by the row of the best text of each.

    Args:
        space: of a view that is held still.
        question: understood with the speakers of the space.
        hits: best first, a message once.
        points: active, that bear on the question, the likest first.
        taken: rows of texts that something else leads.
    """
    found: dict[int, Joined] = {}
    if not points or len(hits) < LEAST:
        return found
    rarity = _rarity(space, question)
    if not rarity:
        return found
    index, rows = space.index(WordIndex), np.array([hit.row for hit in hits], dtype=np.intp)
    said = np.array([index.contains(rows, stem) for stem in rarity])
    alone = float((np.array(list(rarity.values())) @ said).max())
    left = {hit.row: hit for hit in hits if hit.row not in taken}
    for point in points:
        pieces = [piece for name in point.sentences if (piece := space.sentence(name)) is not None]
        rests = {row for piece in pieces for row in space.segments_with(piece.turn_id, piece.index)}
        here = [hit for row, hit in left.items() if row in rests][:SOURCES]
        if len(here) >= LEAST and _covered(rarity, point) > alone + SLIGHT:
            found[here[0].row] = Joined(point, tuple(here))
            for hit in here:
                del left[hit.row]
    return found


def _rarity(space: Space, question: Query) -> Mapping[str, float]:
    """Return what each stem of a question weighs, without those of the speakers whom it names."""
    names = {stem for who in question.speakers for stem in stems(who)}
    index = space.index(WordIndex)
    return {stem: index.rarity(stem) for stem in question.stems if stem not in names}


def _covered(rarity: Mapping[str, float], point: Point) -> float:
    """Return how much of a question a point covers, by its description and the names of what it joins."""
    said = set(stems(" ".join((point.description, *point.entities))))
    return sum(weight for stem, weight in rarity.items() if stem in said)
