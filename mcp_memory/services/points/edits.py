"""Memory points made, updated and merged: by a caller's own words, or out of what was found for a goal (HGMem §3.3.3).

What a judge makes of what was found stands in ``proposed.py``; how all of it is recorded, in ``settling.py``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from mcp_memory.domain.points import LEAST, Point, distinct, point_id
from mcp_memory.domain.requests import Improved, NewDescription, NewMerge, NewPoint, PointEdits
from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput
from mcp_memory.hypergraph.describe import united
from mcp_memory.hypergraph.grouping import Group
from mcp_memory.hypergraph.insert import taken_in
from mcp_memory.hypergraph.merge import merged, pairs
from mcp_memory.hypergraph.shaping import Shaping
from mcp_memory.language.tokens import words
from mcp_memory.ports import Embedder, Organiser, Store
from mcp_memory.services.points.commit import Planned, settle
from mcp_memory.services.points.seen import Considered
from mcp_memory.services.recall.pipeline import Looking
from mcp_memory.vectors import Vector
from mcp_memory.view.space import Space


@dataclass(frozen=True, slots=True)
class Making:
    """What points are made with.

    Attributes:
        store: where to.
        embedder: of descriptions and goals.
        looking: how what belongs to a goal is looked for.
        shaping: how points are made.
        merging: whether points that are alike are merged.
        now: the moment of the call.
        judge: says what to make of what belongs to a goal; None for the embedded way.
        considered: what it was asked about before.
    """

    store: Store
    embedder: Embedder
    looking: Looking
    shaping: Shaping
    merging: bool
    now: Millis
    judge: Organiser | None = None
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
    now, shaping = making.now, making.shaping

    def plan(held: Space, _vectors: Mapping[str, Vector]) -> Planned:
        planned = Planned({point.id: point for point in held.hypergraph.all()})
        touched: dict[str, str] = {}  # id → the argument that names it
        for place, one in enumerate(edits.insert):
            _insert(planned, held, one, f"points.insert[{place}]", scope, now, shaping)
        for place, update in enumerate(edits.update):
            _update(planned, held, update, f"points.update[{place}]", touched, now)
        for place, merge in enumerate(edits.merge):
            _merge(planned, held, merge, f"points.merge[{place}]", scope, touched, now, shaping)
        return planned

    return (await settle(making.store, making.embedder, space, plan)).changes


async def shape(
    space: str,
    scope: str,
    groups: Sequence[Group],
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
    now, shaping = making.now, making.shaping

    def plan(held: Space, vectors: Mapping[str, Vector]) -> Planned:
        planned = Planned({point.id: point for point in held.hypergraph.all(scope)})
        for group in groups:
            before = dict(planned.now)
            point = taken_in(held.facts, planned.now, group, space, scope, now, shaping)
            if point is not None:
                planned.record(point)
                old = before.get(point.id)
                planned.tell("points", point, None if old is None else old.description)
        if merging and all(point.description in vectors for point in planned.revisions):
            changed = {point.id for point in planned.revisions} if groups else among
            _merge_alike(planned, held, vectors, scope, now, shaping, among=changed, names=names)
        return planned

    return (await settle(making.store, making.embedder, space, plan)).changes


def _insert(
    planned: Planned, held: Space, new: NewPoint, argument: str, scope: str, now: Millis, shaping: Shaping
) -> None:
    entities = distinct(new.entities)
    meant = len({held.facts.key(name) for name in entities})
    if meant < LEAST:
        problem = f"name {meant} entity" if meant == len(entities) else "are names of one and the same entity"
        raise InvalidInput(f"{argument}.entities", problem, f"Give at least {LEAST} that differ. Nothing was changed.")
    if len(entities) > shaping.order:
        problem = f"name {len(entities)} entities"
        remedy = f"Give at most {shaping.order}, or several points. Nothing was changed."
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
    shaping: Shaping,
) -> None:
    if _was_merged(planned, new):
        return
    parents = [_named(planned, held, name, f"{argument}.ids[{place}]", touched) for place, name in enumerate(new.ids)]
    shared = len({parent.scope.casefold() for parent in parents}) == 1
    made, gone = merged(parents, new.description, scope or (parents[0].scope if shared else ""), "caller", now)
    if len(made.entities) > shaping.order:
        problem = f"join {len(made.entities)} entities together"
        remedy = f"A point joins at most {shaping.order}: merge fewer. Nothing was changed."
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
    shaping: Shaping,
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
    for pair in pairs(held.facts, active, vector, shaping, among, asked):
        description = united([point.description for point in pair], shaping.merged_words, shaping.redundant)
        made, gone = merged(pair, description, scope, "embedded", now)
        planned.record(made, *gone)
        planned.tell("merge", made, " + ".join(point.id for point in pair))
