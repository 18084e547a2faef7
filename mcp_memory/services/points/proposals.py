"""What a judge proposes for memory points, taken in: as far as it still fits the points when it is recorded.

While a judge thinks nothing is held, so others may have changed what it was shown. Under the store's lock each proposal
is held against the points as they are then, and one that no longer fits is left out, with a reason: it is no error.

- A new point joins only names that stand in the evidence which it cites, or that the space knows (DESIGN I14): at least
  two things, and no more than a point may join (DESIGN I15, DESIGN I16). Evidence that others have put into words
  meanwhile makes none.
- A description is changed only if it is still the one that the judge has seen. A point keeps its vertices (DESIGN D02).
- What a caller has written is never written anew and never merged: such a point only gains evidence.
- A point of almost the same vertices is not made twice: an extract takes the judge's words, as one does of nothing but
  the evidence cited; a point that the judge has not seen, since it was made meanwhile, gains the evidence. Beside a
  point that it has seen a judge may set another of the same things.

What memory points are made of: the evidence of an episode, as the rules group it, or as a judge is shown it.

What a judge of answers said does not support the question, or is wrong, is no evidence; nor is what scores far below
the best item.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.episodes import Episode, ShownEvidence
from mcp_memory.domain.evidence import Engine
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
)
from mcp_memory.domain.requests import Improved, Skipped
from mcp_memory.domain.times import BEGINNING, Millis
from mcp_memory.hypergraph.evolution import add_support, ids_in_description, jaccard, merge_points, reword
from mcp_memory.hypergraph.grouping import EvidenceGroup, evidence_item, group_evidence
from mcp_memory.hypergraph.retrieval import is_placeholder
from mcp_memory.language import iso
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.services.learn.feedback import evidence_sentences, judged_labels
from mcp_memory.services.points.edits import Making, Planned, settle
from mcp_memory.vectors import Vector
from mcp_memory.view.hypergraph import vertices
from mcp_memory.view.space import Space


async def take_in(
    space: str, scope: str, proposed: PointProposals, making: Making, source: Engine, shown: Collection[str] = ()
) -> tuple[list[Improved], list[Skipped]]:
    """Do what a judge proposes, and return what changed, and why what did not; all of it is one commit.

    Args:
        space: its name.
        scope: under which new points are kept.
        proposed: by the judge.
        making: what points are made with.
        source: whose words the descriptions are.
        shown: ids of the points that the judge has seen.

    Raises:
        StoreError: nothing is changed.
    """
    async with making.store.reading() as view:
        held = view.space(space)
        insert = [(one, _joined(held, one)) for one in proposed.insert]

    def plan(held: Space, _vectors: Mapping[str, Vector]) -> Planned:
        planned = Planned({point.id: point for point in held.hypergraph.all(scope)})
        there = [point for point in planned.now.values() if point.active]
        told = put_in_words(held, there)
        for update in proposed.update:
            _update(planned, held, update, making, source)
        for new, names in insert:
            _insert(planned, held, new, names, there, told, (scope, source, shown), making)
        for merging in proposed.merge:
            _merge(planned, merging, scope, making, source)
        return planned

    planned = await settle(making.store, making.embedder, space, plan)
    return planned.changes, list(dict.fromkeys(planned.skipped))


def put_in_words(space: Space, points: Iterable[Point]) -> frozenset[str]:
    """Return the ids of the sentences and facts that stand in words of a judge or a caller in one of some points."""
    return frozenset(name for point in points for name in ids_in_description(space.hypergraph.revisions(point.id)))


def _joined(space: Space, new: ProposedPoint) -> tuple[str, ...]:
    """Return the names of a new point that stand in its evidence or that the space knows, each thing once."""
    texts = [f" {' '.join(words(ground.text))} " for ground in new.evidence]
    kept: dict[str, str] = {}
    for name in distinct_names(new.entities):
        said = words(name)
        if STOP_WORDS.issuperset(said) or not any(sign.isalpha() for sign in name):
            continue
        if any(f" {' '.join(said)} " in text for text in texts) or not is_placeholder(space, name):
            kept.setdefault(space.facts.key(name), name)
    return tuple(kept.values())


def _insert(
    planned: Planned,
    held: Space,
    new: ProposedPoint,
    names: tuple[str, ...],
    there: Sequence[Point],
    told: frozenset[str],
    made: tuple[str, Engine, Collection[str]],
    making: Making,
) -> None:
    scope, source, shown = made
    if not MIN_ENTITIES <= len(names) <= making.settings.order:
        planned.skip("points", _FEW if len(names) < MIN_ENTITIES else _MANY.format(making.settings.order))
        return
    if told.issuperset(name for ground in new.evidence for name in ground.ids):
        planned.skip("points", _TOLD)
        return
    sentences, facts = _support(new.evidence)
    keys = frozenset(map(held.facts.key, names))
    for one in there:
        point = planned.now[one.id]
        joined = vertices(held.facts, point)
        alike = jaccard(keys, joined) >= making.settings.overlap
        extract = point.source == "embedded"
        within = extract and keys <= joined and {*sentences, *facts}.issuperset((*point.sentences, *point.facts))
        if within or (alike and (extract or one.id not in shown)):
            _revise(planned, point, new.description if extract else None, new.evidence, making, source)
            return
    name = point_id(held.name, scope, names, new.description)
    if name not in planned.now:
        point = Point(
            name,
            held.name,
            names,
            new.description,
            scope,
            0,
            "active",
            (),
            None,
            sentences,
            facts,
            source,
            making.now,
        )
        planned.record(point)
        planned.tell("points", point, None)


def _update(planned: Planned, held: Space, update: ProposedUpdate, making: Making, source: Engine) -> None:
    point = planned.now.get(update.point.id)
    if point is None or not point.active:
        planned.skip("points", _MERGED)
    elif point.description != update.point.description:
        planned.skip("points", _CHANGED)
    elif not put_in_words(held, [point]).issuperset(name for ground in update.evidence for name in ground.ids):
        _revise(planned, point, update.description, update.evidence, making, source)


def _revise(
    planned: Planned, point: Point, said: str | None, grounds: Sequence[PointEvidence], making: Making, source: Engine
) -> None:
    """Let a point rest on more, in other words if there are any."""
    if not point.active:
        planned.skip("points", _MERGED)
        return
    revised = add_support(point, *_support(grounds), making.now)
    if said is not None:
        revised = reword(revised, said, source)
    if (revised.description, revised.sentences, revised.facts) != (point.description, point.sentences, point.facts):
        planned.record(revised)
        planned.tell("points", revised, point.description)


def _merge(planned: Planned, merging: ProposedMerge, scope: str, making: Making, source: Engine) -> None:
    parents = [planned.now[point.id] for point in merging.points if point.id in planned.now]
    if len(parents) < len(merging.points) or not all(point.active for point in parents):
        planned.skip("merge", _MERGED)
        return
    if [point.description for point in parents] != [point.description for point in merging.points]:
        planned.skip("merge", _CHANGED)
        return
    if any(point.source == "caller" for point in parents):
        planned.skip("merge", _CALLERS)
        return
    made, gone = merge_points(parents, merging.description, scope, source, making.now)
    if len(made.entities) > making.settings.order:
        planned.skip("merge", _MANY.format(making.settings.order))
        return
    planned.record(made, *gone)
    planned.tell("merge", made, " + ".join(point.id for point in parents))


def _support(grounds: Sequence[PointEvidence]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids of the sentences and of the facts of some evidence."""
    return (
        tuple(dict.fromkeys(name for ground in grounds for name in ground.sentences)),
        tuple(dict.fromkeys(name for ground in grounds for name in ground.facts)),
    )


_FEW = "A proposed point was left out: fewer than two of its names stand in its evidence or are known here."
_MANY = "What was proposed would join more than {} entities."
_TOLD = "A proposed point was left out: its evidence stands in another by now."
_MERGED = "A point that was to be changed has been merged meanwhile."
_CHANGED = "A point that was to be changed has been changed by others meanwhile."
_CALLERS = "The words of a caller are not merged."


SHOWN = 12
"""Points that a judge is shown at most."""


async def groups_of(episode: Episode, making: Making) -> list[EvidenceGroup]:
    """Return the groups of evidence of an episode, without what a judge said does not support it, or is wrong."""
    shown, telling = await _telling(episode, making)
    async with making.store.reading() as view:
        space = view.space(episode.space)
        left = _supporting(space, episode, shown, telling)
        items = [evidence_item(space, one.id, names) for one, names in left]
        return group_evidence(space, [item for item in items if item is not None], making.settings)


@dataclass(frozen=True, slots=True)
class Gathered:
    """What was found for a goal.

    Attributes:
        matter: as a judge is shown it.
        known: whether any more of it stands in the words of a point already.
    """

    matter: PointJudgeInput
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
        grounds: dict[tuple[str, ...], PointEvidence] = {}
        known = False
        for one, names in left:
            ground, item = _ground(space, one.id, names), evidence_item(space, one.id, names)
            if ground is None or item is None:
                continue
            if told.issuperset(ground.ids):
                known = True
                continue
            keys |= dict.fromkeys(item.entities)
            same = grounds.get(ground.ids)
            grounds[ground.ids] = ground if same is None else replace(same, facts=(*same.facts, *ground.facts))
        nearest = _nearest(space, points, grounds.values(), keys.keys(), whole=bool(scope))
    return Gathered(PointJudgeInput(goal, tuple(nearest), tuple(grounds.values()), making.settings.order), known)


def _nearest(
    space: Space, points: Iterable[Point], grounds: Iterable[PointEvidence], keys: Collection[str], *, whole: bool
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


def _ground(space: Space, evidence_id: str, sentences: Iterable[str]) -> PointEvidence | None:
    """Return a piece of evidence as a judge is shown it; None for one that nothing here says, such as a hypothesis."""
    pieces = [piece for name in dict.fromkeys(sentences) if (piece := space.sentence(name)) is not None]
    version = space.facts.version(evidence_id)
    facts = (version.id,) if version is not None else ()
    if not pieces:
        return (
            None if version is None else PointEvidence(f"{version.text.rstrip('.')}.", _day(version.since), (), facts)
        )
    turn = space.turns[pieces[0].turn_id]
    who = turn.speaker or turn.title or turn.role
    said = " ".join(space.text(piece) for piece in pieces)
    when = _day(turn.said_at)
    return PointEvidence(f"{who}: {said}" if who else said, when, tuple(piece.id for piece in pieces), facts)


async def _telling(episode: Episode, making: Making) -> tuple[list[ShownEvidence], dict[str, Sequence[str]]]:
    """Return what an episode shows that says enough for a point, and the sentences that stand for each of it."""
    best = max((one.score for one in episode.shown), default=0.0)
    shown = [one for one in episode.shown if one.score >= making.settings.relevance * best]
    return shown, await evidence_sentences(making.store, making.embedder, episode, shown)


def _supporting(
    space: Space, episode: Episode, shown: Iterable[ShownEvidence], telling: Mapping[str, Sequence[str]]
) -> list[tuple[ShownEvidence, list[str]]]:
    """Return items with their sentences, but for those of which a judge said no good."""
    labels = judged_labels(space, episode)
    left = [(one, [name for name in telling[one.id] if labels.get(name, 1) > 0]) for one in shown]
    return [(one, names) for one, names in left if names or not telling[one.id]]


def _day(moment: Millis | None) -> str | None:
    return None if moment is None or moment <= BEGINNING else iso.show(moment // iso.DAY * iso.DAY)
