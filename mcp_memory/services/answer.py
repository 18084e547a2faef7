"""The two tools that read: recall with evidence (`reconstruct`), and an answer that cites it (`answer`).

Both look the query up first (``services/recall/``). Without a language model nobody judges whether that is enough,
and none of the replies says so. A language model is shown what was found, while no view is held, and says whether that
is enough or what is missing; what it needs comes first (MRAgent's routing, eq. 12; nothing else is lost).

**Follow-ups of a judge.** A language model takes part in the loops of MRAgent (§3.2), HGMem and QRMeM: it is asked
again with what the steps that it chose found (``follow_ups.py``). Evidence that was found on the way and that no
citation needs is left out of an answer.

**Answers.** Without a language model a certain fact answers, or nothing does: the caller then gets what the best
records quote, beside the evidence, and decides itself. Every answer cites the sentences that it rests on, as spans of
the stored turns (DESIGN I38), and each citation names an item of the evidence. What was learnt counts: the judge gets
the gates of the sentences, and what a caller denied for this very question is not said again.

**Self-feedback** (GAM-RAG §3.3). The memory then judges its own answer and learns from that: one step, durable when the
answer returns. Where a language model answered, its citations are taken as the supporting sentences, and no other
judge is asked. An abstention and an answer with a hedge teach nothing, and neither does what is known already. If the
store cannot be written to, the answer is given all the same, with a warning.
"""

from __future__ import annotations

from dataclasses import replace

from mcp_memory.domain.answers import Judgement
from mcp_memory.domain.evidence import AnswerResult, RecallResult, Source
from mcp_memory.domain.query import Query
from mcp_memory.errors import StoreError
from mcp_memory.gain.gates import gates_for_judge
from mcp_memory.language.segments import ends_with_question_mark
from mcp_memory.ports import Embedder, JudgeInput, QuestionJudge, Store
from mcp_memory.search.evidence import evidence_of, judge_input, with_cited_items
from mcp_memory.search.ranking import newest_candidates
from mcp_memory.search.wishes import newest_wishes
from mcp_memory.services.follow_ups import FollowUps
from mcp_memory.services.learn.episodes import Episodes, new_episode, new_episode_id
from mcp_memory.services.learn.lessons import learn, own_lesson
from mcp_memory.services.points import store_points
from mcp_memory.services.recall.loop import RecallSettings
from mcp_memory.services.recall.pipeline import embed_query, find, unknown_space, without_unknown_role

PLAIN_CONFIDENCE = 0.7
"""Confidence of a language model below which its answer is hedged."""

CLOSEST, SHORT_CHARS = 3, 300
"""Records that are quoted where nothing certain answers, and characters up to which a message is quoted whole."""
READ_SHARE = 5 / 4
"""Items of evidence that a language model may be shown, of those that the caller is, as far as they fit
(``reasoning/evidence.py``)."""


async def reconstruct(
    store: Store,
    embedder: Embedder,
    query: Query,
    *,
    settings: RecallSettings,
    episodes: Episodes,
    judge: QuestionJudge | None = None,
) -> RecallResult:
    """Return the evidence for a query, or the newest items where its text is empty, and keep it as an episode.

    The query is as the caller asks it, with the moment of asking, and the judge is of it alone; without one nobody
    judges. An unknown space is an empty one: the result then has no evidence, and a warning says so.
    """
    if not query.text:
        async with store.reading() as view:
            space = view.space(query.space)
            query, without_role = without_unknown_role(space, query)
            newest = newest_candidates(space, query.window, query.limit, query.role)
            result = RecallResult(
                evidence_of(space, newest, ()),
                warnings=(*unknown_space(view, query.space), *without_role),
                episode=new_episode_id(),
                wishes=newest_wishes(space) if settings.switches.wishes else (),
            )
            episodes.keep(new_episode(space, query, result))
        return result
    query = await embed_query(store, embedder, query, judge)
    asked: JudgeInput | None = None
    async with store.reading() as view:
        space = view.space(query.space)
        found = await find(embedder, view, query, settings)
        if judge is not None and found.result.breadth == "best" and judge.assesses(found.result):
            gates = gates_for_judge(space, query, found.result, found.gates, learning=settings.switches.learning)
            asked = judge_input(space, query, found.result, found.facts, gates)
        else:
            result = _conclude(found.result, judge)
            episode = new_episode(space, query, result)
    if judge is not None and asked is not None:
        asked, judgement = await _ask(judge, asked, store, embedder, settings)
        result = _conclude(_as_judged(asked, judgement, query.limit), judge)
        async with store.reading() as view:
            episode = replace(new_episode(view.space(query.space), query, result), points=asked.working)
    episodes.keep(episode)
    return result


def _conclude(result: RecallResult, judge: QuestionJudge | None) -> RecallResult:
    """Return a result with the id of its episode, and what its judge has to say of itself."""
    warnings, spent = (judge.warnings, judge.spent) if judge else ((), None)
    return replace(result, episode=new_episode_id(), warnings=(*result.warnings, *warnings), spent=spent)


async def answer(
    store: Store,
    embedder: Embedder,
    judge: QuestionJudge,
    query: Query,
    *,
    settings: RecallSettings,
    episodes: Episodes,
) -> AnswerResult:
    """Return the answer, or an abstention (``text`` is None) with the evidence; keep an episode.

    ``recall.conflicts`` says where the facts contradict each other about the query, whether it is answered or not.
    """
    limit = query.limit
    if judge.follow_ups:  # a language model reads a list or an overview, and more than a caller is shown
        query = replace(query, limit=int(READ_SHARE * limit), mode="auto")
    query = await embed_query(store, embedder, query, judge)
    async with store.reading() as view:
        space = view.space(query.space)
        found = await find(embedder, view, query, settings)
        gates = gates_for_judge(space, query, found.result, found.gates, learning=settings.switches.learning)
        asked = judge_input(space, query, found.result, found.facts, gates)
    broad = found.result.breadth != "best"
    asked, judgement = await _ask(judge, asked, store, embedder, settings)
    answered = _answered(asked, judgement, len(found.result.evidence) if broad else limit, judge)
    answered = replace(answered, points=asked.working)
    async with store.reading() as view:
        space = view.space(query.space)
        episode = new_episode(space, query, answered.recall, answered)
        if not settings.switches.learning or not query.learn or answered.text is None:
            episodes.keep(episode)
            return answered
        lesson = own_lesson(space, query, episode, answered, gates)
    try:  # the points that a language model made with the answer
        if settings.switches.points:
            await store_points(store, embedder, query.space, query.text, answered.points, now=query.now)
    except StoreError as error:
        answered = _warned(answered, f"What Claude made of this question was not kept: {error}")
    episodes.keep(episode)
    if lesson is None:
        return answered
    try:
        await learn(store, embedder, settings.gain.update, lesson)
    except StoreError as error:
        return _warned(answered, f"Nothing was learnt from this answer: {error}")
    return answered


async def _ask(
    judge: QuestionJudge, asked: JudgeInput, store: Store, embedder: Embedder, settings: RecallSettings
) -> tuple[JudgeInput, Judgement]:
    """Return everything that a judge was shown, and what it decides; a language model may be asked again."""
    if not judge.follow_ups:
        return asked, await judge.judge(asked)
    return await FollowUps(store, embedder, settings, judge).ask(asked)


def _answered(asked: JudgeInput, judgement: Judgement, first: int, judge: QuestionJudge) -> AnswerResult:
    """Return a judgement as the answer, or as the abstention that it comes to.

    Recall found the ``first`` items of evidence itself; of the others those that no citation needs are left out.
    """
    given, engine, recall = judgement.proposal, judgement.engine, asked.recall
    cited = {citation.evidence_id for citation in given.citations} if given else set()
    evidence = (*recall.evidence[:first], *(item for item in recall.evidence[first:] if item.id in cited))
    recall = replace(
        recall,
        evidence=with_cited_items(evidence, given.citations, asked.known_facts, recall.points) if given else evidence,
        missing=judgement.missing or recall.missing,
        warnings=(*recall.warnings, *judge.warnings),
        spent=judge.spent,
        episode=new_episode_id(),
    )
    if given is None:
        if engine == "embedded":
            return AnswerResult(None, None, False, (), recall, engine, closest=closest(recall))
        # below every answer, and the higher the likelier the evidence holds one that is not clearly stated
        return AnswerResult(None, (judgement.support or 0.0) / 2, False, (), recall, engine)
    hedged = given.hedged or given.confidence < PLAIN_CONFIDENCE
    return AnswerResult(given.text, given.confidence, hedged, given.citations, recall, engine)


def _warned(answered: AnswerResult, warning: str) -> AnswerResult:
    return replace(answered, recall=replace(answered.recall, warnings=(*answered.recall.warnings, warning)))


def _as_judged(asked: JudgeInput, judgement: Judgement, limit: int) -> RecallResult:
    """Return a result as its judge sees it: what it needs comes first.

    Needed items get scores from .5 to 1, the others from 0 to .5, each part in its order. What recall found itself
    comes before what was found afterwards, unless the judge needs it.
    """
    if judgement.engine == "embedded":
        return asked.recall
    result = asked.recall
    evidence = with_cited_items(result.evidence, judgement.kept, asked.known_facts, result.points)
    kept = {citation.evidence_id for citation in judgement.kept}
    first = [item for item in evidence if item.id in kept]
    best = max((item.score for item in first), default=0.0)
    if first and best > 0:
        rest = [replace(item, score=item.score / 2) for item in evidence if item.id not in kept]
        first = [replace(item, score=(1 + item.score / best) / 2) for item in first]
        evidence = (*sorted(first, key=lambda item: -item.score), *rest)
    answerable = judgement.proposal is not None
    return replace(
        result,
        evidence=evidence[:limit],
        sufficient=answerable,
        sufficiency=judgement.proposal.confidence if judgement.proposal else (judgement.support or 0.0) / 2,
        sufficiency_by="anthropic",
        missing=() if answerable else judgement.missing or result.missing,
        engine=judgement.engine,
    )


def closest(recall: RecallResult) -> tuple[Source, ...]:
    """Return what the best `CLOSEST` records of different texts quote, best first; no question, if there are others.

    Nobody judges here whether one answers: it is for whoever asked to read. What a caller corrected stands before all
    of them (``gain/gates.py``). A short message is quoted whole: what stands beside a sentence may take it back ("I
    live in Rome. As if.").
    """
    found = [item.sources[0] for item in recall.evidence if item.sources]
    told = [source for source in found if not ends_with_question_mark(source.quote)] or found
    first: dict[str, Source] = {}
    for said in (*(recall.correction.sources[:1] if recall.correction else ()), *told):
        turn = said.turn
        short = turn.kind == "message" and len(turn.text) <= SHORT_CHARS
        first.setdefault(turn.id, Source(turn, 0, len(turn.text)) if short else said)
    return tuple(first.values())[:CLOSEST]
