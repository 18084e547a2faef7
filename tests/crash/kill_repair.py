"""Kill the repair of a damaged store at random moments, again and again, and then let it finish.

Run as ``python tests/crash/kill_repair.py --rounds 9``. Each round takes the next of `DAMAGES`, damages a store of
1,000 messages, and kills the process three times on it. What must hold once a repair got through: all that was there is
there, unless the journal or the copy of the log was damaged as well; then all that a whole version of a damaged table
held, and all that a repair that nobody kills takes back. The store is as sound as after that, and takes a write.
"""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from crash.command import run
from damaged_store import Item, commit_to, contents, copy, damage, derive, make_store, open_store, turn

from mcp_memory.storage.copies import LOG_COPY
from mcp_memory.storage.data_files import FAILURES, no_panics
from mcp_memory.storage.journal import JOURNAL
from mcp_memory.storage.tables import Tables

PROCESS = Path(__file__).with_name("repairing_process.py")
MESSAGES = 1000
DAMAGES: Sequence[Sequence[tuple[str, str]]] = (
    (("commits.lance/_versions/*.manifest", "deleted"),),
    (("commits.lance/data/*", "zeroed"),),
    (("commits.lance/_versions/*.manifest", "flipped inside"), ("turns.lance/data/*", "halved")),
    (("turns.lance/data/*", "deleted"), (LOG_COPY, "deleted")),
    (("turns.lance/data/*", "flipped inside"), (LOG_COPY, "deleted")),
    (
        ("turns.lance/_versions/*.manifest", "emptied"),
        ("facts.lance/_versions/*.manifest", "zeroed"),
        (LOG_COPY, "emptied"),
    ),
    (("points.lance/data/*", "deleted"), ("episodes.lance/_versions/*.manifest", "halved"), (LOG_COPY, "halved")),
    ((JOURNAL, "flipped inside"), ("anchor-?.json", "deleted"), ("aliases.lance/data/*", "zeroed")),
    (("turns.lance/data/*", "emptied"), ("sentences_0.lance/data/*", "deleted"), ("sums.txt", "deleted")),
)
"""What is done to the newest file that each pattern finds."""


@dataclass
class Damage:
    """The damage that the rounds caused.

    Attributes:
        kills: how many met the repair, and how many the rebuild after it.
        lost: what should be there and is not, by round.
        faults: what the thorough check found, and errors.
    """

    kills: tuple[int, int] = (0, 0)
    lost: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)

    @property
    def none(self) -> bool:
        """Whether there is no damage."""
        return not (self.lost or self.faults)


def kill_rounds(folder: Path, rounds: int, seed: int, messages: int = MESSAGES) -> Damage:
    """Damage a store, kill its repair three times and let it finish, ``rounds`` times; return the damage."""
    dice = random.Random(seed)
    found = Damage()
    original, damaged = folder / "original", folder / "damaged"
    anyio.run(lambda: make_store(original, "compacted", commits=10, size=messages // 10))
    whole = anyio.run(_held, original)
    for number in range(rounds):
        changes = DAMAGES[(seed + number) % len(DAMAGES)]
        copy(original, damaged)
        for pattern, way in changes:
            damage(max(damaged.glob(pattern), key=lambda path: path.stat().st_mtime_ns), way)
        versions = set() if "flipped" in str(changes) else _whole_versions(damaged)
        copy(damaged, folder / "unharmed")
        took_s = [float(line.split()[1]) for line in _repair(folder / "unharmed")[1:]]
        expected = anyio.run(_held, folder / "unharmed")
        known = anyio.run(_written_and_checked, folder / "unharmed")
        if not any(pattern in (LOG_COPY, JOURNAL) for pattern, _ in changes):
            expected = whole
        for end_s in (took_s[0], *took_s):
            said = len(_repair(damaged, dice.uniform(0, end_s)))
            found.kills = found.kills[0] + (said < 2), found.kills[1] + (said == 2)
        _repair(damaged)
        try:
            gone = expected - anyio.run(_held, damaged)
            gone |= {("turn", name) for name in versions - {item[2] for item in anyio.run(_held, damaged)}}
            found.lost += [f"round {number}: {item}" for item in gone]
            faults = anyio.run(_written_and_checked, damaged)
            found.faults += [f"round {number}: {text}" for text in faults if text not in known]
        except Exception as error:
            found.faults.append(f"round {number}: {error!r}")
    return found


def _repair(folder: Path, kill_after_s: float | None = None) -> list[str]:
    """Start a repair, kill it a moment after it has begun if that is given, and return what it said."""
    with subprocess.Popen([sys.executable, str(PROCESS), str(folder)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        said = [process.stdout.readline()]
        killer = threading.Timer(kill_after_s, process.kill) if kill_after_s is not None else None
        if killer:
            killer.start()
        said += process.stdout.readlines()  # until it is dead
        if killer:
            killer.join()
    return said


def _whole_versions(folder: Path) -> set[object]:
    """Return the ids of all messages in those versions of their table whose files can all be read."""
    tables, found = Tables(str(folder)), set()
    for version in range(1, 30):
        table = tables.earlier("turns", version)
        try:
            with no_panics():
                found |= {*table.search().select(["id"]).to_arrow()["id"].to_pylist()} if table is not None else set()
        except FAILURES:
            continue
    return found


async def _held(folder: Path) -> frozenset[Item]:
    store = open_store(folder)
    async with store.reading() as view:
        held = contents(view)
    await store.aclose()
    return held


async def _written_and_checked(folder: Path) -> list[str]:
    store = open_store(folder)
    await commit_to(store, derive([turn("after")]))
    faults = [finding.text for finding in await store.check() if finding.severity == "error"]
    faults += (await store.about()).problems
    await store.aclose()
    return faults


if __name__ == "__main__":
    run(kill_rounds, __doc__)
