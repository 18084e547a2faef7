"""What memory points are made of: the evidence of an episode, as the rules group it, or as a judge is shown it.

What a judge of answers said does not support the question, or is wrong, is no evidence; nor is what scores far below
the best item.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.episodes import Episode, Shown
from mcp_memory.domain.organising import Ground, Matter
from mcp_memory.domain.points import Point
from mcp_memory.domain.times import BEGINNING, Millis
from mcp_memory.hypergraph.grouping import Group, grouped, item_of
from mcp_memory.language import iso
from mcp_memory.services.learn.labels import judged, told_by
from mcp_memory.services.points.edits import Making
from mcp_memory.services.points.proposals import put_in_words
from mcp_memory.view.hypergraph import vertices
from mcp_memory.view.space import Space

SHOWN = 12
"""Points that a judge is shown at most."""


async def groups_of(episode: Episode, making: Making) -> list[Group]:
    """Return the groups of evidence of an episode, without what a judge said does not support it, or is wrong."""
    shown, telling = await _telling(episode, making)
    async with making.store.reading() as view:
        space = view.space(episode.space)
        left = _supporting(space, episode, shown, telling)
        items = [item_of(space, one.id, names) for one, names in left]
        return grouped(space, [item for item in items if item is not None], making.shaping)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was found for a goal.

    Attributes:
        matter: as a judge is shown it.
        known: whether any more of it stands in the words of a point already.
    """

    matter: Matter
    known: bool


async def found_for(goal: str, scope: str, episode: Episode, making: Making) -> Gathered:
    """Return the evidence of an episode that no point has in its words, with the points that it has to do with.

    Args:
        goal: as given.
        scope: under which its points are kept.
        episode: whose evidence is used.
        making: what points are made with.
    """
    shown, telling = await _telling(episode, making)
    async with making.store.reading() as view:
        space = view.space(episode.space)
        left = _supporting(space, episode, shown, telling)
        points = space.hypergraph.active(scope)
        told = put_in_words(space, points)
        keys: dict[str, None] = {}
        grounds: dict[tuple[str, ...], Ground] = {}
        known = False
        for one, names in left:
            ground, item = _ground(space, one.id, names), item_of(space, one.id, names)
            if ground is None or item is None:
                continue
            if told.issuperset(ground.ids):
                known = True
                continue
            keys |= dict.fromkeys(item.entities)
            same = grounds.get(ground.ids)
            grounds[ground.ids] = ground if same is None else replace(same, facts=(*same.facts, *ground.facts))
        nearest = _nearest(space, points, grounds.values(), keys.keys(), whole=bool(scope))
    return Gathered(Matter(goal, tuple(nearest), tuple(grounds.values()), making.shaping.order), known)


def _nearest(
    space: Space, points: Iterable[Point], grounds: Iterable[Ground], keys: Collection[str], *, whole: bool
) -> list[Point]:
    """Return the points that evidence has most to do with, those first.

    Args:
        space: of a view that is held still.
        points: active, of the scope.
        grounds: the evidence.
        keys: of the entities that it names.
        whole: whether those count too with which it has nothing in common: they are of the same goal.
    """
    ids = {name for ground in grounds for name in (*ground.sentences, *ground.facts)}
    likely = []
    for point in points:
        common = len(ids.intersection((*point.sentences, *point.facts))), len(vertices(space.facts, point) & set(keys))
        if whole or any(common):
            likely.append((common, point))
    return [point for _, point in sorted(likely, key=lambda one: one[0], reverse=True)[:SHOWN]]


def _ground(space: Space, evidence_id: str, sentences: Iterable[str]) -> Ground | None:
    """Return a piece of evidence as a judge is shown it; None for one that nothing here says, such as a hypothesis."""
    pieces = [piece for name in dict.fromkeys(sentences) if (piece := space.sentence(name)) is not None]
    version = space.facts.version(evidence_id)
    facts = (version.id,) if version is not None else ()
    if not pieces:
        return None if version is None else Ground(f"{version.text.rstrip('.')}.", _day(version.since), (), facts)
    turn = space.turns[pieces[0].turn_id]
    who = turn.speaker or turn.title or turn.role
    said = " ".join(space.text(piece) for piece in pieces)
    when = _day(turn.said_at)
    return Ground(f"{who}: {said}" if who else said, when, tuple(piece.id for piece in pieces), facts)


async def _telling(episode: Episode, making: Making) -> tuple[list[Shown], dict[str, Sequence[str]]]:
    """Return what an episode shows that says enough for a point, and the sentences that stand for each of it."""
    best = max((one.score for one in episode.shown), default=0.0)
    shown = [one for one in episode.shown if one.score >= making.shaping.relevance * best]
    return shown, await told_by(making.store, making.embedder, episode, shown)


def _supporting(
    space: Space, episode: Episode, shown: Iterable[Shown], telling: Mapping[str, Sequence[str]]
) -> list[tuple[Shown, list[str]]]:
    """Return items with their sentences, but for those of which a judge said no good."""
    labels = judged(space, episode)
    left = [(one, [name for name in telling[one.id] if labels.get(name, 1) > 0]) for one in shown]
    return [(one, names) for one, names in left if names or not telling[one.id]]


def _day(moment: Millis | None) -> str | None:
    return None if moment is None or moment <= BEGINNING else iso.show(moment // iso.DAY * iso.DAY)
