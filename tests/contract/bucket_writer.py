"""A process that writes messages to a store on object storage, and prints the id of each that is acknowledged."""

import sys

import anyio

sys.path.insert(0, str(__import__("pathlib").Path(__file__).parents[1]))

from batches import DIMENSION, batch

from mcp_memory.errors import StoreBusy
from mcp_memory.storage.place import Place
from mcp_memory.storage.store import LanceStore


async def main(options: str, name: str, count: int) -> None:
    """Write ``count`` messages, each until it is stored."""
    store = LanceStore(Place("s3://bucket/store", options), embedder="fake", dimension=DIMENSION, compact_after=8)
    for number in range(count):
        while True:
            try:
                async with store.writing() as transaction:
                    await transaction.commit(batch(f"{name}-{number}"))
            except StoreBusy:
                continue
            break
        print(f"{name}-{number}", flush=True)
    await store.aclose()


if __name__ == "__main__":
    anyio.run(main, sys.argv[1], sys.argv[2], int(sys.argv[3]))
