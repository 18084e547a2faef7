"""Measure what recall costs compared with the least possible cost, and whether it finds the right items.

The floor of a query is the cost of embedding the texts that recall embedded for it, in the same calls, and one exact
scan of the same vectors for each of these texts: the least that any search by similarity does with them. So a recall
that embeds further texts has a higher floor, and only its own processing counts. The share of such queries, and the
costs of both kinds, are reported. Floor and `Memory.reconstruct`, including the refresh of the view, are measured in
turns, so that other load affects both. The same questions then go over stdio to a server process on the same store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np
from bench.own_server import connected, own_server
from bench.subjects import SPACE, Figure, Filled, Laps, Report, Stores, opened
from bench.synthetic import KINDS, Question, QuestionKind

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
AIM = 3.0
"""Highest ratio of recall to its floor."""
BROAD: tuple[Mode, ...] = ("all", "overview")
AIM_OF_BROAD = 6.0
"""Highest ratio of a broad recall to its floor."""
LARGE, AIM_OF_LARGE = 100_000, 4.0
"""Sentences from which on a space no longer fits into the processor's caches, and the aim from there on."""


async def recall(stores: Stores, sentences: int, report: Report) -> None:
    """Measure recall over a store with this many sentences."""
    part = f"recall, {sentences:,} sentences"
    filled = await stores.of(sentences)
    report(Figure(part, "filling the store", filled.seconds, "s", 1))
    async with opened(stores.settings, filled.folder) as memory:
        for figure in await _in_process(part, memory, filled, AIM if sentences < LARGE else AIM_OF_LARGE):
            report(figure)
    laps = Laps()
    async with connected(own_server(stores.settings, filled.folder)) as (client, _):
        for question in filled.corpus.questions[:WARM]:
            await call(client, "memory_reconstruct", {"query": question.text, "limit": LIMIT})
        for question in filled.corpus.questions:
            with laps.lap():
                await call(client, "memory_reconstruct", {"query": question.text, "limit": LIMIT})
    report(Figure(part, "over stdio, p50", laps.median(), "ms", len(laps)))
    report(Figure(part, "over stdio, p95", laps.p(0.95), "ms", len(laps)))


class RecordingEmbedder:
    """An embedder that records the texts of each call."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.calls: list[tuple[str, ...]] = []

    @property
    def name(self) -> str:
        """See `Embedder`."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """See `Embedder`."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """See `Embedder`."""
        self.calls.append(tuple(texts))
        return await self._embedder.embed(texts)

    async def embed_parts(
        self, texts: Sequence[str], parts: Sequence[Sequence[tuple[int, int]]]
    ) -> tuple[Matrix, Matrix]:
        """See `Embedder`."""
        self.calls.append(tuple(texts))
        return await self._embedder.embed_parts(texts, parts)


@dataclass(frozen=True, slots=True)
class MeasuredQuery:
    """The result of one query and its floor.

    Attributes:
        kind: the kind of the question.
        ms: time of recall.
        floor_ms: time of the floor.
        calls: the calls of the embedder; more than one if recall embedded further texts.
        texts: number of embedded texts.
        found: whether the item with the answer is among the best.
        channels: channels of the best items.
    """

    kind: QuestionKind
    ms: float
    floor_ms: float
    calls: int
    texts: int
    found: bool
    channels: frozenset[str]


async def _in_process(part: str, memory: Memory, filled: Filled, aim: float) -> list[Figure]:
    vectors = await _vectors(memory)
    recorder = RecordingEmbedder(memory.embedder)
    recorded = replace(memory, embedder=recorder)
    for question in filled.corpus.questions[:WARM]:
        await _turn(recorded, recorder, vectors, question)
    turns = [await _turn(recorded, recorder, vectors, question) for question in filled.corpus.questions]
    asked = len(turns)
    every, floor = Laps([turn.ms for turn in turns]), Laps([turn.floor_ms for turn in turns])
    figures = [
        Figure(part, "reconstruct p50 / floor p50", every.median() / floor.median(), "x", asked, aim=aim),
        Figure(part, "reconstruct p50", every.median(), "ms", asked),
        Figure(part, "reconstruct p95", every.p(0.95), "ms", asked),
        Figure(part, "floor p50 (embed the same texts, scan the vectors for each)", floor.median(), "ms", asked),
        Figure(part, "floor p95", floor.p(0.95), "ms", asked),
    ]
    for words, some in (
        ("without further texts", [turn for turn in turns if turn.calls == 1]),
        ("with further texts", [turn for turn in turns if turn.calls > 1]),
    ):
        figures.append(Figure(part, f"queries {words}", 100 * len(some) / asked, "%", asked))
        if some:
            mine, least = Laps([turn.ms for turn in some]), Laps([turn.floor_ms for turn in some])
            ratio = mine.median() / least.median()
            figures.append(Figure(part, f"reconstruct p50 / floor p50, {words}", ratio, "x", len(some)))
            figures.append(Figure(part, f"reconstruct p50, {words}", mine.median(), "ms", len(some)))
            figures.append(Figure(part, f"texts embedded, {words}", fmean(t.texts for t in some), "", len(some)))
    for mode in BROAD:
        lists = [await _turn(recorded, recorder, vectors, question, mode) for question in filled.corpus.questions]
        ratio = Laps([turn.ms for turn in lists]).median() / Laps([turn.floor_ms for turn in lists]).median()
        figures.append(Figure(part, f"reconstruct p50 / floor p50, mode {mode}", ratio, "x", asked, aim=AIM_OF_BROAD))
    for kind in KINDS:
        if of_kind := [turn for turn in turns if turn.kind == kind]:
            times = Laps([turn.ms for turn in of_kind])
            figures.append(Figure(part, f"{kind} questions, p50", times.median(), "ms", len(times)))
            share = 100 * fmean(turn.found for turn in of_kind)
            figures.append(Figure(part, f"{kind} questions, answer's item in the top {TOP}", share, "%", len(times)))
    for name, number in Counter(name for turn in turns for name in sorted(turn.channels)).most_common():
        figures.append(Figure(part, f"queries with {name!r} in the top {TOP}", 100 * number / asked, "%", asked))
    return figures


async def _turn(
    memory: Memory, recorder: RecordingEmbedder, vectors: Matrix, question: Question, mode: Mode = "best"
) -> MeasuredQuery:
    """Measure a query, then its floor."""
    recorder.calls.clear()
    ours, floor = Laps(), Laps()
    with ours.lap():
        recall = await memory.reconstruct(Query(question.text, SPACE, LIMIT, mode=mode))
    calls = list(recorder.calls)
    with floor.lap():
        await _floor(memory.embedder, vectors, calls)
    top = recall.evidence[:TOP]
    return MeasuredQuery(
        question.kind,
        ours.ms[0],
        floor.ms[0],
        calls=len(calls),
        texts=sum(map(len, calls)),
        found=any(source.turn.ref == question.gold for item in top for source in item.sources),
        channels=frozenset(name for item in top for name in item.via),
    )


async def _floor(embedder: Embedder, vectors: Matrix, calls: Sequence[Sequence[str]]) -> None:
    for texts in calls:
        for query in await embedder.embed(texts):
            cosines = vectors @ query
            best = np.argpartition(-cosines, min(TOP, len(cosines) - 1))[:TOP]
            best[np.argsort(-cosines[best])]


async def _vectors(memory: Memory) -> Matrix:
    """Return the vectors that recall scans, as one matrix."""
    async with memory.store.reading() as view:
        held = view.space(SPACE).segment_vectors
        if held is None:
            raise RuntimeError("the view holds no vectors: raise search.vector_limit above the size of the bench")
        return held.take(np.arange(len(held)))
