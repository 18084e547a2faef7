"""Measure how long it takes to forget one message, and a session, in stores of several sizes.

Run as ``python tests/soak/forget_times.py --sentences 1000 10000 100000``. A message has one sentence, a session forty
messages; every fifth message has a fact of its caller, some teach. The vectors have the size of real ones and cost
nothing, so what is measured is the forgetting and not the model.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).parent.parent))

from fakes import FakeEmbedder
from soak.forget_rounds import PEOPLE, PLACES, TALK, THINGS, mark

from mcp_memory.domain.forgetting import ForgetRequest
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, Feedback, NewFact, NewItem, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.services.background.indexing import Indexing
from mcp_memory.settings import load
from mcp_memory.wiring import open_store

CALL = 2_000
"""Messages that one call stores."""
TAUGHT = 20


def open_memory(folder: Path) -> Memory:
    """Return a memory on a store in a folder, whose vectors cost nothing but have the size of real ones."""
    settings, embedder, extractor = (
        load(None, {"MCP_MEMORY_STORAGE_URI": str(folder)}),
        FakeEmbedder(384),
        RuleExtractor(),
    )
    return Memory(settings, open_store(settings, embedder, extractor), embedder, extractor)


async def fill(memory: Memory, messages: int) -> None:
    """Write messages in sessions, some with facts, and give feedback on some."""
    some = random.Random(1)
    for start in range(0, messages, TALK):
        items, facts = [], []
        for number in range(start, min(start + TALK, messages)):
            who, other, thing, place = (some.choice(names) for names in (PEOPLE, PEOPLE, THINGS, PLACES))
            items.append(NewItem(f"{other} brought the {thing} {mark(number)} to {place}.", f"m{number}", who))
            if number % 5 == 0:
                facts.append(NewFact(who, "owns", f"{thing} {mark(number)}", source=f"m{number}"))
        request = WriteRequest("main", f"s{start // TALK}", "message", tuple(items), tuple(facts), wait=False)
        await memory.write(request)
        if start % CALL == 0:
            await index(memory)
    await index(memory)
    for number in some.sample(range(messages), TAUGHT):
        recall = await memory.reconstruct(Query(f"Who brought {mark(number)}?", "main", 5))
        await memory.evolve(
            EvolveRequest("main", episode=recall.episode, feedback=Feedback(supports=(recall.evidence[0].id,)))
        )


async def index(memory: Memory) -> None:
    """Index everything that was written."""
    indexing = Indexing(memory.store, memory.reading)
    while await indexing.step() != "done":
        pass


async def forget(memory: Memory, request: ForgetRequest) -> float:
    """Forget, and return the seconds of the deed, without those of its preview."""
    preview = await memory.forget(request)
    deed = ForgetRequest(request.space, ids=request.ids, session=request.session, dry_run=False, token=preview.token)
    began = time.perf_counter()
    done = await memory.forget(deed)
    assert done.forgotten["messages"] == (1 if request.ids else TALK)
    return time.perf_counter() - began


async def measure(folder: Path, sentences: int, rounds: int) -> None:
    """Fill a store and print the times."""
    memory, some, began = open_memory(folder), random.Random(2), time.perf_counter()
    await fill(memory, sentences)
    filled = time.perf_counter() - began
    sessions = some.sample(range(sentences // TALK), 2 * rounds)
    one, whole = [], []
    for session, other in zip(sessions[::2], sessions[1::2], strict=True):
        async with memory.store.reading() as view:
            turns = [turn.id for turn in view.space("main").turns.values() if turn.session == f"s{other}"]
        one.append(await forget(memory, ForgetRequest("main", ids=(turns[7],))))
        whole.append(await forget(memory, ForgetRequest("main", session=f"s{session}")))
    message, talk = (f"{statistics.median(of):.2f} s (longest {max(of):.2f})" for of in (one, whole))
    sys.stdout.write(f"{sentences:>7,} sentences, filled in {filled:.0f} s: message {message}, session {talk}\n")
    sys.stdout.flush()
    await memory.aclose()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sentences", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for number in options.sentences:
        with tempfile.TemporaryDirectory() as place:
            anyio.run(measure, Path(place) / "store", number, options.rounds)
