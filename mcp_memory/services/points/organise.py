"""Organise: make memory points of the evidence for a goal (HGMem §3.3; DESIGN 2.1, DESIGN 2.2).

Recall evidence for the goal, group connected evidence, insert or update points from the groups, and merge points if the
goal relates things to each other. Evidence that a judge of answers labelled as not supporting or wrong is left out, and
so is evidence that scores far below the best item. Organising the same evidence again changes nothing.

A language model that takes part is asked the goal as a question. It makes memory points while it answers
(``follow_ups.py``), and these are kept in place of those of the rules, unless it makes none.

**Departures.** The paper forgets its points after each question and makes them over several steps of retrieval. Here
they are kept under the goal (DESIGN D04), and a call is one step: a caller repeats it when the memory has more
evidence.
"""

from __future__ import annotations

from collections.abc import Collection

from mcp_memory.domain.episodes import Episode
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.points import scope_of
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveResult, EvolveStep, Skipped
from mcp_memory.domain.times import Millis
from mcp_memory.hypergraph.evolution import EvidenceGroup, evidence_item, group_evidence, is_relational
from mcp_memory.language.questions import understand
from mcp_memory.ports import Progress, QuestionJudge
from mcp_memory.services.answer import reconstruct
from mcp_memory.services.ingest import silent
from mcp_memory.services.learn.episodes import Episodes, evidence_sentences, judged_labels
from mcp_memory.services.points.edits import PointContext, apply_groups, store_points

RELEVANT = 0.5
"""Evidence below this share of the best score is left out of points. Ours (measured: .5 keeps 93 to 100 of 100 texts
that answer and were found, and of what it keeps 27 and 73 of 100 answer in documents, 10 in dialogues; .6 loses 7 to 10
of 100 more in documents, .7 loses 9 in dialogues)."""
FOUND = 12
"""Items of evidence that points are made of: as many as a recall gives."""
_OFF = "Merging is switched off here (switches.merge)."
_KNOWN = "What was found stands in memory points already."
_NO_GROUP = "Nothing that was found joins two entities, so there is nothing to make a point of."
_ALONE = "No two points that changed are alike, share an entity and are small enough together."
_PRIMITIVE = "The goal asks for one thing; merging would blur it. Ask why or how, compare, or name a topic."


async def organise(
    space: str,
    goal: str,
    episode: Episode | None,
    steps: Collection[EvolveStep],
    context: PointContext,
    *,
    now: Millis,
    asked_for: bool = False,
    judge: QuestionJudge | None = None,
    progress: Progress = silent,
) -> EvolveResult:
    """Make points for a goal and merge them; return the changes, and why a step changed nothing.

    Args:
        space: its name.
        goal: a question or topic; empty for the newest that was written.
        episode: the episode whose evidence is used; None recalls for the goal. Points that a language model made when
            it was asked the goal itself are stored first.
        steps: ``points``, ``merge`` or both.
        context: what points are made with.
        now: the moment of the call.
        asked_for: whether the caller named the steps, and so wants to know of each why it changed nothing.
        judge: is asked the goal if there is no episode; None for the rules.
        progress: called if it takes long.

    Raises:
        StoreError: earlier changes of the call stay; the call may be repeated.
    """
    episodes, recall = Episodes(), None
    asks = judge is not None and episode is None and bool(goal) and "points" in steps
    if asks:
        await progress(3.25, 4, "Claude reads what is found")
    if episode is None or "merge" in steps:  # an episode's evidence is enough to make points of it
        query = Query(goal, space, FOUND, now=now, length="full" if asks else "short")
        settings, asked = context.recall, judge if asks else None
        recall = await reconstruct(
            context.store, context.embedder, query, settings=settings, episodes=episodes, judge=asked
        )
        episode = episode or episodes.get(space, recall.episode)
    scope = scope_of(goal)
    is_of_goal = episode is not None and scope.casefold() == scope_of(episode.query).casefold()
    points = episode.points if episode is not None and is_of_goal and "points" in steps else ()
    changes, left = await store_points(space, goal, points, context, now=now)
    async with context.store.reading(whole=False) as view:
        question = understand(goal, view.space(space).speakers, now)
    merges = context.recall.switches.merge
    relational = recall is not None and merges and is_relational(question, recall.roots, recall.paths)
    by_judge, why = asks and bool(points), _KNOWN
    if not by_judge:
        groups = await _evidence_groups(episode, context) if episode is not None and "points" in steps else []
        merging = relational and "merge" in steps and (bool(groups) or "points" not in steps)
        if groups or merging:
            changes += await apply_groups(space, scope, groups, context, now=now, merging=merging, names=question.names)
        why = _KNOWN if groups else _NO_GROUP
    reasons: dict[EvolveStep, str] = {
        "points": why,
        "merge": _ALONE if relational else _PRIMITIVE if merges else _OFF,
    }
    idle = [step for step in reasons if step in steps and step not in {change.step for change in changes}]
    left += [Skipped(step, reasons[step]) for step in idle if asked_for or step == "points" or not changes]
    engine: Engine = "anthropic" if by_judge else "embedded"
    warnings, spent = (judge.warnings, judge.spent) if judge is not None and asks else ((), None)
    return EvolveResult(tuple(changes), tuple(left), warnings, engine, spent)


async def _evidence_groups(episode: Episode, context: PointContext) -> list[EvidenceGroup]:
    """Return the evidence of an episode that scores high enough for a point, in connected groups.

    Sentences that a judge labelled as not supporting or wrong are left out, and so is evidence that has no others.
    """
    best = max((item.score for item in episode.shown), default=0.0)
    shown = [item for item in episode.shown if item.score >= RELEVANT * best]
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
