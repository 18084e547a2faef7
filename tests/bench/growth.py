"""How opening, memory, recall and writing grow, to a million sentences: ``python -m bench --grow FOLDER``.

One store grows by synthetic text, a slice at a time, and is measured at each of `SIZES` by a process of its own, which
prints a line of JSON. The store stays in the folder, so that a run that was stopped goes on where it was. **Vectors are
synthetic**: the sum of a random vector for each word. Texts with words in common are near each other, as with a model,
and a million sentences take minutes of processor time instead of hours. So embedding is nearly free here, and the floor
of a recall is the exact scan of all vectors alone (``speed.py``).
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from random import Random
from statistics import median

import anyio
import numpy as np
import psutil
from bench.speed import SEED, SPACE, Laps, ask, messages, size_mb
from bench.synthetic import Corpus, Question, growing

from mcp_memory.domain.requests import WriteRequest
from mcp_memory.embedding.onnx import Parts, embed_alone
from mcp_memory.language.tokens import words
from mcp_memory.memory import Memory
from mcp_memory.services.write import write_many
from mcp_memory.settings import Settings
from mcp_memory.vectors import Matrix, Vector
from mcp_memory.wiring import open_extractor, open_reader, open_store

SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
SLICE = 10_000
"""Sentences that one commit adds."""
QUESTIONS, WRITES = 45, 100
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


def grow(settings: Settings, folder: Path, sentences: int) -> int:
    """Let the store in a folder grow to a number of sentences, print what it costs on the way, and return 0."""
    folder.mkdir(parents=True, exist_ok=True)
    settings = replace(settings, storage=replace(settings.storage, uri=str(folder / "store")))
    mark = folder / "slices"  # how many are stored
    stored = int(mark.read_text(encoding="utf-8")) if mark.exists() else 0
    asked: list[Question] = []
    for added, text in enumerate(islice(growing(SEED, SLICE, QUESTIONS), -(-sentences // SLICE)), 1):
        asked += text.questions
        if added > stored:
            anyio.run(_add, settings, text)
            mark.write_text(str(added), encoding="utf-8")
            if added * SLICE in SIZES:
                with ProcessPoolExecutor(1, get_context("spawn")) as alone:
                    questions = Random(SEED).sample(asked, QUESTIONS)
                    print(json.dumps(alone.submit(measured, settings, questions).result()), flush=True)
    return 0


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
        await write_many(memory.store, requests, reading=memory.reading, now=memory.clock())
    finally:
        await memory.aclose()


def measured(settings: Settings, questions: Sequence[Question]) -> dict[str, float]:
    """Return the figures of a store, in ms, MB and s; call it in a process that has opened none before."""
    return anyio.run(_measured, settings, questions)


async def _measured(settings: Settings, questions: Sequence[Question]) -> dict[str, float]:
    before, began, spent = private_mb(), time.perf_counter(), time.process_time()
    memory, alone, indexed = await _opened(settings), Laps(), Laps()
    try:
        async with memory.store.reading() as view:
            figures = {"sentences": float(len(view.space(SPACE).sentences))}
        figures |= {"open s": time.perf_counter() - began, "open CPU s": time.process_time() - spent}
        figures["private MB opened"] = private_mb() - before
        asked = await ask(memory, questions)
        figures |= {"recall p50": median(asked.ours.ms), "recall p95": asked.ours.p(0.95), "ratio": asked.ratio}
        figures |= {"recall p50 CPU": median(asked.ours_cpu.ms), "floor p50": median(asked.floor.ms)}
        figures["private MB after recalls"] = private_mb() - before
        talk = [replace(item, ref=None) for item in messages(SEED + 3, 2 * WRITES)]
        for place, item in enumerate(talk):
            wait = place >= WRITES
            with (indexed if wait else alone).lap():
                await memory.write(WriteRequest(SPACE, "written", "message", (item,), wait=wait))
    finally:
        await memory.aclose()
    figures |= {"write p50": median(alone.ms), "write p95": alone.p(0.95), "indexed p50": median(indexed.ms)}
    return figures | {"disk MB": size_mb(Path(settings.storage.uri))}


def private_mb() -> float:
    """Return the memory of this process that no other one shares, in millions of bytes."""
    return float(psutil.Process().memory_full_info().uss) / 1e6
