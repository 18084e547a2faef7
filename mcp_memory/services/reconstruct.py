"""Recall: what in a space bears on a question, best first, and how far it goes.

Read it as the walk of one question: understand it, embed it, follow the facts about what it names, look at the raw
text through every channel, judge whether that is enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from mcp_memory.domain.answers import Knowledge
from mcp_memory.domain.evidence import Recall
from mcp_memory.domain.requests import RecallRequest
from mcp_memory.domain.times import Millis
from mcp_memory.language.questions import Question, understand
from mcp_memory.navigation.events import dated
from mcp_memory.navigation.navigate import Navigation
from mcp_memory.ports import Embedder, Store
from mcp_memory.search.look import Hit, Switches, Weights, look, newest, queries
from mcp_memory.search.sufficiency import judge
from mcp_memory.services.evidence import evidence_of
from mcp_memory.services.following import Following, follow, on_segments
from mcp_memory.services.known import known, told
from mcp_memory.services.suggesting import suggestions
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import NONE, Space

NEAREST = 200
"""Segments that the store names for a question where the view holds no vectors."""


@dataclass(frozen=True, slots=True)
class Looking:
    """How a question is looked for.

    Attributes:
        weights: what each channel counts.
        switches: which channels take part.
        following: how facts are followed.
    """

    weights: Weights = field(default_factory=Weights)
    switches: Switches = field(default_factory=Switches)
    following: Following = field(default_factory=Following)


async def reconstruct(
    store: Store, embedder: Embedder, request: RecallRequest, *, looking: Looking, now: Millis
) -> Recall:
    """Return the evidence for a question, or the newest items where nothing is asked.

    An unknown space is an empty one: the result then has no evidence.
    """
    if request.query is None:
        async with store.reading() as view:
            return _newest(view.space(request.space), request)
    question, vectors = await ask(store, embedder, request.space, request.query, now)
    async with store.reading() as view:
        space = view.space(request.space)
        hits, navigation = await find(store, space, question, vectors, request, looking, now)
        return recalled(space, question, hits, navigation, request, now)[0]


async def ask(store: Store, embedder: Embedder, space: str, query: str, now: Millis) -> tuple[Question, Matrix]:
    """Return the query understood, and the vectors of `search.look.queries`."""
    async with store.reading() as view:
        question = understand(query, view.space(space).speakers, now)
    return question, await embedder.embed(queries(question))


async def find(
    store: Store,
    space: Space,
    question: Question,
    vectors: Matrix,
    request: RecallRequest,
    looking: Looking,
    now: Millis,
) -> tuple[list[Hit], Navigation]:
    """Return the hits for a question, best first, and the paths through facts; ``space`` is of a view held still."""
    likeness = await cosines(store, space, vectors)
    if looking.following.facts and looking.switches.time:
        question = dated(space.facts, question)
    navigation = follow(space, question, vectors, likeness, request, looking.following, now)
    extra = {"facts": on_segments(space, question, navigation.paths)} if navigation.paths else {}
    window, weights, switches = request.window, looking.weights, looking.switches
    hits = look(space, question, likeness, window, weights, switches, request.limit, extra, vectors)
    return hits, navigation


def recalled(
    space: Space,
    question: Question,
    hits: Sequence[Hit],
    navigation: Navigation,
    request: RecallRequest,
    now: Millis,
) -> tuple[Recall, Knowledge]:
    """Return the hits as evidence, with recall's judgement of itself, and what the facts know about the question."""
    judgement = judge(space, question, hits)
    knowledge = known(
        space,
        question,
        navigation.roots,
        navigation.paths,
        [space.segment_turn[hit.row].id for hit in hits],
        now=now,
        as_of=request.as_of,
        include_uncertain=request.include_uncertain,
    )
    recall = Recall(
        evidence=evidence_of(space, hits, navigation.paths),
        sufficiency=judgement.sufficiency,
        sufficient=judgement.sufficient,
        missing=judgement.missing,
        conflicts=told(question, knowledge),
        roots=navigation.roots,
        paths=navigation.paths,
        next=() if judgement.sufficient else suggestions(question, navigation),
    )
    return recall, knowledge


def _newest(space: Space, request: RecallRequest) -> Recall:
    hits = newest(space, request.window, request.limit)
    return Recall(evidence_of(space, hits, ()), float(bool(hits)), bool(hits), ())


async def cosines(store: Store, space: Space, vectors: Matrix) -> Matrix:
    """Return the cosine of each query with each segment; where no vectors are held, of the nearest ones only."""
    if space.segment_vectors is not None:
        return space.segment_vectors.dot(vectors)
    likeness = np.zeros((len(vectors), len(space.segments)), dtype=np.float32)
    if not space.segments:
        return likeness
    for query, found in enumerate(await store.nearest(space.name, vectors, NEAREST)):
        for segment, cosine in found:
            if (row := space.segment_row(segment)) != NONE:  # else a bad row, which the view has left out
                likeness[query, row] = cosine
    return likeness
