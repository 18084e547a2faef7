"""Recall: from a query to what a space holds for it, best first, and whether that suffices.

Read it as one query's way: understand and embed it (`embed_query`), let a judge score paths through the facts
(`judge_paths`), then (`find`) follow the facts about what it names, look up what feedback taught and where that leads,
search the raw text through every channel, go on by the loop where that is not enough, and show what was found as
evidence.

**Judged paths** (REAL §3.3.2, II; DESIGN L5). The formulas score all candidates first, which takes milliseconds, and
the beam search yields each step before anything is decided; a judge's scores then replace these. While the judge
thinks, no view is held, and nothing of a view is kept: for the next step the search starts again, over the space as it
is then, and each judged step is decided by its recorded scores. So writes and rebuilds may happen meanwhile. A path
that the judge has not seen keeps the scores of the formulas, and so do all that come after a judge that failed.

The paper asks in every step. A call costs an answer a seventh of its budget and takes seconds, so the judge is asked
at most `CALLS` times, where it decides most:

- where a path could go on in several ways: Stop or Expand, and the places of the next step. What stands next to a root
  is shown then as well, beside what it goes on to. Where there is only one way on, all that is decided is where the
  path ends, and either end rests on the same texts;
- where a root has more neighbours than places;
- about what the rules recover, only where a path would go on to it.

Measured over facts that rules read, with a judge that knows which texts are right, so that no model does better: of
questions to long dialogues, where hardly anything stands behind a neighbour, one in six asks (62.2 points of R@2
without, 62.5 with it), of questions to documents nearly all do, 1.1 times each (89.5 and 90.0). Asked in every step it
is asked 2.2 and 2.9 times and finds .2 points more and nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import NamedTuple

import numpy as np
from anyio import to_thread

from mcp_memory.domain.answers import KnownFacts
from mcp_memory.domain.evidence import Evidence, RecallResult, Stop, Wish
from mcp_memory.domain.points import Point, scope_of
from mcp_memory.domain.query import Breadth, Query
from mcp_memory.gain.gates import guide
from mcp_memory.hypergraph.retrieval import point_support, relevant_points
from mcp_memory.language.questions import understand
from mcp_memory.language.shapes import breadth_of, topic_of
from mcp_memory.navigation.beam import FORMULAS, BeamStep, Evaluation, find_paths, run_search, score_segments
from mcp_memory.navigation.known_facts import date_event, find_conflicts, known_facts
from mcp_memory.navigation.operators import suggest_steps
from mcp_memory.ports import Contents, Embedder, QuestionJudge, Store
from mcp_memory.reconstruct.loop import LoopState, assess
from mcp_memory.reflection.questions import pool_similarity
from mcp_memory.search.candidates import Candidate, CandidateSet, find_candidates
from mcp_memory.search.channels import EXPERIENCE, FACTS, POINTS, PROPAGATION, QUESTIONS, Channel
from mcp_memory.search.residual import RESIDUAL, residual_queries, residual_scores
from mcp_memory.search.subjects import subject_of
from mcp_memory.search.sufficiency import judge_sufficiency
from mcp_memory.search.unindexed import estimate_cosines
from mcp_memory.search.words import WordIndex
from mcp_memory.services.learn.episodes import time_words
from mcp_memory.services.recall.current import current_first
from mcp_memory.services.recall.event_times import with_event_times
from mcp_memory.services.recall.everything import list_all
from mcp_memory.services.recall.evidence import evidence_of
from mcp_memory.services.recall.loop import KEPT, RecallLoop, boost_candidates, rank, rank_confirmed
from mcp_memory.services.recall.overview import outline
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.services.recall.units import Lines, find_units
from mcp_memory.services.recall.wishes import place_wishes, wishes_for
from mcp_memory.vectors import Matrix, Scores
from mcp_memory.view.space import NONE, Space
from mcp_memory.view.view import View

CALLS = 2
"""Steps of one query that a judge is asked about."""
NEAREST = 200
"""Segments that the store names for a query if the view holds no vectors."""
FEW = 3
"""Fewest lines of a broad recall that ``auto`` shows instead of the best evidence, if that has as many."""
NAMED = 5
"""Spaces that a warning names, those with most in them."""


async def embed_query(store: Store, embedder: Embedder, query: Query, judge: QuestionJudge | None = None) -> Query:
    """Return a query understood and embedded, with its parts; the caller's other wordings of it become parts.

    Args:
        store: whose space says which speakers there are.
        embedder: of the query, of its time, its topic, its wordings and its parts, all in one batch.
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
    forms = [query.forms, *(part.forms for part in parts)]
    topic = [topic_of(query.text)] if wanted_breadth(query) != "best" else []
    subject = subject_of(query, speakers)
    masked = [subject.masked] if subject is not None and subject.words else []
    vectors = await embedder.embed([*chain(*forms), *topic, *masked, *([time] if time else [])])
    own, *others = (vectors[start:end] for start, end in pairwise(accumulate(map(len, forms), initial=0)))
    embedded = tuple(
        replace(part, vectors=rows, window=query.window, role=query.role)
        for part, rows in zip(parts, others, strict=True)
    )
    return replace(
        query,
        parts=embedded,
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


async def judge_paths(store: Store, query: Query, settings: RecallSettings, judge: QuestionJudge | None) -> Evaluation:
    """Return the scores that a judge gives to paths through the facts; those of the formulas if it is not to be asked.

    Args:
        store: where; no view is held while the judge is asked.
        query: understood and embedded.
        settings: of recall.
        judge: who is asked.
    """
    evaluation = FORMULAS
    if judge is None or not judge.scores_paths:
        return evaluation
    for _ in range(CALLS):
        async with store.reading() as view:
            space = view.space(query.space)
            cosines = estimate_cosines(space, query.stems, await similarity(store, space, query.vectors))
            placed = _place_event(space, query, settings)
            step = _next_unjudged(space, placed, cosines, settings, evaluation)
        scores = await judge.score(query, step.paths) if step else None
        if step is None or scores is None:
            break
        evaluation = evaluation.with_scores(step, scores)
    return evaluation


def _next_unjudged(
    space: Space, query: Query, cosines: Matrix, settings: RecallSettings, evaluation: Evaluation
) -> BeamStep | None:
    """Return the first step of the beam search that was not judged and is worth a call; None if there is none."""
    search = find_paths(space, query, cosines, _rarity(space, query), settings.navigation)
    try:
        step = next(search)
        while (scores := evaluation.scores(step)) is not None or not worth_judging(step, settings.navigation.width):
            step = search.send(scores)
    except StopIteration:
        return None
    search.close()
    return step


def worth_judging(step: BeamStep, width: int) -> bool:
    """Return whether the scores of a step decide enough for a call.

    Args:
        step: the candidates of all beams.
        width: places of each root in the next step.
    """
    longer = [(path, group) for path, group in zip(step.beams, step.extensions, strict=True) if path.steps]
    if step.inferred:
        return any(guess.scores.sufficiency > path.scores.sufficiency for path, group in longer for guess in group)
    return any(len(group) > 1 for _, group in longer) or any(len(group) > width for group in step.extensions)


async def find(
    store: Store,
    embedder: Embedder,
    view: View,
    query: Query,
    settings: RecallSettings,
    evaluation: Evaluation = FORMULAS,
) -> tuple[RecallResult, KnownFacts, Sequence[Candidate], Mapping[int, float]]:
    """Return what a space holds for a query, as callers have taught it.

    Args:
        store: asked for what is nearest if the view holds no vectors.
        embedder: of a few short texts that the first look asks for, while the view is held, so that rows still mean
            the same when they are compared.
        view: does not change meanwhile.
        query: understood and embedded; of its space.
        settings: of recall.
        evaluation: of the paths through facts, from `judge_paths`.

    Returns:
        The result, what the facts know about the query, the candidates that its evidence shows, best first, and by row
        the gates of the sentences that are not neutral for the query. Rows mean something as long as the view is held.
    """
    space = view.space(query.space)
    placed = _place_event(space, query, settings)
    vectors = query.vectors
    cosines = estimate_cosines(space, query.stems, await similarity(store, space, vectors))
    roots, paths = run_search(
        find_paths(space, placed, cosines, _rarity(space, placed), settings.navigation), evaluation.scores
    )
    learnt, activated, rounds, gates = guide(space, space.beliefs, placed, cosines, settings.gain)
    points: Sequence[Point] = ()
    if settings.points.enabled:
        named = [root.key for root in roots if not root.soft]
        points = relevant_points(space, query.names, named, scope_of(query.text), vectors[0], settings.points.shown)
    external: dict[Channel, Scores] = {
        channel: learnt[channel.name] for channel in (EXPERIENCE, PROPAGATION) if channel.name in learnt
    }
    if paths:
        external[FACTS] = score_segments(space, placed, paths)
    if QUESTIONS.switch(settings.search) and len(space.questions):
        external[QUESTIONS] = pool_similarity(space, vectors[0])
    if (POINTS.talk or POINTS.document) and (scores := point_support(space, points, vectors[0])) is not None:
        external[POINTS] = scores

    texts = len(vectors) + sum(len(part.vectors) for part in query.parts) + (query.time_vector is not None)
    found, embedded = await _search(store, embedder, space, placed, cosines, external, settings)
    ranked, coverage = rank(space, placed, found)
    state: LoopState | None = None
    stop: Stop | None = None
    if found is not None and settings.policy is not None:
        names = [root.name for root in roots if not root.soft]
        first, stop = assess(space, placed, [candidate.row for candidate in ranked], coverage, names), "sufficient"
        if not first.sufficient:
            near, policy = partial(similarity, store, space), settings.policy
            loop = RecallLoop(
                space, placed, found, names, gates, settings, policy, embedder, near, {placed.text: (placed, cosines)}
            )
            state, stop = await loop.run(points, ranked, first)
            embedded += loop.texts
        found = boost_candidates(space, placed, found, settings, state, KEPT)
        ranked, coverage = rank(space, placed, found)
    sufficiency = judge_sufficiency(space, placed, ranked, coverage.missing, settings.sufficiency)
    ranked, sufficiency = rank_confirmed(space, query, ranked, sufficiency, gates, settings.sufficiency.enough)
    if settings.search.current:
        ranked = current_first(space, placed, roots, ranked)
    wishes: Sequence[Wish] = ()
    if settings.search.wishes:
        wishes, scopes = await wishes_for(space, query, embedder)
        ranked, embedded = place_wishes(space, ranked, wishes, query), embedded + scopes
    turns = [space.segment_turn[candidate.row].id for candidate in ranked]
    facts = known_facts(space, query, roots, paths, turns)
    evidence = evidence_of(space, ranked, paths, query, points, state.dated if state else {})
    trace = tuple(state.trace) if state else ()
    unclear = _unclear(query, [space.facts.name(key) for key in facts.meanings])
    score = min(sufficiency.score, settings.sufficiency.doubtful) if unclear else sufficiency.score
    sufficient = sufficiency.sufficient and not unclear
    broad = await _broaden(store, space, query, found, points, settings)
    if broad and query.mode == "auto" and broad.total < min(FEW, len(evidence)):
        broad = None  # too little bears on it for a list: the best evidence says more
    result = RecallResult(
        with_event_times(broad.evidence if broad else evidence, query.window),
        score,
        sufficient,
        (*sufficiency.missing, *unclear),
        warnings=unknown_space(view, query.space),
        conflicts=find_conflicts(query, facts),
        roots=roots,
        paths=paths,
        next=suggest_steps(space, query, roots, paths, evidence, coverage.missing, trace),
        rounds=rounds,
        points=tuple(points),
        stop="exhausted" if stop == "sufficient" and not sufficient else stop,  # no step would help
        trace=trace,
        turns=state.turns if state else 0,
        texts=texts + embedded,
        activated=activated,
        wishes=tuple(wishes),
        breadth=broad.breadth if broad else "best",
        total=broad.total if broad else None,
        skipped=query.skip if broad else 0,
    )
    return result, facts, ranked, gates


class _Broad(NamedTuple):
    """The lines of a broad recall, and how many there are beyond this page."""

    breadth: Breadth
    evidence: tuple[Evidence, ...]
    total: int


async def _broaden(
    store: Store,
    space: Space,
    query: Query,
    found: CandidateSet | None,
    points: Sequence[Point],
    settings: RecallSettings,
) -> _Broad | None:
    """Return everything that bears on a query, or an overview of it; None where the best evidence is wanted.

    ``auto`` leaves documents to the best evidence: their questions are answered by single passages, whole. It also
    takes the best evidence where hardly a line was found (`find`): such a question only looks like one for a list.
    """
    breadth = wanted_breadth(query)
    if breadth == "best" or found is None or query.topic_vector is None:
        return None
    if query.mode == "auto" and not space.talk[found.rows[int(found.total.argmax())]]:
        return None
    cosines = (await similarity(store, space, query.topic_vector[None, :]))[0]
    chosen = settings.breadth

    def page() -> _Broad:
        units = find_units(space, query, found, cosines, points, chosen)
        if breadth == "overview":
            every = outline(space, units, points, chosen.parts)
        else:
            every = list_all(space, query, units, points)
        shown = every[query.skip : query.skip + (query.lines or chosen.lines)]
        lines = Lines(space, query, breadth)
        return _Broad(breadth, tuple(map(lines.of, shown)), len(every))

    return await to_thread.run_sync(page)  # the first that walks cues reads every sentence


async def _search(
    store: Store,
    embedder: Embedder,
    space: Space,
    query: Query,
    cosines: Matrix,
    external: Mapping[Channel, Scores],
    settings: RecallSettings,
) -> tuple[CandidateSet | None, int]:
    """Return the candidates of every channel, None if no channel finds any, and how many texts were embedded for it."""
    found = find_candidates(space, query, cosines, settings.search, external)
    if found is None:
        return None, 0
    of_parts: list[CandidateSet] = []
    for part in query.parts:
        near = await similarity(store, space, part.vectors)
        candidates = find_candidates(space, part, near, settings.search)
        if candidates is not None:
            of_parts.append(candidates)
    if query.parts:
        found = found.add_parts(space, of_parts)
    if not RESIDUAL.switch(settings.search):
        return found, 0
    always, titled = settings.search.residual_always, found.title_in_query
    residuals = residual_queries(space, query, found.seeds, titled, always=always)
    if not residuals:
        return found, 0
    vectors = await embedder.embed([residual.text for residual in residuals])
    scores = residual_scores(residuals, await similarity(store, space, vectors))
    return found.add_residual(space, scores), len(residuals)


def _unclear(query: Query, meant: Sequence[str]) -> tuple[str, ...]:
    """Return in words whom "I" or a name in a query may mean, if that is not known."""
    if meant:
        return (f"which person is meant: {', '.join(meant[:-1])} or {meant[-1]}",)
    if not query.askers:
        return ()
    more = f" and {len(query.askers) - NAMED} more" if len(query.askers) > NAMED else ""
    return (f"who is meant by the first person: several people speak here ({', '.join(query.askers[:NAMED])}{more})",)


def unknown_space(view: View, name: str) -> tuple[str, ...]:
    """Return a warning if there is no space of that name, with the spaces that there are.

    An unknown space is an empty one, and a misspelt name looks just like one.
    """
    if name in view.spaces:
        return ()
    if not view.spaces:
        return ("Nothing is stored yet, in any space.",)
    known = sorted(view.spaces, key=lambda one: (-len(view.spaces[one].turns), one))
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    return (f"There is no space {name!r} yet; known: {', '.join(known[:NAMED])}{more}. Name the one you mean.",)


def _place_event(space: Space, query: Query, settings: RecallSettings) -> Query:
    """Return a query whose event, if it names one, has the time that the facts of a space give it."""
    return date_event(space.facts, query) if settings.navigation.facts and settings.search.time else query


def _rarity(space: Space, query: Query) -> dict[str, float]:
    words = space.index(WordIndex)
    return {stem: words.rarity(stem) for stem in query.stems}
