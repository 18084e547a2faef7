"""``python -m bench --grow FOLDER``: how opening, memory, recall and writing grow, to a million sentences.

One store grows by synthetic text, a slice at a time, and is measured at each of `SIZES` by a process of its own. Store
and figures stay in the folder, so that a run that was stopped goes on where it was. **Vectors are synthetic**: the sum
of a random vector for each word. Texts with words in common are near each other, as with a model, and a million
sentences take minutes of processor time instead of hours. So embedding is nearly free here, and the floor of a recall
is the exact scan of all vectors alone (``recall.py``). Processor times stand beside times, for machines that do
other work. From 20,000 sentences on what is opened is the saved view and the commits after it, unless
``storage.saved_view`` is off.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import lru_cache, partial
from hashlib import blake2b
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random

import anyio
import numpy as np
import psutil
from bench.plot import svg
from bench.recall import ask
from bench.subjects import SEED, SPACE, Laps, messages, size_mb
from bench.synthetic import Corpus, Question, growing

from mcp_memory.domain.requests import WriteRequest
from mcp_memory.embedding.onnx import Parts, embed_alone
from mcp_memory.language.tokens import words
from mcp_memory.memory import Memory
from mcp_memory.reconstruct.graph import CueGraph
from mcp_memory.services.ingest import derive, silent
from mcp_memory.services.write import write_many
from mcp_memory.settings import Settings
from mcp_memory.vectors import Matrix, Vector
from mcp_memory.wiring import open_extractor, open_reader, open_store

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
SLICE = 10_000
"""Sentences that one commit adds."""
QUESTIONS = 45
WRITES = 100
PAUSE_S = 0.01
"""Seconds between two writes beside indexing, so that some of it begins."""
DIMENSION = 384


class WordVectors:
    """An embedder without a model: each text has the sum of a random vector for each of its words."""

    name = "synthetic"
    dimension = DIMENSION

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        rows = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in words(text) or [text]:
                row += _vector(word) * np.float32(len(word) ** 0.5)  # short words say less
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        return rows

    async def embed_parts(self, texts: Sequence[str], parts: Sequence[Parts]) -> tuple[Matrix, Matrix]:
        """See `Embedder`."""
        return await embed_alone(self.embed, texts, parts)


@lru_cache(100_000)
def _vector(word: str) -> Vector:
    seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest(), "little")
    return np.random.default_rng(seed).standard_normal(DIMENSION, dtype=np.float32)


def grow(settings: Settings, folder: Path, *, sentences: int, output: Path | None, plot: Path | None) -> int:
    """Let the store in a folder grow to a number of sentences, measure it on the way, print the figures and return 0.

    Args:
        settings: the settings to measure with; the store is in the folder.
        folder: the folder of the store and of ``growth.json``; made if missing.
        sentences: the size to stop at.
        output: a file to write the figures to as JSON.
        plot: a file to draw them in.
    """
    settings = at(settings, folder)
    state = _State(folder)
    sizes = [size for size in SIZES if size <= sentences]
    asked: list[Question] = []
    for added, text in enumerate(islice(growing(SEED, SLICE, QUESTIONS), -(-sentences // SLICE)), 1):
        asked += text.questions
        if added > state.slices:
            anyio.run(_add, settings, text)
            state.save(slices=added)
            print(f"... {added * SLICE:,} sentences", file=sys.stderr)
        size = added * SLICE
        if size in sizes and size not in state.figures and added == state.slices:
            questions = Random(SEED).sample(asked, QUESTIONS)
            figures = measured(settings, questions)
            state.save(figures={**state.figures, size: figures})
            print(f"... {size:,} sentences: {figures}", file=sys.stderr)
    print(table(state.figures))
    if output:
        output.write_text(json.dumps(state.figures, indent=2) + "\n", encoding="utf-8")
    if plot:
        plot.write_text(drawn(state.figures), encoding="utf-8")
    return 0


def at(settings: Settings, folder: Path) -> Settings:
    """Return settings for the store in the folder of a run."""
    return replace(settings, storage=replace(settings.storage, uri=str(folder / "store")))


def measured(settings: Settings, questions: Sequence[Question]) -> dict[str, float]:
    """Run `measure` in a process of its own, and return its figures."""
    with ProcessPoolExecutor(1, get_context("spawn")) as alone:
        return alone.submit(measure, settings, questions).result()


class _State:
    """How far the store has grown, and what was measured."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = folder / "growth.json"
        known = json.loads(self._file.read_text(encoding="utf-8")) if self._file.exists() else {}
        self.slices: int = known.get("slices", 0)
        self.figures: dict[int, dict[str, float]] = {int(size): one for size, one in known.get("figures", {}).items()}

    def save(self, *, slices: int | None = None, figures: dict[int, dict[str, float]] | None = None) -> None:
        self.slices = self.slices if slices is None else slices
        self.figures = self.figures if figures is None else figures
        state = {"slices": self.slices, "figures": self.figures}
        self._file.write_text(json.dumps(state, indent=2) + "\n", encoding="utf-8")


async def _opened(settings: Settings) -> Memory:
    """Return a memory whose vectors cost nothing, ready for its first write."""
    embedder, extractor = WordVectors(), open_extractor(settings)
    store = open_store(settings, embedder, extractor)
    memory = Memory(settings, store, embedder, extractor, reader=open_reader(settings))
    async with store.reading(whole=False):
        return memory


async def _add(settings: Settings, text: Corpus) -> None:
    """Store a slice in one commit, as a large import does; what is there already is left out."""
    memory = await _opened(settings)
    try:
        requests = [WriteRequest(SPACE, each.session, each.kind, each.items) for each in text.collections]
        rows = partial(derive, memory.reading, progress=silent)
        await write_many(memory.store, requests, reading=memory.reading, derive=rows, now=memory.clock())
    finally:
        await memory.aclose()


def measure(settings: Settings, questions: Sequence[Question]) -> dict[str, float]:
    """Return the figures of a store; call it in a process that has opened none before."""
    return anyio.run(_measure, settings, questions)


async def _measure(settings: Settings, questions: Sequence[Question]) -> dict[str, float]:
    figures: dict[str, float] = {}
    before, began, spent = private_mb(), time.perf_counter(), time.process_time()
    memory = await _opened(settings)
    figures["open to write s"] = time.perf_counter() - began
    try:
        async with memory.store.reading() as view:
            figures["open to recall s"] = time.perf_counter() - began
            figures["open to recall CPU s"] = time.process_time() - spent
            figures["sentences"] = len(view.space(SPACE).sentences)
            figures["segments"] = len(view.space(SPACE).segments)
        figures["private MB opened"] = private_mb() - before
        began = time.perf_counter()
        async with memory.store.reading() as view:
            CueGraph.of(view.space(SPACE))  # a recall's loop needs it; a server makes it in the background
        figures["graph of cues s"] = time.perf_counter() - began
        asked = await ask(memory, questions)
        figures |= {"recall p50 ms": asked.ours.median(), "recall p95 ms": asked.ours.p(0.95)}
        figures |= {"recall p50 CPU ms": asked.ours_cpu.median(), "found %": 100 * sum(asked.found) / len(asked.found)}
        figures |= {"floor p50 ms": asked.floor.median(), "recall / floor": asked.ratio}
        figures |= {"floor p50 CPU ms": asked.floor_cpu.median()}
        figures["private MB after recalls"] = private_mb() - before
        await _write(memory, figures)
    finally:
        await memory.aclose()
    figures["disk MB"] = size_mb(Path(settings.storage.uri))
    return figures


async def _write(memory: Memory, figures: dict[str, float]) -> None:
    """Add the times of writes that are acknowledged at once, alone and beside indexing, and of ones that wait."""
    alone, cpu, beside, indexed = Laps(), Laps(), Laps(), Laps()
    talk = [replace(item, ref=None) for item in messages(SEED + 3, 5 * WRITES)]
    requests = [WriteRequest(SPACE, "written", "message", (item,), wait=False) for item in talk]
    for request in requests[:WRITES]:
        with alone.lap(), cpu.lap(time.process_time):
            await memory.write(request)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(memory.work)
        for request in requests[WRITES : 4 * WRITES]:
            await anyio.sleep(PAUSE_S)
            with beside.lap():
                await memory.write(request)
        tasks.cancel_scope.cancel()
    for request in requests[4 * WRITES :]:
        with indexed.lap():
            await memory.write(replace(request, wait=True))
    figures |= {"write p50 ms": alone.median(), "write p95 ms": alone.p(0.95), "write p50 CPU ms": cpu.median()}
    figures |= {"write beside indexing p50 ms": beside.median(), "write beside indexing p95 ms": beside.p(0.95)}
    figures["write and index p50 ms"] = indexed.median()


def private_mb() -> float:
    """Return the memory of this process that no file backs, in millions of bytes."""
    try:
        lines = Path("/proc/self/smaps_rollup").read_text(encoding="ascii").splitlines()
        return next(int(line.split()[1]) * 1_024 / 1e6 for line in lines if line.startswith("Anonymous:"))
    except (OSError, StopIteration):  # not Linux: mapped pages that no other process has count, too
        return float(psutil.Process().memory_full_info().uss) / 1e6


def table(figures: dict[int, dict[str, float]]) -> str:
    """Return the figures as a table, a column for each size."""
    names = dict.fromkeys(name for one in figures.values() for name in one)
    lines = [["", *(f"{size:,}" for size in figures)]]
    lines += [[name, *(_short(one.get(name)) for one in figures.values())] for name in names]
    widths = [max(len(line[place]) for line in lines) for place in range(len(figures) + 1)]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)


def _short(value: float | None) -> str:
    return "" if value is None else f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


PANELS = {
    "seconds to open": ("open to write s", "open to recall s"),
    "private memory, MB": ("private MB opened", "private MB after recalls"),
    "recall, ms": ("recall p50 ms", "recall p95 ms", "floor p50 ms"),
    "write, ms": ("write p50 ms", "write p95 ms", "write beside indexing p50 ms"),
}


def drawn(figures: dict[int, dict[str, float]]) -> str:
    """Return the figures as curves, one point for each size."""
    sizes = [f"{size // 1_000}k" if size < 1_000_000 else f"{size // 1_000_000}M" for size in figures]
    panels = {}
    for title, names in PANELS.items():
        known = [name for name in names if all(name in one for one in figures.values())]
        panels[title] = {name: [one[name] for one in figures.values()] for name in known}
    return svg("Growth with the number of sentences", sizes, {title: lines for title, lines in panels.items() if lines})
