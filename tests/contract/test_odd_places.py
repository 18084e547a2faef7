"""Clocks that are wrong, copies of a store that is written to, places without locks, and rights that come and go."""

import errno
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import anyio
import filelock
import pytest
from anyio import to_thread
from batches import batch
from lance_at import NOW, commit_to, open_at
from rows_checked import row_problems

from mcp_memory.errors import StoreUnwritable
from mcp_memory.storage.store import LanceStore

pytestmark = pytest.mark.anyio
DAY_MS = 24 * 60 * 60 * 1000


async def refs(store: LanceStore) -> list[str]:
    async with store.reading() as view:
        return [turn.ref for turn in view.space("default").turns.values()]


async def test_a_clock_that_goes_back_and_two_that_differ_lose_and_reorder_nothing(tmp_path: Path) -> None:
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


async def test_a_copy_of_a_store_that_is_written_to_is_whole_or_says_what_it_lacks(tmp_path: Path) -> None:
    store, done = open_at(str(tmp_path / "store")), threading.Event()
    await commit_to(store, batch("first"))

    async def write() -> None:
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


async def test_a_place_without_locks_is_read_and_not_written_to(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = open_at(str(tmp_path / "store"))
    await commit_to(store, batch("a"))
    await store.aclose()

    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(filelock.FileLock, "_acquire", refuse)
    store = open_at(str(tmp_path / "store"))
    assert await refs(store) == ["a"]
    with pytest.raises(StoreUnwritable, match=r"no lock file can be made there.*local folder"):
        await commit_to(store, batch("b"))
    monkeypatch.undo()
    await commit_to(store, batch("b"))
    assert await refs(store) == ["a", "b"]


CHANGING = """
import json, os, sys, anyio
from pathlib import Path
sys.path[:0] = {path}
from batches import batch
from lance_at import commit_to, open_at
from mcp_memory.errors import StoreUnwritable

async def write(store, ref):
    try:
        await commit_to(store, batch(ref))
    except StoreUnwritable as error:
        return str(error)

async def refs(store):
    async with store.reading() as view:
        return [turn.ref for turn in view.space("default").turns.values()]

def allow(place, yes):
    for path in [place, *sorted(place.rglob("*"))]:
        if path.is_dir():
            path.chmod(0o700 if yes else 0o500)

async def main(folder):
    warm = open_at(folder + "-of-its-own")
    await write(warm, "a"), await refs(warm)
    place = Path(folder)
    if os.getuid() == 0:  # everything is imported by now, since only root may be able to read it
        os.setuid(65534)
    store = open_at(folder)
    said = [await write(store, "a")]
    allow(place, False)
    said += [await write(store, "b"), await refs(store)]
    allow(place, True)
    said += [await write(store, "c"), await refs(store), store.damage]
    print(json.dumps(said))

anyio.run(main, sys.argv[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs another user's rights, or not to be root")
def test_a_folder_that_may_only_be_read_for_a_while_is_written_to_again() -> None:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place, "store")
        folder.mkdir()
        Path(place).chmod(0o755)
        if os.getuid() == 0:
            os.chown(folder, 65534, 65534)
        paths = [str(Path(__file__).parent), str(Path(__file__).parents[1])]
        done = subprocess.run(
            [sys.executable, "-c", CHANGING.format(path=paths), folder], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
    first, refused, found, later, left, damage = json.loads(done.stdout)
    assert (first, found, later, left, damage) == (None, ["a"], None, ["a", "c"], [])
    assert "storage.uri" in refused
