"""Finding: what in a space bears on a question, best first, and how far it goes; for recall and answer alike.

Read it as the walk of one question: understand it, embed it, follow the facts about what it names, ask what was learnt
and where that leads, look at the raw text through every channel, judge whether that is enough, and where it is not, go
on (``active.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise

from mcp_memory.domain.answers import KnownFacts
from mcp_memory.domain.evidence import RecallResult, Sufficiency
from mcp_memory.domain.points import Point, scope_of
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.gain.guided import Guidance, guide
from mcp_memory.hypergraph.retrieval import point_support, relevant_points
from mcp_memory.hypergraph.settings import PointSettings
from mcp_memory.language.questions import understand
from mcp_memory.navigation.events import dated
from mcp_memory.navigation.navigate import Navigation
from mcp_memory.ports import Embedder, QuestionJudge, Store
from mcp_memory.reflection.questions import pool_similarity
from mcp_memory.search.candidates import Candidate, CandidateSet, find_candidates, rank_candidates
from mcp_memory.search.channels import EXPERIENCE, FACTS, POINTS, PROPAGATION, QUESTIONS, Channel
from mcp_memory.search.residual import RESIDUAL, residual_queries, residual_scores
from mcp_memory.search.sufficiency import judge_sufficiency
from mcp_memory.services.learn.episodes import time_words
from mcp_memory.services.recall.caller_confirmed import assured
from mcp_memory.services.recall.evidence import evidence_of, timed
from mcp_memory.services.recall.facts import FORMULAS, Evaluation, follow, on_segments
from mcp_memory.services.recall.known_facts import known, told
from mcp_memory.services.recall.loop import Lens, Walk, Walker
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.services.recall.similarity import cosines
from mcp_memory.services.recall.spaces import within
from mcp_memory.services.recall.suggestions import suggestions
from mcp_memory.vectors import Matrix, Scores, Vector
from mcp_memory.view.space import Space


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, ready to be looked for.

    Attributes:
        question: understood with the speakers of the space.
        vectors: of `Query.forms`.
        time: of the words that say a time, shape ``(d,)``; None for a question without one.
        parts: of the question, each as one of its own; none where nobody told any.
    """

    question: Query
    vectors: Matrix
    time: Vector | None = None
    parts: Sequence[Asked] = ()


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found for a question.

    Attributes:
        hits: best first.
        navigation: the paths through facts.
        guidance: what propagation activated, and what was learnt.
        points: memory points that bear on the question, the likest first.
        judgement: of the hits, by their words and by what callers have taught.
        walk: how it went on after the first look; None where it did not.
        texts: that were embedded, the question itself among them.
    """

    hits: Sequence[Candidate]
    navigation: Navigation
    guidance: Guidance
    points: Sequence[Point]
    judgement: Sufficiency
    walk: Walk | None = None
    texts: int = 0


async def ask(
    store: Store, embedder: Embedder, space: str, query: str, now: Millis, inquiry: QuestionJudge | None = None
) -> Asked:
    """Return the query understood and embedded.

    Args:
        store: where.
        embedder: of the query, and of the parts that it is found to have.
        space: in which it is asked.
        query: in the caller's words.
        now: the moment of asking.
        inquiry: says what the query means beside its words, while nothing is held still; None leaves it at them. So
            does a space without texts.
    """
    async with store.reading() as view:
        known_here = view.space(space)
        question = understand(query, known_here.speakers, now)
        speakers, empty = tuple(known_here.speakers), not known_here.segments
        learnt = len(known_here.beliefs) > 0
    if inquiry is not None and not empty:
        question = await inquiry.understand(question, speakers, now)
    time = time_words(question, now) if learnt else None  # else nothing is held against it
    texts = question.forms
    parts = [understand(part.text, speakers, now) for part in question.parts]
    forms = [part.forms for part in parts]
    vectors = await embedder.embed([*texts, *chain(*forms), *([time] if time else [])])
    ends = accumulate(map(len, forms), initial=len(texts))
    told = [Asked(part, vectors[start:end]) for part, (start, end) in zip(parts, pairwise(ends), strict=True)]
    return Asked(question, vectors[: len(texts)], vectors[-1] if time else None, told)


async def find(
    store: Store,
    embedder: Embedder,
    space: Space,
    asked: Asked,
    request: Query,
    settings: RecallSettings,
    now: Millis,
    evaluation: Evaluation = FORMULAS,
) -> Findings:
    """Return what is found for a question, as callers have taught it.

    Args:
        store: asked for what is nearest where the view holds no vectors.
        embedder: of what the question still asks after the first look, if that is looked for: a few short texts, while
            the view is held, so that rows mean the same when they are compared.
        space: of a view that is held still.
        asked: in this space.
        request: the window, the limit, and how facts are followed.
        settings: of recall.
        now: the moment of asking.
        evaluation: of the paths through facts, by a judge that was asked before (`services.evaluating`).
    """
    found = await _looked(store, embedder, space, asked, request, settings, now, evaluation)
    gates = found.guidance.gates
    hits, judgement = assured(space, asked.question, found.hits, found.judgement, gates, request, now)
    return replace(found, hits=hits, judgement=judgement)


async def _looked(
    store: Store,
    embedder: Embedder,
    space: Space,
    asked: Asked,
    request: Query,
    settings: RecallSettings,
    now: Millis,
    evaluation: Evaluation,
) -> Findings:
    """Return what the memory finds by itself; see `find`."""
    vectors = asked.vectors
    likeness = await cosines(store, space, vectors)
    question = placed(space, asked.question, settings)
    navigation = follow(space, question, vectors, likeness, request, settings.navigation, now, evaluation)
    guidance = guide(
        space,
        space.beliefs,
        question,
        vectors,
        likeness,
        time=asked.time,
        window=request.window,
        settings=settings.gain,
    )
    points = _points(space, question, navigation, vectors, settings.points)
    texts = len(vectors) + sum(len(part.vectors) for part in asked.parts) + (asked.time is not None)
    found = Findings((), navigation, guidance, points, judge_sufficiency(space, asked.question, ()), texts=texts)
    switches, external = settings.search, _external_scores(space, question, vectors, found, settings)
    candidates = find_candidates(space, question, likeness, request.window, switches, external, vectors)
    if candidates is None:
        return found
    if asked.parts:
        candidates = candidates.add_parts(space, await _part_candidates(store, space, asked.parts, request, settings))
    if RESIDUAL.switch(switches):
        always, titled = switches.residual_always, candidates.title_in_query
        if residuals := residual_queries(space, question, candidates.seeds, titled, always=always):
            residual_vectors = await embedder.embed([one.text for one in residuals])
            given = residual_scores(residuals, await cosines(store, space, residual_vectors))
            candidates = candidates.add_residual(space, given)
            found = replace(found, texts=found.texts + len(residuals))
    if settings.policy is None:
        once = rank_candidates(space, candidates, request.limit)
        return replace(found, hits=once, judgement=judge_sufficiency(space, asked.question, once))
    roots = [root.name for root in navigation.roots if not root.soft]
    lenses = {question.text: Lens(question, vectors, likeness, guidance.gates)}
    policy = settings.policy
    walker = Walker(store, embedder, request, settings, policy, space, question, roots, points, candidates, lenses, now)
    hits, judgement, walk = await walker.walk()
    return replace(found, hits=hits, judgement=judgement, walk=walk, texts=found.texts + walk.texts)


def placed(space: Space, question: Query, settings: RecallSettings) -> Query:
    """Return a question whose event, if it names one, has the time that the facts of a space give it."""
    return dated(space.facts, question) if settings.navigation.facts and settings.search.time else question


async def _part_candidates(
    store: Store, space: Space, parts: Sequence[Asked], request: Query, settings: RecallSettings
) -> list[CandidateSet]:
    """Return what is found for each part of a question in the raw text, of those that anything is found for."""
    found: list[CandidateSet] = []
    for part in parts:
        likeness = await cosines(store, space, part.vectors)
        switches = settings.search
        candidates = find_candidates(space, part.question, likeness, request.window, switches, None, part.vectors)
        if candidates is not None:
            found.append(candidates)
    return found


def _points(
    space: Space, question: Query, navigation: Navigation, vectors: Matrix, settings: PointSettings
) -> Sequence[Point]:
    """Return the memory points that bear on a question, the likest first; none where they are switched off."""
    if not settings.enabled:
        return ()
    roots = [root.key for root in navigation.roots if not root.soft]
    return relevant_points(space, question.names, roots, scope_of(question.text), vectors[0], settings.shown)


def _external_scores(
    space: Space, question: Query, vectors: Matrix, found: Findings, settings: RecallSettings
) -> dict[Channel, Scores]:
    """Return the scores of the channels that other rooms compute: learning, facts, pooled questions and points."""
    guided = found.guidance.channels
    external = {channel: guided[channel.name] for channel in (EXPERIENCE, PROPAGATION) if channel.name in guided}
    if found.navigation.paths:
        external[FACTS] = on_segments(space, question, found.navigation.paths)
    if QUESTIONS.switch(settings.search) and len(space.questions):
        external[QUESTIONS] = pool_similarity(space, vectors[0])
    counts = POINTS.talk or POINTS.document
    if counts and (given := point_support(space, found.points, vectors[0])) is not None:
        external[POINTS] = given
    return external


def recalled(
    space: Space,
    question: Query,
    findings: Findings,
    request: Query,
    now: Millis,
) -> tuple[RecallResult, KnownFacts]:
    """Return what was found as evidence, with recall's judgement of itself, and what the facts know of the question."""
    hits, navigation, walk = findings.hits, findings.navigation, findings.walk
    judgement = findings.judgement
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
    evidence = timed(evidence_of(space, hits, navigation.paths, question, findings.points), walk.dated if walk else {})
    trace = walk.trace if walk else ()
    recall = RecallResult(
        evidence=evidence,
        sufficiency=judgement.score,
        sufficient=judgement.sufficient,
        missing=judgement.missing,
        conflicts=told(question, knowledge),
        roots=navigation.roots,
        paths=navigation.paths,
        next=within(space, suggestions(space, question, navigation, evidence, judgement.missing, trace)),
        rounds=findings.guidance.rounds,
        points=tuple(findings.points),
        stop=walk.stop if walk else None,
        trace=trace,
        turns=walk.turns if walk else 0,
        texts=findings.texts,
    )
    return recall, knowledge
