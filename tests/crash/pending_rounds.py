"""Kill processes that write and index at random moments, many times over one store; then let one index what is left.

Run as ``python tests/crash/pending_rounds.py --rounds 30``. What must hold: every acknowledged text is stored, nothing
is stored twice, and all of it is indexed without anybody asking for it.
"""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from crash.command import run
from crash.pending_writer import open_memory
from rows_checked import row_problems

from mcp_memory.storage.store import LanceStore

STALL_S = 120.0
"""Within which one more text is indexed, on a machine that is very busy."""
WRITER = Path(__file__).with_name("pending_writer.py")


@dataclass(frozen=True, slots=True)
class Pending:
    """What the rounds left.

    Attributes:
        acknowledged: texts that a writer acknowledged.
        lost: how many of these are missing.
        left: texts that were not indexed when the last writer was dead, and had to be.
        twice: segments, sentences and assertions that are stored more than once.
        faults: what the check of the store says when everything is indexed.
    """

    acknowledged: int
    lost: int
    left: int
    twice: int
    faults: tuple[str, ...]

    @property
    def none(self) -> bool:
        """Whether there is no damage."""
        return not (self.lost or self.twice or self.faults)


def pending_rounds(folder: Path, rounds: int, seed: int) -> Pending:
    """Start two writers and kill them, ``rounds`` times, and return what that did."""
    dice = random.Random(seed)
    acknowledged: list[str] = []
    for number in range(rounds):
        names = [f"r{number}{letter}" for letter in "ab"]
        writers = [subprocess.Popen([sys.executable, WRITER, folder, name], stdout=subprocess.PIPE) for name in names]
        for writer in writers:
            assert writer.stdout is not None
            acknowledged += [writer.stdout.readline().decode().strip()]
        killers = [threading.Timer(dice.uniform(0, 1.5), writer.kill) for writer in writers]
        for killer in killers:
            killer.start()
        for writer in writers:
            said = writer.communicate()[0].decode()
            acknowledged += [line.strip() for line in said.splitlines(keepends=True) if line.endswith("\n")]
        for killer in killers:
            killer.join()
    return anyio.run(_finish, folder, acknowledged)


async def _finish(folder: Path, acknowledged: list[str]) -> Pending:
    """Run one more process, which nobody calls, until everything is indexed."""
    memory = open_memory(folder)
    with anyio.fail_after(STALL_S) as stall:
        async with anyio.create_task_group() as tasks:
            async with memory.store.reading() as view:
                left = sum(len(space.unindexed) for space in view.spaces.values())
            tasks.start_soon(memory.work)
            found = left
            while found:
                await anyio.sleep(0.05)
                before = found
                async with memory.store.reading() as view:
                    found = sum(len(space.unindexed) for space in view.spaces.values())
                if found < before:
                    stall.deadline = anyio.current_time() + STALL_S
            tasks.cancel_scope.cancel()
    assert isinstance(memory.store, LanceStore)
    faults = tuple(await row_problems(memory.store))
    async with memory.store.reading() as view:
        space = view.space("default")
        refs = {turn.ref for turn in space.turns.values()}
        ids = Counter([one.id for one in space.segments] + [one.id for one in space.sentences])
    tables = memory.store._tables
    rows = {name: tables.rows(name, None, ["id"])["id"].to_pylist() for name in tables.names() if _has_ids(name)}
    twice = sum(len(of_one) - len(set(of_one)) for of_one in rows.values())
    await memory.aclose()
    lost = len(set(acknowledged) - refs)
    return Pending(len(acknowledged), lost, left, twice + sum(number - 1 for number in ids.values()), faults)


def _has_ids(table: str) -> bool:
    return table.split("_")[0] in ("segments", "sentences", "assertions")


if __name__ == "__main__":
    run(pending_rounds, __doc__)
