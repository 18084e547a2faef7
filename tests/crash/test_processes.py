"""Several processes on one store, and processes that die."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import anyio
import pytest
from batches import DIMENSION
from crash.kill_rounds import WRITER, kill_rounds
from crash.writer import PRAISED, refs_of

from mcp_memory.storage.store import LanceStore


def test_nothing_comes_to_harm_when_a_writer_is_killed_again_and_again(tmp_path: Path) -> None:
    """Messages, singly and in batches, and lessons; each round opens the store that the one before left."""
    harm = kill_rounds(tmp_path / "store", rounds=5, seed=7)
    assert harm.acknowledged > 5
    assert (harm.lost, harm.unlearnt, harm.miscounted, harm.halves, harm.refusals) == (0, 0, (), 0, ())


@pytest.mark.parametrize(("processes", "each"), [(2, 40), (4, 15)])
def test_processes_with_ten_calls_in_flight_lose_nothing_and_fail_nowhere(
    tmp_path: Path, processes: int, each: int
) -> None:
    """Two that write much, four that crowd each other."""
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
            assert {found.supported for name in PRAISED if (found := beliefs.of(name))} == {each * processes}
            assert len(beliefs.lessons()) == each * processes
            return {turn.ref for turn in view.space("default").turns.values()}

    assert anyio.run(refs) == {ref for name in names for number in range(each) for ref in refs_of(name, number)}
