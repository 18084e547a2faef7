"""LanceDB's store keeps memory points through dead writers, older programs, bad rows and rebuilds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from batches import DIMENSION, batch, derive, point, pointed, unit_vectors
from lance_at import commit_to, open_at
from rows_checked import row_problems

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.points import Point
from mcp_memory.domain.turns import Turn
from mcp_memory.storage.store import LanceStore
from mcp_memory.vectors import Matrix

pytestmark = pytest.mark.anyio


async def _points(store: LanceStore) -> dict[str, tuple[Point, list[float]]]:
    async with store.reading() as view:
        held = view.space("default").hypergraph
        return {one.id: (one, held.vector(one.id).round(5).tolist()) for one in held.all()}


def _expected(*points: Point, dimension: int = DIMENSION) -> dict[str, tuple[Point, list[float]]]:
    vectors = unit_vectors([one.description for one in points], dimension)
    return {one.id: (one, vector.round(5).tolist()) for one, vector in zip(points, vectors, strict=True)}


async def test_a_rebuild_keeps_the_points_and_makes_new_vectors_with_another_embedder(uri: str) -> None:
    """Also of points written during the rebuild; afterwards points are written as before."""

    async def embed(texts: Sequence[str]) -> Matrix:
        return unit_vectors(texts, 4)

    old, new = open_at(uri), open_at(uri, "new", 4, embed=embed)
    await commit_to(old, replace(batch("a"), **_parts(pointed(point("a")))))
    await commit_to(old, pointed(point("b"), replace(point("a"), revision=1, description="Other words.")))
    meanwhile = iter([pointed(point("c"))])

    async def make(turns: Sequence[Turn]) -> Batch:
        for rows in meanwhile:
            await commit_to(old, rows)
        return derive(turns, 4)

    assert await new.rebuild(make) == 1
    a = replace(point("a"), revision=1, description="Other words.")
    assert await _points(new) == _expected(a, point("b"), point("c"), dimension=4)
    assert await row_problems(new) == []
    await commit_to(new, pointed(point("d"), dimension=4))
    for opened in (new, open_at(uri, "new", 4)):
        assert await _points(opened) == _expected(a, point("b"), point("c"), point("d"), dimension=4)


def _parts(rows: Batch) -> dict[str, object]:
    return {"points": rows.points, "point_vectors": rows.point_vectors}


async def test_after_a_rebuild_without_an_embedder_points_are_similar_to_nothing(uri: str) -> None:
    async def make(turns: Sequence[Turn]) -> Batch:
        return derive(turns)

    await commit_to(open_at(uri), pointed(point("a")))
    await open_at(uri).rebuild(make)
    held = await _points(open_at(uri))
    assert held["h_a"] == (point("a"), np.zeros(DIMENSION).tolist())
