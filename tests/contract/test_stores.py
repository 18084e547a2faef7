"""A store on a disk or on object storage: what was committed is visible to all processes and never changes."""

import random
from dataclasses import replace

import anyio
import numpy as np
import pytest
from anyio.lowlevel import checkpoint
from batches import asserted, batch, derive, turn
from lance_at import commit_to, refs
from remembering import space_in

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import WHOLE
from mcp_memory.domain.times import BEGINNING
from mcp_memory.errors import StoreBusy, StoreMismatch

ODD = (
    "\u202eright to left.\u202c And on.",
    "a\u200bb\ufeffc. \N{WOMAN}\u200d\N{GIRL}!",
    'DROP TABLE turns; -- \'. "x"\\.',
    "x" * 100_000 + ". y",
)


async def test_an_absent_store_reads_as_an_empty_one(open_store):
    store = open_store()
    async with store.reading() as view:
        assert (view.tx, view.spaces) == (0, {})
    assert (await store.about()).tx == 0


async def test_what_was_committed_is_read_back_unchanged(open_store):
    """Turns, pieces, stated times and vectors in their order; text is data, whatever it contains."""
    texts = [replace(turn(f"odd{place}", place=3 + place), text=text) for place, text in enumerate(ODD)]
    for rows in (batch("b", "a", "c"), derive(texts)):
        await commit_to(open_store(), rows)
        space = await space_in(open_store())
        count, pieces, halves = len(rows.turns), len(rows.segments), len(rows.sentences)
        assert tuple(space.turns.values())[-count:] == rows.turns
        assert tuple(space.segments)[-pieces:] == rows.segments
        assert tuple(space.sentences)[-halves:] == rows.sentences
        assert tuple(space.facts.rows)[-len(rows.assertions) :] == rows.assertions
        near = space.segment_vectors.dot(rows.segment_vectors)[:, -pieces:]
        assert (near.diagonal() > 0.9999).all()


async def test_assertions_keep_the_order_of_recording_whoever_made_them(open_store):
    store, other = open_store(), open_store()
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
    await commit_to(store, rows)
    assert await commit_to(other, Batch(assertions=later)) == 2
    told = (*rows.assertions, *later)
    expected = {space: [one for one in told if one.space == space] for space in ("default", "other")}
    for opened in (store, other, open_store()):
        async with opened.reading() as view:
            assert {name: space.facts.rows for name, space in view.spaces.items()} == expected
            assert len(view.space("default").segments) == 1


async def test_a_writer_sees_what_others_wrote_before_it_took_the_lock(open_store):
    """Turns and assertions, so that it does not write the same again; a reader of turns alone sees them as well."""
    one, other = open_store(), open_store()
    await refs(other)
    for ref in ("a", "b"):
        await commit_to(one, batch(ref))
        async with other.writing() as transaction:
            space = transaction.view.space("default")
            assert next(reversed(space.turns)) == turn(ref).id
            assert [row.turn_id for row in space.facts.rows[-2:]] == [turn(ref).id] * 2
        assert (await space_in(other, whole=False)).facts.rows[-2:] == list(batch(ref).assertions)
    async with other.writing() as transaction:
        await transaction.commit(batch("c"))
        assert len(transaction.view.space("default").turns) == 3
    for store in (other, one, open_store()):
        assert (await space_in(store)).facts.rows == [row for ref in "abc" for row in batch(ref).assertions]


async def test_a_writer_may_see_turns_before_their_pieces_and_a_reader_sees_everything(open_store):
    one, other = open_store(), open_store()
    for ref in ("a", "b", "c", "d"):
        store = other if ref == "b" else one
        assert turn(ref).id not in (await space_in(other, whole=False)).turns
        await commit_to(store, batch(ref))
        assert turn(ref).id in (await space_in(other, whole=False)).turns
    expected = batch("a", "b", "c", "d")
    for store in (other, one, open_store()):
        async with store.reading() as view:
            assert [piece.id for piece in view.space("default").segments] == [piece.id for piece in expected.segments]
            assert list(view.space("default").sentences) == list(expected.sentences)
            vectors = view.space("default").sentence_vectors
            assert np.allclose(vectors.take(np.arange(len(vectors))), expected.sentence_vectors, atol=1e-5)


async def test_commits_are_numbered_without_gaps_and_what_is_not_committed_leaves_nothing(open_store):
    store = open_store()
    assert await commit_to(store, Batch()) == 0
    with pytest.raises(LookupError):
        async with store.writing():
            raise LookupError
    assert [await commit_to(store, batch(ref)) for ref in "abc"] == [1, 2, 3]
    assert await commit_to(store, Batch()) == (await store.about()).tx == 3
    assert await refs(store) == await refs(open_store()) == ["a", "b", "c"]


async def test_another_embedder_is_refused_with_the_command_that_helps(open_store):
    """Reading too: the vector of a query would be compared with those of another model."""
    await commit_to(open_store(), batch("a"))
    other = open_store(embedder="other")
    for call in (commit_to(other, batch("b")), refs(other)):
        with pytest.raises(StoreMismatch, match="doctor --rebuild"):
            await call
    assert await refs(open_store()) == ["a"]


async def test_a_write_that_waits_too_long_is_refused_with_a_reason(open_store):
    one, other = open_store(lock_timeout_s=0.05), open_store(lock_timeout_s=0.05)
    await commit_to(one, batch("a"))
    refused = []

    async def try_to(store):
        with pytest.raises(StoreBusy) as error:
            await commit_to(store, batch("b"))
        refused.append(str(error.value))

    async with one.writing(), anyio.create_task_group() as tasks:
        tasks.start_soon(try_to, one)
        tasks.start_soon(try_to, other)
    assert ["Try again" in words for words in refused] == [True, True]
    assert await commit_to(other, batch("b")) == 2


async def test_concurrent_writes_queue_up_and_reads_go_on(open_store):
    stores = [open_store(), open_store()]
    async with anyio.create_task_group() as tasks:
        for number in range(10):
            tasks.start_soon(commit_to, stores[number % 2], batch(f"r{number}"))
            tasks.start_soon(refs, stores[number % 2])
    for store in stores:
        assert sorted(await refs(store)) == sorted(f"r{number}" for number in range(10))


@pytest.mark.parametrize("seed", range(6))
async def test_a_cancelled_write_is_stored_completely_or_not_at_all(open_store, seed):
    """Cancelled after some steps of the event loop, anywhere from the wait for the lock to after the commit."""
    store = open_store()
    await commit_to(store, batch("before"))
    done = anyio.Event()

    async def cancelled():
        try:
            await commit_to(store, batch("a", "b", "c"))
        finally:
            done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(cancelled)
        for _ in range(random.Random(seed).choice([0, 1, 2, 3, 5, 8, 20, 50, 100, 200, 400])):
            await checkpoint()
        tasks.cancel_scope.cancel()
    assert done.is_set()
    there = await refs(store)
    assert there in (["before"], ["before", "a", "b", "c"])
    assert await refs(open_store()) == there
    assert await commit_to(store, batch("after")) == (2 if there == ["before"] else 3)
