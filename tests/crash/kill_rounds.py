"""Kill processes that write and learn at random moments, many times over one store, and check for damage.

Run as ``python tests/crash/kill_rounds.py --rounds 30 --writers 4``; the writers of one round write at once. What must
hold: every acknowledged transaction is stored, every transaction is stored completely or not at all, every lesson was
learnt once, and the store opens every time. The test suite runs five rounds.
"""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from batches import DIMENSION
from crash.command import run
from crash.writer import PRAISED, refs_of
from rows_checked import row_problems

from mcp_memory.storage.store import LanceStore

WRITER = Path(__file__).with_name("writer.py")


@dataclass(frozen=True, slots=True)
class Damage:
    """The damage that the rounds caused.

    Attributes:
        acknowledged: transactions that a writer acknowledged.
        lost: how many of these are missing.
        unlearnt: how many of their lessons are missing.
        miscounted: the count in a belief and the number of lessons about its sentence, where they differ.
        halves: transactions stored in part.
        refusals: errors of the store when it was opened or checked.
    """

    acknowledged: int
    lost: int
    unlearnt: int
    miscounted: tuple[tuple[int, int], ...]
    halves: int
    refusals: tuple[str, ...]

    @property
    def none(self) -> bool:
        """Whether there is no damage."""
        return not (self.lost or self.unlearnt or self.miscounted or self.halves or self.refusals)


def kill_rounds(folder: Path, rounds: int, seed: int, writers: int = 1) -> Damage:
    """Start some writers and kill each, ``rounds`` times, and return the damage."""
    dice = random.Random(seed)
    acknowledged: list[str] = []
    refusals: list[str] = []
    present: Counter[str] = Counter()
    learnt: set[str] = set()
    miscounted: list[tuple[int, int]] = []
    for number in range(rounds):
        names = [f"r{number}w{writer}" for writer in range(writers)]
        moments = [(dice.randrange(12), dice.uniform(0, 0.04)) for _ in names]
        with ThreadPoolExecutor(writers) as threads:
            said = list(threads.map(partial(_write_and_kill, folder), names, *zip(*moments, strict=True)))
        acknowledged += [
            ref for name, lines in zip(names, said, strict=True) for line in lines for ref in refs_of(name, int(line))
        ]
        try:
            present = anyio.run(_refs, folder)
            learnt, differing = anyio.run(_learnt, folder)
            miscounted += differing
        except Exception as error:
            refusals.append(f"round {number}: {error!r}")
    refusals += anyio.run(_errors, folder)
    sizes: Counter[str] = Counter(ref.rpartition("-")[0] for ref in present)
    halves = [ref for ref in present if sizes[ref.rpartition("-")[0]] != int(ref.rpartition("of")[2])]
    return Damage(
        acknowledged=len({ref.rpartition("-")[0] for ref in acknowledged}),
        lost=len({ref.rpartition("-")[0] for ref in acknowledged if ref not in present}),
        unlearnt=len({f"ep_{ref.rpartition('-')[0]}" for ref in acknowledged} - learnt),
        miscounted=tuple(miscounted),
        halves=len({ref.rpartition("-")[0] for ref in halves}),
        refusals=tuple(refusals),
    )


def _write_and_kill(folder: Path, name: str, after: int, then_s: float) -> list[str]:
    """Start a writer, kill it a moment after it has acknowledged some writes, and return what it acknowledged."""
    with subprocess.Popen([sys.executable, WRITER, folder, name], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(after)]
        killer = threading.Timer(then_s, process.kill)
        killer.start()
        said += process.stdout.readlines()  # until it is dead
        killer.join()
    return [line for line in said if line.endswith("\n")]


def _open(folder: Path) -> LanceStore:
    return LanceStore(str(folder), embedder="fake", dimension=DIMENSION)


async def _refs(folder: Path) -> Counter[str]:
    store = _open(folder)
    async with store.reading() as view:
        refs = Counter(turn.ref for turn in view.space("default").turns.values())
    await store.aclose()
    return refs


async def _learnt(folder: Path) -> tuple[set[str], list[tuple[int, int]]]:
    """Return the ids of the episodes with lessons, and the beliefs that do not match them."""
    store = _open(folder)
    async with store.reading() as view:
        beliefs = view.space("default").beliefs
        lessons = [one.episode_id for one in beliefs.lessons()]
        counts = [(found.supported if (found := beliefs.get(name)) else 0, len(lessons)) for name in PRAISED]
    await store.aclose()
    return set(lessons), [pair for pair in counts if pair[0] != pair[1]]


async def _errors(folder: Path) -> list[str]:
    made_up = "beliefs: of no stored sentence"
    found = await row_problems(_open(folder))
    return [text for text in found if not text.startswith(made_up)]


if __name__ == "__main__":
    run(kill_rounds, __doc__, writers=1)
