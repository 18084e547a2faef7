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

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from mcp_memory.domain.episodes import Episode, ShownEvidence
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.points import scope_of
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import EvolveStep, Improved, Skipped
from mcp_memory.domain.times import Millis
from mcp_memory.hypergraph.evolution import EvidenceGroup, evidence_item, group_evidence, is_relational
from mcp_memory.language.questions import understand
from mcp_memory.ports import Progress, QuestionJudge
from mcp_memory.services.answer import reconstruct
from mcp_memory.services.ingest import silent
from mcp_memory.services.learn.episodes import Episodes, evidence_sentences, judged_labels
from mcp_memory.services.points.edits import PointContext, apply_groups, store_points
from mcp_memory.view.space import Space

FOUND = 12
"""Items of evidence that points are made of: as many as a recall gives."""
_OFF = "Merging is switched off here (switches.merge)."
_KNOWN = "What was found stands in memory points already."
_NO_GROUP = "Nothing that was found joins two entities, so there is nothing to make a point of."
_ALONE = "No two points that changed are alike, share an entity and are small enough together."
_PRIMITIVE = "The goal asks for one thing; merging would blur it. Ask why or how, compare, or name a topic."


@dataclass(frozen=True, slots=True)
class OrganiseResult:
    """The outcome of organising.

    Attributes:
        changes: what changed.
        skipped: steps that changed nothing, and why.
        left: points of a judge that were left out, and why.
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


async def organise(
    space: str,
    goal: str,
    episode: Episode | None,
    steps: Collection[EvolveStep],
    context: PointContext,
    *,
    now: Millis,
    judge: QuestionJudge | None = None,
    progress: Progress = silent,
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
    kept: list[Improved] = []
    left: list[Skipped] = []
    is_of_goal = episode is not None and scope.casefold() == scope_of(episode.query).casefold()
    points = episode.points if episode is not None and is_of_goal and "points" in steps else ()
    if points:
        kept, left = await store_points(space, goal, points, context, now=now)
    async with context.store.reading(whole=False) as view:
        question = understand(goal, view.space(space).speakers, now)
    merges = context.settings.merge
    relational = recall is not None and merges and is_relational(question, recall.roots, recall.paths)
    by_judge, why, changes = asks and bool(points), _KNOWN, list[Improved]()
    if not by_judge:
        groups = await _evidence_groups(episode, context) if episode is not None and "points" in steps else []
        merging = relational and "merge" in steps and (bool(groups) or "points" not in steps)
        if groups or merging:
            changes = await apply_groups(space, scope, groups, context, now=now, merging=merging, names=question.names)
        why = _KNOWN if groups else _NO_GROUP
    changed = {change.step for change in (*kept, *changes)}
    reasons: dict[EvolveStep, str] = {
        "points": why,
        "merge": _ALONE if relational else _PRIMITIVE if merges else _OFF,
    }
    skipped = tuple(Skipped(step, reasons[step]) for step in reasons if step in steps and step not in changed)
    engine: Engine = "anthropic" if by_judge else "embedded"
    warnings, spent = (judge.warnings, judge.spent) if judge is not None and asks else ((), None)
    return OrganiseResult((*kept, *changes), skipped, tuple(left), engine, warnings, spent)


async def _evidence_groups(episode: Episode, context: PointContext) -> list[EvidenceGroup]:
    """Return the evidence of an episode in connected groups."""
    shown, sentences = await _relevant(episode, context)
    async with context.store.reading() as view:
        space = view.space(episode.space)
        items = [evidence_item(space, one.id, ids) for one, ids in _supporting_items(space, episode, shown, sentences)]
        return group_evidence(space, [item for item in items if item is not None], context.settings)


async def _relevant(episode: Episode, context: PointContext) -> tuple[list[ShownEvidence], dict[str, Sequence[str]]]:
    """Return the evidence of an episode that scores high enough for a point, and the sentences of each piece."""
    best = max((item.score for item in episode.shown), default=0.0)
    shown = [item for item in episode.shown if item.score >= context.settings.relevance * best]
    return shown, await evidence_sentences(context.store, context.embedder, episode, shown)


def _supporting_items(
    space: Space, episode: Episode, shown: Iterable[ShownEvidence], sentences: Mapping[str, Sequence[str]]
) -> list[tuple[ShownEvidence, list[str]]]:
    """Return items with their sentences, without sentences that a judge labelled as not supporting or wrong."""
    labels = judged_labels(space, episode)
    items = [(item, [name for name in sentences[item.id] if labels.get(name, 1) > 0]) for item in shown]
    return [(item, names) for item, names in items if names or not sentences[item.id]]
