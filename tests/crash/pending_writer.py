"""A process that writes without waiting, and indexes meanwhile, until it is killed; it prints what was acknowledged.

Run as ``python pending_writer.py FOLDER NAME``. Every fifth call brings a document of some pages, the others a message.
"""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from fakes import FakeEmbedder

from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.services.background import indexing
from mcp_memory.settings import load
from mcp_memory.wiring import open_store

PAGE = "The keeper of pier {0} counted {0} gulls. He said that Orla Quill moved to Oslo in {0}. Nobody came that day. "


def open_memory(folder: Path | str) -> Memory:
    """Return a memory on a store in a folder, whose vectors cost nothing."""
    settings, embedder, extractor = load(None, {"MCP_MEMORY_STORAGE_URI": str(folder)}), FakeEmbedder(), RuleExtractor()
    memory = Memory(settings, open_store(settings, embedder, extractor), embedder, extractor)
    memory.look_s = 0.05
    return memory


def request(ref: str, number: int) -> WriteRequest:
    """Return a call with one text of this id."""
    if number % 5:
        item = NewItem(f"I am {ref}, and I live in Lisbon since May {1900 + number % 100}.", ref, "Ann")
        return WriteRequest("default", "talk", "message", (item,), wait=False)
    text = "".join(PAGE.format(1800 + place) for place in range(40))
    return WriteRequest("default", "books", "document", (NewItem(f"{ref}. {text}", ref),), wait=False)


async def main(folder: str, name: str) -> None:
    """Write without end."""
    indexing.ROOM = 1_500  # so that documents are indexed in parts
    memory = open_memory(folder)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(memory.work)
        for number in count():
            await memory.write(request(f"{name}-{number}", number))
            sys.stdout.write(f"{name}-{number}\n")
            sys.stdout.flush()
            await anyio.sleep(0.03)


if __name__ == "__main__":
    anyio.run(main, *sys.argv[1:])
