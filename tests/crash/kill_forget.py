"""Kill a process that forgets at random moments, many times over one store, and check that nothing is half forgotten.

Run as ``python tests/crash/kill_forget.py --rounds 30``. What must hold after each round: what was acknowledged is in
no file, decoded or raw; the text at which the process died is wholly there or wholly gone; every other text is there,
with its pieces, facts, lesson and point; and the store is sound.
"""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from dataclasses import dataclass, field, replace
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from batches import DIMENSION, batch, belief, lesson, point, pointed
from crash.command import run
from crash.forgetting_process import embed, word
from rows_checked import row_problems
from store_contents import holding

from mcp_memory.domain.batch import Batch
from mcp_memory.storage.store import LanceStore

PROCESS = Path(__file__).with_name("forgetting_process.py")
TEXTS = 400


@dataclass
class Damage:
    """The damage that the rounds caused.

    Attributes:
        forgotten: texts that were forgotten in all.
        interrupted: rounds in which the process died while it forgot.
        found: words that a file still holds although their text is gone.
        halves: texts of which only a part is there.
        lost: texts that are gone although nobody forgot them.
        faults: what the thorough check found, and errors.
    """

    forgotten: int = 0
    interrupted: int = 0
    found: list[str] = field(default_factory=list)
    halves: list[str] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def none(self) -> bool:
        """Whether there is no damage."""
        return not (self.found or self.halves or self.lost or self.faults)


def kill_rounds(folder: Path, rounds: int, seed: int) -> Damage:
    """Fill a store; start a process that forgets and kill it, ``rounds`` times; return the damage."""
    dice = random.Random(seed)
    damage = Damage()
    anyio.run(_fill, folder)
    if missing := {word(number) for number in range(TEXTS)} - holding(folder, map(word, range(TEXTS))):
        damage.faults.append(f"the search does not find {missing}, so it shows nothing")
    first = 0
    for _ in range(rounds):
        said = _forget_and_kill(folder, first, dice.randrange(3), dice.uniform(0, 0.5))
        begun = [int(line.split()[1]) for line in said if line.startswith("begin")]
        done = [int(line.split()[1]) for line in said if line.startswith("done")]
        damage.interrupted += len(begun) > len(done)
        before = max(done, default=first - 1) + 1
        first = anyio.run(_look, folder, before, begun, damage)
    damage.forgotten = first
    return damage


async def _fill(folder: Path) -> None:
    store = LanceStore(str(folder), embedder="fake", dimension=DIMENSION)
    refs = [word(number) for number in range(TEXTS)]
    async with store.writing() as transaction:
        await transaction.commit(batch(*refs))
    taught = [(ref, batch(ref).sentences[0].id) for ref in refs]
    lessons = tuple(lesson(ref, {name: 1}) for ref, name in taught)
    async with store.writing() as transaction:
        await transaction.commit(Batch(lessons=lessons, beliefs=tuple(belief(name) for _, name in taught)))
    points = [replace(point(ref), sentences=(name,), description=f"Of {ref}.") for ref, name in taught]
    async with store.writing() as transaction:
        await transaction.commit(pointed(*points))
    await store.aclose()


def _forget_and_kill(folder: Path, first: int, after: int, then_s: float) -> list[str]:
    """Start a process, kill it a moment after it has begun another forget, and return what it said."""
    command = [sys.executable, str(PROCESS), str(folder), str(first)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline() for _ in range(2 * after + 1)]
        killer = threading.Timer(then_s, process.kill)
        killer.start()
        said += process.stdout.readlines()  # until it is dead
        killer.join()
    return [line for line in said if line.endswith("\n")]


async def _look(folder: Path, before: int, begun: list[int], damage: Damage) -> int:
    """Open the store as the next process does, note the damage, and return the number of the first text that is left.

    Args:
        folder: of the store.
        before: of the first text whose forget was not acknowledged.
        begun: the texts whose forget was begun.
        damage: what is found is added here.
    """
    store = LanceStore(str(folder), embedder="fake", dimension=DIMENSION, embed=embed)  # type: ignore[arg-type]
    async with store.reading() as view:
        space = view.space("default")
        there = {one.ref for one in space.turns.values()}
        sentences = {piece.turn_id for piece in space.sentences}
        facts = {row.turn_id for row in space.facts.rows}
        names = {one.id: one.ref for one in space.turns.values()}
        parts = [
            {names.get(turn_id, turn_id) for turn_id in sentences},
            {names.get(turn_id, turn_id) for turn_id in facts},
            {one.episode_id.removeprefix("ep_") for one in space.beliefs.lessons()},
            {one.id.removeprefix("h_") for one in space.hypergraph.all()},
        ]
    first = before + (before in begun and word(before) not in there)
    expected = {word(number) for number in range(first, TEXTS)}
    damage.lost += sorted(expected - there)
    damage.halves += sorted({name for part in parts for name in part ^ there})
    damage.found += sorted(holding(folder, [word(number) for number in range(first)]))
    damage.faults += await row_problems(store)
    await store.aclose()
    return first


if __name__ == "__main__":
    run(kill_rounds, __doc__)
