"""Finding: what in a space bears on a question, best first, and how far it goes; for recall and answer alike.

Read it as the walk of one question: understand it, embed it, follow the facts about what it names, ask what was learnt
and where that leads, look at the raw text through every channel, judge whether that is enough, and where it is not, go
on (``active.py``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, pairwise

from mcp_memory.domain.answers import KnownFacts
from mcp_memory.domain.evidence import RecallResult
from mcp_memory.domain.points import Point, scope_of
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.gain.guided import Guidance, guide
from mcp_memory.gain.settings import Learning, Propagating
from mcp_memory.hypergraph.retrieval import bearing, resting
from mcp_memory.hypergraph.settings import Shaping
from mcp_memory.language.questions import understand
from mcp_memory.navigation.events import dated
from mcp_memory.navigation.navigate import Navigation
from mcp_memory.ports import Embedder, QuestionJudge, Store
from mcp_memory.reconstruct.state import Asked as About
from mcp_memory.reflection.questions import pool_similarity
from mcp_memory.search.look import Hit, Survey, Switches, Weights, deepened, parted, queries, ranked, survey
from mcp_memory.search.residual import compared, residuals
from mcp_memory.search.sufficiency import Judgement, judge
from mcp_memory.services.learn.episodes import time_words
from mcp_memory.services.recall.caller_confirmed import assured
from mcp_memory.services.recall.evidence import evidence_of, timed
from mcp_memory.services.recall.facts import FORMULAS, Evaluation, Following, follow, on_segments
from mcp_memory.services.recall.known_facts import known, told
from mcp_memory.services.recall.loop import Lens, Walk, Walker, Walking
from mcp_memory.services.recall.similarity import cosines
from mcp_memory.services.recall.spaces import within
from mcp_memory.services.recall.suggestions import suggestions
from mcp_memory.vectors import Matrix, Scores, Vector
from mcp_memory.view.space import Space


@dataclass(frozen=True, slots=True)
class Looking:
    """How a question is looked for.

    Attributes:
        weights: what each channel counts.
        switches: which channels take part.
        following: how facts are followed.
        learning: how what was learnt counts.
        propagating: how far propagation goes; None without it.
        shaping: how memory points are looked up; None where they are not.
        walking: how it goes on where that is not enough; None where it does not.
    """

    weights: Weights = field(default_factory=Weights)
    switches: Switches = field(default_factory=Switches)
    following: Following = field(default_factory=Following)
    learning: Learning = field(default_factory=Learning)
    propagating: Propagating | None = field(default_factory=Propagating)
    shaping: Shaping | None = field(default_factory=Shaping)
    walking: Walking | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, ready to be looked for.

    Attributes:
        question: understood with the speakers of the space.
        vectors: of `search.look.queries`.
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

    hits: Sequence[Hit]
    navigation: Navigation
    guidance: Guidance
    points: Sequence[Point]
    judgement: Judgement
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
    texts = queries(question)
    parts = [understand(part.text, speakers, now) for part in question.parts]
    forms = [queries(part) for part in parts]
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
    looking: Looking,
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
        looking: how.
        now: the moment of asking.
        evaluation: of the paths through facts, by a judge that was asked before (`services.evaluating`).
    """
    found = await _looked(store, embedder, space, asked, request, looking, now, evaluation)
    gates = found.guidance.gates
    hits, judgement = assured(space, asked.question, found.hits, found.judgement, gates, request, now)
    return replace(found, hits=hits, judgement=judgement)


async def _looked(
    store: Store,
    embedder: Embedder,
    space: Space,
    asked: Asked,
    request: Query,
    looking: Looking,
    now: Millis,
    evaluation: Evaluation,
) -> Findings:
    """Return what the memory finds by itself; see `find`."""
    vectors = asked.vectors
    likeness = await cosines(store, space, vectors)
    question = placed(space, asked.question, looking)
    navigation = follow(space, question, vectors, likeness, request, looking.following, now, evaluation)
    guidance = guide(
        space,
        space.beliefs,
        question,
        vectors,
        likeness,
        time=asked.time,
        window=request.window,
        learning=looking.learning,
        propagating=looking.propagating,
    )
    points = _points(space, question, navigation, vectors, looking.shaping)
    texts = len(vectors) + sum(len(part.vectors) for part in asked.parts) + (asked.time is not None)
    found = Findings((), navigation, guidance, points, judge(space, asked.question, ()), texts=texts)
    weights, switches = looking.weights, looking.switches
    extra = _channels(space, question, vectors, found, looking)
    seen = survey(space, question, likeness, request.window, weights, switches, extra, vectors)
    if seen is None:
        return found
    if asked.parts:
        seen = parted(space, seen, await _looks(store, space, asked.parts, request, looking), weights)
    further = residuals(space, question, seen, always=switches.residual_always) if switches.residual else ()
    if further:
        residual = await embedder.embed([one.text for one in further])
        given = compared(further, await cosines(store, space, residual))
        seen = deepened(space, seen, given, weights)
    found = replace(found, texts=found.texts + len(further))
    if looking.walking is None:
        once = ranked(space, seen, request.limit)
        return replace(found, hits=once, judgement=judge(space, asked.question, once))
    about = About(space, question, tuple(root.name for root in navigation.roots if not root.soft), tuple(points))
    lenses = {question.text: Lens(question, vectors, likeness, guidance.gates)}
    walker = Walker(store, embedder, request, looking.walking, weights, about, seen, lenses, now)
    hits, judgement, walk = await walker.walk()
    return replace(found, hits=hits, judgement=judgement, walk=walk, texts=found.texts + walk.texts)


def placed(space: Space, question: Query, looking: Looking) -> Query:
    """Return a question whose event, if it names one, has the time that the facts of a space give it."""
    return dated(space.facts, question) if looking.following.facts and looking.switches.time else question


async def _looks(store: Store, space: Space, parts: Sequence[Asked], request: Query, looking: Looking) -> list[Survey]:
    """Return what is found for each part of a question in the raw text, of those that anything is found for."""
    found: list[Survey] = []
    for part in parts:
        likeness = await cosines(store, space, part.vectors)
        weights, switches = looking.weights, looking.switches
        seen = survey(space, part.question, likeness, request.window, weights, switches, None, part.vectors)
        if seen is not None:
            found.append(seen)
    return found


def _points(
    space: Space, question: Query, navigation: Navigation, vectors: Matrix, shaping: Shaping | None
) -> Sequence[Point]:
    """Return the memory points that bear on a question, the likest first; none where they are switched off."""
    if shaping is None:
        return ()
    roots = [root.key for root in navigation.roots if not root.soft]
    return bearing(space, question.names, roots, scope_of(question.text), vectors[0], shaping.shown)


def _channels(space: Space, question: Query, vectors: Matrix, found: Findings, looking: Looking) -> dict[str, Scores]:
    """Return what facts, learning, points and pooled questions give each segment, for the first look to weigh."""
    weights = looking.weights
    extra = dict(found.guidance.channels)
    if found.navigation.paths:
        extra["facts"] = on_segments(space, question, found.navigation.paths)
    if looking.switches.questions and len(space.questions):
        extra["questions"] = pool_similarity(space, vectors[0])
    counts = weights.talk_points or weights.document_points
    if counts and (given := resting(space, found.points, vectors[0])) is not None:
        extra["points"] = given
    return extra


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
        sufficiency=judgement.sufficiency,
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
