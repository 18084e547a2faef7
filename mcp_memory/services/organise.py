"""Organise: memory points out of what is found for a goal (HGMem §3.3; C.2.1, C.2.2).

Read it as the walk of one goal: recall what belongs to it, group what belongs together, make points of the groups or
take them into those that are there, and merge where the goal relates things to each other.

**Departures.** The paper forgets its points after each question and makes them over several steps of retrieval. Here
they are kept under the goal (C-04), and a call is one step: who wants more asks again once more is known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from mcp_memory.domain.episodes import Episode, Shown
from mcp_memory.domain.points import scope_of
from mcp_memory.domain.requests import EvolveStep, Improved, RecallRequest, Skipped
from mcp_memory.hypergraph.grouping import Group, grouped, item_of
from mcp_memory.hypergraph.merge import relational
from mcp_memory.language.questions import understand
from mcp_memory.services.episodes import Episodes
from mcp_memory.services.labelling import judged, told_by
from mcp_memory.services.points import Making, shape
from mcp_memory.services.reconstruct import reconstruct

FOUND = 12
"""Items of evidence that points are made of: as many as a recall gives."""


async def organise(
    space: str,
    goal: str,
    episode: Episode | None,
    steps: Collection[EvolveStep],
    making: Making,
    scope: str | None = None,
) -> tuple[list[Improved], list[Skipped]]:
    """Make points for a goal, merge them, and return what changed, and why what did not.

    Args:
        space: its name.
        goal: a question or topic; empty for the newest that was written.
        episode: whose evidence is used; None recalls for the goal.
        steps: ``points``, ``merge`` or both.
        making: what points are made with.
        scope: under which they are kept; None for the goal.
    """
    kept = Episodes()
    asked = RecallRequest(space, goal or None, FOUND)
    recall = None
    if episode is None or "merge" in steps:  # what an episode shows is enough to make points of it
        recall = await reconstruct(
            making.store, making.embedder, asked, looking=making.looking, episodes=kept, now=making.now
        )
    async with making.store.reading(whole=False) as view:
        question = understand(goal, view.space(space).speakers, making.now)
    relating = recall is not None and making.merging and relational(question, recall.roots, recall.paths)
    found = kept.get(space, recall.episode) if episode is None and recall is not None else episode
    groups = await _groups(found, making) if found is not None and "points" in steps else []
    merging = relating and "merge" in steps and (bool(groups) or "points" not in steps)
    changes = []
    if groups or merging:
        changes = await shape(
            space, scope_of(goal) if scope is None else scope, groups, making, merging=merging, names=question.names
        )
    done = {one.step for one in changes}
    why: dict[EvolveStep, str] = {
        "points": _KNOWN if groups else _NO_GROUP,
        "merge": _ALONE if relating else _PRIMITIVE if making.merging else _OFF,
    }
    return changes, [Skipped(step, why[step]) for step in why if step in steps and step not in done]


async def _groups(episode: Episode, making: Making) -> list[Group]:
    """Return the groups of evidence of an episode, without what a judge said does not support it, or is wrong."""
    best = max((one.score for one in episode.shown), default=0.0)
    shown = [one for one in episode.shown if one.score >= making.shaping.relevance * best]
    telling = await told_by(making.store, making.embedder, episode, shown)
    async with making.store.reading() as view:
        space = view.space(episode.space)
        labels = judged(space, episode)
        left = [(one, _supporting(one, telling, labels)) for one in shown]
        items = [item_of(space, one.id, names) for one, names in left if names or not telling[one.id]]
        return grouped(space, [item for item in items if item is not None], making.shaping)


def _supporting(item: Shown, telling: Mapping[str, Sequence[str]], labels: Mapping[str, int]) -> list[str]:
    return [name for name in telling[item.id] if labels.get(name, 1) > 0]


_OFF = "Merging is switched off here (switches.merge)."
_KNOWN = "What was found stands in memory points already."
_NO_GROUP = "Nothing that was found joins two entities, so there is nothing to make a point of."
_ALONE = "No two points that changed are alike, share an entity and are small enough together."
_PRIMITIVE = "The goal asks for one thing; merging would blur it. Ask why or how, compare, or name a topic."
