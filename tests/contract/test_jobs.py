"""In every store the last job about a text counts, for all processes at once and after restarts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import anyio
import pytest
from batches import batch, turn

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.language_model import Job
from mcp_memory.ports import Store

pytestmark = pytest.mark.anyio

Open = Callable[..., Store]
NOW = 1_800_000_000_000
LEASE_MS = 60_000


def _leased(ref: str, holder: str, at: int = NOW, space: str = "default") -> Job:
    return Job(space, turn(ref, space).id, "leased", 0, 0, at + LEASE_MS, holder, at)


async def _write(store: Store, *jobs: Job, rows: Batch | None = None) -> int:
    async with store.writing() as transaction:
        return await transaction.commit(replace(rows or Batch(), jobs=jobs))


async def _jobs(store: Store, space: str = "default") -> dict[str, Job]:
    async with store.reading(whole=False) as view:
        return view.space(space).jobs


async def _take(store: Store, ref: str, holder: str, now: int) -> bool:
    """Lease a text unless another holder has it, and return whether it was free."""
    async with store.writing() as transaction:
        job = transaction.view.space("default").jobs.get(turn(ref).id)
        if job is not None and not job.free(now):
            return False
        await transaction.commit(Batch(jobs=(_leased(ref, holder, now),)))
        return True


async def test_the_last_revision_of_each_turn_counts_in_its_space(open_store: Open) -> None:
    """Across several commits and within one, in the order in which they were passed."""
    store = open_store()
    a, b, elsewhere = _leased("a", "one"), _leased("b", "one"), _leased("a", "two", space="other")
    waiting = replace(b, state="waiting", tries=1, holder="")
    done = replace(a, state="done", parts=1, until=0, holder="")
    assert await _write(store, a, b, waiting, elsewhere) == 1
    assert await _write(store, done) == 2
    await _write(store, rows=batch("a"))
    for opened in (store, open_store()):
        assert await _jobs(opened) == {done.turn_id: done, waiting.turn_id: waiting}
        assert await _jobs(opened, "other") == {elsewhere.turn_id: elsewhere}
        assert await _jobs(opened, "nowhere") == {}


async def test_a_lease_can_share_its_commit_with_other_rows(open_store: Open) -> None:
    store, job = open_store(), _leased("a", "one")
    await _write(store, job, rows=batch("a"))
    for opened in (store, open_store()):
        async with opened.reading() as view:
            space = view.space("default")
            assert (list(space.turns), space.jobs) == ([turn("a").id], {job.turn_id: job})


async def test_a_lease_of_one_process_is_visible_to_the_other_at_once(open_store: Open) -> None:
    one, other = open_store(), open_store()
    assert await _jobs(other) == {}
    assert await _take(one, "a", "one", NOW)
    assert (await _jobs(other))[turn("a").id].holder == "one"
    assert not await _take(other, "a", "other", NOW)


async def test_of_many_processes_that_lease_a_text_at_once_one_succeeds(open_store: Open) -> None:
    stores = [open_store(), open_store()]
    taken: list[tuple[str, str]] = []

    async def take(store: Store, ref: str, holder: str) -> None:
        if await _take(store, ref, holder, NOW):
            taken.append((ref, holder))

    async with anyio.create_task_group() as tasks:
        for ref in "abc":
            for number in range(6):
                tasks.start_soon(take, stores[number % 2], ref, f"call {number}")
    assert sorted(ref for ref, _ in taken) == ["a", "b", "c"]
    for store in (*stores, open_store()):
        assert {(turn_id, job.holder) for turn_id, job in (await _jobs(store)).items()} == {
            (turn(ref).id, holder) for ref, holder in taken
        }


async def test_a_lease_expires_and_another_process_continues_the_work(open_store: Open) -> None:
    assert await _take(open_store(), "a", "one", NOW)
    other = open_store()
    assert not await _take(other, "a", "other", NOW + LEASE_MS - 1)
    assert await _take(other, "a", "other", NOW + LEASE_MS)
    assert (await _jobs(open_store()))[turn("a").id].holder == "other"


async def test_a_call_cancelled_before_its_commit_leases_nothing(open_store: Open) -> None:
    with anyio.CancelScope() as scope:
        async with open_store().writing() as transaction:
            scope.cancel()
            await transaction.commit(Batch(jobs=(_leased("a", "one"),)))
    assert await _jobs(open_store()) == {}
