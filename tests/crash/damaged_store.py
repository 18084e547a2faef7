"""A store with every kind of row, what it holds, and how one of its files is damaged."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import astuple, replace
from pathlib import Path

if __name__ != "__main__":  # imported by a script that is run by hand, without pytest
    tests = Path(__file__).parents[1]
    sys.path[:0] = [str(tests.parent), str(tests), str(tests / "contract")]

import anyio
from batches import WRITTEN_AT, asserted, belief, derive, erasing, point, pointed, taught, turn, unit_vectors
from lance_at import commit_to, fold_all, open_at

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.episodes import Belief, Lesson
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.requests import ForgetTargets
from mcp_memory.domain.turns import PooledQuestion, Turn
from mcp_memory.storage.store import LanceStore
from mcp_memory.vectors import Matrix
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

Item = tuple[object, ...]


def contents(view: View) -> frozenset[Item]:
    """Return everything that a view knows: its kind first, then what tells it from others, texts included."""
    found: set[Item] = set()
    for name, space in view.spaces.items():
        found |= {("turn", name, turn.id, turn.text) for turn in space.turns.values()}
        found |= {("sentence", name, one.id) for one in space.sentences}
        found |= {("segment", name, one.id) for one in space.segments}
        for one in space.facts.rows:
            kind = "fact" if one.extractor == "caller" else "assertion"
            found.add((kind, name, one.id, one.head, one.relation, one.tail))
        found |= {("lesson", name, *one.key, one.query) for one in space.beliefs.lessons()}
        found |= {("point", name, one.id, one.description) for one in space.hypergraph.active()}
        found |= {("alias", name, one.alias, one.name) for one in space.facts._inferred.values()}
        found |= {("question", name, one.segment_id, one.text) for one in space.questions.rows}
        found |= {("job", name, *astuple(one)) for one in space.jobs.values()}
        found |= {("belief", name, one) for one in space.beliefs.sentence_ids}
    return frozenset(found)


def commit_of(number: int, size: int) -> Batch:
    """Return the batch of one commit: messages, and every so often each other kind of row."""
    rows = derive([turn(f"m{number}-{place}", place=place) for place in range(size)])
    first = rows.turns[0]
    if number % 2 == 0:
        rows = replace(rows, assertions=(asserted(first, number, "caller"), *rows.assertions))
    if number % 3 == 0:
        made = pointed(point(f"p{number}"))
        rows = replace(rows, points=made.points, point_vectors=made.point_vectors)
    if number % 3 == 1:
        told = taught(f"e{number}", sentence=rows.sentences[0].id)
        rows = replace(rows, lessons=told.lessons, beliefs=told.beliefs)
    if number % 4 == 0:
        rows = replace(rows, aliases=(Alias("default", f"Bo{number} Oak", f"Bo{number}", "why", "caller", WRITTEN_AT),))
    if number % 5 == 0:
        asked = ("default", PooledQuestion(f"What came {number}?", rows.segments[0].id, frozenset(("ann",))))
        rows = replace(rows, questions=(asked,), question_vectors=unit_vectors([asked[1].text]))
        rows = replace(rows, jobs=(Job("default", first.id, "done", 1, 0, 0, "", WRITTEN_AT),))
    return rows


async def make_store(folder: Path, *, commits: int, size: int) -> None:
    """Write a store of so many commits with so many messages each, the last one without what follows from its texts.

    All but the last two are in the tables.
    """
    store = open_at(str(folder), compact_after=1 << 30, embed=embed, relearn=relearn)
    for number in range(commits):
        rows = commit_of(number, size)
        await commit_to(store, rows if number < commits - 1 else Batch(rows.turns))
        if number < commits - 2:
            fold_all(str(folder))
    await store.aclose()
    store._compaction.stop(60)


async def forget(store: LanceStore, ref: str) -> None:
    """Forget a message."""
    async with store.reading() as view:
        chosen = frozenset(one.id for one in view.space("default").turns.values() if one.ref == ref)
    await store.forget(erasing(ForgetTargets("default", turns=chosen)))
    while store._compaction.running:  # noqa: ASYNC110 - a thread
        await anyio.sleep(0.01)


async def make_rows(turns: Sequence[Turn]) -> Batch:
    """Derive turns, as `Make` of a rebuild does."""
    return derive(turns)


async def embed(texts: Sequence[str]) -> Matrix:
    """Return a vector for each text, as `Embed` of a rebuild does."""
    return unit_vectors(texts)


async def relearn(_: Space, lessons: Sequence[Lesson]) -> list[Belief]:
    """Return a belief about each sentence that lessons label, as `Relearn` of a rebuild does."""
    return [belief(sentence) for lesson in lessons for sentence in lesson.labels]
