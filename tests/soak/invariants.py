"""Check the invariants of a store, on its rows and on the view of them, after any sequence of calls."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import anyio
from asserting import at_once
from rows_checked import row_problems

from mcp_memory.domain.points import MAX_ENTITIES
from mcp_memory.language.tokens import rouge_l, words
from mcp_memory.storage.log import logged_rows, table_rows
from mcp_memory.storage.rows import LOG_KINDS, TABLE_KINDS
from mcp_memory.storage.store import LanceStore
from mcp_memory.storage.tables import Tables
from mcp_memory.view.facts import Facts
from mcp_memory.view.space import Space

SIMILAR = 0.6
"""Upper bound of ROUGE-L between two questions of one segment about a common entity (DESIGN I30)."""
_MAY_SHRINK = "beliefs_"
"""Tables that may lose rows: superseded beliefs may be deleted."""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words that a reply quoted from a message or document."""

    space: str
    session: str
    ref: str
    text: str


def rows(uri: str) -> dict[str, int]:
    """Return the number of committed rows of each kind, in the log and in tables, that must never lose rows."""
    tables = Tables(uri)
    last = tables.log.last
    if last is None:
        return {}
    folded = last.tx - tables.log.unfolded()
    found = {}
    for kind in TABLE_KINDS:
        if not (name := last.table(kind)).startswith(_MAY_SHRINK):
            found[name] = tables.count(name, f"tx <= {folded}") + len(
                table_rows(tables.log.entries(folded), kind) or ()
            )
    logged = {kind: len(logged_rows(tables.log.entries(), kind)) for kind in LOG_KINDS}
    return found | logged | {"commits": sum(1 for _ in tables.log.commits())}


def violations(uri: str, acknowledged: Mapping[tuple[str, str, str], str], quotes: Sequence[Quote]) -> list[str]:
    """Return the violations in a store, in words; texts were acknowledged by space, session and id."""
    return anyio.run(_violations, uri, acknowledged, quotes)


async def _violations(uri: str, acknowledged: Mapping[tuple[str, str, str], str], quotes: Sequence[Quote]) -> list[str]:
    last = Tables(uri).log.last
    if last is None:
        return ["there is no commit"]
    store = LanceStore(uri, embedder=last.embedder, dimension=last.dimension)
    found = [f"rows: {one}" for one in await row_problems(store)]
    async with store.reading() as view:
        for space in view.spaces.values():
            found += [f"{space.name}: {fault}" for fault in faults(space)]
        for (name, session, ref), text in acknowledged.items():
            turns = view.space(name).revisions(session, ref)
            if text not in [turn.text for turn in turns]:
                found.append(f"{name}: the acknowledged text {session}/{ref} is missing")
        for quote in dict.fromkeys(quotes):
            turns = view.space(quote.space).revisions(quote.session, quote.ref)
            if not any(_contains(quote.text, turn.text) for turn in turns):
                found.append(f"DESIGN I38: {quote} is in no text")
    await store.aclose()
    return found


def faults(space: Space) -> Iterator[str]:
    """Yield the violations in a space, in words."""
    yield from fact_faults(space.facts)
    for check in (_points, _lessons, _questions):
        yield from check(space)


def fact_faults(facts: Facts) -> Iterator[str]:
    """Check DESIGN I2 and DESIGN I3 for every (head, relation)."""
    for key in facts.entities():
        for relation in facts.relations_of(key):
            versions = facts.versions(key, relation)
            for one in versions:
                if not one.since <= one.until or (one.since == one.until) != (one.status == "contested"):
                    yield f"DESIGN I3: {one.text} holds from {one.since} to {one.until} and is {one.status}"
            for certain in (True, False) if facts.cardinality(relation) == "single" else ():
                for one, other in at_once(one for one in versions if one.told_certain == certain):
                    yield f"DESIGN I2: {one.text} and {other.text} hold at once"


def _points(space: Space) -> Iterator[str]:
    """Check DESIGN I12 to DESIGN I16 for every point."""
    graph, order = space.hypergraph, MAX_ENTITIES
    for point in graph.all():
        revisions = graph.revisions(point.id)
        if len({one.entities for one in revisions}) > 1:
            yield f"DESIGN I12: {point.id} had other vertices before"
        if [one.revision for one in revisions] != list(range(len(revisions))):
            yield f"DESIGN I12: {point.id} has the revisions {[one.revision for one in revisions]}"
        keys = {space.facts._names.key(name) for name in point.entities}
        if len(keys) < 2 or len(point.entities) > order:
            yield f"DESIGN I15, DESIGN I16: {point.id} joins {len(keys)} entities"
        become = graph.resolve(point.id)
        if become is None or not become.active:
            yield f"DESIGN I13: {point.id} does not end in an active point"
        if (point.status == "merged") != (point.merged_into is not None):
            yield f"DESIGN I13: {point.id} is {point.status} and went into {point.merged_into}"
        if point.parents:
            parents = [graph.get(name) for name in point.parents]
            union = {space.facts._names.key(name) for one in parents if one for name in one.entities}
            if None in parents or union != keys:
                yield f"DESIGN I13: {point.id} does not join what its parents join"
            for one in parents:
                if one is not None and one.merged_into != point.id:
                    yield f"DESIGN I13: {one.id} is a parent of {point.id} and went into {one.merged_into}"


def _lessons(space: Space) -> Iterator[str]:
    """Check DESIGN I27 for every lesson."""
    lessons = space.beliefs.lessons()
    for key, count in Counter(lesson.key for lesson in lessons).items():
        if count > 1:
            yield f"DESIGN I27: {key} counts {count} times"
    for lesson in lessons:
        episode = lesson.episode()
        if lesson.source == "embedded" and (episode.abstained or set(lesson.labels) - _activated(episode)):
            yield f"DESIGN I27: {lesson.key} taught what was not activated, or an abstention"
        for name in lesson.labels:
            if space.sentence(name) is None:
                yield f"DESIGN I27: {lesson.key} taught {name}, which is missing"


def _activated(episode: object) -> set[str]:
    shown = getattr(episode, "shown", ())
    return {
        *getattr(episode, "activated", ()),
        *getattr(episode, "cited", ()),
        *(n for s in shown for n in s.sentences),
    }


def _questions(space: Space) -> Iterator[str]:
    """Check DESIGN I30 for the pool of every segment."""
    for segment in {one.segment_id for one in space.questions.rows}:
        pool = [one for one in space.questions.rows if one.segment_id == segment]
        for place, one in enumerate(pool):
            for other in pool[place + 1 :]:
                if one.entities & other.entities and rouge_l(words(one.text), words(other.text)) >= SIMILAR:
                    yield f"DESIGN I30: {one.text!r} and {other.text!r} are alike"


def _contains(quote: str, text: str) -> bool:
    """Return whether a text contains a quote, in any white space; a long quote may be cut short."""
    kept = " ".join(quote.removesuffix("…").split())
    return kept in " ".join(text.split())
