"""Commit edits of memory points: of a caller, of the rules, of a judge (HGMem §3.5).

The edits of a call are decided under the store's lock, by the current points, and are one commit, so several processes
may edit at once. Which descriptions have to be embedded a decision shows that is made before, without the lock; it is
made again until it has the vectors of all.

**Points of a question** that a language model makes while it answers are lost with the question in HGMem (§3.2); here
they are kept under it as their goal (DESIGN D04). A new one joins only names that occur in its evidence or in the space
(DESIGN I14), from two entities to `MAX_ENTITIES` (DESIGN I15, DESIGN I16). The words of a caller are never replaced or
merged: such a point only gains evidence. What does not fit any more is left out with a reason; that is no error.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.points import MAX_ENTITIES, MIN_ENTITIES, Point, distinct_names, new_point, scope_of
from mcp_memory.domain.requests import EvolveStep, Improved, NewDescription, NewMerge, PointEdits, PointInsert, Skipped
from mcp_memory.domain.times import Millis
from mcp_memory.errors import InvalidInput
from mcp_memory.hypergraph.evolution import (
    EvidenceGroup,
    add_support,
    apply_group,
    merge_points,
    pairs_to_merge,
    reword,
    unite_descriptions,
)
from mcp_memory.hypergraph.retrieval import is_placeholder
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.ports import Embedder, Store
from mcp_memory.vectors import Vector
from mcp_memory.view.evidence import known_sentences
from mcp_memory.view.space import NONE, Space

_FEW = "A proposed point was left out: fewer than two of its names stand in its evidence or are known here."
_MANY = f"What was proposed would join more than {MAX_ENTITIES} entities."
_MERGED = "A point that was to be changed has been merged meanwhile."
_CALLERS = "The words of a caller are not merged."


@dataclass
class PlannedEdits:
    """The edits that a call makes to the points of a space.

    Attributes:
        space: as it is.
        points: as they will be, by id.
        scope: the scope of new points; empty for none.
        now: the moment of the call.
        revisions: the revisions to be stored, in order.
        skipped: what was left out, and why.
        named: by the id of a point that a caller's edit names, the argument that does.
    """

    space: Space
    points: dict[str, Point]
    scope: str
    now: Millis
    revisions: list[Point] = field(default_factory=list)
    changes: list[Improved] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    named: dict[str, str] = field(default_factory=dict)

    @property
    def texts(self) -> list[str]:
        """The descriptions of the revisions."""
        return [point.description for point in self.revisions]

    def record(self, *points: Point) -> None:
        """Add the next revisions of points."""
        self.revisions += points
        self.points |= {point.id: point for point in points}

    def report(self, step: EvolveStep, point: Point, before: str | None) -> None:
        """Report a point that a step made or changed; ``before`` is its earlier description, or its parents."""
        joined = ", ".join(point.entities)
        self.changes.append(Improved(step, "point", point.id, joined, before, point.description))

    def skip(self, step: EvolveStep, reason: str) -> None:
        """Report why something was left out."""
        self.skipped.append(Skipped(step, reason))


Plan = Callable[[Space, Mapping[str, Vector]], PlannedEdits]
"""Decides what to do, given a space and the vectors of descriptions; it stops before a step that lacks vectors."""


async def commit_edits(store: Store, embedder: Embedder, space: str, plan: Plan) -> PlannedEdits:
    """Decide, embed what the decision needs, decide again, and commit; return the edits.

    Raises:
        StoreError: nothing is changed.
    """
    vectors: dict[str, Vector] = {}
    async with store.reading() as view:
        planned = plan(view.space(space), vectors)
    while True:
        if missing := [text for text in planned.texts if text not in vectors]:
            vectors |= zip(missing, await embedder.embed(missing), strict=True)
        async with store.writing() as transaction:
            async with transaction.reading() as view:
                planned = plan(view.space(space), vectors)
            if vectors.keys() >= set(planned.texts):
                if planned.revisions:
                    rows = np.array([vectors[text] for text in planned.texts], dtype=np.float32)
                    await transaction.commit(Batch(points=tuple(planned.revisions), point_vectors=rows))
                return planned


async def apply_edits(
    store: Store, embedder: Embedder, space: str, edits: PointEdits, scope: str, *, now: Millis
) -> list[Improved]:
    """Apply a caller's inserts, updates and merges, and return the changes; repeating a call changes nothing.

    All edits are done, or none. Inserted and merged points get the scope; where that is empty, merged ones keep the
    scope that all of them share.

    Raises:
        InvalidInput: an edit names a point that is unknown or was merged, or the like; nothing is changed.
        StoreError: nothing is changed.
    """

    def plan(current: Space, _vectors: Mapping[str, Vector]) -> PlannedEdits:
        points = {point.id: point for point in current.hypergraph.all()}
        planned = PlannedEdits(current, points, scope, now)
        for place, insert in enumerate(edits.insert):
            _insert(planned, insert, f"points.insert[{place}]")
        for place, update in enumerate(edits.update):
            _update(planned, update, f"points.update[{place}].id")
        for place, merge in enumerate(edits.merge):
            _merge(planned, merge, f"points.merge[{place}]")
        return planned

    return (await commit_edits(store, embedder, space, plan)).changes


async def apply_groups(
    store: Store,
    embedder: Embedder,
    space: str,
    scope: str,
    groups: Sequence[EvidenceGroup],
    *,
    now: Millis,
    merge_for: Sequence[str] | None = (),
) -> list[Improved]:
    """Make points of groups of connected evidence, under the scope of a goal, and return what changed.

    Similar ones are merged for a goal that names entities ``merge_for``, none where that is None: only pairs with a
    point that this call changed, so that a repeated call changes nothing; without groups any.

    Raises:
        StoreError: nothing is changed.
    """

    def plan(current: Space, vectors: Mapping[str, Vector]) -> PlannedEdits:
        points = {point.id: point for point in current.hypergraph.all(scope)}
        planned = PlannedEdits(current, points, scope, now)
        for group in groups:
            before = dict(planned.points)
            point = apply_group(current.facts, planned.points, group, space, scope, now)
            if point is not None:
                planned.record(point)
                old = before.get(point.id)
                planned.report("points", point, None if old is None else old.description)
        if merge_for is not None and all(point.description in vectors for point in planned.revisions):
            changed = {point.id for point in planned.revisions} if groups else None
            _merge_similar(planned, vectors, among=changed, names=merge_for)
        return planned

    return (await commit_edits(store, embedder, space, plan)).changes


async def store_points(
    store: Store, embedder: Embedder, space: str, question: str, points: Sequence[Point], *, now: Millis
) -> tuple[list[Improved], list[Skipped]]:
    """Store the points of a question in one commit; return the changes, and what was left out with its reason.

    They are as the judge left them; those that are stored just so change nothing. A point that was merged from points
    which are not stored is stored as one that joins all of their entities.

    Raises:
        StoreError: nothing is stored.
    """
    if not points:
        return [], []
    scope = scope_of(question)
    async with store.reading() as view:
        current = view.space(space)
        new = [point for point in points if current.hypergraph.get(point.id) is None]
        names = {point.id: _known_names(current, point) for point in new}

    def plan(current: Space, _vectors: Mapping[str, Vector]) -> PlannedEdits:
        known = {point.id: point for point in current.hypergraph.all(scope)}
        planned = PlannedEdits(current, known, scope, now)
        for made in points:
            held = planned.points.get(made.id)
            parents = [planned.points[name] for name in made.parents if name in planned.points]
            if held is not None:
                _revise(planned, held, made)
            elif parents and len(parents) == len(made.parents) and all(point.active for point in parents):
                _merge_as_made(planned, parents, made)
            elif (count := len(names.get(made.id, ()))) < MIN_ENTITIES:
                planned.skip("points", _FEW)
            elif count > MAX_ENTITIES:
                planned.skip("points", _MANY)
            else:
                said = scope, names[made.id], made.description, made.source, now
                point = new_point(space, *said, sentences=made.sentences, facts=made.facts)
                if point.id not in planned.points:
                    planned.record(point)
                    planned.report("points", point, None)
        return planned

    planned = await commit_edits(store, embedder, space, plan)
    return planned.changes, list(dict.fromkeys(planned.skipped))


def _insert(planned: PlannedEdits, new: PointInsert, argument: str) -> None:
    current, scope, entities = planned.space, planned.scope, distinct_names(new.entities)
    count = len({current.facts.key(name) for name in entities})
    if count < MIN_ENTITIES:
        problem = f"name {count} entity" if count == len(entities) else "are names of one and the same entity"
        remedy = f"Give at least {MIN_ENTITIES} that differ. Nothing was changed."
        raise InvalidInput(f"{argument}.entities", problem, remedy)
    if len(entities) > MAX_ENTITIES:
        remedy = f"Give at most {MAX_ENTITIES}, or several points. Nothing was changed."
        raise InvalidInput(f"{argument}.entities", f"name {len(entities)} entities", remedy)
    point = new_point(current.name, scope, entities, new.description, "caller", planned.now)
    if point.id in planned.points:
        return  # later changes of the point are not undone by repeating the call
    sentences, facts = _support(current, new.supports, argument)
    point = replace(point, sentences=sentences, facts=facts)
    planned.record(point)
    planned.report("points", point, None)


def _support(current: Space, names: Sequence[str], argument: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the ids of the sentences and facts that pieces of evidence consist of."""
    sentences: dict[str, None] = {}
    facts: dict[str, None] = {}
    for place, name in enumerate(names):
        if current.sentence(name) is not None:
            sentences[name] = None
        elif (row := current.segments.row(name)) != NONE:
            rows = current.sentences_within(current.segments[row])
            sentences |= dict.fromkeys(current.sentences[one].id for one in rows)
        elif current.facts.version(name) is not None:
            facts[name] = None
        elif (point := current.hypergraph.get(name)) is not None:
            sentences |= dict.fromkeys(point.sentences)
            facts |= dict.fromkeys(point.facts)
        else:
            problem = f"{name[:60]!r} is no sentence, passage, fact or point of space {current.name!r}"
            remedy = "Give ids of evidence that a recall or a step showed. Nothing was changed."
            raise InvalidInput(f"{argument}.supports[{place}]", problem, remedy)
    return tuple(sentences), tuple(facts)


def _update(planned: PlannedEdits, new: NewDescription, argument: str) -> None:
    point = _active_point(planned, new.id, argument)
    if point.description != new.description:
        number, at = point.revision + 1, planned.now
        revised = replace(point, description=new.description, revision=number, source="caller", at=at)
        planned.record(revised)
        planned.report("points", revised, point.description)


def _merge(planned: PlannedEdits, new: NewMerge, argument: str) -> None:
    into = {point.merged_into for name in new.ids if (point := planned.points.get(name)) is not None}
    successor = planned.points.get(into.pop() or "") if len(into) == 1 else None
    if successor is not None and set(successor.parents) == set(new.ids):
        return  # done by an earlier call
    parents = [_active_point(planned, name, f"{argument}.ids[{place}]") for place, name in enumerate(new.ids)]
    shared = len({parent.scope.casefold() for parent in parents}) == 1
    scope = planned.scope or (parents[0].scope if shared else "")
    made, gone = merge_points(parents, new.description, scope, "caller", planned.now)
    if len(made.entities) > MAX_ENTITIES:
        remedy = f"A point joins at most {MAX_ENTITIES}: merge fewer. Nothing was changed."
        raise InvalidInput(f"{argument}.ids", f"join {len(made.entities)} entities together", remedy)
    planned.record(made, *gone)
    planned.report("merge", made, " + ".join(new.ids))


def _active_point(planned: PlannedEdits, name: str, argument: str) -> Point:
    """Return the active point that an edit names; a call may name each point once."""
    point, current = planned.points.get(name), planned.space
    if point is None:
        remedy = f"See memory://{current.name}/points. Nothing was changed."
        raise InvalidInput(argument, f"space {current.name!r} has no point {name[:60]!r}", remedy)
    if name in planned.named:
        problem = f"{name} stands in {planned.named[name]} too"
        raise InvalidInput(argument, problem, "Name it once. Nothing was changed.")
    if not point.active:
        successor = current.hypergraph.resolve(name)
        remedy = f"Name {successor.id if successor else 'another'}. Nothing was changed."
        raise InvalidInput(argument, f"{name} was merged into {point.merged_into}", remedy)
    planned.named[name] = argument
    return point


def _merge_similar(
    planned: PlannedEdits, vectors: Mapping[str, Vector], *, among: Collection[str] | None, names: Sequence[str]
) -> None:
    """Run one pass of merges among the points of a scope; each pair has one of ``among`` unless that is None."""
    changed, current = {point.id for point in planned.revisions}, planned.space

    def vector(point: Point) -> Vector:
        return vectors[point.description] if point.id in changed else current.hypergraph.vector(point.id)

    active = [point for point in planned.points.values() if point.active]
    goal_words = [words(name) for name in names]
    goal_keys = {current.facts.key(name) for name in names}  # a name at the start of a goal may have a verb before it
    goal_keys |= {
        current.facts.key(name)
        for point in active
        for name in point.entities
        if any(one[1:] == words(name) for one in goal_words)
    }
    for pair in pairs_to_merge(current.facts, active, vector, among, goal_keys):
        description = unite_descriptions([point.description for point in pair])
        made, gone = merge_points(pair, description, planned.scope, "embedded", planned.now)
        planned.record(made, *gone)
        planned.report("merge", made, " + ".join(point.id for point in pair))


def _revise(planned: PlannedEdits, point: Point, made: Point) -> None:
    """Give a stored point the evidence and the description that a judge has given it, but for a caller's words."""
    if not point.active:
        planned.skip("points", _MERGED)
        return
    revised = reword(add_support(point, made.sentences, made.facts, planned.now), made.description, made.source)
    if (revised.description, revised.sentences, revised.facts) != (point.description, point.sentences, point.facts):
        planned.record(revised)
        planned.report("points", revised, point.description)


def _merge_as_made(planned: PlannedEdits, parents: Sequence[Point], made: Point) -> None:
    if any(point.source == "caller" for point in parents):
        planned.skip("merge", _CALLERS)
        return
    merged, gone = merge_points(parents, made.description, planned.scope, made.source, planned.now)
    if len(merged.entities) > MAX_ENTITIES:
        planned.skip("merge", _MANY)
        return
    planned.record(merged, *gone)
    planned.report("merge", merged, " + ".join(point.id for point in parents))


def _known_names(space: Space, new: Point) -> tuple[str, ...]:
    """Return the names of a new point that occur in its evidence or in the space, one for each entity."""
    texts = [f" {' '.join(words(space.text(piece)))} " for piece in known_sentences(space, new.sentences)]
    kept: dict[str, str] = {}
    for name in distinct_names(new.entities):
        name_words = words(name)
        if STOP_WORDS.issuperset(name_words) or not any(char.isalpha() for char in name):
            continue
        if any(f" {' '.join(name_words)} " in text for text in texts) or not is_placeholder(space, name):
            kept.setdefault(space.facts.key(name), name)
    return tuple(kept.values())
