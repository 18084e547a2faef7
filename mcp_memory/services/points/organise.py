"""Organise: memory points out of what is found for a goal (HGMem §3.3; DESIGN 2.1, DESIGN 2.2).

Read it as the walk of one goal: recall what belongs to it, group what belongs together, make points of the groups or
take them into those that are there, and merge where the goal relates things to each other. Where a judge takes part it
is shown the evidence and the points instead, and says what to make of them; nothing is held while it thinks. What it
says is taken in, in a commit for each of its two steps; where it says nothing usable, the embedded way is taken.

Organising again what was organised changes nothing, and asks nobody: evidence that stands in the words of a point is
not shown again, nor is a judge asked where all that is left was shown to it before in this process (``considered.py``).

**Departures.** The paper forgets its points after each question and makes them over several steps of retrieval. Here
they are kept under the goal (DESIGN D04), and a call is one step: who wants more asks again once more is known.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.episodes import Episode
from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.points import MIN_ENTITIES, Point, PointJudgeInput, scope_of
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveStep, Improved, Skipped
from mcp_memory.domain.spending import Spending
from mcp_memory.hypergraph.evolution import is_relational
from mcp_memory.language.questions import understand
from mcp_memory.ports import PointJudge
from mcp_memory.services.answer import reconstruct
from mcp_memory.services.learn.episodes import Episodes
from mcp_memory.services.points.edits import Making, shape
from mcp_memory.services.points.proposals import SHOWN, found_for, groups_of, take_in

FOUND = 12
"""Items of evidence that points are made of: as many as a recall gives."""

Saying = Callable[[str], Awaitable[None]]
"""Told what is being done."""


@dataclass(frozen=True, slots=True)
class Organised:
    """What came of organising.

    Attributes:
        changes: what changed.
        skipped: steps that changed nothing, and why.
        left: what a judge proposed and was left out, and why.
        engine: whose judgement decided.
        warnings: why another than the wanted judge decided, in words.
        spent: on a language model; None where none was asked.
    """

    changes: tuple[Improved, ...]
    skipped: tuple[Skipped, ...] = ()
    left: tuple[Skipped, ...] = ()
    engine: Engine = "embedded"
    warnings: tuple[str, ...] = ()
    spent: Spending | None = None


@dataclass(frozen=True, slots=True)
class _Task:
    """A goal, and what is to be done for it.

    Attributes:
        space: its name.
        goal: as given.
        scope: under which its points are kept.
        steps: that the call names.
        found: whose evidence is used; None for no evidence.
        names: of the entities that the goal names.
        relating: whether it relates things to each other and merging is switched on.
        making: what points are made with.
        saying: told what is being done.
    """

    space: str
    goal: str
    scope: str
    steps: Collection[EvolveStep]
    found: Episode | None
    names: Sequence[str]
    relating: bool
    making: Making
    saying: Saying

    def considered(self, names: Iterable[str]) -> bool:
        """Return whether a judge was asked about all of these for this goal."""
        return self.making.considered.all(self.space, self._key, names)

    def consider(self, names: Iterable[str]) -> None:
        """Take note that a judge was asked about these."""
        self.making.considered.add(self.space, self._key, names)

    @property
    def _key(self) -> str:
        return f"{self.scope}\n{scope_of(self.goal)}"  # of what belongs to no goal each question is another


async def organise(
    space: str,
    goal: str,
    episode: Episode | None,
    steps: Collection[EvolveStep],
    making: Making,
    scope: str | None = None,
    saying: Saying | None = None,
) -> Organised:
    """Make points for a goal, merge them, and return what changed, and why what did not.

    Args:
        space: its name.
        goal: a question or topic; empty for the newest that was written.
        episode: whose evidence is used; None recalls for the goal.
        steps: ``points``, ``merge`` or both.
        making: what points are made with.
        scope: under which they are kept; None for the goal.
        saying: told what is being done where that takes long.

    Raises:
        StoreError: what was changed before stays, and may be repeated.
    """
    kept = Episodes()
    asked = Query(goal, space, FOUND, now=making.now)
    recall = None
    if episode is None or "merge" in steps:  # what an episode shows is enough to make points of it
        recall = await reconstruct(making.store, making.embedder, asked, settings=making.recall, episodes=kept)
    async with making.store.reading(whole=False) as view:
        question = understand(goal, view.space(space).speakers, making.now)
    task = _Task(
        space,
        goal,
        scope_of(goal) if scope is None else scope,
        steps,
        kept.get(space, recall.episode) if episode is None and recall is not None else episode,
        question.names,
        recall is not None and making.settings.merge and is_relational(question, recall.roots, recall.paths),
        making,
        saying or _silent,
    )
    if making.judge is None:
        return await _by_rules(task)
    done = await _by_judge(task, making.judge) or await _by_rules(task)
    return replace(done, warnings=making.judge.warnings, spent=making.judge.spent)


async def _by_rules(task: _Task) -> Organised:
    """Group what belongs together, and merge what is alike."""
    making, steps = task.making, task.steps
    groups = await groups_of(task.found, making) if task.found is not None and "points" in steps else []
    merging = task.relating and "merge" in steps and (bool(groups) or "points" not in steps)
    changes: list[Improved] = []
    if groups or merging:
        changes = await shape(task.space, task.scope, groups, making, merging=merging, names=task.names)
    return Organised(tuple(changes), _idle(task, changes, _KNOWN if groups else _NO_GROUP, _ALONE))


async def _by_judge(task: _Task, judge: PointJudge) -> Organised | None:
    """Let a judge say what to make of it; None where it does not, and both steps are left to the rules."""
    done = await _evolved(task, judge) if "points" in task.steps and task.found is not None else _Step(_NO_GROUP)
    if done is None:
        return None
    changed = {one.id for one in done.changes if one.kind == "point"} if "points" in task.steps else None
    merged = None
    if task.relating and "merge" in task.steps and (changed is None or changed):
        merged = await _merged(task, judge, changed)
    changes = (*done.changes, *(merged.changes if merged else ()))
    left = (*done.left, *(merged.left if merged else ()))
    told = {one.step for one in left}
    skipped = _idle(task, changes, done.idle, merged.idle if merged else _ALONE)
    idle = tuple(one for one in skipped if one.step not in told)
    decided = done.decided or (merged is not None and merged.decided)
    engine: Engine = judge.engine if decided else "embedded"
    return Organised(changes, idle, left, engine)


@dataclass(frozen=True, slots=True)
class _Step:
    """What came of one step.

    Attributes:
        idle: why it changed nothing, if so.
        changes: what changed.
        left: what was left out, and why.
        decided: whether the judge did.
    """

    idle: str
    changes: Sequence[Improved] = ()
    left: Sequence[Skipped] = ()
    decided: bool = False


async def _evolved(task: _Task, judge: PointJudge) -> _Step | None:
    """Take in what a judge makes of what was found; None where it does not say."""
    assert task.found is not None
    found = await found_for(task.goal, task.scope, task.found, task.making)
    fresh = [one for one in found.matter.evidence if not task.considered(one.ids)]
    if not fresh:
        return _Step(_SEEN if found.matter.evidence else _KNOWN if found.known else _NO_GROUP)
    rest = [one for one in found.matter.evidence if one not in fresh]  # what was left out before may belong to it now
    matter = replace(found.matter, evidence=(*fresh, *rest))
    await task.saying("Claude reads what was found")
    proposed = await judge.evolve(matter)
    if proposed is None:
        return None
    shown = [point.id for point in matter.points]
    changes, left = await take_in(task.space, task.scope, proposed, task.making, judge.engine, shown)
    task.consider(name for one in proposed.seen for name in one.ids)
    left += [Skipped("points", _LEFT_OUT.format(reason)) for reason in proposed.left_out]
    idle = _KNOWN if proposed.insert or proposed.update else _NOTHING
    return _Step(idle, changes, left, decided=True)


async def _merged(task: _Task, judge: PointJudge, among: Collection[str] | None) -> _Step:
    """Merge what a judge wants to be merged, else what is alike.

    A judge is not shown what a caller has written: that is never merged.

    Args:
        task: of a goal that relates things.
        judge: who is asked.
        among: ids of the points that the call has changed; None where that does not matter.
    """
    making = task.making
    points = await _mergeable(task, among or ())
    if len(points) < MIN_ENTITIES:
        return _Step(_FEW)
    if task.considered([_state(points)]):
        return _Step(_APART)
    await task.saying("Claude looks for what belongs together")
    proposed = await judge.merge(PointJudgeInput(task.goal, tuple(points), order=making.settings.order))
    if proposed is None:
        changes = await shape(task.space, task.scope, (), making, merging=True, names=task.names, among=among)
        return _Step(_ALONE, changes)
    changes, left = await take_in(task.space, task.scope, proposed, making, judge.engine)
    now = await _mergeable(task, [one.id for one in changes])
    task.consider([_state(points), _state(now)])
    left += [Skipped("merge", _LEFT_OUT.format(reason)) for reason in proposed.left_out]
    return _Step(_APART, changes, left, decided=True)


async def _mergeable(task: _Task, first: Collection[str]) -> list[Point]:
    """Return the points of the goal that a judge may merge, as many as it is shown, some of them first."""
    async with task.making.store.reading(whole=False) as view:
        active = view.space(task.space).hypergraph.active(task.scope)
    points = [point for point in active if point.source != "caller"]
    return sorted(points, key=lambda point: point.id not in first)[:SHOWN]


def _state(points: Iterable[Point]) -> str:
    return "+".join(sorted(f"{point.id}.{point.revision}" for point in points))


def _idle(task: _Task, changes: Iterable[Improved], points: str, merge: str) -> tuple[Skipped, ...]:
    """Return the steps of a call that changed nothing, and why: the reasons where the goal and the settings allow."""
    done = {one.step for one in changes}
    why: dict[EvolveStep, str] = {
        "points": points,
        "merge": merge if task.relating else _PRIMITIVE if task.making.settings.merge else _OFF,
    }
    return tuple(Skipped(step, why[step]) for step in why if step in task.steps and step not in done)


async def _silent(_what: str) -> None:
    return


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
