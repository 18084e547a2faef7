"""What recall costs over the least that it could cost, and whether it finds what it should.

The floor is embedding the query and one exact scan of the very same vectors, the least that any search by meaning
does. It is measured in turns with `Memory.reconstruct`, refresh of the view included, so both meet the same moments of
the machine. The same questions then go over stdio to a real server process on the same store.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from mcp_memory.domain.evidence import Evidence
from mcp_memory.domain.requests import RecallRequest
from mcp_memory.evaluation.bench_figures import Figure, Laps, Report
from mcp_memory.evaluation.bench_process import call, connected, own_server
from mcp_memory.evaluation.bench_store import SPACE, Filled, Stores, opened
from mcp_memory.evaluation.synthetic import KINDS, Question
from mcp_memory.ports import Embedder
from mcp_memory.vectors import Matrix
from mcp_memory.wiring import Memory

LIMIT = 12
"""Items of evidence, as the tool asks for by default."""
TOP = 10
WARM = 5
"""Questions asked before any time counts."""


async def recall(stores: Stores, sentences: int, report: Report) -> None:
    """Measure recall over a store of so many sentences."""
    part = f"recall, {sentences:,} sentences"
    filled = await stores.of(sentences)
    report(Figure(part, "filling the store", filled.seconds, "s", 1))
    async with opened(stores.config, filled.folder) as memory:
        for figure in await _in_process(part, memory, filled):
            report(figure)
    laps = Laps()
    async with connected(own_server(stores.config, filled.folder)) as (client, _):
        for question in filled.corpus.questions[:WARM]:
            await call(client, "memory_reconstruct", {"query": question.text, "limit": LIMIT})
        for question in filled.corpus.questions:
            with laps.lap():
                await call(client, "memory_reconstruct", {"query": question.text, "limit": LIMIT})
    report(Figure(part, "over stdio, p50", laps.median(), "ms", len(laps)))
    report(Figure(part, "over stdio, p95", laps.p(0.95), "ms", len(laps)))


async def _in_process(part: str, memory: Memory, filled: Filled) -> list[Figure]:
    questions = filled.corpus.questions
    vectors = await _vectors(memory)
    for question in questions[:WARM]:
        await _ask(memory, question)
        await _floor(memory.embedder, vectors, question.text)
    laps = {kind: Laps() for kind in KINDS}
    every, floor = Laps(), Laps()
    hits: Counter[str] = Counter()
    channels: Counter[str] = Counter()
    for number, question in enumerate(questions):
        if number % 2:  # whoever comes second finds warmer caches
            with floor.lap():
                await _floor(memory.embedder, vectors, question.text)
        with every.lap(), laps[question.kind].lap():
            top = (await _ask(memory, question))[:TOP]
        if not number % 2:
            with floor.lap():
                await _floor(memory.embedder, vectors, question.text)
        hits[question.kind] += any(source.turn.ref == question.gold for item in top for source in item.sources)
        channels.update({name for item in top for name in item.via})

    asked = len(questions)
    figures = [
        Figure(part, "reconstruct p50 / floor p50", every.median() / floor.median(), "x", asked, aim=2.5),
        Figure(part, "reconstruct p50", every.median(), "ms", asked),
        Figure(part, "reconstruct p95", every.p(0.95), "ms", asked),
        Figure(part, "floor p50 (embed the query, scan the vectors)", floor.median(), "ms", asked),
        Figure(part, "floor p95", floor.p(0.95), "ms", asked),
    ]
    for kind, times in laps.items():
        if times:
            figures.append(Figure(part, f"{kind} questions, p50", times.median(), "ms", len(times)))
            share = 100 * hits[kind] / len(times)
            figures.append(Figure(part, f"{kind} questions, answer's item in the top {TOP}", share, "%", len(times)))
    for name, number in channels.most_common():
        figures.append(Figure(part, f"queries with {name!r} in the top {TOP}", 100 * number / asked, "%", asked))
    return figures


async def _ask(memory: Memory, question: Question) -> tuple[Evidence, ...]:
    return (await memory.reconstruct(RecallRequest(SPACE, question.text, LIMIT))).evidence


async def _floor(embedder: Embedder, vectors: Matrix, text: str) -> None:
    (query,) = await embedder.embed([text])
    cosines = vectors @ query
    best = np.argpartition(-cosines, min(TOP, len(cosines) - 1))[:TOP]
    best[np.argsort(-cosines[best])]


async def _vectors(memory: Memory) -> Matrix:
    """Return the vectors that recall scans, in one piece."""
    async with memory.store.reading() as view:
        held = view.space(SPACE).segment_vectors
        if held is None:
            raise RuntimeError("the view holds no vectors: raise search.vector_limit above the size of the bench")
        return held.take(np.arange(len(held)))
