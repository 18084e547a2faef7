"""Evolve: organise memory around a goal, and learn from a caller's feedback on a recall or an answer.

``points`` and ``merge`` make memory points (HGMem): from a caller's edits (``points/edits.py``), and from the evidence
found for a goal or in an episode (``points/organise.py``). Three steps are about feedback (``learn/feedback.py``):
``feedback`` teaches the sentences of the episode (GAM-RAG §3.3) and stores a correction; ``confidence`` confirms facts
(REAL §3.2, DESIGN 2.3); ``cardinality`` reports how many values a relation has (DESIGN 2.4). The last two are functions
of the assertions, so every write updates them; evolve only stores a confirmation and reports what changed. Two more
steps go over the whole space, and only on request (``maintain/whole_space.py``): ``entities`` unites names that mean
one entity, ``questions`` adds to the pool.

Each step commits by itself, and a cancelled call leaves every transaction complete or undone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import anyio

from mcp_memory.domain.episodes import Episode
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.points import scope_of
from mcp_memory.domain.requests import EvolveRequest, EvolveResult, EvolveStep, Feedback, Improved, PointEdits, Skipped
from mcp_memory.errors import InvalidInput
from mcp_memory.services.learn.episodes import find_episode
from mcp_memory.services.learn.feedback import (
    EvolveContext,
    add_explored,
    apply_feedback,
    check_feedback,
    names_fact,
    resolve_numbers,
)
from mcp_memory.services.maintain.whole_space import pool_questions, unite_names
from mcp_memory.services.points.edits import PointContext, apply_edits
from mcp_memory.services.points.organise import organise

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
    if context.points is not None:
        await _apply_edits(request, context, context.points, steps, done)
    if feedback is not None and episode is not None:
        await _judge(feedback, episode, request, context, steps, done)
    if context.points is None and (request.points is not None or organises):
        done.skipped.append(Skipped("points", "Memory points are switched off here (switches.points)."))
    elif organises and brings_points and request.goal is None:
        done.skipped.append(Skipped("points", "You brought points of your own, so none were made of the episode."))
    elif organises and not brings_points and context.points is not None:
        await _organise(request, episode, context, context.points, steps, done)
    if "entities" in steps:
        made, left = await unite_names(context.store, request.space, now=context.now)
        done.changes, done.skipped = [*done.changes, *made], [*done.skipped, *left]
    if "questions" in steps:
        made, left = await pool_questions(context.store, context.embedder, request.space, progress=context.progress)
        done.changes, done.skipped = [*done.changes, *made], [*done.skipped, *left]
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
    request: EvolveRequest, context: EvolveContext, points: PointContext, steps: Sequence[EvolveStep], done: _Done
) -> None:
    """Apply the caller's edits of memory points, as far as the steps allow."""
    edits = request.points or PointEdits()
    if "points" not in steps:
        edits = PointEdits(merge=edits.merge)
    if "merge" not in steps:
        edits = PointEdits(edits.insert, edits.update)
    if edits != PointEdits():
        scope = scope_of(request.goal or "")
        done.changes += await apply_edits(request.space, edits, scope, points, now=context.now)


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
    request: EvolveRequest,
    episode: Episode | None,
    context: EvolveContext,
    points: PointContext,
    steps: Sequence[EvolveStep],
    done: _Done,
) -> None:
    """Make points of the evidence of the named episode, otherwise of the evidence found for the goal."""
    makes = tuple(step for step in steps if step in _MAKING)
    if not makes:
        return
    found = episode if request.feedback is None else None  # else the episode is only for the feedback
    goal = request.goal if request.goal is not None or found is None else found.query
    judge = context.judge() if context.judge else None
    await context.progress(3, 4, "making memory points")
    made = await organise(
        request.space, goal or "", found, makes, points, now=context.now, asked_for=bool(request.steps), judge=judge,
        progress=context.progress,
    )  # fmt: skip
    done.changes += made.changes
    done.skipped += made.skipped
    done.engine = made.engine if done.engine == "embedded" else done.engine
    done.warnings, done.spent = (*done.warnings, *made.warnings), made.spent
    await context.progress(4, 4, "done")


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
_NOT_ASKED = "The call brings it, but steps leaves it out."
_IDLE = "Nothing is changed: the call brings nothing for it, or all of it was known."
_NO_FACT = (
    "No fact was read in the correction, so it ends none. Give memory_write the fact that changed as well; one that "
    "was never so with negated, and its own start as valid_from."
)
