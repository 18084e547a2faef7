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

import itertools
from collections.abc import Sequence

import anyio

from mcp_memory.domain.episodes import Episode
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.points import scope_of
from mcp_memory.domain.requests import (
    EvolveRequest,
    EvolveResult,
    EvolveStep,
    Improved,
    PointEdits,
    Skipped,
)
from mcp_memory.errors import InvalidInput
from mcp_memory.services.learn.episodes import find_episode
from mcp_memory.services.learn.feedback import (
    NOT_ASKED,
    EvolveContext,
    add_explored,
    apply_feedback,
    check_feedback,
    names_fact,
    resolve_numbers,
)
from mcp_memory.services.maintain.whole_space import pool_questions, unite_names
from mcp_memory.services.points.edits import apply_edits
from mcp_memory.services.points.organise import OrganiseResult, organise

_ALL: tuple[EvolveStep, ...] = ("feedback", "confidence", "cardinality")
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
    feedback, edits = request.feedback, request.points
    has_input = feedback is not None or edits is not None or request.goal is not None
    if not has_input and not request.steps:
        remedy = "Give the episode of a recall or an answer and what you say of it, or a goal, or points, or "
        remedy += "what to go over in steps, such as ['entities']."
        if request.episode is not None:
            remedy = "Say what you think of the episode, or give steps ['points'] to organise what it found."
        raise InvalidInput("feedback", "is missing", remedy)
    wanted = request.goal is not None or (feedback is None and request.episode is not None)
    brings_points = edits is not None and bool(edits.insert or edits.merge)
    organising = wanted and not brings_points  # a caller who brings points has organised
    if feedback is not None and request.episode is None:
        raise InvalidInput("episode", "is missing", "Give the episode that the reply of a recall or answer named.")
    episode = None
    if request.episode is not None:
        episode = await find_episode(context.store, context.episodes, request.space, request.episode)
    if feedback is not None and episode is not None:
        feedback = resolve_numbers(feedback, episode)
        episode = add_explored(episode, feedback, context.episodes)
        check_feedback(feedback, episode)
    makes = _MAKING if request.goal is not None or request.points is not None else ()
    asked = request.steps or (*makes, *(_ALL if feedback is not None else ()))
    changes: list[Improved] = []
    skipped: list[Skipped] = []
    if edits is not None:
        changes += await _apply_edits(edits, request, context, asked, skipped)
    if feedback is not None and episode is not None:
        if judged := tuple(step for step in asked if step in _ALL):
            several = feedback.correction is not None or any(map(names_fact, feedback.supports))
            with anyio.CancelScope(shield=several):  # several commits: a cancelled call leaves all of them or none
                learnt, left = await apply_feedback(feedback, episode, request, context, judged)
            changes += learnt
            skipped += left
        else:
            skipped.append(Skipped("feedback", NOT_ASKED))
    engine: Engine = "embedded" if feedback is None and edits is None else "caller"
    warnings: tuple[str, ...] = ()
    spent = None
    if organising and set(asked) & set(_MAKING):
        done = await _organise(request, episode, context, asked, skipped)
        changes += done.changes
        engine, warnings, spent = done.engine if engine == "embedded" else engine, done.warnings, done.spent
    elif request.goal is not None and not brings_points:
        skipped.append(Skipped("points", NOT_ASKED))
    elif request.episode is not None and feedback is None and brings_points:
        skipped.append(Skipped("points", _BROUGHT))
    skipped += [
        Skipped(step, _IDLE[step])
        for step in request.steps
        if step in _IDLE and (feedback is None if step in _ALL else not organising and edits is None)
    ]
    changes += await _whole_space(request, context, skipped)
    if not changes and not skipped:
        skipped.append(Skipped(asked[0], "All of it was known."))
    return EvolveResult(tuple(changes), tuple(skipped), (*_correction_warning(changes), *warnings), engine, spent)


def _correction_warning(changes: Sequence[Improved]) -> tuple[str, ...]:
    """Return a warning if no fact was read from a stored correction, so that it ends no fact."""
    stored = any(change.kind == "message" for change in changes)
    return (
        (_NO_FACT,)
        if stored and not any(change.step == "feedback" and change.kind == "fact" for change in changes)
        else ()
    )


async def _apply_edits(
    edits: PointEdits,
    request: EvolveRequest,
    context: EvolveContext,
    steps: Sequence[EvolveStep],
    skipped: list[Skipped],
) -> list[Improved]:
    """Apply the caller's edits of memory points, as far as the steps allow."""
    if context.points is None:
        skipped.append(Skipped("points", _OFF))
        return []
    if "points" not in steps and (edits.insert or edits.update):
        skipped.append(Skipped("points", NOT_ASKED))
        edits = PointEdits(merge=edits.merge)
    if "merge" not in steps and edits.merge:
        skipped.append(Skipped("merge", NOT_ASKED))
        edits = PointEdits(edits.insert, edits.update)
    return await apply_edits(request.space, edits, scope_of(request.goal or ""), context.points, now=context.now)


async def _organise(
    request: EvolveRequest,
    episode: Episode | None,
    context: EvolveContext,
    steps: Sequence[EvolveStep],
    skipped: list[Skipped],
) -> OrganiseResult:
    """Make points of the evidence of the named episode, otherwise of the evidence found for the goal."""
    steps = tuple(step for step in steps if step in _MAKING)
    if context.points is None:
        skipped.extend(Skipped(step, _OFF) for step in steps)
        return OrganiseResult(())
    found = episode if request.feedback is None else None  # else the episode is only for the feedback
    goal = request.goal if request.goal is not None or found is None else found.query
    await context.progress(3, 4, "making memory points")
    count = itertools.count(1)

    async def report(what: str) -> None:
        await context.progress(3 + next(count) / 4, 4, what)

    done = await organise(
        request.space,
        goal or "",
        found,
        steps,
        context.points,
        now=context.now,
        judge=context.judge() if context.judge else None,
        report=report,
    )
    skipped += done.left
    skipped += [skip for skip in done.skipped if request.steps or skip.step == "points" or not done.changes]
    await context.progress(4, 4, "done")
    return done


async def _whole_space(request: EvolveRequest, context: EvolveContext, skipped: list[Skipped]) -> list[Improved]:
    """Run the steps over the whole space that the call names."""
    changes: list[Improved] = []
    if "entities" in request.steps:
        made, left = await unite_names(context.store, request.space, now=context.now)
        changes += made
        skipped += left
    if "questions" in request.steps:
        made, left = await pool_questions(context.store, context.embedder, request.space, progress=context.progress)
        changes += made
        skipped += left
    return changes


_NO_FACT = (
    "No fact was read in the correction, so it ends none. Give memory_write the fact that changed as well; one that "
    "was never so with negated, and its own start as valid_from."
)
_OFF = "Memory points are switched off here (switches.points)."
_BROUGHT = "You brought points of your own, so none were made of the episode."
_IDLE: dict[EvolveStep, str] = {
    "points": "The call brings no goal, no points and no episode.",
    "merge": "The call brings no goal, no points and no episode.",
    "feedback": "The call brings no feedback.",
    "confidence": "It follows every write by itself; a call changes it where supports names facts to confirm.",
    "cardinality": "It follows every write by itself; a call tells what a correction changed.",
}
