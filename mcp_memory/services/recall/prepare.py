"""Prepare a query for a space: understand and embed it, compare it with the segments, date the event that it names."""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, chain, pairwise

import numpy as np

from mcp_memory.domain.query import Breadth, Query
from mcp_memory.language.between import events_between
from mcp_memory.language.questions import understand
from mcp_memory.language.shapes import breadth_of, topic_of
from mcp_memory.navigation.known_facts import date_event
from mcp_memory.ports import Contents, Embedder, QuestionJudge, Store
from mcp_memory.search.subjects import subject_of
from mcp_memory.search.words import WordIndex
from mcp_memory.services.learn.episodes import time_words
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import NONE, Space

NEAREST = 200
"""Segments that the store names for a query if the view holds no vectors."""


async def embed_query(store: Store, embedder: Embedder, query: Query, judge: QuestionJudge | None = None) -> Query:
    """Return a query understood and embedded, with its parts; the caller's other wordings of it become parts.

    Args:
        store: whose space says which speakers there are.
        embedder: of the query, of its time, topic, wordings, parts and events, all in one batch.
        query: the text, the space, and the moment of asking.
        judge: says what the query means beside its words, while no view is held; None leaves it at its words. So does a
            space without texts.
    """
    async with store.reading() as view:
        space = view.space(query.space)
        query = understand(query, space.speakers, query.now)
        speakers, empty, taught = tuple(space.speakers), not space.segments, len(space.beliefs) > 0
        contents = Contents(space.span, talk=bool(space.talk.any()), documents=not space.talk.all())
    if judge is not None and not empty:
        query = await judge.understand(query, speakers, query.now, contents)
    time = time_words(query, query.now) if taught else None  # without lessons no vector is compared with it
    wordings = (Query(wording, query.space) for wording in query.wordings if wording != query.text)
    parts = [understand(part, speakers, query.now) for part in (*wordings, *query.parts)]
    events = [understand(event, speakers, query.now) for event in events_between(query.text) or ()]
    forms = [query.forms, *(part.forms for part in (*parts, *events))]
    topic = [topic_of(query.text)] if wanted_breadth(query) != "best" else []
    subject = subject_of(query, speakers)
    masked = [subject.masked] if subject is not None and subject.words else []
    vectors = await embedder.embed([*chain(*forms), *topic, *masked, *([time] if time else [])])
    own, *others = (vectors[start:end] for start, end in pairwise(accumulate(map(len, forms), initial=0)))
    embedded = tuple(
        replace(part, vectors=rows, window=query.window, role=query.role)
        for part, rows in zip((*parts, *events), others, strict=True)
    )
    return replace(
        query,
        parts=embedded[: len(parts)],
        events=embedded[len(parts) :],
        vectors=own,
        time_vector=vectors[-1] if time else None,
        topic_vector=vectors[sum(map(len, forms))] if topic else None,
        subject_vector=vectors[sum(map(len, forms)) + len(topic)] if masked else None,
    )


def wanted_breadth(query: Query) -> Breadth:
    """Return how broad a recall shall be: as the caller says, or by the shape of the question."""
    return breadth_of(query.text) if query.mode == "auto" else query.mode


async def similarity(store: Store, space: Space, vectors: Matrix) -> Matrix:
    """Return the cosine of each vector with each segment; only of the nearest if the view holds no vectors."""
    if space.segment_vectors is not None:
        return space.segment_vectors.dot(vectors)
    cosines = np.zeros((len(vectors), len(space.segments)), dtype=np.float32)
    if not space.segments:
        return cosines
    for place, nearest in enumerate(await store.nearest(space.name, vectors, NEAREST)):
        for segment, cosine in nearest:
            if (row := space.segment_row(segment)) != NONE:  # else a bad row, which the view has left out
                cosines[place, row] = cosine
    return cosines


def place_event(space: Space, query: Query, settings: RecallSettings) -> Query:
    """Return a query whose event, if it names one, has the time that the facts of a space give it."""
    return date_event(space.facts, query) if settings.navigation.facts and settings.search.time else query


def word_rarity(space: Space, query: Query) -> dict[str, float]:
    """Return how rare each stem of a query is in a space, in [0, 1]."""
    words = space.index(WordIndex)
    return {stem: words.rarity(stem) for stem in query.stems}
