"""Recall: what in a space bears on a question, best first, and how far it goes.

Read it as the walk of one question: understand it, embed it, look at the raw text through every channel, judge
whether that is enough.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mcp_memory.domain.evidence import Evidence, Recall, Source
from mcp_memory.domain.requests import RecallRequest
from mcp_memory.language.questions import Question, understand
from mcp_memory.ports import Embedder, Store
from mcp_memory.search.look import Hit, Switches, Weights, look, newest, queries
from mcp_memory.search.sufficiency import judge
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import NONE, Space

NEAREST = 200
"""Segments that the store names for a question where the view holds no vectors."""


async def reconstruct(
    store: Store, embedder: Embedder, request: RecallRequest, *, weights: Weights, switches: Switches
) -> Recall:
    """Return the evidence for a question, or the newest items where nothing is asked.

    An unknown space is an empty one: the result then has no evidence.
    """
    if request.query is None:
        async with store.reading() as view:
            return _newest(view.space(request.space), request)
    question, vectors = await ask(store, embedder, request.space, request.query)
    async with store.reading() as view:
        space = view.space(request.space)
        hits = await find(store, space, question, vectors, request, weights, switches)
        return recalled(space, question, hits)


async def ask(store: Store, embedder: Embedder, space: str, query: str) -> tuple[Question, Matrix]:
    """Return the query understood, and the vectors of `search.look.queries`."""
    async with store.reading() as view:
        question = understand(query, view.space(space).speakers)
    return question, await embedder.embed(queries(question))


async def find(
    store: Store,
    space: Space,
    question: Question,
    vectors: Matrix,
    request: RecallRequest,
    weights: Weights,
    switches: Switches,
) -> list[Hit]:
    """Return the hits for a question, best first; ``space`` is of a view that is held still."""
    cosines = await _cosines(store, space, vectors)
    return look(space, question, cosines, request.window, weights, switches, request.limit)


def recalled(space: Space, question: Question, hits: Sequence[Hit]) -> Recall:
    """Return the hits as evidence, with recall's judgement of itself."""
    judgement = judge(space, question, hits)
    return Recall(
        evidence=tuple(_evidence(space, hit) for hit in hits),
        sufficiency=judgement.sufficiency,
        sufficient=judgement.sufficient,
        missing=judgement.missing,
    )


def _newest(space: Space, request: RecallRequest) -> Recall:
    hits = newest(space, request.window, request.limit)
    return Recall(tuple(_evidence(space, hit) for hit in hits), float(bool(hits)), bool(hits), ())


async def _cosines(store: Store, space: Space, vectors: Matrix) -> Matrix:
    """Return the cosine of each query with each segment; where no vectors are held, of the nearest ones only."""
    if space.segment_vectors is not None:
        return space.segment_vectors.dot(vectors)
    cosines = np.zeros((len(vectors), len(space.segments)), dtype=np.float32)
    if not space.segments:
        return cosines
    for query, found in enumerate(await store.nearest(space.name, vectors, NEAREST)):
        for segment, cosine in found:
            if (row := space.segment_row(segment)) != NONE:  # else a bad row, which the view has left out
                cosines[query, row] = cosine
    return cosines


def _evidence(space: Space, hit: Hit) -> Evidence:
    segment, turn = space.segments[hit.row], space.segment_turn[hit.row]
    source = Source(turn, segment.start, segment.end)
    rows = space.sentences_within(segment)
    if segment.first == segment.last and rows:  # a piece of one sentence is shown as that sentence
        sentence = space.sentences[rows[0]]
        return Evidence(sentence.id, "sentence", source.quote, hit.score, hit.via, (source,))
    return Evidence(segment.id, "segment", source.quote, hit.score, hit.via, (source,))
