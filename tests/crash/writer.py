"""A process that writes and learns in a store until it is done or killed, and prints what was acknowledged.

Run as ``python writer.py FOLDER NAME [TRANSACTIONS [IN_FLIGHT]]``. Every third transaction has twenty messages, the
others one; a message's ref says which transaction it belongs to and how many messages that has: ``NAME-7-3of20``.
After each of them comes a lesson, of the same name and number, in a transaction of its own; all lessons label the same
sentences as supporting, so the beliefs about these count the lessons that were learnt.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from batches import DIMENSION, batch, belief, lesson

from mcp_memory.domain.batch import Batch
from mcp_memory.storage.store import LanceStore

PRAISED = "s_one", "s_two", "s_three"
PATIENCE_S = 600.0  # whether all of it gets written is tested, not how fast: other tests may run beside it


def refs_of(name: str, number: int) -> list[str]:
    """Return the refs of one transaction's messages."""
    size = 20 if number % 3 == 0 else 1
    return [f"{name}-{number}-{place}of{size}" for place in range(size)]


async def main(folder: str, name: str, transactions: int = 0, in_flight: int = 1) -> None:
    """Write so many transactions, or without end if 0, and acknowledge each."""
    store = LanceStore(folder, embedder="fake", dimension=DIMENSION, lock_timeout_s=PATIENCE_S, compact_after=16)
    numbers = iter(range(transactions)) if transactions else itertools.count()
    async with anyio.create_task_group() as tasks:
        for _ in range(in_flight):
            tasks.start_soon(_write, store, name, numbers)
    await store.aclose()


async def _write(store: LanceStore, name: str, numbers: Iterator[int]) -> None:
    for number in numbers:
        async with store.writing() as transaction:
            await transaction.commit(batch(*refs_of(name, number)))
        async with store.writing() as transaction:
            beliefs = transaction.view.space("default").beliefs
            before = [beliefs.get(sentence) for sentence in PRAISED]
            counts = [1 + (one.supported if one else 0) for one in before]
            after = tuple(belief(sentence, count) for sentence, count in zip(PRAISED, counts, strict=True))
            learnt = lesson(f"{name}-{number}", dict.fromkeys(PRAISED, 1))
            await transaction.commit(Batch(lessons=(learnt,), beliefs=after))
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    place, title, *numbers = sys.argv[1:]
    anyio.run(main, place, title, *map(int, numbers))
