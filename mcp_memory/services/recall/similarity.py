"""How near each segment is to what is asked: from the vectors that the view holds, else from the store."""

from __future__ import annotations

import numpy as np

from mcp_memory.ports import Store
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import NONE, Space

NEAREST = 200
"""Segments that the store names for a question where the view holds no vectors."""


async def cosines(store: Store, space: Space, vectors: Matrix) -> Matrix:
    """Return the cosine of each query with each segment; where no vectors are held, of the nearest ones only."""
    if space.segment_vectors is not None:
        return space.segment_vectors.dot(vectors)
    likeness = np.zeros((len(vectors), len(space.segments)), dtype=np.float32)
    if not space.segments:
        return likeness
    for query, found in enumerate(await store.nearest(space.name, vectors, NEAREST)):
        for segment, cosine in found:
            if (row := space.segment_row(segment)) != NONE:  # else a bad row, which the view has left out
                likeness[query, row] = cosine
    return likeness
