"""Several processes on one store, and processes that die."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from batches import DIMENSION
from crash.kill_rounds import WRITER, kill_rounds
from crash.leaser import LEASE_MS
from crash.writer import PRAISED, refs_of

from mcp_memory.domain.language_model import Job
from mcp_memory.storage.store import LanceStore

LEASER = Path(__file__).with_name("leaser.py")
NOW = 1_800_000_000_000


def test_nothing_is_damaged_when_a_writer_is_killed_again_and_again(tmp_path: Path) -> None:
    """Messages, single and in batches, and lessons; each round opens the store of the round before."""
    damage = kill_rounds(tmp_path / "store", rounds=5, seed=7)
    assert damage.acknowledged > 5
    assert (damage.lost, damage.unlearnt, damage.miscounted, damage.halves, damage.refusals) == (0, 0, (), 0, ())


@pytest.mark.parametrize(("processes", "each"), [(2, 40), (4, 15)])
def test_processes_with_ten_calls_in_flight_lose_nothing_and_fail_nowhere(
    tmp_path: Path, processes: int, each: int
) -> None:
    """Two that write much, four that compete for the lock."""
    folder = tmp_path / "store"
    names = [f"p{number}" for number in range(processes)]
    writers = [
        subprocess.Popen([sys.executable, WRITER, folder, name, str(each), "10"], stdout=subprocess.PIPE, text=True)
        for name in names
    ]
    said = [writer.communicate()[0].split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * processes
    assert all(sorted(map(int, lines)) == list(range(each)) for lines in said)

    async def refs() -> set[str]:
        async with LanceStore(str(folder), embedder="fake", dimension=DIMENSION).reading() as view:
            assert view.tx == 2 * each * processes
            beliefs = view.space("default").beliefs
            assert {found.supported for name in PRAISED if (found := beliefs.get(name))} == {each * processes}
            assert len(beliefs.lessons()) == each * processes
            return {turn.ref for turn in view.space("default").turns.values()}

    assert anyio.run(refs) == {ref for name in names for number in range(each) for ref in refs_of(name, number)}


def _leasing(folder: Path, name: str, now: int, texts: int) -> subprocess.Popen[str]:
    command = [sys.executable, LEASER, folder, name, str(now), str(texts)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def _taken(process: subprocess.Popen[str], most: int) -> list[str]:
    """Return what a process leased; it is killed after so many texts, or when none is left."""
    said: list[str] = []
    with process:
        assert process.stdout is not None
        for line in process.stdout:
            said.append(line.strip())
            if len(said) == most or said[-1] == ".":
                process.kill()
    return [name for name in said if name != "."]


def test_no_process_leases_a_text_that_a_killed_process_has_leased(tmp_path: Path) -> None:
    """A committed lease outlives its process, until it expires."""
    folder, texts = tmp_path / "store", 24
    first = _leasing(folder, "first", NOW, texts)
    assert first.stdout is not None
    one = [first.stdout.readline().strip()]
    second = _leasing(folder, "second", NOW, texts)
    one += _taken(first, 5)
    other = _taken(second, texts + 1)
    assert set(one).isdisjoint(other)
    assert len({*one, *other}) == len(one) + len(other)

    async def jobs() -> dict[str, Job]:
        async with LanceStore(str(folder), embedder="fake", dimension=DIMENSION).reading(whole=False) as view:
            return view.space("default").jobs

    leases = anyio.run(jobs)
    held = {turn: job.holder for turn, job in leases.items()}
    assert len(held) == texts
    assert [held[turn] for turn in one] == ["first"] * len(one)
    assert [held[turn] for turn in other] == ["second"] * len(other)
    assert texts - len(one) - len(other) <= 1  # the first may have been killed before it printed its lease
    assert not any(job.free(NOW + LEASE_MS - 1) for job in leases.values())
    assert all(job.free(NOW + LEASE_MS) for job in leases.values())
