"""Evolve: organise memory around a goal, and learn from a caller's feedback on a recall or an answer.

``points`` and ``merge`` make memory points (HGMem §3.5; DESIGN 2.1, DESIGN 2.2) from a caller's edits, or from the
evidence found for a goal or in an episode. ``feedback``, ``confidence`` and ``cardinality`` are about feedback
(``learn/feedback.py``). Two steps go over the whole space, on request only: ``entities`` (DESIGN 2.5) unites names that
certainly mean one entity, each as an alias with its reason; ``questions`` pools the questions that facts answer (QRMeM
§2.1), but for those too similar to another of their segment (DESIGN I30).

**Organising** recalls evidence for the goal, groups connected evidence, inserts or updates points from the groups, and
merges points if the goal relates things to each other. What a judge labelled as not supporting or wrong is left out. A
language model that takes part is asked the goal as a question, and the points that it makes meanwhile
(``follow_ups.py``) are kept in place of those of the rules.

**Departures.** The paper forgets its points after each question and makes them over several steps of retrieval. Here
they are kept under the goal (DESIGN D04), and a call is one step: a caller repeats it when the memory has more.

Each step commits by itself, and a cancelled call leaves every transaction complete or undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import anyio
import numpy as np
from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.episodes import Episode
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.points import scope_of
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveRequest, EvolveResult, EvolveStep, Feedback, Improved, PointEdits, Skipped
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.errors import InvalidInput
from mcp_memory.hypergraph.evolution import EvidenceGroup, evidence_item, group_evidence, is_relational
from mcp_memory.language.questions import understand
from mcp_memory.reflection.disambiguation import REASON, same_people
from mcp_memory.reflection.questions import admit, questions_of
from mcp_memory.services.answer import reconstruct
from mcp_memory.services.learn.episodes import Episodes, find_episode
from mcp_memory.services.learn.feedback import (
    EvolveContext,
    add_explored,
    apply_feedback,
    check_feedback,
    evidence_sentences,
    judged_labels,
    names_fact,
    resolve_numbers,
)
from mcp_memory.services.points import apply_edits, apply_groups, store_points
from mcp_memory.view.space import NONE, Space

RELEVANT_SHARE = 0.5
"""Evidence below this share of the best score is left out of points. Ours (measured: .5 keeps 93 to 100 of 100 texts
that answer and were found, and of what it keeps 27 and 73 of 100 answer in documents, 10 in dialogues; .6 loses 7 to 10
of 100 more in documents, .7 loses 9 in dialogues)."""
RECALLED_ITEMS = 12
"""Items of evidence that points are made of: as many as a recall gives."""
MOST_QUESTIONS = 1_024
"""Questions that one call adds at most, some ten seconds of embedding; the next call continues from there."""
_NO_MERGE = "Merging is switched off here (switches.merge)."
_KNOWN = "What was found stands in memory points already."
_NO_GROUP = "Nothing that was found joins two entities, so there is nothing to make a point of."
_ALONE = "No two points that changed are alike, share an entity and are small enough together."
_PRIMITIVE = "The goal asks for one thing; merging would blur it. Ask why or how, compare, or name a topic."
_JUDGING: tuple[EvolveStep, ...] = ("feedback", "confidence", "cardinality")
_MAKING: tuple[EvolveStep, ...] = ("points", "merge")


async def evolve(request: EvolveRequest, context: EvolveContext) -> EvolveResult:
    """Apply feedback and point edits, organise around a goal, and return what changed; it is durable when this returns.

    Each judge counts once for an episode: a caller's second judgement is skipped with the reason. Organising the same
    evidence again changes nothing.

    Raises:
        InvalidInput: the episode, a piece of evidence or a point is unknown, or the call says nothing or contradicts
            itself. Nothing is changed.
        StoreError: earlier changes of the call stay; the call may be repeated.
    """
    _check_input(request)
    feedback, episode = request.feedback, None
    if request.episode is not None:
        episode = await find_episode(context.store, context.episodes, request.space, request.episode)
    if feedback is not None and episode is not None:
        feedback = resolve_numbers(feedback, episode)
        episode = add_explored(episode, feedback, context.episodes)
        check_feedback(feedback, episode)
    makes = _MAKING if request.goal is not None or request.points is not None else ()
    steps = request.steps or (*makes, *(_JUDGING if feedback is not None else ()))
    engine: Engine = "embedded" if feedback is None and request.points is None else "caller"
    call = _Evolving(request, context, episode, feedback, steps, engine)
    if context.recall.switches.points:
        await call.make_points()
    await call.judge()
    organises = request.goal is not None or (feedback is None and episode is not None)
    brings_points = request.points is not None and bool(request.points.insert or request.points.merge)
    if not context.recall.switches.points:
        if organises or request.points is not None:
            call.skip("points", "Memory points are switched off here (switches.points).")
    elif organises and not brings_points:  # whoever brings points has organised
        await call.organise()
    elif organises and request.goal is None:
        call.skip("points", "You brought points of your own, so none were made of the episode.")
    if "entities" in steps:
        await call.unite_names()
    if "questions" in steps:
        await call.pool_questions()
    call.report_left_out()
    return EvolveResult(tuple(call.changes), tuple(call.skipped), call.warnings, call.engine, call.spent)


def _check_input(request: EvolveRequest) -> None:
    """Refuse a call that brings nothing, or feedback of no episode."""
    if request.feedback is not None and request.episode is None:
        raise InvalidInput("episode", "is missing", "Give the episode that the reply of a recall or answer named.")
    if request.feedback is None and request.points is None and request.goal is None and not request.steps:
        remedy = "Give the episode of a recall or an answer and what you say of it, or a goal, or points, or "
        remedy += "what to go over in steps, such as ['entities']."
        if request.episode is not None:
            remedy = "Say what you think of the episode, or give steps ['points'] to organise what it found."
        raise InvalidInput("feedback", "is missing", remedy)


@dataclass(slots=True)
class _Evolving:
    """A call that is under way.

    Attributes:
        feedback: with ids in place of the numbers of records.
        steps: those that it takes.
        changes: so far, as the rest in `EvolveResult`.
    """

    request: EvolveRequest
    context: EvolveContext
    episode: Episode | None
    feedback: Feedback | None
    steps: Sequence[EvolveStep]
    engine: Engine
    changes: list[Improved] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: tuple[str, ...] = ()
    spent: Spending | None = None

    def skip(self, step: EvolveStep, reason: str) -> None:
        """Report why a step changed nothing."""
        self.skipped.append(Skipped(step, reason))

    async def make_points(self) -> None:
        """Apply the caller's edits of memory points, as far as the steps allow."""
        edits = self.request.points or PointEdits()
        if "points" not in self.steps:
            edits = PointEdits(merge=edits.merge)
        if "merge" not in self.steps:
            edits = PointEdits(edits.insert, edits.update)
        if edits != PointEdits():
            store, embedder, scope = self.context.store, self.context.embedder, scope_of(self.request.goal or "")
            self.changes += await apply_edits(store, embedder, self.request.space, edits, scope, now=self.context.now)

    async def judge(self) -> None:
        """Apply the caller's feedback on the episode."""
        judged = tuple(step for step in self.steps if step in _JUDGING)
        feedback = self.feedback
        if not judged or feedback is None or self.episode is None:
            return
        several = feedback.correction is not None or any(map(names_fact, feedback.supports))
        with anyio.CancelScope(shield=several):  # several commits: a cancelled call leaves all of them or none
            learnt, left = await apply_feedback(feedback, self.episode, self.request, self.context, judged)
        self.changes += learnt
        self.skipped += left
        if any(one.kind == "message" for one in learnt) and not any(
            one.step == "feedback" and one.kind == "fact" for one in learnt
        ):
            self.warnings = (_NO_FACT,)

    async def organise(self) -> None:
        """Make points of the evidence of the named episode, otherwise of what is found for the goal, and merge them.

        Points that a language model made when it was asked the goal itself are stored first.
        """
        request, context, makes = self.request, self.context, [step for step in self.steps if step in _MAKING]
        if not makes:
            return
        store, embedder, space, now = context.store, context.embedder, request.space, context.now
        found = self.episode if self.feedback is None else None  # else the episode is only for the feedback
        goal = (request.goal if request.goal is not None or found is None else found.query) or ""
        judge = context.judge() if context.judge and found is None and goal and "points" in makes else None
        await context.progress(3, 4, "making memory points" if judge is None else "Claude reads what is found")
        recall = None
        if found is None or "merge" in makes:  # an episode's evidence is enough to make points of it
            query = Query(goal, space, RECALLED_ITEMS, now=now, length="full" if judge else "short")
            episodes = Episodes()
            recall = await reconstruct(store, embedder, query, settings=context.recall, episodes=episodes, judge=judge)
            found = found or episodes.get(space, recall.episode)
        scope = scope_of(goal)
        is_of_goal = found is not None and scope.casefold() == scope_of(found.query).casefold()
        points = found.points if found is not None and is_of_goal and "points" in makes else ()
        changes, left = await store_points(store, embedder, space, goal, points, now=now)
        async with store.reading(whole=False) as view:
            question = understand(goal, view.space(space).speakers, now)
        merges = context.recall.switches.merge
        relational = recall is not None and merges and is_relational(question, recall.roots, recall.paths)
        by_judge, why = judge is not None and bool(points), _KNOWN
        if not by_judge:
            groups = await _evidence_groups(found, context) if found is not None and "points" in makes else []
            merging = relational and "merge" in makes and (bool(groups) or "points" not in makes)
            if groups or merging:
                merge_for = question.names if merging else None
                changes += await apply_groups(store, embedder, space, scope, groups, now=now, merge_for=merge_for)
            why = _KNOWN if groups else _NO_GROUP
        reasons: dict[EvolveStep, str] = {
            "points": why,
            "merge": _ALONE if relational else _PRIMITIVE if merges else _NO_MERGE,
        }
        idle = [step for step in reasons if step in makes and step not in {change.step for change in changes}]
        left += [Skipped(step, reasons[step]) for step in idle if request.steps or step == "points" or not changes]
        self.changes += changes
        self.skipped += left
        self.engine = "anthropic" if by_judge and self.engine == "embedded" else self.engine
        if judge is not None:
            self.warnings, self.spent = (*self.warnings, *judge.warnings), judge.spent
        await context.progress(4, 4, "done")

    async def unite_names(self) -> None:
        """Record aliases for names that certainly mean one entity."""
        space = self.request.space
        async with self.context.store.writing() as transaction:
            async with transaction.reading() as view:
                current = view.space(space)
                pairs = await to_thread.run_sync(same_people, current)
                self.changes += [_union(current, *pair) for pair in pairs]
            aliases = tuple(Alias(space, name, alias, REASON, "embedded", self.context.now) for name, alias in pairs)
            await transaction.commit(Batch(aliases=aliases))
        if not pairs:
            self.skip("entities", _NO_NAMES)

    async def pool_questions(self) -> None:
        """Add the questions that the facts of the space answer to its pool, `MOST_QUESTIONS` at most."""
        context, space = self.context, self.request.space
        async with context.store.reading() as view:
            new = await to_thread.run_sync(_new_questions, view.space(space))
        if not new:
            self.skip("questions", _NO_QUESTIONS)
            return
        await context.progress(0, len(new), "pooling questions")
        left, new = len(new[MOST_QUESTIONS:]), new[:MOST_QUESTIONS]
        vectors = dict(zip(new, await context.embedder.embed([question.text for question in new]), strict=True))
        async with context.store.writing() as transaction:
            async with transaction.reading() as view:
                current = view.space(space)
                added, before = admit(_pool(current), new), len(current.questions)
            rows = np.array([vectors[question] for question in added], dtype=np.float32)
            await transaction.commit(Batch(questions=tuple(added), question_vectors=rows))
        segments = len({question.segment_id for question in added})
        text = " ".join(question.text for question in added[:3])
        after = f"{before + len(added)} questions, {len(added)} of them new, to {segments} segments"
        self.changes.append(Improved("questions", "question", space, text, f"{before} questions", after))
        if left:
            self.skip("questions", f"{left} more are left: call again.")

    def report_left_out(self) -> None:
        """Report what the call brings and its steps leave out, and the steps of which nothing is told yet."""
        request, edits, steps = self.request, self.request.points or PointEdits(), set(self.steps)
        feedback, judges = self.feedback, steps & set(_JUDGING)
        brought: dict[EvolveStep, bool] = {
            "points": (request.goal is not None and not steps & set(_MAKING)) or bool(edits.insert or edits.update),
            "merge": bool(edits.merge),
            "feedback": feedback is not None
            and (not judges or feedback.correction is not None or bool(feedback.not_supports)),
        }
        for step in brought:
            if brought[step] and step not in steps:
                self.skip(step, _NOT_ASKED)
        told = {one.step for one in self.changes} | {one.step for one in self.skipped}
        for step in request.steps or (() if told else self.steps[:1]):
            if step not in told:
                self.skip(step, _IDLE)


async def _evidence_groups(episode: Episode, context: EvolveContext) -> list[EvidenceGroup]:
    """Return the evidence of an episode that scores high enough for a point, in connected groups.

    Sentences that a judge labelled as not supporting or wrong are left out, and so is evidence that has no others.
    """
    best = max((item.score for item in episode.shown), default=0.0)
    shown = [item for item in episode.shown if item.score >= RELEVANT_SHARE * best]
    sentences = await evidence_sentences(context.store, context.embedder, episode, shown)
    items = []
    async with context.store.reading() as view:
        space = view.space(episode.space)
        labels = judged_labels(space, episode)
        for one in shown:
            supporting = [name for name in sentences[one.id] if labels.get(name, 1) > 0]
            if supporting or not sentences[one.id]:
                items.append(evidence_item(space, one.id, supporting))
        return group_evidence(space, [item for item in items if item is not None])


def _union(space: Space, name: str, alias: str) -> Improved:
    counts = [space.facts.degree(space.facts.key(one)) for one in (name, alias)]
    known = f"in {counts[0]} {'kind' if counts[0] == 1 else 'kinds'} of fact"
    before = f"{name} ({known}) and {alias} (in {counts[1]}) were two"
    return Improved("entities", "entity", name, REASON, before, f"{alias} means {name}")


def _new_questions(space: Space) -> list[PooledQuestion]:
    """Return the questions that would join the pool, in the order of the facts; none for old revisions of documents."""
    counting = {assertion.id for turn in space.turns for assertion in space.facts.assertions_in(turn)}
    questions = questions_of(space, (row for row in space.facts.rows if row.id in counting))
    live = (one for one in questions if (row := space.segments.row(one.segment_id)) != NONE and space.live[row])
    return admit(_pool(space), live)


def _pool(space: Space) -> list[PooledQuestion]:
    """Return the pool, each question with the entities that its names mean now."""
    entity = space.facts.known_entity
    return [
        replace(one, entities=frozenset(entity(key) or key for key in one.entities)) for one in space.questions.rows
    ]


_NO_NAMES = "No two names are sure to mean the same. Where two are one, write it as a fact: head, also_known_as, tail."
_NO_QUESTIONS = "Every fact that stands in a segment is asked for already, or there is none."
_NOT_ASKED = "The call brings it, but steps leaves it out."
_IDLE = "Nothing is changed: the call brings nothing for it, or all of it was known."
_NO_FACT = (
    "No fact was read in the correction, so it ends none. Give memory_write the fact that changed as well; one that "
    "was never so with negated, and its own start as valid_from."
)
