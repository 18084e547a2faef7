"""A process that forgets one text and goes on to the next, until it is killed, and prints each before and after.

Run as ``python forgetting_process.py FOLDER FIRST``: it forgets the texts ``word<FIRST>``, ``word<FIRST + 1>``, … of
the store; ``begin word7`` stands before the call, ``done word7`` after it.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from batches import DIMENSION, turn, unit_vectors

from mcp_memory.domain.forgetting import ForgetTargets
from mcp_memory.storage.store import LanceStore
from mcp_memory.vectors import Matrix


def word(number: int) -> str:
    """Return the word of a text, which no other text has."""
    return f"heron{number:04}"


async def embed(texts: list[str]) -> Matrix:
    """Return vectors of texts."""
    return unit_vectors(texts)


async def main(folder: str, first: int) -> None:
    """Forget one text after the other."""
    store = LanceStore(folder, embedder="fake", dimension=DIMENSION, embed=embed)  # type: ignore[arg-type]
    for number in itertools.count(first):
        name = turn(word(number)).id
        async with store.reading() as view:
            if name not in view.space("default").turns:
                break
        _say(f"begin {number}")
        await store.forget(lambda _, name=name: ForgetTargets("default", turns=frozenset([name])), "a test")  # type: ignore[misc]
        _say(f"done {number}")
    await store.aclose()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], int(sys.argv[2]))
