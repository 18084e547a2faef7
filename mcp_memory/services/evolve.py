"""Improve: organise memory around a goal, and take in what a caller says of a recall or an answer.

``points`` and ``merge`` make memory points (HGMem): of what a caller gives (``points.py``), and of what is found for a
goal or was found in an episode (``organise.py``). Three steps are about feedback (``feedback.py``): ``feedback``
teaches the sentences of the episode (GAM-RAG §3.3) and keeps a correction; ``confidence`` confirms facts (REAL §3.2,
DESIGN 2.3); ``cardinality`` tells what a relation was found to be (DESIGN 2.4). The last two need no work of their own:
both are functions of what is asserted, so they follow whatever is written. What they do here is to write down a
confirmation, and to tell what changed. Two more go over the whole space, and only when they are asked for: ``entities``
brings together names that mean one entity (``naming.py``), ``questions`` adds to the pool (``pooling.py``).

Each step commits by itself, and a call that is cancelled leaves every transaction whole or undone.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import anyio

from mcp_memory.domain.episodes import Episode
from mcp_memory.domain.evidence import Engine
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
from mcp_memory.services.points.edits import edit
from mcp_memory.services.points.organise import Organised, organise

_ALL: tuple[EvolveStep, ...] = ("feedback", "confidence", "cardinality")
_MAKING: tuple[EvolveStep, ...] = ("points", "merge")
_OVERALL: tuple[EvolveStep, ...] = ("entities", "questions")


async def evolve(request: EvolveRequest, context: EvolveContext) -> EvolveResult:
    """Take in feedback and points, organise around a goal, and return what changed; it is durable when this returns.

    Each judge is heard once about an episode: a caller's second word is left out, with the reason. Organising again
    what was organised changes nothing.

    Raises:
        InvalidInput: the episode, a piece of evidence or a point is unknown, or the call says nothing or contradicts
            itself. Nothing is changed.
        StoreError: what was changed before stays, and may be repeated.
    """
    feedback, edits = request.feedback, request.points
    given = feedback is not None or edits is not None or request.goal is not None
    if not given and not request.steps:
        remedy = "Give the episode of a recall or an answer and what you say of it, or a goal, or points, or "
        remedy += "what to go over in steps, such as ['entities']."
        if request.episode is not None:
            remedy = "Say what you think of the episode, or give steps ['points'] to organise what it found."
        raise InvalidInput("feedback", "is missing", remedy)
    alone = request.goal is not None or (feedback is None and request.episode is not None)
    brings = edits is not None and bool(edits.insert or edits.merge)
    organising = alone and not brings  # a caller who brings points has organised
    episode = await _episode(request, context) if feedback is not None or request.episode is not None else None
    if feedback is not None and episode is not None:
        feedback = resolve_numbers(feedback, episode)
        episode = add_explored(episode, feedback, context.episodes)
        check_feedback(feedback, episode)
    asked = request.steps or _brought(request)
    changes: list[Improved] = []
    skipped: list[Skipped] = []
    if edits is not None:
        changes += await _edited(edits, request, context, asked, skipped)
    if feedback is not None and episode is not None:
        if judged := tuple(step for step in asked if step in _ALL):
            several = feedback.correction is not None or any(map(names_fact, feedback.supports))
            with anyio.CancelScope(shield=several):  # more than one commit: a cancelled call leaves all or none of them
                told, left = await apply_feedback(feedback, episode, request, context, judged)
            changes += told
            skipped += left
        else:
            skipped.append(Skipped("feedback", NOT_ASKED))
    engine: Engine = "embedded" if feedback is None and edits is None else "caller"
    warnings: tuple[str, ...] = ()
    spent = None
    if organising and set(asked) & set(_MAKING):
        done = await _organised(request, episode, context, asked, skipped)
        changes += done.changes
        engine, warnings, spent = done.engine if engine == "embedded" else engine, done.warnings, done.spent
    elif request.goal is not None and not brings:
        skipped.append(Skipped("points", NOT_ASKED))
    elif request.episode is not None and feedback is None and brings:
        skipped.append(Skipped("points", _BROUGHT))
    skipped += [
        Skipped(step, _IDLE[step])
        for step in request.steps
        if step in _IDLE and (feedback is None if step in _ALL else not organising and edits is None)
    ]
    changes += await _overall(request, context, skipped)
    if not changes and not skipped:
        skipped.append(Skipped(asked[0], "All of it was known."))
    return EvolveResult(tuple(changes), tuple(skipped), (*_unread(changes), *warnings), engine, spent)


def _unread(changes: Sequence[Improved]) -> tuple[str, ...]:
    """Return a warning where a correction was kept and no fact was read in it: then it ends none."""
    kept = any(one.kind == "message" for one in changes)
    return (_NO_FACT,) if kept and not any(one.step == "feedback" and one.kind == "fact" for one in changes) else ()


def _brought(request: EvolveRequest) -> tuple[EvolveStep, ...]:
    """Return the steps for which a call brings input."""
    making = request.goal is not None or request.points is not None
    return (*(_MAKING if making else ()), *(_ALL if request.feedback is not None else ()))


async def _edited(
    edits: PointEdits,
    request: EvolveRequest,
    context: EvolveContext,
    steps: Sequence[EvolveStep],
    skipped: list[Skipped],
) -> list[Improved]:
    """Do to memory points what the caller says, as far as the steps go."""
    if context.making is None:
        skipped.append(Skipped("points", _OFF))
        return []
    if "points" not in steps and (edits.insert or edits.update):
        skipped.append(Skipped("points", NOT_ASKED))
        edits = PointEdits(merge=edits.merge)
    if "merge" not in steps and edits.merge:
        skipped.append(Skipped("merge", NOT_ASKED))
        edits = PointEdits(edits.insert, edits.update)
    return await edit(request.space, edits, scope_of(request.goal or ""), context.making)


async def _organised(
    request: EvolveRequest,
    episode: Episode | None,
    context: EvolveContext,
    steps: Sequence[EvolveStep],
    skipped: list[Skipped],
) -> Organised:
    """Make points of what was found in the episode that the call names for it, or else of what the goal finds."""
    steps = tuple(step for step in steps if step in _MAKING)
    if context.making is None:
        skipped.extend(Skipped(step, _OFF) for step in steps)
        return Organised(())
    found = episode if request.feedback is None else None  # else the call names it for its feedback
    goal = request.goal if request.goal is not None or found is None else found.query
    await context.progress(3, 4, "making memory points")
    count = itertools.count(1)

    async def saying(what: str) -> None:
        await context.progress(3 + next(count) / 4, 4, what)

    done = await organise(request.space, goal or "", found, steps, context.making, saying=saying)
    skipped += done.left
    skipped += [one for one in done.skipped if request.steps or one.step == "points" or not done.changes]
    await context.progress(4, 4, "done")
    return done


async def _overall(request: EvolveRequest, context: EvolveContext, skipped: list[Skipped]) -> list[Improved]:
    """Take the steps that go over the whole space, of those that the call names."""
    changes: list[Improved] = []
    if "entities" in request.steps:
        told, left = await unite_names(
            context.store, context.embedder, request.space, now=context.now, progress=context.progress
        )
        changes += told
        skipped += left
    if "questions" in request.steps:
        told, left = await pool_questions(context.store, context.embedder, request.space, progress=context.progress)
        changes += told
        skipped += left
    return changes


_NO_FACT = (
    "No fact was read in the correction, so it ends none. If a fact changed, give it in facts of memory_write as well."
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


async def _episode(request: EvolveRequest, context: EvolveContext) -> Episode:
    """Return the episode, of this process or of the log."""
    if request.episode is None:
        raise InvalidInput("episode", "is missing", "Give the episode that the reply of a recall or answer named.")
    return await find_episode(context.store, context.episodes, request.space, request.episode)
