"""The two tools that read: recall with evidence (`reconstruct`), and an answer that cites it (`answer`).

Both look the query up first (``services/recall/``). Without a language model recall judges itself. Where one judges, it
is shown what was found, while no view is held, and says whether that is enough or what is missing. Its word decides
whether the evidence suffices, and what it needs comes first (MRAgent's routing, eq. 12; nothing else is lost).

**Rounds of a judge.** This is how a language model takes part in the loop of MRAgent (§3.2) and HGMem: whether the
evidence is enough and which steps come next is one call (DESIGN L6 and L10). What its steps find joins the evidence,
and it is asked again, shown only what is new and what it kept. It ends with a complete answer, when it proposes no step
that was not taken, when nothing new is found, or after as many rounds as the judge has (``engine.effort``). Evidence
that was found on the way and that no citation needs is left out of an answer.

**Answers.** A judge proposes the best that the facts and the evidence's sentences can say, with a confidence. Below the
thresholds the answer is an abstention: the caller gets the evidence and can decide itself. Every answer cites the
sentences that it rests on, as spans of the stored turns (DESIGN I38), and each citation names an item of the evidence.
What was learnt counts: the judge gets the gates of the sentences, and what a caller denied for this very question is
not said plainly again.

**Self-feedback** (GAM-RAG §3.3). The memory then judges its own answer and learns from that: one step, durable when the
answer returns. Where a language model answered, its citations are taken as the supporting sentences, and no other
judge is asked. An abstention teaches nothing, and neither does what is known already. If the store cannot be written
to, the answer is given all the same, with a warning.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from mcp_memory.domain.answers import EvidenceSentence, Judgement, Proposal
from mcp_memory.domain.episodes import Episode, Lesson
from mcp_memory.domain.evidence import AnswerResult, Evidence, OperatorCall, RecallResult, Source, Suggestion
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import ExploreRequest
from mcp_memory.errors import InvalidInput, StoreError
from mcp_memory.ports import BeliefUpdate, Embedder, JudgeInput, QuestionJudge, Store, SupportJudge
from mcp_memory.search.candidates import newest_candidates
from mcp_memory.services.explore import explore
from mcp_memory.services.learn.episodes import Episodes, new_episode, new_episode_id
from mcp_memory.services.learn.update import known_labels, learn, support_candidates, support_lesson
from mcp_memory.services.recall.evidence import evidence_of, gates_for_judge, judge_input, with_cited_items
from mcp_memory.services.recall.judged_paths import judge_paths
from mcp_memory.services.recall.pipeline import find, unknown_space
from mcp_memory.services.recall.prepare import embed_query
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.services.recall.wishes import newest_wishes
from mcp_memory.services.settings import AnswerSettings

UNCONVINCED = 0.5
"""The share that is left of recall's own sufficiency if the judge says that the evidence does not suffice."""
STEPS = 4
"""Steps that are taken in a round."""
ITEMS = 6
"""Items that one step may find."""
SEARCH = "search"
"""A step that is no operator: the raw text is searched for other words."""


@dataclass(frozen=True, slots=True)
class SelfFeedback:
    """How the memory learns from its own answers.

    Attributes:
        judge: says which sentences support an answer.
        teach: the update.
        labels: when the judge's word counts: at once (``learn``), only once a caller has said that the answer was right
            (``wait``), or at once for answers without a hedge (``sure``). Measured on dialogues, 70 of 100 sentences
            that the embedded judge labels are right, of answers without a hedge 88, which are a quarter of them.
    """

    judge: SupportJudge
    teach: BeliefUpdate
    labels: Literal["learn", "sure", "wait"] = "sure"


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

    An unknown space is an empty one: the result then has no evidence, and a warning says so.

    Args:
        store: where.
        embedder: the embedder of the query.
        query: as the caller asks it, with the moment of asking.
        settings: the settings of recall.
        episodes: the episodes of this process.
        judge: the judge of this query alone; None leaves the judgement to recall itself.
    """
    if not query.text:
        async with store.reading() as view:
            space = view.space(query.space)
            newest = newest_candidates(space, query.window, query.limit, query.role)
            result = RecallResult(
                evidence_of(space, newest, ()),
                float(bool(newest)),
                bool(newest),
                warnings=unknown_space(view, query.space),
                episode=new_episode_id(),
                wishes=newest_wishes(space) if settings.search.wishes else (),
            )
            episodes.keep(new_episode(space, query, result))
        return result
    if query.mode == "auto" and not settings.breadth.auto:
        query = replace(query, mode="best")
    query = await embed_query(store, embedder, query, judge)
    evaluation = await judge_paths(store, query, settings, judge)
    asked: JudgeInput | None = None
    async with store.reading() as view:
        space = view.space(query.space)
        result, facts, candidates, gates = await find(store, embedder, view, query, settings, evaluation)
        if judge is not None and result.breadth == "best" and judge.assesses(result):
            gates = gates_for_judge(space, query, gates, learning=settings.gain.learning)
            asked = judge_input(space, query, result, facts, candidates, gates)
        else:
            result = _concluded(result, judge)
            episode = new_episode(space, query, result)
    if judge is not None and asked is not None:
        result = _as_judged(
            *await _ask_in_rounds(store, embedder, settings, judge.assess, asked, judge.rounds), query.limit
        )
        result = _concluded(result, judge)
        async with store.reading() as view:
            episode = new_episode(view.space(query.space), query, result)
    episodes.keep(episode)
    return result


def _concluded(result: RecallResult, judge: QuestionJudge | None) -> RecallResult:
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
    thresholds: AnswerSettings,
    episodes: Episodes,
    feedback: SelfFeedback | None = None,
) -> AnswerResult:
    """Return the answer, or an abstention (``text`` is None) with the evidence and its confidence; keep an episode.

    ``recall.conflicts`` says where the facts contradict each other about the query, whether it is answered or not.

    Args:
        store: where.
        embedder: the embedder of the query.
        judge: the judge of this query alone.
        query: as the caller asks it, with the moment of asking.
        settings: the settings of recall.
        thresholds: how confident an answer must be.
        episodes: the episodes of this process.
        feedback: how the memory learns from its own answers; None if it does not.
    """
    query = await embed_query(store, embedder, query, judge)
    evaluation = await judge_paths(store, query, settings, judge)
    async with store.reading() as view:
        space = view.space(query.space)
        result, facts, candidates, gates = await find(store, embedder, view, query, settings, evaluation)
        gates = gates_for_judge(space, query, gates, learning=settings.gain.learning)
        asked = judge_input(space, query, result, facts, candidates, gates)
    asked, judgement = await _ask_in_rounds(store, embedder, settings, judge.judge, asked, judge.rounds)
    answered = _apply_thresholds(asked, judgement, len(result.evidence), judge, thresholds)
    async with store.reading() as view:
        space = view.space(query.space)
        episode = new_episode(space, query, answered.recall, answered)
        if feedback is None or not query.learn or answered.text is None:
            episodes.keep(episode)
            return answered
        names, witnesses, on_path = support_candidates(space, episode, answered)
        known, wrong = known_labels(space, gates)
    if answered.engine == "embedded":
        supporting = await feedback.judge.supporting(query, answered.text, names, witnesses, on_path)
        lesson = support_lesson(feedback.judge.engine, episode, supporting, known, wrong)
    else:
        lesson = support_lesson(answered.engine, episode, episode.cited, known, wrong)
    return await _learn_from(store, embedder, episodes, feedback, answered, episode, lesson)


def _apply_thresholds(
    asked: JudgeInput, judgement: Judgement, first: int, judge: QuestionJudge, thresholds: AnswerSettings
) -> AnswerResult:
    """Return a judgement as the answer, or as the abstention that it comes to.

    The thresholds are for the embedded engine, whose confidences they were measured on; a language model abstains by
    itself.

    Args:
        asked: what the judge was shown.
        judgement: what it returned.
        first: how many items of evidence recall found itself; of the others those that no citation needs are left out.
        judge: who judged.
        thresholds: how confident an answer must be.
    """
    proposal, engine, recall = judgement.proposal, judgement.engine, asked.recall
    cited = {citation.evidence_id for citation in proposal.citations} if proposal else set()
    evidence = (*recall.evidence[:first], *(item for item in recall.evidence[first:] if item.id in cited))
    given = proposal if proposal and (engine != "embedded" or _passes(proposal, thresholds)) else None
    recall = replace(
        recall,
        evidence=with_cited_items(evidence, given.citations, asked.known_facts, recall.points) if given else evidence,
        missing=judgement.missing or recall.missing,
        warnings=(*recall.warnings, *judge.warnings),
        spent=judge.spent,
        episode=new_episode_id(),
    )
    if given is None:
        # Below every answer, and the higher the likelier the evidence holds one that the rules cannot read.
        confidence = min(thresholds.talk, thresholds.document) * judgement.support
        return AnswerResult(None, confidence, False, (), recall, engine)
    hedged = given.hedged or given.confidence < thresholds.plain
    return AnswerResult(given.text, given.confidence, hedged, given.citations, recall, engine)


def _passes(proposal: Proposal, thresholds: AnswerSettings) -> bool:
    in_document = proposal.citations[0].source.turn.kind == "document"
    return proposal.confidence >= (thresholds.document if in_document else thresholds.talk)


async def _learn_from(
    store: Store,
    embedder: Embedder,
    episodes: Episodes,
    feedback: SelfFeedback,
    answered: AnswerResult,
    episode: Episode,
    lesson: Lesson | None,
) -> AnswerResult:
    """Return the answer once the judgement of it is learnt, or kept until a caller confirms the answer."""
    wait = feedback.labels == "wait" or (feedback.labels == "sure" and answered.hedged)
    episodes.keep(episode, lesson if wait else None)
    if lesson is None or wait:
        return answered
    try:
        await learn(store, embedder, feedback.teach, [lesson])
    except StoreError as error:
        warning = f"Nothing was learnt from this answer: {error}"
        return replace(answered, recall=replace(answered.recall, warnings=(*answered.recall.warnings, warning)))
    return answered


async def _ask_in_rounds(
    store: Store,
    embedder: Embedder,
    settings: RecallSettings,
    judge: Callable[[JudgeInput], Awaitable[Judgement]],
    asked: JudgeInput,
    rounds: int,
) -> tuple[JudgeInput, Judgement]:
    """Return what a judge decides in the end, and everything that it was shown.

    Args:
        store: where the steps of the judge are taken.
        embedder: the embedder of what it has searched.
        settings: the settings of recall.
        judge: asked about what was found, and again about what its steps find.
        asked: as recall found it.
        rounds: times that the judge may be asked again.
    """
    judgement = await judge(asked)
    taken: set[tuple[str, str]] = set()
    for _ in range(rounds):
        steps = [step for step in judgement.next if (step.operator, str(step.args)) not in taken][:STEPS]
        if not steps:
            break
        taken |= {(step.operator, str(step.args)) for step in steps}
        wider = await _take_steps(store, embedder, settings, asked, steps)
        if len(wider.sentences) == len(asked.sentences):
            # Nothing new to judge: what the steps found is left out, that they were taken is not.
            asked = replace(asked, recall=replace(wider.recall, evidence=asked.recall.evidence))
            break
        asked = replace(wider, earlier=judgement, seen=judgement.left.union(asked.seen))
        judgement = await judge(asked)
    return asked, judgement


async def _take_steps(
    store: Store, embedder: Embedder, settings: RecallSettings, asked: JudgeInput, steps: Sequence[Suggestion]
) -> JudgeInput:
    """Return the input of a judge with what its steps find as well, the new before the old."""
    result = asked.recall
    known = {_place(sentence.source) for sentence in asked.sentences}
    shown = {item.id for item in result.evidence}
    fresh: list[EvidenceSentence] = []
    trace = list(result.trace)
    for step in steps:
        items = await _take_step(store, embedder, settings, asked.query, step)
        sentences = await _sentences_of(store, asked.query.space, items, asked.gates)
        found = [sentence for sentence in sentences if _place(sentence.source) not in known]
        known |= {_place(sentence.source) for sentence in found}
        fresh += found
        new = [item for item in items if item.id not in shown]
        shown |= {item.id for item in new}
        result = replace(result, evidence=(*result.evidence, *new))
        trace.append(OperatorCall(result.turns + 1, step.operator, step.args, len(items), len(new)))
    result = replace(result, trace=tuple(trace), turns=result.turns + 1, stop=result.stop or "exhausted")
    return replace(asked, recall=result, sentences=[*fresh, *asked.sentences])


async def _take_step(
    store: Store, embedder: Embedder, settings: RecallSettings, query: Query, step: Suggestion
) -> Sequence[Evidence]:
    """Return what one step finds in the space of a query; nothing if it cannot be taken."""
    args = {name: value for name, value in step.args.items() if isinstance(value, str)}
    if step.operator != SEARCH:
        ids = step.args.get("ids", ())
        request = ExploreRequest(
            query.space,
            step.operator,
            entity=args.get("entity"),
            tag=args.get("tag"),
            topic=args.get("topic"),
            query=args.get("query"),
            ids=ids if isinstance(ids, tuple) else (),
            limit=ITEMS,
        )
        try:
            return (await explore(store, embedder, settings.operators, request, now=query.now)).items
        except InvalidInput:  # no such operator, or not these arguments
            return ()
    search = Query(
        args["query"],
        query.space,
        ITEMS,
        query.window,
        query.as_of,
        query.entities,
        role=query.role,
        include_uncertain=query.include_uncertain,
        now=query.now,
    )
    search = await embed_query(store, embedder, search)
    async with store.reading() as view:  # without the loop: the judge is the one that goes on
        result, *_ = await find(store, embedder, view, search, replace(settings, policy=None))
        return result.evidence


async def _sentences_of(
    store: Store, space_name: str, items: Sequence[Evidence], gates: Mapping[str, float]
) -> list[EvidenceSentence]:
    """Return the sentences that items consist of or rest on, in order, each once."""
    found: dict[tuple[str, int], EvidenceSentence] = {}
    async with store.reading() as view:
        space = view.space(space_name)
        for item in items:
            for source in item.sources:
                for row in space.sentences_of(source.turn.id):
                    piece = space.sentences[row]
                    if piece.start < source.end and source.start < piece.end:
                        span = Source(source.turn, piece.start, piece.end)
                        gate = gates.get(piece.id, 1.0)
                        sentence = EvidenceSentence(item.id, span, piece.times, item.score, None, gate)
                        found.setdefault(_place(span), sentence)
    return list(found.values())


def _place(source: Source) -> tuple[str, int]:
    """Return what distinguishes a sentence of the evidence from others."""
    return source.turn.id, source.start


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
    sufficiency = judgement.proposal.confidence if judgement.proposal else UNCONVINCED * result.sufficiency
    return replace(
        result,
        evidence=evidence[:limit],
        sufficient=answerable,
        sufficiency=sufficiency,
        missing=() if answerable else judgement.missing or result.missing,
        stop="exhausted" if result.stop == "sufficient" and not answerable else result.stop,
        engine=judgement.engine,
    )
