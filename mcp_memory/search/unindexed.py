"""Texts that are stored and not embedded yet take part in recall by their words."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from mcp_memory.search.channels import TYPICAL_COSINE
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Space


def estimate_cosines(space: Space, stems: Collection[str], cosines: Matrix) -> Matrix:
    """Return the cosines of a query with the segments, those without a vector estimated by the words they share.

    A cosine of 0 would say that such a segment is about something else, and outweigh its words. So the segment with the
    highest BM25 gets the best cosine of those that have a vector, and another one its share of it.

    Args:
        space: of the segments.
        stems: of the query.
        cosines: shape ``(n, len(space.segments))``; changed in place.
    """
    missing = [
        row
        for name, indexes in space.unindexed.items()
        for row in space.segments_with(name, -1)
        if space.segments[row].index in indexes
    ]
    if not missing or not len(cosines):
        return cosines
    rows = np.array(missing, dtype=np.intp)
    index = space.index(WordIndex)
    words = np.zeros(len(space.segments), dtype=np.float32)
    for talk in (True, False):
        scores = index.score(space, stems, talk=talk, neighbours=False)
        words = np.maximum(words, scores / (scores.max() or 1.0)) if len(scores) else words
    others = np.delete(cosines, rows, axis=1)
    best = others.max(axis=1, initial=0.0)
    best[best <= 0] = TYPICAL_COSINE
    cosines[:, rows] = best[:, None] * words[rows]
    return cosines
