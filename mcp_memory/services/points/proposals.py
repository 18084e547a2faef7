"""Evidence of an episode for memory points, and the proposals that a judge makes of it (HGMem §3.5; DESIGN L7, L8).

Evidence that a judge of answers labelled as not supporting or wrong is left out, and so is evidence that scores far
below the best item.

No lock is held while a judge of points is asked, so others may change the points that it was shown. Each proposal is
checked under the store's lock against the current points. A proposal that no longer fits is left out with a reason;
that is no error.

- A new point joins only names that occur in the evidence that it cites, or in the space (DESIGN I14): at least two
  entities, and no more than a point may join (DESIGN I15, DESIGN I16). Evidence that other descriptions have taken in
  meanwhile makes no point.
- A description is changed only if it is still the one that the judge has seen. A point keeps its vertices (DESIGN D02).
- A caller's description is never rewritten or merged: such a point only gains evidence.
- A point of almost the same vertices is not made twice. An extract takes the judge's description, and so does an
  extract of nothing but the cited evidence; a point that the judge has not seen, since it was made meanwhile, gains the
  evidence. Beside a point that it has seen, a judge may make another of the same entities.

**Points of an answer.** A judge makes memory points while it answers a question. In HGMem they are lost with the
question (§3.2); here they are kept under the question as their goal (DESIGN D04): after an answer that the memory may
learn from, and where a goal is organised with the episode of a recall that has them. They are checked against the
points as they are by then, like every proposal of a judge.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.episodes import Episode, ShownEvidence
from mcp_memory.domain.facts import Engine
from mcp_memory.domain.points import (
    MIN_ENTITIES,
    Point,
    PointEvidence,
    PointJudgeInput,
    PointProposals,
    ProposedMerge,
    ProposedPoint,
    ProposedUpdate,
    distinct_names,
    point_id,
    scope_of,
)
from mcp_memory.domain.requests import Improved, Skipped
from mcp_memory.domain.times import BEGINNING, Millis
from mcp_memory.hypergraph.evolution import add_support, ids_in_description, jaccard, merge_points, reword
from mcp_memory.hypergraph.grouping import EvidenceGroup, evidence_item, group_evidence
from mcp_memory.hypergraph.retrieval import is_placeholder
from mcp_memory.language import iso
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.services.learn.episodes import evidence_sentences, judged_labels
from mcp_memory.services.points.edits import PlannedEdits, PointContext, commit_edits
from mcp_memory.vectors import Vector
from mcp_memory.view.evidence import known_sentences
from mcp_memory.view.hypergraph import vertices
from mcp_memory.view.space import Space

SHOWN = 12
"""Points that a judge is shown at most."""
_FEW = "A proposed point was left out: fewer than two of its names stand in its evidence or are known here."
_MANY = "What was proposed would join more than {} entities."
_TAKEN_IN = "A proposed point was left out: its evidence stands in another by now."
_MERGED = "A point that was to be changed has been merged meanwhile."
_CHANGED = "A point that was to be changed has been changed by others meanwhile."
_CALLERS = "The words of a caller are not merged."


async def evidence_groups(episode: Episode, context: PointContext) -> list[EvidenceGroup]:
    """Return the evidence of an episode in connected groups."""
    shown, sentences = await _relevant(episode, context)
    async with context.store.reading() as view:
        space = view.space(episode.space)
        items = [evidence_item(space, one.id, ids) for one, ids in _supporting_items(space, episode, shown, sentences)]
        return group_evidence(space, [item for item in items if item is not None], context.settings)


async def judge_input(goal: str, scope: str, episode: Episode, context: PointContext) -> tuple[PointJudgeInput, bool]:
    """Return the input of a judge of points: evidence that no description takes in yet, and the nearest points.

    Returns:
        The input, and whether a description has taken in some of the evidence already.
    """
    shown, sentences = await _relevant(episode, context)
    async with context.store.reading() as view:
        space = view.space(episode.space)
        points = space.hypergraph.active(scope)
        described = _described_ids(space, points)
        keys: dict[str, None] = {}
        evidence: dict[tuple[str, ...], PointEvidence] = {}
        known = False
        for one, ids in _supporting_items(space, episode, shown, sentences):
            piece, item = _point_evidence(space, one.id, ids), evidence_item(space, one.id, ids)
            if piece is None or item is None:
                continue
            if described.issuperset(piece.ids):
                known = True
                continue
            keys |= dict.fromkeys(item.entities)
            same = evidence.get(piece.ids)
            evidence[piece.ids] = piece if same is None else replace(same, facts=(*same.facts, *piece.facts))
        nearest = _nearest_points(space, points, evidence.values(), keys.keys(), whole=bool(scope))
    return PointJudgeInput(goal, tuple(nearest), tuple(evidence.values()), context.settings.order), known


async def apply_proposals(
    space: str,
    scope: str,
    proposals: PointProposals,
    context: PointContext,
    source: Engine,
    *,
    now: Millis,
    shown: Collection[str] = (),
) -> tuple[list[Improved], list[Skipped]]:
    """Apply a judge's proposals in one commit; return the changes, and the omitted proposals with their reasons.

    Args:
        space: its name.
        scope: the scope of new points.
        proposals: the proposals of the judge.
        context: what points are made with.
        source: the engine that wrote the descriptions.
        now: the moment of the call.
        shown: ids of the points that the judge has seen.

    Raises:
        StoreError: nothing is changed.
    """
    async with context.store.reading() as view:
        current = view.space(space)
        inserts = [(insert, _known_names(current, insert)) for insert in proposals.insert]
    settings = context.settings
    application = _Application(
        proposals, inserts, scope, source, now, frozenset(shown), settings.order, settings.overlap
    )
    planned = await commit_edits(context.store, context.embedder, space, application.plan)
    return planned.changes, list(dict.fromkeys(planned.skipped))


@dataclass(frozen=True, slots=True)
class _Application:
    """The proposals of a judge, and how they become edits.

    Attributes:
        proposals: the proposals of the judge.
        inserts: each new point with its names that are known.
        scope: the scope of new points.
        source: the engine that wrote the descriptions.
        now: the moment of the call.
        shown: ids of the points that the judge has seen.
        order: entities that a point may join at most.
        overlap: Jaccard index of the entities from which on two points are similar.
    """

    proposals: PointProposals
    inserts: Sequence[tuple[ProposedPoint, tuple[str, ...]]]
    scope: str
    source: Engine
    now: Millis
    shown: frozenset[str]
    order: int
    overlap: float

    def plan(self, current: Space, _vectors: Mapping[str, Vector]) -> PlannedEdits:
        """Return the edits of the points as they are now: first changed descriptions, then new points, then merges."""
        planned = PlannedEdits({point.id: point for point in current.hypergraph.all(self.scope)})
        present = [point for point in planned.points.values() if point.active]
        described = _described_ids(current, present)
        for update in self.proposals.update:
            _update(planned, current, update, self.source, self.now)
        for new, names in self.inserts:
            self._insert(planned, current, new, names, present, described)
        for merge in self.proposals.merge:
            _merge(planned, merge, self.scope, self.source, self.now, self.order)
        return planned

    def _insert(
        self, planned: PlannedEdits, current: Space, new: ProposedPoint, names: tuple[str, ...],
        present: Sequence[Point], described: frozenset[str],
    ) -> None:  # fmt: skip
        """Plan a new point, or new evidence for the present point that it repeats."""
        if not MIN_ENTITIES <= len(names) <= self.order:
            planned.skip("points", _FEW if len(names) < MIN_ENTITIES else _MANY.format(self.order))
            return
        if described.issuperset(name for piece in new.evidence for name in piece.ids):
            planned.skip("points", _TAKEN_IN)
            return
        sentences, facts = _support(new.evidence)
        keys = frozenset(map(current.facts.key, names))
        for one in present:
            point = planned.points[one.id]
            joined = vertices(current.facts, point)
            similar = jaccard(keys, joined) >= self.overlap
            extract = point.source == "embedded"
            within = extract and keys <= joined and {*sentences, *facts}.issuperset((*point.sentences, *point.facts))
            if within or (similar and (extract or one.id not in self.shown)):
                description = new.description if extract else None
                _revise(planned, point, description, new.evidence, self.source, self.now)
                return
        name = point_id(current.name, self.scope, names, new.description)
        if name not in planned.points:
            point = Point(
                name, current.name, names, new.description, self.scope, 0, "active", (), None, sentences, facts,
                self.source, self.now,
            )  # fmt: skip
            planned.record(point)
            planned.report("points", point, None)


def _described_ids(space: Space, points: Iterable[Point]) -> frozenset[str]:
    """Return the ids of the sentences and facts that descriptions by a judge or a caller take in."""
    return frozenset(name for point in points for name in ids_in_description(space.hypergraph.revisions(point.id)))


def _known_names(space: Space, new: ProposedPoint) -> tuple[str, ...]:
    """Return the names of a new point that occur in its evidence or in the space, one for each entity."""
    texts = [f" {' '.join(words(piece.text))} " for piece in new.evidence]
    kept: dict[str, str] = {}
    for name in distinct_names(new.entities):
        name_words = words(name)
        if STOP_WORDS.issuperset(name_words) or not any(char.isalpha() for char in name):
            continue
        if any(f" {' '.join(name_words)} " in text for text in texts) or not is_placeholder(space, name):
            kept.setdefault(space.facts.key(name), name)
    return tuple(kept.values())


def _update(planned: PlannedEdits, current: Space, update: ProposedUpdate, source: Engine, now: Millis) -> None:
    point = planned.points.get(update.point.id)
    if point is None or not point.active:
        planned.skip("points", _MERGED)
    elif point.description != update.point.description:
        planned.skip("points", _CHANGED)
    elif not _described_ids(current, [point]).issuperset(name for piece in update.evidence for name in piece.ids):
        _revise(planned, point, update.description, update.evidence, source, now)


def _revise(
    planned: PlannedEdits,
    point: Point,
    description: str | None,
    evidence: Sequence[PointEvidence],
    source: Engine,
    now: Millis,
) -> None:
    """Add evidence to a point, and give it another description unless that is None."""
    if not point.active:
        planned.skip("points", _MERGED)
        return
    revised = add_support(point, *_support(evidence), now)
    if description is not None:
        revised = reword(revised, description, source)
    if (revised.description, revised.sentences, revised.facts) != (point.description, point.sentences, point.facts):
        planned.record(revised)
        planned.report("points", revised, point.description)


def _merge(planned: PlannedEdits, merge: ProposedMerge, scope: str, source: Engine, now: Millis, order: int) -> None:
    parents = [planned.points[point.id] for point in merge.points if point.id in planned.points]
    if len(parents) < len(merge.points) or not all(point.active for point in parents):
        planned.skip("merge", _MERGED)
        return
    if [point.description for point in parents] != [point.description for point in merge.points]:
        planned.skip("merge", _CHANGED)
        return
    if any(point.source == "caller" for point in parents):
        planned.skip("merge", _CALLERS)
        return
    made, gone = merge_points(parents, merge.description, scope, source, now)
    if len(made.entities) > order:
        planned.skip("merge", _MANY.format(order))
        return
    planned.record(made, *gone)
    planned.report("merge", made, " + ".join(point.id for point in parents))


def _support(evidence: Sequence[PointEvidence]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids of the sentences and of the facts of some evidence."""
    return (
        tuple(dict.fromkeys(name for piece in evidence for name in piece.sentences)),
        tuple(dict.fromkeys(name for piece in evidence for name in piece.facts)),
    )


def _nearest_points(
    space: Space, points: Iterable[Point], evidence: Iterable[PointEvidence], keys: Collection[str], *, whole: bool
) -> list[Point]:
    """Return the points that share most with the evidence, those first.

    Args:
        space: the space of the points.
        points: active, of the scope.
        evidence: the evidence for the goal.
        keys: the keys of the entities that the evidence names.
        whole: whether points count that share nothing with it: they are of the same goal.
    """
    ids = {name for piece in evidence for name in (*piece.sentences, *piece.facts)}
    candidates = []
    for point in points:
        common = len(ids.intersection((*point.sentences, *point.facts))), len(vertices(space.facts, point) & set(keys))
        if whole or any(common):
            candidates.append((common, point))
    return [point for _, point in sorted(candidates, key=lambda one: one[0], reverse=True)[:SHOWN]]


def _point_evidence(space: Space, evidence_id: str, sentences: Iterable[str]) -> PointEvidence | None:
    """Return evidence in the form shown to a judge; None if no stored text states it, as for a hypothesis."""
    pieces = known_sentences(space, dict.fromkeys(sentences))
    version = space.facts.version(evidence_id)
    facts = (version.id,) if version is not None else ()
    if not pieces:
        return (
            None if version is None else PointEvidence(f"{version.text.rstrip('.')}.", _day(version.since), (), facts)
        )
    turn = space.turns[pieces[0].turn_id]
    who = turn.speaker or turn.title or turn.role
    text = " ".join(space.text(piece) for piece in pieces)
    ids = tuple(piece.id for piece in pieces)
    return PointEvidence(f"{who}: {text}" if who else text, _day(turn.local_said_at), ids, facts)


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


def _day(moment: Millis | None) -> str | None:
    return None if moment is None or moment <= BEGINNING else iso.show(moment // iso.DAY * iso.DAY)


async def store_points(
    space: str, question: str, points: Iterable[Point], context: PointContext, *, now: Millis
) -> tuple[list[Improved], list[Skipped]]:
    """Store the points of a question in one commit; return the changes, and what was left out with its reason.

    A point that was merged from points which are not stored is stored as one that joins all of their entities.

    Args:
        space: its name.
        question: the question that they were made for.
        points: as the judge left them; those that are stored just so change nothing.
        context: what points are made with.
        now: the moment of the call.

    Raises:
        StoreError: nothing is stored.
    """
    insert: list[ProposedPoint] = []
    update: list[ProposedUpdate] = []
    merge: list[ProposedMerge] = []
    scope = scope_of(question)
    async with context.store.reading() as view:
        current = view.space(space)
        stored = {point.id: point for point in current.hypergraph.active(scope)}
        for point in points:
            before = stored.get(point.id)
            parents = tuple(stored[name] for name in point.parents if name in stored)
            if before is not None:
                if before.description != point.description:
                    update.append(ProposedUpdate(before, point.description, _evidence(current, point)))
            elif parents and len(parents) == len(point.parents):
                merge.append(ProposedMerge(parents, point.description))
            else:
                insert.append(ProposedPoint(point.entities, point.description, _evidence(current, point)))
    if not insert and not update and not merge:
        return [], []
    proposals = PointProposals(tuple(insert), tuple(update), tuple(merge))
    return await apply_proposals(space, scope, proposals, context, "anthropic", now=now, shown=stored)


def _evidence(space: Space, point: Point) -> tuple[PointEvidence, ...]:
    pieces = known_sentences(space, point.sentences)
    return tuple(PointEvidence(space.text(piece), None, (piece.id,)) for piece in pieces)
