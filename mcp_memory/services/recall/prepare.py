"""Prepare a query for a space: understand and embed it, compare it with the segments, date the event that it names.

**Texts without vectors** (`estimate_cosines`), stored and not embedded yet, take part in recall by their words.

**Judged paths** (`judge_paths`). A judge may score paths through the facts (REAL §3.3.2, II; DESIGN L5). The formulas
score all candidates first, which takes milliseconds, and the beam search yields each step before anything is decided; a
judge's scores then replace these. While the judge thinks, no view is held, and nothing of a view is kept: for the next
step the search starts again, over the space as it is then, and each judged step is decided by its recorded scores. So
writes and rebuilds may happen meanwhile. A path that the judge has not seen keeps the scores of the formulas, and so do
all that come after a judge that failed.

The paper asks in every step. A call costs an answer a seventh of its budget and takes seconds, so the judge is asked
about `QuestionJudge.scored_steps` steps at most, where it decides most:

- where a path could go on in several ways of which one does what is asked: Stop or Expand, and the places of the next
  step. What stands next to a root is shown then as well, beside what it goes on to. Where there is only one way on, all
  that is decided is where the path ends, and either end rests on the same texts;
- where a root has more such neighbours than places.

It is not asked about what the rules recover: a model draws such conclusions itself from the texts of the premises,
which it is shown. Of 34 two- to four-hop questions over documents, played with a judge that was asked twice and about
guesses too, 24 asked, 16 twice; none of the second scores led anywhere, and six questions lacked the call later.

Measured while any way on counted, over facts that rules read, with a judge that knows which texts
are right, so that no model does better: of questions to long dialogues, where hardly anything stands behind a
neighbour, one in six asks (62.2 points of R@2 without, 62.5 with it), of questions to documents nearly all do, 1.1
times each (89.5 and 90.0). Asked in every step it is asked 2.2 and 2.9 times and finds .2 points more and nothing more.
Of 50 multi-hop questions to documents 30 asked then, and 10 do now.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from itertools import accumulate, chain, pairwise

import numpy as np

from mcp_memory.domain.paths import Path
from mcp_memory.domain.query import Breadth, Query
from mcp_memory.language.constraints import events_between
from mcp_memory.language.questions import understand
from mcp_memory.language.shapes import breadth_of, topic_of
from mcp_memory.language.tokens import stems
from mcp_memory.navigation.beam import FORMULAS, BeamStep, Evaluation, find_paths
from mcp_memory.navigation.fact_query import FactQuery, fact_query
from mcp_memory.navigation.known_facts import date_event
from mcp_memory.navigation.paths import CLASSES, leads_back
from mcp_memory.ports import Embedder, QuestionJudge, Store
from mcp_memory.search.channels import TYPICAL_COSINE
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
    async with store.reading(whole=False) as view:
        space = view.space(query.space)
        query = understand(query, space.speakers, query.now)
        speakers, empty, taught = tuple(space.speakers), not space.turns, len(space.beliefs) > 0
        span, talk = space.span, space.talk
        held = [name for name, holds in (("conversations", talk.any()), ("documents", not talk.all())) if holds]
    if judge is not None and not empty:
        query = await judge.understand(query, speakers, held, span)
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


def estimate_cosines(space: Space, stems: Collection[str], cosines: Matrix) -> Matrix:
    """Return the cosines of a query with the segments, those without a vector estimated by the words they share.

    A cosine of 0 would say that such a segment is about something else, and outweigh its words. So the segment with the
    highest BM25 gets the best cosine of those that have a vector, and another one its share of it.

    Args:
        space: of the segments.
        stems: of the query.
        cosines: shape ``(n, len(space.segments))``; changed in place.
    """
    missing = [
        row
        for name, indexes in space.unindexed.items()
        for row in space.segments_with(name, -1)
        if space.segments[row].index in indexes
    ]
    if not missing or not len(cosines):
        return cosines
    rows = np.array(missing, dtype=np.intp)
    index = space.index(WordIndex)
    words = np.zeros(len(space.segments), dtype=np.float32)
    for talk in (True, False):
        scores = index.score(space, stems, talk=talk, neighbours=False)
        words = np.maximum(words, scores / (scores.max() or 1.0)) if len(scores) else words
    others = np.delete(cosines, rows, axis=1)
    best = others.max(axis=1, initial=0.0)
    best[best <= 0] = TYPICAL_COSINE
    cosines[:, rows] = best[:, None] * words[rows]
    return cosines


NEAR_NOTHING = 0.2
"""S_QR below which no path bears on the question; in nine of eleven requests of a trial no path was worth more."""


async def judge_paths(store: Store, query: Query, settings: RecallSettings, judge: QuestionJudge | None) -> Evaluation:
    """Return the scores that a judge gives to paths through the facts; those of the formulas if it is not to be asked.

    Args:
        store: where; no view is held while the judge is asked.
        query: understood and embedded.
        settings: of recall.
        judge: who is asked.
    """
    evaluation = FORMULAS
    if judge is None:
        return evaluation
    for _ in range(judge.scored_steps):
        async with store.reading() as view:
            space = view.space(query.space)
            cosines = estimate_cosines(space, query.stems, await similarity(store, space, query.vectors))
            placed = place_event(space, query, settings)
            step = _next_unjudged(space, placed, cosines, settings, evaluation)
        scores = await judge.score(query, step.paths) if step else None
        if step is None or scores is None:
            break
        evaluation = evaluation.with_scores(step, scores)
        if max(score.relevance for score in scores) < NEAR_NOTHING:
            break  # the facts lead nowhere: what lies beyond them is not worth a call
    return evaluation


def _next_unjudged(
    space: Space, query: Query, cosines: Matrix, settings: RecallSettings, evaluation: Evaluation
) -> BeamStep | None:
    """Return the first step of the beam search that was not judged and is worth a call; None if there is none."""
    search = find_paths(space, query, cosines, word_rarity(space, query), settings.navigation)
    try:
        step = next(search)
        while (scores := evaluation.scores(step)) is not None or not worth_judging(
            step, settings.navigation.width, query
        ):
            step = search.send(scores)
    except StopIteration:
        return None
    search.close()
    return step


def worth_judging(step: BeamStep, width: int, query: Query) -> bool:
    """Return whether the scores of a step can change an answer: of several ways on, one does what the question asks.

    In none of some 80 requests of trials about dialogues, chats and documents did the scores lead to the answer: nearly
    all that were asked about shared a year, a kind or a part of a name with the question.
    """
    asked = fact_query(query)
    if step.inferred or max((path.scores.relevance for path in step.paths), default=0.0) < NEAR_NOTHING:
        return False
    roots = {path.root.key for path in step.beams}  # what lies beyond another root is asked about from there
    for path, group in zip(step.beams, step.extensions, strict=True):
        ways = [way for way in group if _is_way(way, query)]
        if sum(not way.steps[-1].forward for way in ways) > width:  # what a country or a year has
            ways = [way for way in ways if way.steps[-1].forward]
        several = len({way.end for way in ways}) > (1 if path.steps and path.end not in roots else width)
        if several and any(_does_what_is_asked(way, asked) for way in ways):
            return True
    return False


def _is_way(path: Path, query: Query) -> bool:
    """Return whether a path begins at what a question names, and tells something of it.

    It does not go through what many share (a year, a kind, a country), and its root is no part of a longer name: "Nest"
    of "The Hornets' Nest".
    """
    if path.root.soft or path.steps[-1].version.relation in CLASSES or _within_a_name(path.root.name, query):
        return False
    return not any(leads_back(replace(path, steps=path.steps[:count])) for count in range(1, len(path.steps) + 1))


def _does_what_is_asked(path: Path, asked: FactQuery) -> bool:
    """Return whether the last step of a path has a relation or a word that a question asks for."""
    last = path.steps[-1].version
    names = {stem for name in (path.root.name, last.head, *asked.query.speakers) for stem in stems(name)}
    return asked.demand(last.relation) > 0 or not (set(asked.query.stems) - names).isdisjoint(stems(last.text))


def _within_a_name(root: str, query: Query) -> bool:
    """Return whether a question has a name only as a part of longer ones."""
    others = [name for name in (*query.names, *query.extra_names) if len(name) > len(root)]
    pattern = re.compile(rf"(?<!\w){re.escape(root)}(?!\w)", re.IGNORECASE)
    longer = [name for name in others if pattern.search(name)]
    text = query.text
    for name in longer:
        text = text.replace(name, " ")
    return bool(longer) and pattern.search(text) is None
