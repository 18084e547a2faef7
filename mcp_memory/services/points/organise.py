"""Organise: make memory points of the evidence for a goal (HGMem §3.3; DESIGN 2.1, DESIGN 2.2).

Recall evidence for the goal, group connected evidence, insert or update points from the groups, and merge points if the
goal relates things to each other. A configured judge is shown the evidence and the points instead, and proposes edits;
no lock is held meanwhile. Its proposals are applied in one commit for each of its two steps. If it proposes nothing
usable, the rules decide.

Organising the same evidence again changes nothing and makes no request: evidence that a description takes in is not
shown again, and a judge is not asked if this process has shown it all the rest before (`SeenEvidence`).

**Departures.** The paper forgets its points after each question and makes them over several steps of retrieval. Here
they are kept under the goal (DESIGN D04), and a call is one step: a caller repeats it when the memory has more
evidence.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.episodes import Episode
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.points import MIN_ENTITIES, Point, PointJudgeInput, scope_of
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveStep, Improved, Skipped
from mcp_memory.domain.times import Millis
from mcp_memory.hypergraph.evolution import is_relational
from mcp_memory.language.questions import understand
from mcp_memory.ports import PointJudge
from mcp_memory.services.answer import reconstruct
from mcp_memory.services.learn.episodes import Episodes
from mcp_memory.services.points.edits import PointContext, apply_groups
from mcp_memory.services.points.proposals import SHOWN, apply_proposals, evidence_groups, judge_input, store_points

FOUND = 12
"""Items of evidence that points are made of: as many as a recall gives."""
_OFF = "Merging is switched off here (switches.merge)."
_KNOWN = "What was found stands in memory points already."
_NO_GROUP = "Nothing that was found joins two entities, so there is nothing to make a point of."
_ALONE = "No two points that changed are alike, share an entity and are small enough together."
_PRIMITIVE = "The goal asks for one thing; merging would blur it. Ask why or how, compare, or name a topic."
_NOTHING = "Claude found nothing in it that is worth a point of this goal."
_SEEN = "What was found stands in memory points already, or Claude found nothing in it that is worth one."
_APART = "Claude found no points that should be one for this goal."
_FEW = "The goal has no two points that may be merged; what a caller has written stays as it is."
_LEFT_OUT = "A proposal of Claude was left out: {}."

Report = Callable[[str], Awaitable[None]]
"""Reports what is being done."""


@dataclass(frozen=True, slots=True)
class OrganiseResult:
    """The outcome of organising.

    Attributes:
        changes: what changed.
        skipped: steps that changed nothing, and why.
        left: proposals of a judge that were left out, and why.
        engine: the engine that decided.
        warnings: why another judge than the configured one decided, in words.
        spent: on a language model; None if none was asked.
    """

    changes: tuple[Improved, ...]
    skipped: tuple[Skipped, ...] = ()
    left: tuple[Skipped, ...] = ()
    engine: Engine = "embedded"
    warnings: tuple[str, ...] = ()
    spent: Spending | None = None


@dataclass(frozen=True, slots=True)
class _Goal:
    """A goal, and the steps to take for it.

    Attributes:
        space: its name.
        text: as given.
        scope: the scope of its points.
        steps: the steps that the call names.
        episode: the episode whose evidence is used; None for no evidence.
        names: the names of the entities that the goal names.
        relational: whether it relates things to each other and merging is switched on.
        context: what points are made with.
        now: the moment of the call.
        report: reports the current step.
    """

    space: str
    text: str
    scope: str
    steps: Collection[EvolveStep]
    episode: Episode | None
    names: Sequence[str]
    relational: bool
    context: PointContext
    now: Millis
    report: Report

    @property
    def key(self) -> str:
        """Identifies the goal for `SeenEvidence`; without a scope each question is a goal of its own."""
        return f"{self.scope}\n{scope_of(self.text)}"

    def seen(self, names: Iterable[str]) -> bool:
        """Return whether a judge was asked about all of these for this goal."""
        return self.context.seen.all(self.space, self.key, names)

    def mark_seen(self, names: Iterable[str]) -> None:
        """Record that a judge was asked about these."""
        self.context.seen.add(self.space, self.key, names)


async def organise(
    space: str,
    goal: str,
    episode: Episode | None,
    steps: Collection[EvolveStep],
    context: PointContext,
    *,
    now: Millis,
    judge: PointJudge | None = None,
    scope: str | None = None,
    report: Report | None = None,
) -> OrganiseResult:
    """Make points for a goal and merge them; return the changes, and why a step changed nothing.

    Args:
        space: its name.
        goal: a question or topic; empty for the newest that was written.
        episode: the episode whose evidence is used; None recalls for the goal. Points that a language model made when
            it was asked the goal itself are stored first.
        steps: ``points``, ``merge`` or both.
        context: what points are made with.
        now: the moment of the call.
        judge: proposes points for the evidence; None for the rules.
        scope: the scope of the points; None for the goal.
        report: reports the current step if it takes long.

    Raises:
        StoreError: earlier changes of the call stay; the call may be repeated.
    """
    episodes = Episodes()
    recall = None
    if episode is None or "merge" in steps:  # an episode's evidence is enough to make points of it
        query = Query(goal, space, FOUND, now=now)
        recall = await reconstruct(context.store, context.embedder, query, settings=context.recall, episodes=episodes)
    async with context.store.reading(whole=False) as view:
        question = understand(goal, view.space(space).speakers, now)
    task = _Goal(
        space,
        goal,
        scope_of(goal) if scope is None else scope,
        steps,
        episodes.get(space, recall.episode) if episode is None and recall is not None else episode,
        question.names,
        recall is not None and context.settings.merge and is_relational(question, recall.roots, recall.paths),
        context,
        now,
        report or _no_report,
    )
    made: list[Improved] = []
    if episode is not None and "points" in steps and scope_of(goal).casefold() == scope_of(episode.query).casefold():
        made, _ = await store_points(space, goal, episode.points, context, now=now)
    if judge is None:
        result = await _by_rules(task)
    else:
        result = await _by_judge(task, judge) or await _by_rules(task)
        result = replace(result, warnings=judge.warnings, spent=judge.spent)
    return replace(result, changes=(*made, *result.changes))


async def _by_rules(goal: _Goal) -> OrganiseResult:
    """Group connected evidence, make points of the groups, and merge similar points."""
    context, steps = goal.context, goal.steps
    groups = await evidence_groups(goal.episode, context) if goal.episode is not None and "points" in steps else []
    merging = goal.relational and "merge" in steps and (bool(groups) or "points" not in steps)
    changes: list[Improved] = []
    if groups or merging:
        changes = await apply_groups(
            goal.space, goal.scope, groups, context, now=goal.now, merging=merging, names=goal.names
        )
    return OrganiseResult(tuple(changes), _unchanged_steps(goal, changes, _KNOWN if groups else _NO_GROUP, _ALONE))


async def _by_judge(goal: _Goal, judge: PointJudge) -> OrganiseResult | None:
    """Apply a judge's proposals; None if it proposes nothing, which leaves both steps to the rules."""
    points: _StepResult | None = _StepResult(_NO_GROUP)
    if "points" in goal.steps and goal.episode is not None:
        points = await _make_points(goal, goal.episode, judge)
    if points is None:
        return None
    changed = {change.id for change in points.changes if change.kind == "point"} if "points" in goal.steps else None
    merged = _StepResult(_ALONE)
    if goal.relational and "merge" in goal.steps and (changed is None or changed):
        merged = await _merge_points(goal, judge, changed)
    changes, left = (*points.changes, *merged.changes), (*points.left, *merged.left)
    reported = {skipped.step for skipped in left}
    unchanged = _unchanged_steps(goal, changes, points.reason, merged.reason)
    skipped = tuple(skip for skip in unchanged if skip.step not in reported)
    engine: Engine = judge.engine if points.decided or merged.decided else "embedded"
    return OrganiseResult(changes, skipped, left, engine)


@dataclass(frozen=True, slots=True)
class _StepResult:
    """The outcome of one step of a judge.

    Attributes:
        reason: why it changed nothing, if so.
        changes: what changed.
        left: proposals that were left out, and why.
        decided: whether the judge decided.
    """

    reason: str
    changes: Sequence[Improved] = ()
    left: Sequence[Skipped] = ()
    decided: bool = False


async def _make_points(goal: _Goal, episode: Episode, judge: PointJudge) -> _StepResult | None:
    """Apply the inserts and updates that a judge proposes; None if it proposes nothing."""
    found, known = await judge_input(goal.text, goal.scope, episode, goal.context)
    fresh = [piece for piece in found.evidence if not goal.seen(piece.ids)]
    if not fresh:
        return _StepResult(_SEEN if found.evidence else _KNOWN if known else _NO_GROUP)
    rest = [piece for piece in found.evidence if piece not in fresh]  # what was left out before may fit now
    found = replace(found, evidence=(*fresh, *rest))
    await goal.report("Claude reads what was found")
    proposals = await judge.evolve(found)
    if proposals is None:
        return None
    shown = [point.id for point in found.points]
    changes, left = await apply_proposals(
        goal.space, goal.scope, proposals, goal.context, judge.engine, now=goal.now, shown=shown
    )
    goal.mark_seen(name for piece in proposals.seen for name in piece.ids)
    left += [Skipped("points", _LEFT_OUT.format(reason)) for reason in proposals.left_out]
    reason = _KNOWN if proposals.insert or proposals.update else _NOTHING
    return _StepResult(reason, changes, left, decided=True)


async def _merge_points(goal: _Goal, judge: PointJudge, among: Collection[str] | None) -> _StepResult:
    """Apply the merges that a judge proposes; if it proposes none, merge similar points.

    Points that a caller has written are not shown to a judge: they are never merged.

    Args:
        goal: one that relates things.
        judge: the one to ask.
        among: ids of the points that the call has changed; None for any.
    """
    context = goal.context
    points = await _mergeable(goal, among or ())
    if len(points) < MIN_ENTITIES:
        return _StepResult(_FEW)
    if goal.seen([_state(points)]):
        return _StepResult(_APART)
    await goal.report("Claude looks for what belongs together")
    proposals = await judge.merge(PointJudgeInput(goal.text, tuple(points), order=context.settings.order))
    if proposals is None:
        changes = await apply_groups(
            goal.space, goal.scope, (), context, now=goal.now, merging=True, names=goal.names, among=among
        )
        return _StepResult(_ALONE, changes)
    changes, left = await apply_proposals(goal.space, goal.scope, proposals, context, judge.engine, now=goal.now)
    goal.mark_seen([_state(points), _state(await _mergeable(goal, [change.id for change in changes]))])
    left += [Skipped("merge", _LEFT_OUT.format(reason)) for reason in proposals.left_out]
    return _StepResult(_APART, changes, left, decided=True)


async def _mergeable(goal: _Goal, first: Collection[str]) -> list[Point]:
    """Return the points of the goal that a judge may merge, those with ids in ``first`` first, `SHOWN` at most."""
    async with goal.context.store.reading(whole=False) as view:
        active = view.space(goal.space).hypergraph.active(goal.scope)
    points = [point for point in active if point.source != "caller"]
    return sorted(points, key=lambda point: point.id not in first)[:SHOWN]


def _state(points: Iterable[Point]) -> str:
    return "+".join(sorted(f"{point.id}.{point.revision}" for point in points))


def _unchanged_steps(goal: _Goal, changes: Iterable[Improved], points: str, merge: str) -> tuple[Skipped, ...]:
    """Return the steps of a call that changed nothing, with the reason: these, or that the goal or settings forbid."""
    changed = {change.step for change in changes}
    reasons: dict[EvolveStep, str] = {
        "points": points,
        "merge": merge if goal.relational else _PRIMITIVE if goal.context.settings.merge else _OFF,
    }
    return tuple(Skipped(step, reasons[step]) for step in reasons if step in goal.steps and step not in changed)


async def _no_report(_what: str) -> None: ...
