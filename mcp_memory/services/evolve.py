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


@dataclass(slots=True)
class _Done:
    """What a call has done so far, as in `EvolveResult`."""

    engine: Engine
    changes: list[Improved] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    warnings: tuple[str, ...] = ()
    spent: Spending | None = None


async def evolve(request: EvolveRequest, context: EvolveContext) -> EvolveResult:
    """Apply feedback and point edits, organise around a goal, and return what changed; it is durable when this returns.

    Each judge counts once for an episode: a caller's second judgement is skipped with the reason. Organising the same
    evidence again changes nothing.

    Raises:
        InvalidInput: the episode, a piece of evidence or a point is unknown, or the call says nothing or contradicts
            itself. Nothing is changed.
        StoreError: earlier changes of the call stay; the call may be repeated.
    """
    feedback, edits = request.feedback, request.points or PointEdits()
    _check_input(request)
    episode = None
    if request.episode is not None:
        episode = await find_episode(context.store, context.episodes, request.space, request.episode)
    if feedback is not None and episode is not None:
        feedback = resolve_numbers(feedback, episode)
        episode = add_explored(episode, feedback, context.episodes)
        check_feedback(feedback, episode)
    makes = _MAKING if request.goal is not None or request.points is not None else ()
    steps = request.steps or (*makes, *(_JUDGING if feedback is not None else ()))
    done = _Done("embedded" if feedback is None and request.points is None else "caller")
    brings_points = bool(edits.insert or edits.merge)  # whoever brings points has organised
    organises = request.goal is not None or (feedback is None and episode is not None)
    makes_points = context.recall.switches.points
    if makes_points:
        await _apply_edits(request, context, steps, done)
    if feedback is not None and episode is not None:
        await _judge(feedback, episode, request, context, steps, done)
    if not makes_points and (request.points is not None or organises):
        done.skipped.append(Skipped("points", "Memory points are switched off here (switches.points)."))
    elif organises and brings_points and request.goal is None:
        done.skipped.append(Skipped("points", "You brought points of your own, so none were made of the episode."))
    elif organises and not brings_points:
        await _organise(request, episode, context, steps, done)
    if "entities" in steps:
        await _unite_names(request.space, context, done)
    if "questions" in steps:
        await _pool_questions(request.space, context, done)
    done.skipped += [Skipped(step, _NOT_ASKED) for step in _left_out(request, steps)]
    told = {one.step for one in done.changes} | {one.step for one in done.skipped}
    idle = request.steps or (() if told else steps[:1])
    done.skipped += [Skipped(step, _IDLE) for step in idle if step not in told]
    return EvolveResult(tuple(done.changes), tuple(done.skipped), done.warnings, done.engine, done.spent)


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


async def _apply_edits(
    request: EvolveRequest, context: EvolveContext, steps: Sequence[EvolveStep], done: _Done
) -> None:
    """Apply the caller's edits of memory points, as far as the steps allow."""
    edits = request.points or PointEdits()
    if "points" not in steps:
        edits = PointEdits(merge=edits.merge)
    if "merge" not in steps:
        edits = PointEdits(edits.insert, edits.update)
    if edits != PointEdits():
        scope = scope_of(request.goal or "")
        done.changes += await apply_edits(context.store, context.embedder, request.space, edits, scope, now=context.now)


async def _judge(
    feedback: Feedback, episode: Episode, request: EvolveRequest, context: EvolveContext, steps: Sequence[EvolveStep],
    done: _Done,
) -> None:  # fmt: skip
    """Apply a caller's feedback on an episode."""
    if judged := tuple(step for step in steps if step in _JUDGING):
        several = feedback.correction is not None or any(map(names_fact, feedback.supports))
        with anyio.CancelScope(shield=several):  # several commits: a cancelled call leaves all of them or none
            learnt, left = await apply_feedback(feedback, episode, request, context, judged)
        done.changes += learnt
        done.skipped += left
        if any(one.kind == "message" for one in learnt) and not any(
            one.step == "feedback" and one.kind == "fact" for one in learnt
        ):
            done.warnings = (_NO_FACT,)


async def _organise(
    request: EvolveRequest, episode: Episode | None, context: EvolveContext, steps: Sequence[EvolveStep], done: _Done
) -> None:
    """Make points of the evidence of the named episode, otherwise of the evidence found for the goal, and merge them.

    Points that a language model made when it was asked the goal itself are stored first.
    """
    makes = [step for step in steps if step in _MAKING]
    if not makes:
        return
    store, embedder, space, now = context.store, context.embedder, request.space, context.now
    found = episode if request.feedback is None else None  # else the episode is only for the feedback
    goal = (request.goal if request.goal is not None or found is None else found.query) or ""
    judge = context.judge() if context.judge and found is None and goal and "points" in makes else None
    await context.progress(3, 4, "making memory points" if judge is None else "Claude reads what is found")
    recall = None
    if found is None or "merge" in makes:  # an episode's evidence is enough to make points of it
        episodes, query = Episodes(), Query(goal, space, RECALLED_ITEMS, now=now, length="full" if judge else "short")
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
    done.changes += changes
    done.skipped += left
    done.engine = "anthropic" if by_judge and done.engine == "embedded" else done.engine
    if judge is not None:
        done.warnings, done.spent = (*done.warnings, *judge.warnings), judge.spent
    await context.progress(4, 4, "done")


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


async def _unite_names(space: str, context: EvolveContext, done: _Done) -> None:
    """Record aliases for names that certainly mean one entity."""
    async with context.store.writing() as transaction:
        current = transaction.view.space(space)
        pairs = await to_thread.run_sync(same_people, current)
        done.changes += [_union(current, *pair) for pair in pairs]
        aliases = tuple(Alias(space, name, alias, REASON, "embedded", context.now) for name, alias in pairs)
        await transaction.commit(Batch(aliases=aliases))
    if not pairs:
        done.skipped.append(Skipped("entities", _NO_NAMES))


def _union(space: Space, name: str, alias: str) -> Improved:
    counts = [space.facts.degree(space.facts.key(one)) for one in (name, alias)]
    known = f"in {counts[0]} {'kind' if counts[0] == 1 else 'kinds'} of fact"
    before = f"{name} ({known}) and {alias} (in {counts[1]}) were two"
    return Improved("entities", "entity", name, REASON, before, f"{alias} means {name}")


async def _pool_questions(space: str, context: EvolveContext, done: _Done) -> None:
    """Add the questions that the facts of a space answer to its pool, `MOST_QUESTIONS` at most."""
    async with context.store.reading() as view:
        new = await to_thread.run_sync(_new_questions, view.space(space))
    if not new:
        done.skipped.append(Skipped("questions", _NO_QUESTIONS))
        return
    await context.progress(0, len(new), "pooling questions")
    left, new = len(new[MOST_QUESTIONS:]), new[:MOST_QUESTIONS]
    vectors = dict(zip(new, await context.embedder.embed([question.text for question in new]), strict=True))
    async with context.store.writing() as transaction:
        current = transaction.view.space(space)
        added, before = admit(_pool(current), new), len(current.questions)
        rows = np.array([vectors[question] for question in added], dtype=np.float32)
        await transaction.commit(Batch(questions=tuple(added), question_vectors=rows))
    segments = len({question.segment_id for question in added})
    text = " ".join(question.text for question in added[:3])
    after = f"{before + len(added)} questions, {len(added)} of them new, to {segments} segments"
    done.changes.append(Improved("questions", "question", space, text, f"{before} questions", after))
    if left:
        done.skipped.append(Skipped("questions", f"{left} more are left: call again."))


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


def _left_out(request: EvolveRequest, steps: Sequence[EvolveStep]) -> list[EvolveStep]:
    """Return the steps for which a call brings something, and which it leaves out of its steps."""
    edits, feedback = request.points or PointEdits(), request.feedback
    makes = request.goal is not None and not set(steps) & set(_MAKING)
    brought = {
        "points": makes or bool(edits.insert or edits.update),
        "merge": bool(edits.merge),
        "feedback": feedback is not None
        and (not set(steps) & set(_JUDGING) or feedback.correction is not None or bool(feedback.not_supports)),
    }
    return [step for step in _STEPS if brought.get(step) and step not in steps]


_STEPS: tuple[EvolveStep, ...] = ("points", "merge", "feedback")
_NO_NAMES = "No two names are sure to mean the same. Where two are one, write it as a fact: head, also_known_as, tail."
_NO_QUESTIONS = "Every fact that stands in a segment is asked for already, or there is none."
_NOT_ASKED = "The call brings it, but steps leaves it out."
_IDLE = "Nothing is changed: the call brings nothing for it, or all of it was known."
_NO_FACT = (
    "No fact was read in the correction, so it ends none. Give memory_write the fact that changed as well; one that "
    "was never so with negated, and its own start as valid_from."
)
