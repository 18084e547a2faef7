"""A process that rebuilds a store several times; a rebuild that gave up counts as one.

Run as ``python rebuilding_process.py FOLDER TIMES``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from batches import DIMENSION, derive
from crash.forgetting_process import embed

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import StoreBusy
from mcp_memory.storage.store import LanceStore


async def main(folder: str, times: int) -> None:
    """Rebuild one time after the other."""
    store = LanceStore(folder, embedder="fake", dimension=DIMENSION, embed=embed)  # type: ignore[arg-type]
    for _ in range(times):
        try:
            await store.rebuild(_make)
        except StoreBusy as error:
            sys.stdout.write(f"{error}\n")
    await store.aclose()


async def _make(turns: list[Turn]) -> Batch:
    return derive(turns)


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], int(sys.argv[2]))
