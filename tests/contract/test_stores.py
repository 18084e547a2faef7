"""Every store, LanceDB and the fake: what was committed is visible to all processes and never changes."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import anyio
import numpy as np
import pytest
from anyio.lowlevel import checkpoint
from batches import asserted, batch, derive, turn, unit_vectors

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import WHOLE
from mcp_memory.domain.times import BEGINNING
from mcp_memory.errors import StoreBusy, StoreMismatch
from mcp_memory.ports import Store
from mcp_memory.view.view import View

pytestmark = pytest.mark.anyio

Open = Callable[..., Store]
"""Opens another store over the same rows, as another process would."""


async def _write(store: Store, rows: Batch) -> int:
    async with store.writing() as transaction:
        return await transaction.commit(rows)


async def _refs(store: Store, space: str = "default") -> list[str]:
    async with store.reading() as view:
        return [one.ref for one in view.space(space).turns.values()]


async def test_an_absent_store_reads_as_an_empty_one(open_store: Open) -> None:
    """Reading creates nothing."""
    store = open_store()
    async with store.reading() as view:
        assert (view.tx, view.spaces) == (0, {})
    assert (await store.about()).tx == 0


async def test_what_was_committed_is_read_back_unchanged(open_store: Open) -> None:
    """Turns, pieces, stated times, assertions and vectors are read as they were written, in their order."""
    rows = batch("b", "a", "c")
    await _write(open_store(), rows)
    async with open_store().reading() as view:
        space = view.space("default")
        assert tuple(space.turns.values()) == rows.turns
        assert tuple(space.segments) == rows.segments
        assert tuple(space.sentences) == rows.sentences
        assert tuple(space.facts.rows) == rows.assertions
        assert space.sentence_vectors is not None
        assert space.segment_vectors is not None
        assert np.allclose(
            space.sentence_vectors.take(np.arange(len(rows.sentences))), rows.sentence_vectors, atol=1e-5
        )
        assert (space.segment_vectors.dot(rows.segment_vectors).diagonal() > 0.9999).all()


async def test_assertions_keep_the_order_of_recording_whoever_made_them(open_store: Open) -> None:
    """Those of the caller and of others mixed, in several commits and spaces, about any turns."""
    store = open_store()
    first, second = turn("a"), turn("b", "other", place=1)
    rows = replace(
        derive([first, second]),
        assertions=(
            asserted(second, 0),
            asserted(first, 0, "caller"),
            asserted(first, 1),
            asserted(second, 1, "caller", since=BEGINNING, until=0, stated=True, intent="EVOLUTION"),
            asserted(first, 2, "caller", sentence=WHOLE, start=0, end=len(first.text), tail="\u202eodd 'tail'"),
            asserted(first, 3, "anthropic", confidence=1.0),
        ),
    )
    later = asserted(first, 4, "caller"), asserted(first, 5)
    await _write(store, rows)
    await _write(store, Batch(assertions=later))
    expected = {
        space: [one for one in (*rows.assertions, *later) if one.space == space] for space in ("default", "other")
    }
    for opened in (store, open_store()):
        async with opened.reading() as view:
            assert {name: space.facts.rows for name, space in view.spaces.items()} == expected


async def test_assertions_about_an_earlier_turn_can_be_a_commit_of_their_own(open_store: Open) -> None:
    """A batch of assertions alone, prepared or not."""
    store, other = open_store(), open_store()
    await _write(store, derive([turn("a")]))
    rows = Batch(assertions=(asserted(turn("a"), 1, "caller"),))
    async with store.writing(rows) as transaction:
        assert await transaction.commit(rows) == 2
    assert await _write(other, Batch(assertions=(asserted(turn("a"), 2, "caller"),))) == 3
    for opened in (store, other, open_store()):
        async with opened.reading() as view:
            assert [one.tail for one in view.space("default").facts.rows] == ["place 0", "place 1", "place 2"]
            assert len(view.space("default").segments) == 1


async def test_assertions_of_other_processes_are_visible_to_writers_and_to_readers_of_turns_alone(
    open_store: Open,
) -> None:
    """A writer decides under the lock whether something is stored already."""
    one, other = open_store(), open_store()
    await _refs(other)
    for ref in ("a", "b"):
        await _write(one, batch(ref))
        async with other.writing() as transaction:
            facts = transaction.view.space("default").facts
            assert [row.turn_id for row in facts.rows[-2:]] == [turn(ref).id] * 2
        async with other.reading(whole=False) as view:
            assert view.space("default").facts.rows[-2:] == list(batch(ref).assertions)
    await _write(other, batch("c"))
    for store in (other, one, open_store()):
        async with store.reading() as view:
            expected = [row for ref in "abc" for row in batch(ref).assertions]
            assert view.space("default").facts.rows == expected


@pytest.mark.parametrize(
    "text",
    [
        "\u202eright to left.\u202c And on.",
        "a\u200bb\ufeffc. \N{WOMAN}\u200d\N{GIRL}!",
        'DROP TABLE turns; -- \'. "x"\\.',
        "x" * 100_000 + ". y",
    ],
)
async def test_odd_texts_are_read_back_unchanged(open_store: Open, text: str) -> None:
    """Text is data: it is stored as it is, whatever it contains."""
    one = turn("odd")
    odd = type(one)(*(text if name == "text" else getattr(one, name) for name in one.__slots__))
    await _write(open_store(), derive([odd]))
    async with open_store().reading() as view:
        assert [kept.text for kept in view.space("default").turns.values()] == [text]


async def test_a_commit_is_visible_to_others_at_their_next_read(open_store: Open) -> None:
    """Two stores over the same rows take turns."""
    one, other = open_store(), open_store()
    assert await _refs(other) == []
    await _write(one, batch("a"))
    assert await _refs(other) == ["a"]
    await _write(other, batch("b", "c"))
    assert await _refs(one) == ["a", "b", "c"]


async def test_a_writer_sees_what_others_wrote_before_it_took_the_lock(open_store: Open) -> None:
    """Otherwise it could write the same thing twice."""
    one, other = open_store(), open_store()
    await _write(one, batch("a"))
    async with other.writing() as transaction:
        assert list(transaction.view.space("default").turns) == [turn("a").id]
        await transaction.commit(batch("b"))
        assert len(transaction.view.space("default").turns) == 2


async def test_a_writer_may_see_turns_before_their_pieces_and_a_reader_sees_everything(open_store: Open) -> None:
    """Rows of another store, own rows after them, and rows of the other again: in the order of the commits."""
    one, other = open_store(), open_store()
    for ref in ("a", "b", "c", "d"):
        store = other if ref == "b" else one
        async with other.reading(whole=False) as view:
            assert turn(ref).id not in view.space("default").turns
        await _write(store, batch(ref))
        async with other.reading(whole=False) as view:
            assert turn(ref).id in view.space("default").turns
    expected = batch("a", "b", "c", "d")
    for store in (other, one, open_store()):
        async with store.reading() as view:
            assert [piece.id for piece in view.space("default").segments] == [piece.id for piece in expected.segments]
            assert list(view.space("default").sentences) == list(expected.sentences)
            vectors = view.space("default").sentence_vectors
            assert vectors is not None
            assert np.allclose(vectors.take(np.arange(len(vectors))), expected.sentence_vectors, atol=1e-5)


async def test_a_prepared_batch_is_not_written_when_another_one_is_committed(open_store: Open) -> None:
    """A service commits another batch when another writer was faster."""
    store = open_store()
    async with store.writing(batch("a", "b")) as transaction:
        await transaction.commit(batch("b"))
    assert await _refs(store) == await _refs(open_store()) == ["b"]


async def test_commits_are_numbered_without_gaps(open_store: Open) -> None:
    """An empty batch commits nothing and returns the last number."""
    store = open_store()
    assert await _write(store, Batch()) == 0
    assert [await _write(store, batch(ref)) for ref in "abc"] == [1, 2, 3]
    assert await _write(store, Batch()) == 3
    assert (await store.about()).tx == 3


async def test_a_writer_that_fails_before_its_commit_leaves_nothing(open_store: Open) -> None:
    """It also releases the lock."""
    store = open_store()
    with pytest.raises(LookupError):
        async with store.writing():
            raise LookupError
    assert await _write(store, batch("a")) == 1


async def test_rows_of_a_space_are_invisible_in_others(open_store: Open) -> None:
    """One batch may contain rows of several spaces; names may contain quotes (DESIGN I39)."""
    store = open_store()
    odd = "o'brien' OR '1'='1"
    await _write(store, derive([turn("a", "left"), turn("a", odd, place=1), turn("b", "left", place=2)]))
    assert (await _refs(store, "left"), await _refs(store, odd), await _refs(store)) == (["a", "b"], ["a"], [])
    for space, refs in (("left", "ab"), (odd, "a"), ("default", "")):
        (near,) = await store.nearest(space, unit_vectors(["anything"]), 10)
        assert {name for name, _ in near} == {derive([turn(ref, space)]).segments[0].id for ref in refs}


async def test_the_nearest_segments_come_first_with_their_cosines(open_store: Open) -> None:
    """Each query gets its own list."""
    store = open_store()
    rows = batch("a", "b", "c")
    await _write(store, rows)
    async with store.reading():
        found = await store.nearest("default", rows.segment_vectors, 2)
    assert [near[0][0] for near in found] == [segment.id for segment in rows.segments]
    assert all(near[0][1] == pytest.approx(1, abs=1e-5) and len(near) == 2 for near in found)


async def test_above_the_limit_vectors_are_mapped_or_not_held(open_store: Open) -> None:
    """Neither when a view grows beyond the limit nor when it is loaded above it."""
    grown = open_store(make_view=lambda: View(vector_limit=3))
    await _write(grown, batch("a"))
    async with grown.reading() as view:
        assert view.space("default").sentence_vectors is not None
    await _write(grown, derive([turn("b"), turn("c", "other", place=1)]))
    loaded = open_store(make_view=lambda: View(vector_limit=3))
    for store in (grown, loaded):
        async with store.reading() as view:
            assert not view.fits
            assert view.maps or [space.sentence_vectors for space in view.spaces.values()] == [None, None]
            assert [len(space.sentences) for space in view.spaces.values()] == [4, 2]


async def test_another_embedder_is_refused_with_the_command_that_helps(open_store: Open) -> None:
    """Reading too: the vector of a query would be compared with those of another model."""
    await _write(open_store(), batch("a"))
    other = open_store(embedder="other")
    with pytest.raises(StoreMismatch, match="doctor --re-embed"):
        await _write(other, batch("b"))
    with pytest.raises(StoreMismatch, match="doctor --re-embed"):
        await _refs(other)
    assert await _refs(open_store()) == ["a"]


async def test_a_write_that_waits_too_long_is_refused_with_a_reason(open_store: Open) -> None:
    """Between two stores, and within one."""
    one, other = open_store(lock_timeout_s=0.05), open_store(lock_timeout_s=0.05)
    await _write(one, batch("a"))
    refused: list[str] = []

    async def write(store: Store) -> None:
        with pytest.raises(StoreBusy) as error:
            await _write(store, batch("b"))
        refused.append(str(error.value))

    async with one.writing(), anyio.create_task_group() as tasks:
        tasks.start_soon(write, one)
        tasks.start_soon(write, other)
    assert len(refused) == 2
    assert all("Try again" in words for words in refused)
    assert await _write(other, batch("b")) == 2


async def test_concurrent_writes_queue_up_and_reads_go_on(open_store: Open) -> None:
    """Ten at once, in two stores."""
    stores = [open_store(), open_store()]
    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(_write, stores[number % 2], batch(f"r{number}"))
            tasks.start_soon(_refs, stores[number % 2])
    for store in stores:
        assert sorted(await _refs(store)) == sorted(f"r{number}" for number in range(10))


@pytest.mark.parametrize("seed", range(20))
async def test_a_cancelled_write_is_stored_completely_or_not_at_all(open_store: Open, seed: int) -> None:
    """Cancelled after some steps of the event loop, anywhere from the wait for the lock to after the commit."""
    store = open_store()
    await _write(store, batch("before"))
    done = anyio.Event()

    async def write() -> None:
        try:
            await _write(store, batch("a", "b", "c"))
        finally:
            done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        for _ in range(random.Random(seed).choice([0, 1, 2, 3, 5, 8, 20, 50, 100, 200, 400])):
            await checkpoint()
        tasks.cancel_scope.cancel()
    assert done.is_set()
    there = await _refs(store)
    assert there in (["before"], ["before", "a", "b", "c"])
    assert await _refs(open_store()) == there
    assert await _write(store, batch("after")) == (2 if there == ["before"] else 3)
