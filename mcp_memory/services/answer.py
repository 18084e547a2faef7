"""Answer: what the evidence says to a question, or that it does not say.

Recall first; then a judge proposes the best that the facts and the evidence's sentences can say, with a confidence.
Below the bar nothing is said: the caller gets the evidence and can make up its own mind. Every answer cites the
sentences that it stands on, as spans of the stored turns (DESIGN I38), and each citation names an item of the evidence.

What was learnt of the sentences counts in it: their gates go to the judge, and what a caller denied for this very
question is not said plainly again.

Then the memory judges its own answer and learns from that (GAM-RAG §3.3): one step, durable when the answer returns.
Where a language model answered, what it cites is its word on what supports the answer, and no other judge is asked. An
abstention teaches nothing, and neither does what is known already. Where the store cannot be written to, the answer is
given all the same, with a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from mcp_memory.domain.answers import Judgement, KnownFacts, Proposal
from mcp_memory.domain.episodes import Episode
from mcp_memory.domain.evidence import AnswerResult, RecallResult
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import Millis
from mcp_memory.errors import StoreError
from mcp_memory.ports import BeliefUpdate, Embedder, Operator, QuestionJudge, Store, SupportJudge
from mcp_memory.services.learn.episodes import Episodes, cited_sentences, new_episode
from mcp_memory.services.learn.update import SupportInput, learn, own_lesson, support_input, support_lesson
from mcp_memory.services.recall.further import Searching, rested
from mcp_memory.services.recall.judge_input import opened, resting
from mcp_memory.services.recall.path_scoring import evaluated
from mcp_memory.services.recall.pipeline import ask, find, recalled
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.services.recall.spaces import unknown
from mcp_memory.services.settings import AnswerSettings


@dataclass(frozen=True, slots=True)
class SelfFeedback:
    """What is done with what the memory says of its own answers.

    Attributes:
        judge: says which sentences support one.
        teach: the update.
        labels: when the judge's word counts: at once (``learn``), only once a caller has said that the answer was right
            (``wait``), or at once for answers without a hedge (``sure``). Measured on dialogues, 70 of 100 sentences
            that the embedded judge labels are right, of answers without a hedge 88, which are a quarter of them.
    """

    judge: SupportJudge
    teach: BeliefUpdate
    labels: Literal["learn", "sure", "wait"] = "sure"


async def answer(
    store: Store,
    embedder: Embedder,
    inquiry: QuestionJudge,
    request: Query,
    *,
    settings: RecallSettings,
    thresholds: AnswerSettings,
    episodes: Episodes,
    own: SelfFeedback | None = None,
    operators: Mapping[str, Operator] | None = None,
    now: Millis,
) -> AnswerResult:
    """Return the answer, or an abstention (``text`` is None) with the evidence and how near it came.

    What the facts contradict each other in about the question is told in ``recall.conflicts``, answer or not. Both are
    kept as an episode.

    Args:
        store: where.
        embedder: of the question.
        inquiry: who judges; of this question alone.
        request: what is asked.
        settings: of recall.
        thresholds: how sure an answer has to be.
        episodes: of this process.
        own: how the memory learns from its own answers; None where it does not.
        operators: by name, for a judge that wants to go on.
        now: the moment of asking.
    """
    asking = await ask(store, embedder, request.space, request.text, now, inquiry)
    question = asking.question
    evaluation = await evaluated(store, asking, request, settings, now, inquiry)
    async with store.reading() as view:
        space = view.space(request.space)
        findings = await find(store, embedder, space, asking, request, settings, now, evaluation)
        recall, knowledge = recalled(space, question, findings, request, now)
        recall = replace(recall, warnings=(*recall.warnings, *unknown(view, request.space)))
        first = opened(space, asking, findings, recall, knowledge, learning=settings.gain.learning)
    searching = Searching(store, embedder, operators or {}, settings, now)
    case, judgement = await searching.concluded(inquiry.judge, first.case, request, first.named)
    told = rested(case, judgement, len(recall.evidence)).recall
    told = replace(told, warnings=(*told.warnings, *inquiry.warnings), spent=inquiry.spent)
    found = _said(told, judgement, case.knowledge, thresholds)
    async with store.reading() as view:
        space = view.space(request.space)
        episode = replace(
            new_episode(
                space,
                request.text,
                found.recall,
                now=now,
                question=question,
                activated=findings.guidance.activated,
            ),
            answer=found.text,
            cited=cited_sentences(space, found.citations),
            abstained=found.text is None,
        )
        asked = None
        if own is not None and request.learn and found.text is not None:
            asked = support_input(space, episode, found, first.gates)
    found = replace(found, recall=replace(found.recall, episode=episode.id))
    if own is None or asked is None:
        episodes.keep(episode)
        return found
    return await _learning(store, embedder, episodes, own, found, episode, asked)


def _said(
    recall: RecallResult, judgement: Judgement, knowledge: KnownFacts, thresholds: AnswerSettings
) -> AnswerResult:
    """Return a judgement as the answer, or the abstention that it comes to.

    The bar is for the embedded engine, whose confidences it was measured on; a language model abstains by itself.
    """
    recall = replace(recall, missing=judgement.missing or recall.missing)
    proposal, engine = judgement.proposal, judgement.engine
    if proposal is None:
        return AnswerResult(None, 0.0, False, (), recall, engine)
    if engine == "embedded" and not _passes(proposal, thresholds):
        return AnswerResult(None, proposal.confidence, False, (), recall, engine)
    hedged = proposal.hedged or proposal.confidence < thresholds.plain
    rests = resting(recall, proposal.citations, knowledge)
    return AnswerResult(proposal.text, proposal.confidence, hedged, proposal.citations, rests, engine)


def _passes(proposal: Proposal, thresholds: AnswerSettings) -> bool:
    """Return whether a proposal is sure enough to be said."""
    in_document = proposal.citations[0].source.turn.kind == "document"
    return proposal.confidence >= (thresholds.document if in_document else thresholds.talk)


async def _learning(
    store: Store,
    embedder: Embedder,
    episodes: Episodes,
    own: SelfFeedback,
    found: AnswerResult,
    episode: Episode,
    asked: SupportInput,
) -> AnswerResult:
    """Return the answer once what its own judge says of it is learnt, or waits for a caller."""
    if found.engine == "embedded":
        lesson = await own_lesson(own.judge, episode, asked)
    else:
        lesson = support_lesson(found.engine, episode, asked, episode.cited)
    wait = own.labels == "wait" or (own.labels == "sure" and found.hedged)
    episodes.keep(episode, lesson if wait else None)
    if lesson is None or wait:
        return found
    try:
        await learn(store, embedder, own.teach, [lesson])
    except StoreError as error:
        warning = f"Nothing was learnt from this answer: {error}"
        return replace(found, recall=replace(found.recall, warnings=(*found.recall.warnings, warning)))
    return found
