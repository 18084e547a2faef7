"""Speed and memory on synthetic text, as ratios within one run: ``python -m bench``.

Absolute times depend mostly on the machine; the ratio of two medians that were measured in turns depends mostly on the
program. So recall is compared with its floor: embedding the same texts in the same calls, and one exact scan of the
same vectors for each of them, the least that any search by similarity does. The handshake is compared with a server
without tools, of the same SDK and Python. An aim is what the project wants on its own machine; a figure beyond it is
marked and has no other effect, since a slow or busy machine is not an error.

Each part can run alone, in a temporary folder; the settings are the user's own but for the place of the store.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass, field, replace
from math import ceil
from pathlib import Path
from statistics import median

import anyio
import numpy as np
import psutil
from bench.synthetic import KINDS, Corpus, Question, corpus
from mcp import Client, StdioServerParameters

from mcp_memory.commands.trials import call
from mcp_memory.domain.query import Mode, Query
from mcp_memory.domain.requests import ForgetRequest, NewItem, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.ports import Embedder
from mcp_memory.settings import Settings
from mcp_memory.vectors import Matrix
from mcp_memory.wiring import open_memory

SIZES, LARGE = (1_000, 10_000), 100_000
"""Sentences in the stores that recall and forgetting are measured on."""
PARTS = ("handshake", "write", "recall", "memory", "forget")
"""In the order in which they run: the part most sensitive to other load comes first, what changes stores last."""
SEED, SPACE = 20_261_120, "default"
QUESTIONS, WARM = 90, 5
LIMIT, TOP = 12, 10
"""Items of evidence, the default of the tool; and those among which the answer's item counts as found."""
HANDSHAKES, SINGLE, BATCHES, BATCH, FORGETS = 7, 150, 20, 50, 5
ERAS = {"legacy": "initialize", "auto": "server/discover"}
EMPTY_SERVER = """
import anyio
import mcp_types
from mcp.server import Server
from mcp.server.stdio import stdio_server

async def nothing(context, params):
    return mcp_types.ListToolsResult(tools=[])

async def serve():
    server = Server("empty", on_list_tools=nothing)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(serve)
"""
IDLE_S = 2.0
"""Time after the handshake until a server counts as idle."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One number: of which part, what, in which unit ("x" for a ratio), of how many runs, and the most it should be."""

    part: str
    name: str
    value: float
    unit: str
    runs: int
    aim: float | None = None

    def __str__(self) -> str:
        aim = "" if self.aim is None else f", aim {self.aim:,.4g}{' BEYOND' if self.value > self.aim else ''}"
        return f"{self.part:<10} {self.name:<62} {self.value:>9,.4g} {self.unit:<3} ({self.runs} runs{aim})"


@dataclass(slots=True)
class Laps:
    """Times of a repeated action, in milliseconds, in order."""

    ms: list[float] = field(default_factory=list)

    @contextmanager
    def lap(self, clock: Callable[[], float] = time.perf_counter) -> Iterator[None]:
        """Add the time that the block takes by a clock in seconds, unless it raises."""
        began = clock()
        yield
        self.ms.append((clock() - began) * 1_000)

    def p(self, share: float) -> float:
        """Return the smallest time that at least this share of the times do not exceed, in milliseconds."""
        return sorted(self.ms)[max(0, ceil(share * len(self.ms)) - 1)]


class Bench:
    """One run in an empty folder: its figures, and the stores that it filled."""

    def __init__(self, settings: Settings, folder: Path) -> None:
        self.settings = settings
        self.folder = folder
        self.figures: list[Figure] = []
        self._filled: dict[int, Corpus] = {}

    def report(
        self, part: str, name: str, value: float, unit: str = "ms", runs: int = 1, aim: float | None = None
    ) -> None:
        """Keep a figure and print it."""
        self.figures.append(Figure(part, name, value, unit, runs, aim))
        print(self.figures[-1], flush=True)

    def server(self, store: Path, **server: str) -> StdioServerParameters:
        """Return how to start our server with the settings of this process and changes to the section ``[server]``."""
        environment = os.environ | {"MCP_MEMORY_STORAGE_URI": str(store), "MCP_MEMORY_WRITE_WAIT": "true"}
        environment |= {f"MCP_MEMORY_SERVER_{name.upper()}": value for name, value in server.items()}
        return StdioServerParameters(command=sys.executable, args=["-m", "mcp_memory", "serve"], env=environment)

    @asynccontextmanager
    async def opened(self, store: Path) -> AsyncIterator[Memory]:
        """Open a store in this process and close it at the end."""
        memory = await open_memory(replace(self.settings, storage=replace(self.settings.storage, uri=str(store))))
        try:
            yield memory
        finally:
            await memory.aclose()

    async def filled(self, sentences: int) -> tuple[Path, Corpus]:
        """Return the store with this number of sentences, filled when it is first needed, and its text."""
        store = self.folder / f"store-{sentences}"
        if sentences not in self._filled:
            text = self._filled[sentences] = corpus(SEED, sentences, QUESTIONS)
            async with self.opened(store) as memory:
                for one in text.collections:
                    await memory.write(WriteRequest(SPACE, one.session, one.kind, one.items))
        return store, self._filled[sentences]


def bench(settings: Settings, *, large: bool, output: Path | None, parts: Collection[str]) -> int:
    """Measure parts, print, write the figures as JSON, and return 0; the ``large`` store takes tens of minutes."""
    figures = anyio.run(_measure, settings, (*SIZES, *([LARGE] if large else [])), parts)
    if output:
        output.write_text(json.dumps([asdict(one) for one in figures], indent=2) + "\n", encoding="utf-8")
    return 0


async def _measure(settings: Settings, sizes: Sequence[int], parts: Collection[str]) -> list[Figure]:
    # On Windows a file may stay locked for a moment after its process has ended.
    with tempfile.TemporaryDirectory(prefix="mcp-memory-bench-", ignore_cleanup_errors=True) as folder:
        run = Bench(settings, Path(folder))
        for part in PARTS:
            if part in parts:
                await globals()[f"measure_{part}"](run, sizes)
        return run.figures


async def measure_handshake(run: Bench, _: Sequence[int]) -> None:
    """Measure the time to the list of tools, for both ways to connect; both servers start in turns."""
    ours = run.server(run.folder / "handshake")
    empty = StdioServerParameters(command=sys.executable, args=["-c", EMPTY_SERVER], env=dict(os.environ))
    for era, words in ERAS.items():
        laps, yardstick = Laps(), Laps()
        for _ in range(HANDSHAKES):
            for server, times in ((ours, laps), (empty, yardstick)):
                with times.lap():
                    async with Client(server, mode=era, read_timeout_seconds=60) as client:  # type: ignore[arg-type]
                        await client.list_tools()
        run.report("handshake", f"{words}: start to end", median(laps.ms), runs=HANDSHAKES)
        ratio = median(laps.ms) / median(yardstick.ms)
        run.report("handshake", f"{words}: ours / empty server", ratio, "x", HANDSHAKES, 1.3)


async def measure_write(run: Bench, _: Sequence[int]) -> None:
    """Measure messages until they are acknowledged and until they are indexed, and the size on disk."""
    talk = messages(SEED + 1, 2 * SINGLE + BATCHES * BATCH)
    acknowledged, indexed, together = Laps(), Laps(), Laps()
    async with run.opened(run.folder / "write") as memory:

        async def write(laps: Laps, *items: NewItem, wait: bool = True) -> None:
            with laps.lap():
                await memory.write(WriteRequest(SPACE, "talk", "message", items, wait=wait))

        await write(Laps(), NewItem(text="warm"))
        for item in talk[:SINGLE]:
            await write(acknowledged, item, wait=False)
        await write(Laps(), *talk[:SINGLE])  # until these are indexed
        for item in talk[SINGLE : 2 * SINGLE]:
            await write(indexed, item)
        for start in range(2 * SINGLE, len(talk), BATCH):
            await write(together, *talk[start : start + BATCH])
    run.report("write", "until acknowledged, p50", median(acknowledged.ms), runs=SINGLE)
    run.report("write", "until acknowledged, p99", acknowledged.p(0.99), runs=SINGLE)
    run.report("write", "until indexed, p50", median(indexed.ms), runs=SINGLE, aim=40)
    run.report("write", "until indexed, in batches of 50, each, p50", median(together.ms) / BATCH, runs=BATCHES, aim=15)
    run.report("write", "store size per 1,000 messages", size_mb(run.folder / "write") * 1_000 / len(talk), "MB")


async def measure_recall(run: Bench, sizes: Sequence[int]) -> None:
    """Measure recalls beside their floor in this process, and over stdio."""
    for sentences in sizes:
        part, laps = f"{sentences:,}", Laps()
        store, text = await run.filled(sentences)
        questions = text.questions
        async with run.opened(store) as memory:
            best = await ask(memory, questions)
            # from 100,000 sentences on a space no longer fits into the processor's caches
            run.report(part, "recall p50 / floor p50", best.ratio, "x", len(questions), 3 if sentences < LARGE else 4)
            for mode in ("all", "overview"):
                broad = await ask(memory, questions, mode)  # type: ignore[arg-type]
                run.report(part, f"recall p50 / floor p50, mode {mode}", broad.ratio, "x", len(questions), 6)
        async with connected(run.server(store)) as (client, _):
            for place, question in enumerate([*questions[:WARM], *questions]):
                with (laps if place >= WARM else Laps()).lap():
                    await call(client, "memory_reconstruct", {"query": question.text, "limit": LIMIT})
        for name, times in (("recall", best.ours), ("floor", best.floor), ("recall over stdio", laps)):
            run.report(part, f"{name}, p50", median(times.ms), runs=len(questions))
            run.report(part, f"{name}, p95", times.p(0.95), runs=len(questions))
        run.report(part, "texts embedded for a question", best.texts / len(questions), "", len(questions))
        for kind in KINDS:
            if hits := [hit for hit, asked in zip(best.found, questions, strict=True) if asked.kind == kind]:
                run.report(part, f"{kind}: answer's item in the top {TOP}", 100 * sum(hits) / len(hits), "%", len(hits))


async def measure_memory(run: Bench, _: Sequence[int]) -> None:
    """Measure the memory of an idle server, and of one that recalls from a filled store."""
    async with connected(run.server(run.folder / "idle", warm_up="first_call")) as (client, process):
        await client.list_tools()
        await anyio.sleep(IDLE_S)
        run.report("memory", "idle after the handshake (first_call)", process.memory_info().rss / 1e6, "MB", aim=120)
    store, text = await run.filled(SIZES[-1])
    async with connected(run.server(store)) as (client, process):
        await call(client, "memory_reconstruct", {"query": text.questions[0].text})
        name = f"after the first recall over {SIZES[-1]:,} sentences"
        run.report("memory", name, process.memory_info().rss / 1e6, "MB", aim=520)


async def measure_forget(run: Bench, sizes: Sequence[int]) -> None:
    """Measure how long it takes to forget one message or document."""
    for sentences in sizes:
        (store, _), laps = await run.filled(sentences), Laps()
        async with run.opened(store) as memory:
            async with memory.store.reading() as view:
                turns = list(view.space(SPACE).turns)
            for turn in turns[:: len(turns) // FORGETS][:FORGETS]:
                request = ForgetRequest(SPACE, ids=(turn,))
                preview = await memory.forget(request)
                with laps.lap():
                    await memory.forget(replace(request, dry_run=False, token=preview.token))
        run.report("forget", f"one of {sentences:,} sentences, p50", median(laps.ms), runs=FORGETS)


class RecordingEmbedder:
    """An embedder that records the texts of each call."""

    def __init__(self, embedder: Embedder) -> None:
        self.calls: list[tuple[str, ...]] = []
        self.inner, self.name, self.dimension = embedder, embedder.name, embedder.dimension
        self.embed_parts = embedder.embed_parts

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        self.calls.append(tuple(texts))
        return await self.inner.embed(texts)


@dataclass
class Asked:
    """Times of some recalls and of their floors, by the clock and of the processor, and what the recalls found."""

    ours: Laps = field(default_factory=Laps)
    ours_cpu: Laps = field(default_factory=Laps)
    floor: Laps = field(default_factory=Laps)
    texts: int = 0  # how many texts were embedded in all
    found: list[bool] = field(default_factory=list)  # by question, whether the item with the answer is among the best

    @property
    def ratio(self) -> float:
        """The median of recall relative to that of its floor."""
        return median(self.ours.ms) / median(self.floor.ms)


async def ask(memory: Memory, questions: Sequence[Question], mode: Mode = "best") -> Asked:
    """Ask questions, each followed by its floor, after some to warm up."""
    embedder, asked = RecordingEmbedder(memory.embedder), Asked()
    recorded = replace(memory, embedder=embedder)
    async with memory.store.reading() as view:
        held = view.space(SPACE).segment_vectors
        if held is None:
            raise RuntimeError("the view holds no vectors")
        vectors = held.take(np.arange(len(held)))
    for question in questions[:WARM]:
        await recorded.reconstruct(Query(question.text, SPACE, LIMIT, mode=mode))
    for question in questions:
        embedder.calls.clear()
        with asked.ours.lap(), asked.ours_cpu.lap(time.process_time):
            recall = await recorded.reconstruct(Query(question.text, SPACE, LIMIT, mode=mode))
        with asked.floor.lap():
            for texts in tuple(embedder.calls):
                for query in await memory.embedder.embed(texts):
                    np.argpartition(-(vectors @ query), min(TOP, len(vectors) - 1))
        asked.texts += sum(map(len, embedder.calls))
        top = recall.evidence[:TOP]
        asked.found.append(any(source.turn.ref == question.gold for item in top for source in item.sources))
    return asked


def messages(seed: int, number: int) -> list[NewItem]:
    """Return this many messages of synthetic dialogues."""
    text = corpus(seed, max(60, 4 * number), 0)
    return [item for one in text.collections if one.kind == "message" for item in one.items][:number]


@asynccontextmanager
async def connected(server: StdioServerParameters) -> AsyncIterator[tuple[Client, psutil.Process]]:
    """Start a server process, connect to it, and yield client and process; the process ends with the context."""
    before = {child.pid for child in psutil.Process().children()}
    async with Client(server, read_timeout_seconds=600) as client:
        (process,) = (child for child in psutil.Process().children() if child.pid not in before)
        yield client, process


def size_mb(folder: Path) -> float:
    """Return the size of all files in a folder and below it, in millions of bytes."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
