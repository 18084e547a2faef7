"""Processes that work on a store until they are done or killed, and print a line for each thing that is acknowledged.

``python worker.py VERB FOLDER ...``, by the functions below: ``write FOLDER NAME [TRANSACTIONS [IN_FLIGHT]]``, ``forget
FOLDER FIRST``, ``rebuild FOLDER TIMES``, ``index FOLDER NAME``.
"""

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from batches import DIMENSION, batch, belief, derive, erasing, lesson, turn, unit_vectors
from fakes import FakeEmbedder

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.requests import ForgetTargets, NewItem, WriteRequest
from mcp_memory.errors import StoreBusy
from mcp_memory.memory import Memory
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.services import indexing
from mcp_memory.settings import load
from mcp_memory.storage.store import LanceStore
from mcp_memory.wiring import open_store

PRAISED = "s_one", "s_two", "s_three"
PATIENCE_S = 600.0  # whether all of it gets written is tested, not how fast: other tests may run beside it
PAGE = "The keeper of pier {0} counted {0} gulls. He said that Orla Quill moved to Oslo in {0}. Nobody came that day. "


def opened(folder: str | Path, **settings: Any) -> LanceStore:
    """Return a store whose vectors cost nothing."""

    async def embed(texts: list[str]) -> Any:
        return unit_vectors(texts)

    return LanceStore(str(folder), embedder="fake", dimension=DIMENSION, embed=embed, **settings)


def say(line: object) -> None:
    """Acknowledge something."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def refs_of(name: str, number: int) -> list[str]:
    """Return the refs of one transaction's messages, which say how many it has: every third one has twenty."""
    size = 20 if number % 3 == 0 else 1
    return [f"{name}-{number}-{place}of{size}" for place in range(size)]


async def write(folder: str, name: str, transactions: str = "0", in_flight: str = "1") -> None:
    """Write so many transactions, or without end if 0; after each a lesson of the same number in one of its own.

    All lessons praise the same sentences, so the beliefs about these count the lessons that were learnt.
    """
    store = opened(folder, lock_timeout_s=PATIENCE_S, compact_after=16)
    numbers = iter(range(int(transactions))) if int(transactions) else itertools.count()
    async with anyio.create_task_group() as tasks:
        for _ in range(int(in_flight)):
            tasks.start_soon(_write, store, name, numbers)
    await store.aclose()


async def _write(store: LanceStore, name: str, numbers: Iterator[int]) -> None:
    for number in numbers:
        async with store.writing() as transaction:
            await transaction.commit(batch(*refs_of(name, number)))
        async with store.writing() as transaction:
            known = transaction.view.space("default").beliefs
            counts = {one: 1 + (held.supported if (held := known.get(one)) else 0) for one in PRAISED}
            learnt = lesson(f"{name}-{number}", dict.fromkeys(PRAISED, 1))
            beliefs = tuple(belief(sentence, count) for sentence, count in counts.items())
            await transaction.commit(Batch(lessons=(learnt,), beliefs=beliefs))
        say(number)


def word(number: int | str) -> str:
    """Return the word of a text, which no other text has."""
    return f"heron{int(number):04}"


async def forget(folder: str, first: str) -> None:
    """Forget the texts of `word` from this number on; "begin 7" stands before the call, "done 7" after it."""
    store = opened(folder)
    for number in itertools.count(int(first)):
        name = turn(word(number)).id
        async with store.reading() as view:
            if name not in view.space("default").turns:
                break
        say(f"begin {number}")
        await store.forget(erasing(ForgetTargets("default", turns=frozenset([name]))))
        say(f"done {number}")
    await store.aclose()


async def rebuild(folder: str, times: str) -> None:
    """Rebuild one time after the other; a rebuild that gave up counts as one."""

    async def make(turns: Any) -> Batch:
        return derive(turns)

    store = opened(folder)
    for _ in range(int(times)):
        try:
            await store.rebuild(make)
        except StoreBusy as error:
            say(error)
    await store.aclose()


def open_memory(folder: str | Path) -> Memory:
    """Return a memory that indexes in the background, whose vectors cost nothing."""
    settings, embedder, extractor = load(None, {"MCP_MEMORY_STORAGE_URI": str(folder)}), FakeEmbedder(), RuleExtractor()
    return Memory(settings, open_store(settings, embedder, extractor), embedder, extractor)


async def index(folder: str, name: str) -> None:
    """Write without waiting and index meanwhile; every fifth call brings a document of some pages."""
    indexing.STEP_CHARS = 1_500  # so that documents are indexed in parts
    memory = open_memory(folder)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(memory.work)
        for number in itertools.count():
            ref, kind, text = f"{name}-{number}", "message", f"I live in Lisbon since May {1900 + number % 100}."
            if number % 5 == 0:
                kind, text = "document", "".join(PAGE.format(1800 + place) for place in range(40))
            item = NewItem(f"{ref}. {text}", ref)
            await memory.write(WriteRequest("default", kind, kind, (item,), wait=False))
            say(ref)
            await anyio.sleep(0.03)


if __name__ == "__main__":
    verbs = {"write": write, "forget": forget, "rebuild": rebuild, "index": index}
    anyio.run(verbs[sys.argv[1]], *sys.argv[2:])
