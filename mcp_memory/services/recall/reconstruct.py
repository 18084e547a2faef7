"""Recall: the evidence for a question, best first, and what a judge thinks of it (``finding.py`` looks for it).

Without a language model recall judges itself. Where one judges, it is shown what was found, says whether that is enough
or what is missing, and memory is searched again for that (``further.py``), while nothing is held still. What it keeps
comes first then (MRAgent's routing, eq. 12; what it does not keep is not lost), and it is its word whether the evidence
suffices.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from mcp_memory.domain.answers import Judgement
from mcp_memory.domain.evidence import RecallResult
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.ports import Embedder, JudgeInput, Operator, QuestionJudge, Store
from mcp_memory.search.candidates import newest_candidates
from mcp_memory.services.learn.episodes import Episodes, new_episode
from mcp_memory.services.recall.evidence import evidence_of
from mcp_memory.services.recall.further import Searching
from mcp_memory.services.recall.judge_input import opened, resting
from mcp_memory.services.recall.path_scoring import evaluated
from mcp_memory.services.recall.pipeline import ask, find, recalled
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.services.recall.spaces import unknown
from mcp_memory.view.space import Space

UNCONVINCED = 0.5
"""The share that is left of recall's own sufficiency where the judge says that the evidence does not suffice."""


async def reconstruct(
    store: Store,
    embedder: Embedder,
    request: Query,
    *,
    settings: RecallSettings,
    episodes: Episodes,
    inquiry: QuestionJudge | None = None,
    operators: Mapping[str, Operator] | None = None,
    now: Millis,
) -> RecallResult:
    """Return the evidence for a question, or the newest items where nothing is asked; it is kept as an episode.

    An unknown space is an empty one: the result then has no evidence, and a warning says so.

    Args:
        store: where.
        embedder: of the question.
        request: what is asked.
        settings: of recall.
        episodes: of this process.
        inquiry: who judges; None leaves that to recall itself.
        operators: by name, for a judge that wants to go on.
        now: the moment of asking.
    """
    if not request.text:
        async with store.reading() as view:
            space = view.space(request.space)
            recall = replace(_newest(space, request), warnings=unknown(view, request.space))
            episode = new_episode(space, "", recall, now=now)
        episodes.keep(episode)
        return replace(recall, episode=episode.id)
    asked = await ask(store, embedder, request.space, request.text, now, inquiry)
    evaluation = await evaluated(store, asked, request, settings, now, inquiry)
    async with store.reading() as view:
        space = view.space(request.space)
        findings = await find(store, embedder, space, asked, request, settings, now, evaluation)
        recall, knowledge = recalled(space, asked.question, findings, request, now)
        recall = replace(recall, warnings=(*recall.warnings, *unknown(view, request.space)))
        keep = partial(new_episode, now=now, question=asked.question, activated=findings.guidance.activated)
        judged = inquiry is not None and inquiry.assesses(recall)
        if judged:
            first = opened(space, asked, findings, recall, knowledge, learning=settings.gain.learning)
        else:
            episode = keep(space, request.text, recall)
    if inquiry is not None and judged:
        searching = Searching(store, embedder, operators or {}, settings, now)
        case, judgement = await searching.concluded(inquiry.assess, first.case, request, first.named)
        recall = _judged(case, judgement, request.limit)
        async with store.reading() as view:
            episode = keep(view.space(request.space), request.text, recall)
    if inquiry is not None:
        recall = replace(recall, warnings=(*recall.warnings, *inquiry.warnings), spent=inquiry.spent)
    episodes.keep(episode)
    return replace(recall, episode=episode.id)


def _judged(case: JudgeInput, judgement: Judgement, limit: int) -> RecallResult:
    """Return a recall as its judge sees it: what it keeps comes first, each part in its order and half of the scores.

    What recall found itself comes before what was found afterwards, as long as the judge keeps neither.
    """
    if judgement.engine == "embedded":
        return case.recall
    recall = resting(case.recall, judgement.kept, case.knowledge)
    kept = {citation.evidence_id for citation in judgement.kept}
    first = [item for item in recall.evidence if item.id in kept]
    best = max((item.score for item in first), default=0.0)
    if first and best > 0:
        rest = [replace(item, score=item.score / 2) for item in recall.evidence if item.id not in kept]
        first = [replace(item, score=(1 + item.score / best) / 2) for item in first]
        recall = replace(recall, evidence=(*sorted(first, key=lambda item: -item.score), *rest))
    answerable = judgement.proposal is not None
    sufficiency = judgement.proposal.confidence if judgement.proposal else UNCONVINCED * recall.sufficiency
    return replace(
        recall,
        evidence=recall.evidence[:limit],
        sufficient=answerable,
        sufficiency=sufficiency,
        missing=() if answerable else judgement.missing or recall.missing,
        stop="exhausted" if recall.stop == "sufficient" and not answerable else recall.stop,
        engine=judgement.engine,
    )


def _newest(space: Space, request: Query) -> RecallResult:
    hits = newest_candidates(space, request.window, request.limit)
    return RecallResult(evidence_of(space, hits, ()), float(bool(hits)), bool(hits), ())
