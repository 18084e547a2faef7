"""Measure what noticing damage costs: opening a store, and writing to it, with the checks and without them.

Run as ``python tests/soak/check_times.py FOLDER``, where a store of 100,000 sentences is made first if there is none.
Both kinds take turns in one process, so a machine that becomes slower or faster meets both.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import anyio

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "contract"))

from batches import derive, turn
from lance_at import commit_to, open_at

from mcp_memory.domain.batch import Batch
from mcp_memory.storage import refresh, transaction
from mcp_memory.storage.copies import LogCopy
from mcp_memory.storage.data_files import Sums
from mcp_memory.storage.store import LanceStore

MESSAGES, AT_ONCE = 50_000, 1_000
DIMENSION = 384
OPENED, WRITTEN = 9, 60
"""How often each is measured."""


@contextmanager
def without_checks() -> Iterator[None]:
    """Neither compare nor note anything in the body."""
    with ExitStack() as stack:
        for owner, name, value in (
            (Sums, "wrong", {}), (Sums, "note", None), (LogCopy, "append", None), (refresh, "read_anchor", None),
            (refresh, "short_tables", {}), (refresh, "commits_lost", None),
            (transaction, "damage_of", []), (transaction, "write_anchor", None),
        ):  # fmt: skip
            stack.enter_context(patch.object(owner, name, lambda *_, value=value: value))
        yield


def opened(folder: Path) -> LanceStore:
    """Return the store as a new process opens it."""
    return open_at(str(folder), dimension=DIMENSION, compact_after=1 << 30)


async def make(folder: Path) -> None:
    """Write the store."""
    store = open_at(str(folder), dimension=DIMENSION)
    for start in range(0, MESSAGES, AT_ONCE):
        await commit_to(store, derive([turn(f"m{start + place}") for place in range(AT_ONCE)], DIMENSION))
    await store.aclose()
    store._compaction.stop(600)


@dataclass
class Lap:
    """Milliseconds that something took each time, and those of the processor, which other processes do not stretch."""

    ms: list[float] = field(default_factory=list)
    cpu_ms: list[float] = field(default_factory=list)

    @contextmanager
    def timed(self) -> Iterator[None]:
        """Measure the body."""
        began, used = time.perf_counter(), time.process_time()
        yield
        self.ms.append(1e3 * (time.perf_counter() - began))
        self.cpu_ms.append(1e3 * (time.process_time() - used))


async def open_once(folder: Path, lap: Lap) -> None:
    """Open the store until everything can be recalled."""
    store = opened(folder)
    with lap.timed():
        async with store.reading():
            pass
    assert not store.damage
    await store.aclose()


def told(what: str, checked: Lap, unchecked: Lap) -> str:
    """Return the least times and the medians in words, with the checks and without."""
    parts = []
    for of in (min, statistics.median):
        for ours, theirs, unit in ((checked.ms, unchecked.ms, "ms"), (checked.cpu_ms, unchecked.cpu_ms, "ms of CPU")):
            one, other = of(ours), of(theirs)
            parts.append(f"{one:,.1f} / {other:,.1f} {unit} ({one - other:+.1f}, {100 * (one / other - 1):+.1f} %)")
    return f"{what}: least {parts[0]}, {parts[1]}; median {parts[2]}, {parts[3]}\n"


async def main(folder: Path) -> None:
    """Print the figures."""
    checked, unchecked = Lap(), Lap()
    await open_once(folder, Lap())  # which imports what is not yet imported
    for _ in range(OPENED):
        await open_once(folder, checked)
        with without_checks():
            await open_once(folder, unchecked)
    sys.stdout.write(told("opening", checked, unchecked))
    store = opened(folder)
    await commit_to(store, derive([turn(f"first{time.time()}")], DIMENSION))
    for what, size in (("a text acknowledged", 1), ("a text with its sentences", 1), ("50 with their sentences", 50)):
        checked, unchecked = Lap(), Lap()
        for number in range(WRITTEN):
            for lap in (checked, unchecked):
                rows = derive([turn(f"{what}{number}{place}{time.time()}") for place in range(size)], DIMENSION)
                rows = rows if "sentences" in what else Batch(rows.turns)
                with without_checks() if lap is unchecked else nullcontext(), lap.timed():
                    await commit_to(store, rows)
        sys.stdout.write(told(what, checked, unchecked))
    await store.aclose()


if __name__ == "__main__":
    place = Path(sys.argv[1])
    if not place.exists():
        anyio.run(make, place)
    anyio.run(main, place)
