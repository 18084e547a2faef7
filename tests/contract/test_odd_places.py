"""Clocks that are wrong, copies of a store that is written to, places without locks, and rights that come and go."""

import errno
import shutil
import threading

import anyio
import filelock
import pytest
from anyio import to_thread
from batches import batch
from lance_at import NOW, commit_to, open_at, refs
from rows_checked import row_problems

from mcp_memory.errors import StoreUnwritable

DAY_MS = 24 * 60 * 60 * 1000


async def test_a_clock_that_goes_back_and_two_that_differ_lose_and_reorder_nothing(tmp_path):
    now = [NOW]
    first = open_at(str(tmp_path / "store"), clock=lambda: now[0])
    second = open_at(str(tmp_path / "store"), clock=lambda: NOW - 3 * DAY_MS)  # of another machine
    for number in range(3):
        await commit_to(first, batch(f"a{number}"))
        await commit_to(second, batch(f"b{number}"))
        now[0] -= 400 * DAY_MS
    expected = ["a0", "b0", "a1", "b1", "a2", "b2"]
    assert await refs(first) == await refs(second) == await refs(open_at(str(tmp_path / "store"))) == expected
    assert first.damage == second.damage == ()
    assert await row_problems(first) == []


async def test_a_copy_of_a_store_that_is_written_to_is_whole_or_says_what_it_lacks(tmp_path):
    store, done = open_at(str(tmp_path / "store")), threading.Event()
    await commit_to(store, batch("first"))

    async def write():
        for number in range(12):
            await commit_to(store, batch(f"m{number}"))
        done.set()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(write)
        for number in range(200):
            copy = tmp_path / f"copy{number}"
            with_missing = shutil.ignore_patterns("*.lock")
            try:
                await to_thread.run_sync(lambda: shutil.copytree(tmp_path / "store", copy, ignore=with_missing))  # noqa: B023
            except shutil.Error:  # a file went while it was copied
                continue
            copied = open_at(str(copy))
            found = await refs(copied)
            assert found == ["first", *(f"m{number}" for number in range(len(found) - 1))]
            if not copied.damage:
                await commit_to(copied, batch("new"))
                assert len(await refs(copied)) == len(found) + 1
            await copied.aclose()
            if done.is_set():
                break
    assert len(await refs(store)) == 13


async def test_a_place_without_locks_is_read_and_not_written_to(tmp_path, monkeypatch):
    store = open_at(str(tmp_path / "store"))
    await commit_to(store, batch("a"))
    await store.aclose()

    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(filelock.FileLock, "_acquire", refuse)
    store = open_at(str(tmp_path / "store"))
    assert await refs(store) == ["a"]
    with pytest.raises(StoreUnwritable, match=r"no lock file can be made there.*local folder"):
        await commit_to(store, batch("b"))
    monkeypatch.undo()
    await commit_to(store, batch("b"))
    assert await refs(store) == ["a", "b"]
