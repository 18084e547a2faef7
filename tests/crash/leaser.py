"""A process that leases one text after the other until it is killed, and prints the ones it got.

Run as ``python leaser.py FOLDER NAME NOW TEXTS``: there are so many texts, ``t_0``, ``t_1``, … When none is left that
it may lease at the fixed time ``NOW``, it prints ``.`` and waits to be killed.
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from batches import DIMENSION

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.language_model import Job
from mcp_memory.storage.store import LanceStore

LEASE_MS = 60_000


async def main(folder: str, name: str, now: int, texts: int) -> None:
    """Lease until nothing is left, and acknowledge each."""
    store = LanceStore(folder, embedder="fake", dimension=DIMENSION, compact_after=16)
    while taken := await _take(store, name, now, texts):
        _say(taken)
    _say(".")
    await anyio.sleep_forever()


async def _take(store: LanceStore, name: str, now: int, texts: int) -> str | None:
    async with store.writing() as transaction:
        jobs = transaction.view.space("default").jobs
        for turn in (f"t_{number}" for number in range(texts)):
            if turn not in jobs or jobs[turn].free(now):
                job = Job("default", turn, "leased", 0, 0, now + LEASE_MS, name, now)
                await transaction.commit(Batch(jobs=(job,)))
                return turn
    return None


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    place, title, moment, count = sys.argv[1:]
    anyio.run(main, place, title, int(moment), int(count))
