"""The two steps of evolve that go over a whole space: unite names of one entity, and pool questions.

**Entities** (DESIGN 2.5). Under the store's lock, the current facts decide which names mean one entity; each decision
is recorded as an alias with its reason (``reflection/disambiguation.py``). No stored text or fact changes. A fact
``also_known_as`` with ``negated`` undoes an alias: it states that the two are not the same.

**Questions** (QRMeM §2.1; ``reflection/questions.py``). The questions that the facts of each segment answer join the
pool. A question that is too similar to another of its segment is left out. This is checked under the store's lock
against the current pool, so it also holds if several processes pool at the same time (DESIGN I30). A call commits piece
by piece; a cancelled call leaves whole pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from anyio import to_thread

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.entities import Alias
from mcp_memory.domain.requests import Improved, Skipped
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import PooledQuestion
from mcp_memory.ports import Embedder, Progress, Store
from mcp_memory.reflection.disambiguation import AliasPair, same_people
from mcp_memory.reflection.questions import admit, questions_of
from mcp_memory.view.space import NONE, Space

AT_ONCE = 256
"""Questions embedded and committed together."""
MOST_QUESTIONS = 4_096
"""Questions that one call adds at most; the next call continues from there."""


async def unite_names(store: Store, space: str, *, now: Millis) -> tuple[list[Improved], list[Skipped]]:
    """Record aliases for names that certainly mean one entity; return the changes, or why there are none.

    Raises:
        StoreError: nothing is changed.
    """
    async with store.writing() as transaction:
        current = transaction.view.space(space)
        pairs = await to_thread.run_sync(same_people, current)
        changes = [_change(current, pair) for pair in pairs]
        aliases = tuple(Alias(space, pair.name, pair.alias, pair.reason, "embedded", now) for pair in pairs)
        await transaction.commit(Batch(aliases=aliases))
    remedy = "Where two are one, write it as a fact: head, also_known_as, tail."
    none = Skipped("entities", f"No two names are sure to mean the same. {remedy}")
    return changes, [] if changes else [none]


def _change(space: Space, pair: AliasPair) -> Improved:
    counts = [space.facts.degree(space.facts.key(name)) for name in (pair.name, pair.alias)]
    known = f"in {counts[0]} {'kind' if counts[0] == 1 else 'kinds'} of fact"
    before = f"{pair.name} ({known}) and {pair.alias} (in {counts[1]}) were two"
    return Improved("entities", "entity", pair.name, pair.reason, before, f"{pair.alias} means {pair.name}")


async def pool_questions(
    store: Store, embedder: Embedder, space: str, *, progress: Progress
) -> tuple[list[Improved], list[Skipped]]:
    """Add the questions that the facts of a space answer to its pool; return the changes, or why there are none.

    Raises:
        StoreError: what was added before stays, and a repeated call continues from there.
    """
    async with store.reading() as view:
        current = view.space(space)
        new, before = await to_thread.run_sync(_new_questions, current), len(current.questions)
    left, new = len(new[MOST_QUESTIONS:]), new[:MOST_QUESTIONS]
    added: list[PooledQuestion] = []
    for start in range(0, len(new), AT_ONCE):
        await progress(start, len(new), "pooling questions")
        part = new[start : start + AT_ONCE]
        vectors = dict(zip(part, await embedder.embed([question.text for question in part]), strict=True))
        async with store.writing() as transaction:
            admitted = admit(_pool(transaction.view.space(space), part), part)
            rows = np.array([vectors[question] for question in admitted], dtype=np.float32)
            questions = tuple((space, question) for question in admitted)
            await transaction.commit(Batch(questions=questions, question_vectors=rows))
        added += admitted
    skipped = [Skipped("questions", f"{left} more are left: call again.")] if left else []
    if not added:
        return [], [Skipped("questions", "Every fact that stands in a segment is asked for already, or there is none.")]
    segments = len({question.segment_id for question in added})
    text = " ".join(question.text for question in added[:3])
    after = f"{before + len(added)} questions, {len(added)} of them new, to {segments} segments"
    return [Improved("questions", "question", space, text, f"{before} questions", after)], skipped


def _new_questions(space: Space) -> list[PooledQuestion]:
    """Return the questions that would join the pool, in the order of the facts; none for old revisions of documents."""
    counting = {assertion.id for turn in space.turns for assertion in space.facts.assertions_in(turn)}
    questions = questions_of(space, (row for row in space.facts.rows if row.id in counting))
    live = [
        question
        for question in questions
        if (row := space.segment_row(question.segment_id)) != NONE and space.live[row]
    ]
    return admit(_pool(space, live), live)


def _pool(space: Space, candidates: Sequence[PooledQuestion]) -> list[PooledQuestion]:
    """Return the pool of the candidates' segments, each question with the entities that its names mean now."""
    segments = dict.fromkeys(question.segment_id for question in candidates)
    known = (question for segment in segments for question in space.questions.of_segment(segment))
    entity = space.facts.known_entity
    return [
        replace(question, entities=frozenset(entity(key) or key for key in question.entities)) for question in known
    ]
