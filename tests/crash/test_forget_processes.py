"""Processes that forget: killed in the middle, and beside others that write."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from batches import DIMENSION, batch
from crash.forgetting_process import word
from crash.kill_forget import PROCESS, kill_rounds
from crash.writer import refs_of
from rows_checked import row_problems
from store_contents import holding

from mcp_memory.storage.store import LanceStore

WRITER = PROCESS.with_name("writer.py")
REBUILDER = PROCESS.with_name("rebuilding_process.py")


def test_nothing_is_half_forgotten_when_a_process_is_killed_while_it_forgets(tmp_path: Path) -> None:
    """Each round opens the store of the round before."""
    damage = kill_rounds(tmp_path / "store", rounds=4, seed=5)
    assert damage.interrupted
    assert damage.forgotten
    assert (damage.found, damage.halves, damage.lost, damage.faults) == ([], [], [], [])


@pytest.mark.parametrize("writers", [1])
def test_two_processes_that_forget_and_one_that_writes_lose_nothing(tmp_path: Path, writers: int) -> None:
    """Two that forget other texts, and a writer with ten calls in flight."""
    folder = tmp_path / "store"

    async def fill() -> None:
        store = LanceStore(str(folder), embedder="fake", dimension=DIMENSION)
        for numbers in (range(4), range(100, 104), range(200, 202)):
            async with store.writing() as transaction:
                await transaction.commit(batch(*map(word, numbers)))
        await store.aclose()

    anyio.run(fill)
    commands = [[str(PROCESS), str(folder), first] for first in ("0", "100")]
    commands += [[str(WRITER), str(folder), f"w{number}", "12", "4"] for number in range(writers)]
    processes = [subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE) for command in commands]
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0] * len(processes)
    gone = [word(number) for number in (*range(4), *range(100, 104))]
    kept = {word(200), word(201)} | {
        ref for name in range(writers) for n in range(12) for ref in refs_of(f"w{name}", n)
    }

    async def look() -> tuple[set[str], list[str]]:
        store = LanceStore(str(folder), embedder="fake", dimension=DIMENSION)
        async with store.reading() as view:
            refs = {one.ref for one in view.space("default").turns.values()}
        return refs, await row_problems(store)

    assert anyio.run(look) == (kept, [])
    assert holding(folder, gone) == set()


def test_a_process_that_forgets_and_one_that_rebuilds_leave_nothing_and_lose_nothing(tmp_path: Path) -> None:
    """Neither the tables nor the backups that were made before a rebuild hold what went, whoever was first."""
    folder = tmp_path / "store"

    async def fill() -> None:
        store = LanceStore(str(folder), embedder="fake", dimension=DIMENSION)
        for numbers in (range(4), range(200, 204)):
            async with store.writing() as transaction:
                await transaction.commit(batch(*map(word, numbers)))
        await store.aclose()

    anyio.run(fill)
    gone, kept = list(map(word, range(4))), set(map(word, range(200, 204)))
    assert holding(folder, gone) == set(gone)
    commands = [[str(PROCESS), str(folder), "0"], [str(REBUILDER), str(folder), "6"]]
    processes = [subprocess.Popen([sys.executable, *command], stdout=subprocess.PIPE) for command in commands]
    for process in processes:
        process.communicate()
    assert [process.returncode for process in processes] == [0, 0]

    async def look() -> tuple[set[str], list[str]]:
        store = LanceStore(str(folder), embedder="fake", dimension=DIMENSION)
        async with store.reading() as view:
            refs = {one.ref for one in view.space("default").turns.values()}
        return refs, await row_problems(store)

    assert anyio.run(look) == (kept, [])
    assert holding(folder, [*gone, *kept]) == kept
