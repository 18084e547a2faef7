"""Every store keeps the revisions of memory points; the last one counts, and merges resolve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from batches import DIMENSION, batch, merged, point, pointed

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.points import Point
from mcp_memory.ports import Store

pytestmark = pytest.mark.anyio

Open = Callable[..., Store]


async def _write(store: Store, rows: Batch) -> int:
    async with store.writing() as transaction:
        return await transaction.commit(rows)


async def _points(store: Store, space: str = "default") -> list[Point]:
    async with store.reading() as view:
        return view.space(space).hypergraph.all()


async def test_points_are_read_back_unchanged_with_their_vectors(open_store: Open) -> None:
    """With every field filled, with every optional field empty, and with odd words."""
    odd = replace(point("odd"), entities=("O'Neill", '"C++"', "\N{WOMAN}\u200d\N{GIRL}"), scope="why, 'so'?")
    full = replace(point("full"), parents=("h_1", "h_2"), sentences=("s_1", "s_2"), facts=("f_1",))
    rows = pointed(odd, full, replace(point("gone"), status="merged", merged_into="h_full"))
    store = open_store()
    await _write(store, replace(batch("a"), points=rows.points, point_vectors=rows.point_vectors))
    for opened in (store, open_store()):
        assert await _points(opened) == list(rows.points)
        async with opened.reading() as view:
            held = view.space("default").hypergraph
            for one, vector in zip(rows.points, rows.point_vectors, strict=True):
                assert np.array_equal(held.vector(one.id), vector)


async def test_the_last_revision_counts_whoever_wrote_it(open_store: Open) -> None:
    """Across several commits and within one; earlier revisions can still be read."""
    one, other = open_store(), open_store()
    first = point("a")
    second, third, fourth = (replace(first, revision=n, description=f"words {n}") for n in (1, 2, 3))
    await _write(one, pointed(first))
    assert await _points(other) == [first]
    await _write(other, pointed(second))
    await _write(one, pointed(third, point("b"), fourth))
    for store in (one, other, open_store()):
        assert await _points(store) == [fourth, point("b")]
        async with store.reading(whole=False) as view:
            assert list(view.space("default").hypergraph.revisions(first.id)) == [first, second, third, fourth]


async def test_a_merged_point_stays_and_resolves_to_the_point_it_was_merged_into(open_store: Open) -> None:
    """Through several merges, in any order of reading (DESIGN I13)."""
    store = open_store()
    a, b, c = point("a"), point("b", ("Bob", "Cy")), point("c", ("Cy", "Di"))
    await _write(store, pointed(a, b, c))
    ab = merged("ab", a, b)
    await _write(store, pointed(*ab))
    await _write(store, pointed(*merged("abc", ab[0], c)))
    for opened in (store, open_store()):
        async with opened.reading() as view:
            held = view.space("default").hypergraph
            assert {held.resolve(one.id).id for one in (a, b, c, ab[0])} == {"h_abc"}  # type: ignore[union-attr]
            assert [one.id for one in held.active()] == ["h_abc"]
            assert len(held) == 5
            assert held.resolve("h_none") is None


async def test_points_are_read_with_turns_whose_pieces_are_read_later(open_store: Open) -> None:
    """A writer that has not read the newest sentences adds its own point at once, and the sentences later."""
    one, other = open_store(), open_store()
    await _write(one, batch("a"))
    async with other.writing() as transaction:
        await transaction.commit(pointed(point("a")))
        assert [held.id for held in transaction.view.space("default").hypergraph.active()] == ["h_a"]
    async with other.reading() as view:
        assert len(view.space("default").sentences) == 2
        assert view.space("default").hypergraph.vector("h_a").shape == (DIMENSION,)
