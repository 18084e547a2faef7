"""Memory points made, updated and merged: by a caller's own words, or out of what was found for a goal (HGMem §3.3.3).

What a judge makes of what was found stands in ``proposed.py``; how all of it is recorded, in ``settling.py``.

What a judge has been asked about for a goal, in this process: it is not asked the same twice.

What it took in stands in the points, for every process and for good. What it left out does not, and would be shown to
it each time that the goal is organised. This is kept nowhere else, so another process asks once more.

What is done to memory points, decided and recorded.

It is decided under the store's lock, by what the points are then, so several processes may organise at once.
Descriptions are embedded before it is taken: where a decision needs the vector of words that nobody has embedded yet,
the lock is given back, the words are embedded, and it is decided again. All of a call is one commit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.points import MIN_ENTITIES, Point, distinct_names, point_id
from mcp_memory.domain.requests import EvolveStep, Improved, NewDescription, NewMerge, NewPoint, PointEdits, Skipped
from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput, StoreBusy
from mcp_memory.hypergraph.evolution import apply_group, merge_points, pairs_to_merge, unite_descriptions
from mcp_memory.hypergraph.grouping import EvidenceGroup
from mcp_memory.hypergraph.retrieval import is_placeholder
from mcp_memory.hypergraph.settings import PointSettings
from mcp_memory.language.tokens import words
from mcp_memory.ports import Embedder, PointJudge, Store
from mcp_memory.services.recall.settings import RecallSettings
from mcp_memory.vectors import Vector
from mcp_memory.view.space import Space

MOST = 20_000
"""Names that are kept; the oldest go."""


class Considered:
    """What was considered for the goals of each space, by names."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: dict[tuple[str, str, str], None] = {}

    def add(self, space: str, goal: str, names: Iterable[str]) -> None:
        """Take note of what a judge has considered, once that is stored which came of it."""
        self._known |= dict.fromkeys((space, goal.casefold(), name) for name in names)
        while len(self._known) > self._most:
            self._known.pop(next(iter(self._known)))

    def all(self, space: str, goal: str, names: Iterable[str]) -> bool:
        """Return whether all of these were considered before."""
        return all((space, goal.casefold(), name) in self._known for name in names)


@dataclass(frozen=True, slots=True)
class Making:
    """What points are made with.

    Attributes:
        store: where to.
        embedder: of descriptions and goals.
        recall: how what belongs to a goal is looked for.
        settings: how points are made.
        now: the moment of the call.
        judge: says what to make of what belongs to a goal; None for the embedded way.
        considered: what it was asked about before.
    """

    store: Store
    embedder: Embedder
    recall: RecallSettings
    settings: PointSettings
    now: Millis
    judge: PointJudge | None = None
    considered: Considered = field(default_factory=Considered)


async def edit(space: str, edits: PointEdits, scope: str, making: Making) -> list[Improved]:
    """Do to points what a caller says, and return what changed: nothing where all of it was done before.

    Args:
        space: its name.
        edits: all of them, or none.
        scope: of what is inserted or merged; empty for none: then merged points keep the scope that all of them share.
        making: what points are made with.

    Raises:
        InvalidInput: an edit names a point that is unknown or was merged, or the like; nothing is changed.
        StoreError: nothing is changed.
    """
    now, settings = making.now, making.settings

    def plan(held: Space, _vectors: Mapping[str, Vector]) -> Planned:
        planned = Planned({point.id: point for point in held.hypergraph.all()})
        touched: dict[str, str] = {}  # id → the argument that names it
        for place, one in enumerate(edits.insert):
            _insert(planned, held, one, f"points.insert[{place}]", scope, now, settings)
        for place, update in enumerate(edits.update):
            _update(planned, held, update, f"points.update[{place}]", touched, now)
        for place, merge in enumerate(edits.merge):
            _merge(planned, held, merge, f"points.merge[{place}]", scope, touched, now, settings)
        return planned

    return (await settle(making.store, making.embedder, space, plan)).changes


async def shape(
    space: str,
    scope: str,
    groups: Sequence[EvidenceGroup],
    making: Making,
    *,
    merging: bool,
    names: Sequence[str] = (),
    among: Collection[str] | None = None,
) -> list[Improved]:
    """Make points of evidence, under a goal, and merge those that are alike; return what changed.

    Args:
        space: its name.
        scope: of the goal.
        groups: of evidence that belongs together; none where nothing is to be made.
        making: what points are made with.
        merging: whether points of the scope are merged afterwards: those that the call has changed with others, so that
            a repeated call changes nothing; without groups, those of ``among``, or any.
        names: of the entities that the goal names.
        among: ids of the points that were changed before; None where that does not matter.

    Raises:
        StoreError: nothing is changed.
    """
    now, settings = making.now, making.settings

    def plan(held: Space, vectors: Mapping[str, Vector]) -> Planned:
        planned = Planned({point.id: point for point in held.hypergraph.all(scope)})
        for group in groups:
            before = dict(planned.now)
            point = apply_group(held.facts, planned.now, group, space, scope, now, settings)
            if point is not None:
                planned.record(point)
                old = before.get(point.id)
                planned.tell("points", point, None if old is None else old.description)
        if merging and all(point.description in vectors for point in planned.revisions):
            changed = {point.id for point in planned.revisions} if groups else among
            _merge_alike(planned, held, vectors, scope, now, settings, among=changed, names=names)
        return planned

    return (await settle(making.store, making.embedder, space, plan)).changes


def _insert(
    planned: Planned, held: Space, new: NewPoint, argument: str, scope: str, now: Millis, settings: PointSettings
) -> None:
    entities = distinct_names(new.entities)
    meant = len({held.facts.key(name) for name in entities})
    if meant < MIN_ENTITIES:
        problem = f"name {meant} entity" if meant == len(entities) else "are names of one and the same entity"
        raise InvalidInput(
            f"{argument}.entities", problem, f"Give at least {MIN_ENTITIES} that differ. Nothing was changed."
        )
    if len(entities) > settings.order:
        problem = f"name {len(entities)} entities"
        remedy = f"Give at most {settings.order}, or several points. Nothing was changed."
        raise InvalidInput(f"{argument}.entities", problem, remedy)
    name = point_id(held.name, scope, entities, new.description)
    if name in planned.now:
        return  # what has become of it since is not undone by saying it again
    point = Point(name, held.name, entities, new.description, scope, 0, "active", (), None, (), (), "caller", now)
    planned.record(point)
    planned.tell("points", point, None)


def _update(
    planned: Planned, held: Space, new: NewDescription, argument: str, touched: dict[str, str], now: Millis
) -> None:
    point = _named(planned, held, new.id, f"{argument}.id", touched)
    if point.description == new.description:
        return
    revised = replace(point, description=new.description, revision=point.revision + 1, source="caller", at=now)
    planned.record(revised)
    planned.tell("points", revised, point.description)


def _merge(
    planned: Planned,
    held: Space,
    new: NewMerge,
    argument: str,
    scope: str,
    touched: dict[str, str],
    now: Millis,
    settings: PointSettings,
) -> None:
    if _was_merged(planned, new):
        return
    parents = [_named(planned, held, name, f"{argument}.ids[{place}]", touched) for place, name in enumerate(new.ids)]
    shared = len({parent.scope.casefold() for parent in parents}) == 1
    made, gone = merge_points(parents, new.description, scope or (parents[0].scope if shared else ""), "caller", now)
    if len(made.entities) > settings.order:
        problem = f"join {len(made.entities)} entities together"
        remedy = f"A point joins at most {settings.order}: merge fewer. Nothing was changed."
        raise InvalidInput(f"{argument}.ids", problem, remedy)
    planned.record(made, *gone)
    planned.tell("merge", made, " + ".join(new.ids))


def _was_merged(planned: Planned, new: NewMerge) -> bool:
    """Return whether a merge was done before, in these very words."""
    into = {point.merged_into for name in new.ids if (point := planned.now.get(name)) is not None}
    made = planned.now.get(into.pop() or "") if len(into) == 1 else None
    return made is not None and set(made.parents) == set(new.ids)


def _named(planned: Planned, held: Space, name: str, argument: str, touched: dict[str, str]) -> Point:
    """Return the active point that an edit names; none is named twice in a call."""
    point = planned.now.get(name)
    if point is None:
        remedy = f"See memory://{held.name}/points. Nothing was changed."
        raise InvalidInput(argument, f"space {held.name!r} has no point {name[:60]!r}", remedy)
    if name in touched:
        raise InvalidInput(argument, f"{name} stands in {touched[name]} too", "Name it once. Nothing was changed.")
    if not point.active:
        become = held.hypergraph.resolve(name)
        remedy = f"Name {become.id if become else 'another'}. Nothing was changed."
        raise InvalidInput(argument, f"{name} was merged into {point.merged_into}", remedy)
    touched[name] = argument
    return point


def _merge_alike(
    planned: Planned,
    held: Space,
    vectors: Mapping[str, Vector],
    scope: str,
    now: Millis,
    settings: PointSettings,
    *,
    among: Collection[str] | None,
    names: Sequence[str],
) -> None:
    """Do one round of merges among the points of a scope, each with one of ``among`` unless that is None."""
    changed = {point.id for point in planned.revisions}

    def vector(point: Point) -> Vector:
        return vectors[point.description] if point.id in changed else held.hypergraph.vector(point.id)

    active = [point for point in planned.now.values() if point.active]
    said = [words(name) for name in names]
    told = (name for point in active for name in point.entities)
    asked = {held.facts.key(name) for name in names}  # a name that a goal opens with may have a verb before it
    asked |= {held.facts.key(name) for name in told if any(one[1:] == words(name) for one in said)}
    for pair in pairs_to_merge(held.facts, active, vector, settings, among, asked):
        description = unite_descriptions(
            [point.description for point in pair], settings.merged_words, settings.redundant
        )
        made, gone = merge_points(pair, description, scope, "embedded", now)
        planned.record(made, *gone)
        planned.tell("merge", made, " + ".join(point.id for point in pair))


TRIES = 8
"""How often a decision is taken anew because other words are needed than those that were embedded."""


@dataclass
class Planned:
    """What a call does to the points of a space.

    Attributes:
        now: the points as they will be, by id.
        revisions: to be recorded, in order.
        changes: what the caller is told.
        skipped: what was left out, and why.
    """

    now: dict[str, Point]
    revisions: list[Point] = field(default_factory=list)
    changes: list[Improved] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def record(self, *points: Point) -> None:
        """Let these be the last revisions of their points."""
        self.revisions += points
        self.now |= {point.id: point for point in points}

    def tell(self, step: EvolveStep, point: Point, before: str | None) -> None:
        """Tell of a point that a step made or changed; ``before`` is how it was, in words."""
        joined = ", ".join(point.entities)
        self.changes.append(Improved(step, "point", point.id, joined, before, point.description))

    def skip(self, step: EvolveStep, reason: str) -> None:
        """Tell why something was left out."""
        self.skipped.append(Skipped(step, reason))


Plan = Callable[[Space, Mapping[str, Vector]], Planned]
"""Decides what to do, given a space and the vectors of descriptions; without them it stops short of what needs them."""


async def settle(store: Store, embedder: Embedder, space: str, plan: Plan) -> Planned:
    """Decide, embed what the decision needs, decide again, and record it; return what was decided.

    Raises:
        StoreError: nothing is changed.
    """
    vectors: dict[str, Vector] = {}
    for _ in range(TRIES):
        async with store.writing() as transaction:
            planned = plan(transaction.view.space(space), vectors)
            texts = dict.fromkeys(point.description for point in planned.revisions)
            missing = [text for text in texts if text not in vectors]
            if not missing:
                revisions = tuple(planned.revisions)
                if revisions:
                    rows = np.array([vectors[point.description] for point in revisions], dtype=np.float32)
                    await transaction.commit(Batch(points=revisions, point_vectors=rows))
                break
        vectors |= zip(missing, await embedder.embed(missing), strict=True)
    else:
        raise StoreBusy("The memory points were changed by others all the time. Nothing was changed. Try again.")
    planned.changes[:0] = await _placeholders(store, space, planned.revisions)
    return planned


async def _placeholders(store: Store, space: str, points: Sequence[Point]) -> list[Improved]:
    """Return which entities of new points were inserted by force, since nothing else names them (Alg. 1)."""
    new = [point for point in points if not point.revision and not point.parents]
    if not new:
        return []
    async with store.reading() as view:
        held = view.space(space)
        names = distinct_names(name for point in new for name in point.entities)
        return [
            Improved("points", "entity", name, name, None, _PLACEHOLDER) for name in names if is_placeholder(held, name)
        ]


_PLACEHOLDER = "placeholder: only memory points name it so far"
