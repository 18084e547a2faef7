"""Measure what recall costs compared with the least possible cost, and whether it finds the right items.

The floor of a query is the cost of embedding the texts that recall embedded for it, in the same calls, and one exact
scan of the same vectors for each of these texts: the least that any search by similarity does with them. So a recall
that embeds further texts has a higher floor, and only its own processing counts. Floor and `Memory.reconstruct`,
including the refresh of the view, are measured in turns, so that other load affects both. The same questions then go
over stdio to a server process on the same store.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from bench.subjects import SPACE, Figure, Laps, Report, Stores, connected, opened, own_server
from bench.synthetic import KINDS, Question

from mcp_memory.commands.demo import call
from mcp_memory.domain.query import Mode, Query
from mcp_memory.memory import Memory
from mcp_memory.ports import Embedder
from mcp_memory.vectors import Matrix

LIMIT = 12
"""Items of evidence, the default of the tool."""
TOP = 10
WARM = 5
"""Questions that are asked before the measurement starts."""
AIM, AIM_OF_BROAD = 3.0, 6.0
"""Highest ratio of a recall to its floor, and of a broad one."""
LARGE, AIM_OF_LARGE = 100_000, 4.0
"""Sentences from which on a space no longer fits into the processor's caches, and the aim from there on."""


class RecordingEmbedder:
    """An embedder that records the texts of each call."""

    def __init__(self, embedder: Embedder) -> None:
        self.inner = embedder
        self.calls: list[tuple[str, ...]] = []
        self.name, self.dimension = embedder.name, embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        self.calls.append(tuple(texts))
        return await self.inner.embed(texts)

    async def embed_parts(
        self, texts: Sequence[str], parts: Sequence[Sequence[tuple[int, int]]]
    ) -> tuple[Matrix, Matrix]:
        """See `Embedder`."""
        self.calls.append(tuple(texts))
        return await self.inner.embed_parts(texts, parts)


@dataclass
class Measured:
    """The times of some queries, and what they found.

    Attributes:
        ours: times of recall by the clock; ``ours_cpu`` those of the processor.
        floor: times of their floors; ``floor_cpu`` likewise.
        texts: how many texts were embedded in all.
        found: by query, whether the item with the answer is among the best.
    """

    ours: Laps = field(default_factory=Laps)
    ours_cpu: Laps = field(default_factory=Laps)
    floor: Laps = field(default_factory=Laps)
    floor_cpu: Laps = field(default_factory=Laps)
    texts: int = 0
    found: list[bool] = field(default_factory=list)

    @property
    def ratio(self) -> float:
        """The median of recall relative to that of its floor."""
        return self.ours.median() / self.floor.median()


async def ask(memory: Memory, questions: Sequence[Question], mode: Mode = "best") -> Measured:
    """Ask questions, each followed by its floor, after some to warm up."""
    embedder, measured = RecordingEmbedder(memory.embedder), Measured()
    recorded, vectors = replace(memory, embedder=embedder), await vectors_of(memory)
    for question in questions[:WARM]:
        await recorded.reconstruct(Query(question.text, SPACE, LIMIT, mode=mode))
    for question in questions:
        embedder.calls.clear()
        with measured.ours.lap(), measured.ours_cpu.lap(time.process_time):
            recall = await recorded.reconstruct(Query(question.text, SPACE, LIMIT, mode=mode))
        calls = list(embedder.calls)
        with measured.floor.lap(), measured.floor_cpu.lap(time.process_time):
            for texts in calls:
                for query in await memory.embedder.embed(texts):
                    cosines = vectors @ query
                    best = np.argpartition(-cosines, min(TOP, len(cosines) - 1))[:TOP]
                    best[np.argsort(-cosines[best])]
        measured.texts += sum(map(len, calls))
        top = recall.evidence[:TOP]
        measured.found.append(any(source.turn.ref == question.gold for item in top for source in item.sources))
    return measured


async def vectors_of(memory: Memory) -> Matrix:
    """Return the vectors that recall scans, as one matrix."""
    async with memory.store.reading() as view:
        held = view.space(SPACE).segment_vectors
        if held is None:
            raise RuntimeError("the view holds no vectors: raise search.vector_limit above the size of the bench")
        return held.take(np.arange(len(held)))


async def recall(stores: Stores, sentences: int, report: Report) -> None:
    """Measure recall over a store with this many sentences."""
    part = f"recall, {sentences:,} sentences"
    filled = await stores.of(sentences)
    questions = filled.corpus.questions
    report(Figure(part, "filling the store", filled.seconds, "s", 1))
    async with opened(stores.settings, filled.folder) as memory:
        best = await ask(memory, questions)
        aim = AIM if sentences < LARGE else AIM_OF_LARGE
        report(Figure(part, "reconstruct p50 / floor p50", best.ratio, "x", len(questions), aim=aim))
        for mode in ("all", "overview"):
            broad = (await ask(memory, questions, mode)).ratio  # type: ignore[arg-type]
            name = f"reconstruct p50 / floor p50, mode {mode}"
            report(Figure(part, name, broad, "x", len(questions), aim=AIM_OF_BROAD))
    laps = Laps()
    async with connected(own_server(stores.settings, filled.folder)) as (client, _):
        for place, question in enumerate([*questions[:WARM], *questions]):
            with (laps if place >= WARM else Laps()).lap():
                await call(client, "memory_reconstruct", {"query": question.text, "limit": LIMIT})
    for name, times in (("reconstruct", best.ours), ("floor", best.floor), ("over stdio", laps)):
        report(Figure(part, f"{name}, p50", times.median(), "ms", len(times)))
        report(Figure(part, f"{name}, p95", times.p(0.95), "ms", len(times)))
    report(Figure(part, "texts embedded for a question", best.texts / len(questions), "", len(questions)))
    for kind in KINDS:
        if hits := [hit for hit, asked in zip(best.found, questions, strict=True) if asked.kind == kind]:
            share = 100 * sum(hits) / len(hits)
            report(Figure(part, f"{kind} questions, answer's item in the top {TOP}", share, "%", len(hits)))
