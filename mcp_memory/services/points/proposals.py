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
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.organising import Ground, Insertion, Merging, Proposed, Update
from mcp_memory.domain.points import LEAST, Point, distinct, point_id
from mcp_memory.domain.requests import Improved, Skipped
from mcp_memory.hypergraph.insert import jaccard, reworded, supported, worded
from mcp_memory.hypergraph.merge import merged
from mcp_memory.hypergraph.retrieval import absent
from mcp_memory.language.tokens import STOP_WORDS, words
from mcp_memory.services.points.commit import Planned, settle
from mcp_memory.services.points.edits import Making
from mcp_memory.vectors import Vector
from mcp_memory.view.hypergraph import vertices
from mcp_memory.view.space import Space


async def take_in(
    space: str, scope: str, proposed: Proposed, making: Making, source: Engine, shown: Collection[str] = ()
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
    return frozenset(name for point in points for name in worded(space.hypergraph.revisions(point.id)))


def _joined(space: Space, new: Insertion) -> tuple[str, ...]:
    """Return the names of a new point that stand in its evidence or that the space knows, each thing once."""
    texts = [f" {' '.join(words(ground.text))} " for ground in new.grounds]
    kept: dict[str, str] = {}
    for name in distinct(new.entities):
        said = words(name)
        if STOP_WORDS.issuperset(said) or not any(sign.isalpha() for sign in name):
            continue
        if any(f" {' '.join(said)} " in text for text in texts) or not absent(space, name):
            kept.setdefault(space.facts.key(name), name)
    return tuple(kept.values())


def _insert(
    planned: Planned,
    held: Space,
    new: Insertion,
    names: tuple[str, ...],
    there: Sequence[Point],
    told: frozenset[str],
    made: tuple[str, Engine, Collection[str]],
    making: Making,
) -> None:
    scope, source, shown = made
    if not LEAST <= len(names) <= making.shaping.order:
        planned.skip("points", _FEW if len(names) < LEAST else _MANY.format(making.shaping.order))
        return
    if told.issuperset(name for ground in new.grounds for name in ground.ids):
        planned.skip("points", _TOLD)
        return
    sentences, facts = _support(new.grounds)
    keys = frozenset(map(held.facts.key, names))
    for one in there:
        point = planned.now[one.id]
        joined = vertices(held.facts, point)
        alike = jaccard(keys, joined) >= making.shaping.overlap
        extract = point.source == "embedded"
        within = extract and keys <= joined and {*sentences, *facts}.issuperset((*point.sentences, *point.facts))
        if within or (alike and (extract or one.id not in shown)):
            _revise(planned, point, new.description if extract else None, new.grounds, making, source)
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


def _update(planned: Planned, held: Space, update: Update, making: Making, source: Engine) -> None:
    point = planned.now.get(update.point.id)
    if point is None or not point.active:
        planned.skip("points", _MERGED)
    elif point.description != update.point.description:
        planned.skip("points", _CHANGED)
    elif not put_in_words(held, [point]).issuperset(name for ground in update.grounds for name in ground.ids):
        _revise(planned, point, update.description, update.grounds, making, source)


def _revise(
    planned: Planned, point: Point, said: str | None, grounds: Sequence[Ground], making: Making, source: Engine
) -> None:
    """Let a point rest on more, in other words if there are any."""
    if not point.active:
        planned.skip("points", _MERGED)
        return
    revised = supported(point, *_support(grounds), making.now)
    if said is not None:
        revised = reworded(revised, said, source)
    if (revised.description, revised.sentences, revised.facts) != (point.description, point.sentences, point.facts):
        planned.record(revised)
        planned.tell("points", revised, point.description)


def _merge(planned: Planned, merging: Merging, scope: str, making: Making, source: Engine) -> None:
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
    made, gone = merged(parents, merging.description, scope, source, making.now)
    if len(made.entities) > making.shaping.order:
        planned.skip("merge", _MANY.format(making.shaping.order))
        return
    planned.record(made, *gone)
    planned.tell("merge", made, " + ".join(point.id for point in parents))


def _support(grounds: Sequence[Ground]) -> tuple[tuple[str, ...], tuple[str, ...]]:
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
