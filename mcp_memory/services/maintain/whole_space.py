"""Entities: names that mean one of them are brought together (DESIGN 2.5).

What is found (``reflection/disambiguation.py``) is recorded as an alias with its reason, decided under the store's lock
by what is told then. Nothing that was said is touched, so it is undone by saying that the two are not the same: a fact
``also_known_as`` with ``negated``.

Questions: what the facts of each segment answer joins the pool, asked (QRMeM §2.1; ``reflection/questions.py``).

Whether a question is like one of its segment is decided under the store's lock, by the pool as it is then, so that no
two are, whoever pools at the same time (DESIGN I30). A call commits piece by piece: a cancelled one leaves whole
pieces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from anyio import to_thread

from mcp_memory.domain.aliases import Alias
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.questions import Pooled
from mcp_memory.domain.requests import Improved, Skipped
from mcp_memory.domain.times import Millis
from mcp_memory.ports import Embedder, Progress, Store
from mcp_memory.reflection.disambiguation import Entities, Pair
from mcp_memory.reflection.questions import admitted, asked_of
from mcp_memory.view.space import NONE, Space

EMBEDDED = 1_000
"""Entities whose names are compared by meaning: those that most is known of."""
SLICE = 64
"""Names embedded between two reports of progress."""
TOLD = 5
"""Pairs that may be one of which a call tells."""


async def unite(
    store: Store, embedder: Embedder, space: str, *, now: Millis, progress: Progress
) -> tuple[list[Improved], list[Skipped]]:
    """Bring together the names of each entity, and return what changed, and what may be one but is not sure.

    Args:
        store: where.
        embedder: of names.
        space: its name.
        now: the moment of the call.
        progress: told of the embedding, which is what takes time.

    Raises:
        StoreError: nothing is changed.
    """
    async with store.writing() as transaction:
        held = transaction.view.space(space)
        pairs = await to_thread.run_sync(lambda: Entities(held).same())
        changes = [_told(held, pair) for pair in pairs]
        aliases = tuple(Alias(space, pair.name, pair.alias, pair.reason, "embedded", now) for pair in pairs)
        await transaction.commit(Batch(aliases=aliases))
    async with store.reading(whole=False) as view:
        facts = view.space(space).facts
        known = sorted(facts.entities(), key=lambda key: (-facts.degree(key), key))[:EMBEDDED]
        names = [facts.name(key) for key in known]
    vectors = np.empty((len(names), embedder.dimension), dtype=np.float32)
    for start in range(0, len(names), SLICE):
        await progress(start, len(names), "comparing names")
        vectors[start : start + SLICE] = await embedder.embed(names[start : start + SLICE])
    rows = {key: row for row, key in enumerate(known)}
    async with store.reading(whole=False) as view:
        held = view.space(space)
        alike = await to_thread.run_sync(lambda: Entities(held).alike(rows, vectors))
    return changes, _left(alike, changes)


def _told(space: Space, pair: Pair) -> Improved:
    counts = [space.facts.degree(space.facts.key(name)) for name in (pair.name, pair.alias)]
    known = f"in {counts[0]} {'kind' if counts[0] == 1 else 'kinds'} of fact"
    before = f"{pair.name} ({known}) and {pair.alias} (in {counts[1]}) were two"
    return Improved("entities", "entity", pair.name, pair.reason, before, f"{pair.alias} means {pair.name}")


def _left(alike: Sequence[Pair], changes: Sequence[Improved]) -> list[Skipped]:
    """Return what is not sure enough to be done, with what the caller can do about it."""
    if not alike:
        return [] if changes else [Skipped("entities", "No two names are sure to mean the same.")]
    named = "; ".join(f"{pair.name!r} and {pair.alias!r} ({pair.reason})" for pair in alike[:TOLD])
    more = f", and {len(alike) - TOLD} more pairs" if len(alike) > TOLD else ""
    remedy = "Where they are one, write it as a fact: head, also_known_as, tail; where not, the same with negated."
    return [Skipped("entities", f"Not sure enough to be brought together: {named}{more}. {remedy}")]


AT_ONCE = 256
"""Questions embedded and committed together."""


MOST = 4_096
"""Questions that one call adds; another goes on from there."""


async def pool(
    store: Store, embedder: Embedder, space: str, *, progress: Progress
) -> tuple[list[Improved], list[Skipped]]:
    """Add the questions that the facts of a space answer to its pool; return what changed, and why what did not.

    Args:
        store: where.
        embedder: of the questions.
        space: its name.
        progress: told after each piece.

    Raises:
        StoreError: what was added before stays, and a repeated call goes on from there.
    """
    async with store.reading() as view:
        held = view.space(space)
        new, before = await to_thread.run_sync(_new, held), len(held.questions)
    left, new = len(new[MOST:]), new[:MOST]
    added: list[Pooled] = []
    for start in range(0, len(new), AT_ONCE):
        await progress(start, len(new), "pooling questions")
        part = new[start : start + AT_ONCE]
        vectors = dict(zip(part, await embedder.embed([one.text for one in part]), strict=True))
        async with store.writing() as transaction:
            joined = admitted(_pooled(transaction.view.space(space), part), part)
            rows = np.array([vectors[one] for one in joined], dtype=np.float32)
            await transaction.commit(Batch(questions=tuple((space, one) for one in joined), question_vectors=rows))
        added += joined
    skipped = [Skipped("questions", f"{left} more are left: call again.")] if left else []
    if not added:
        return [], [Skipped("questions", "Every fact that stands in a segment is asked for already, or there is none.")]
    segments = len({one.segment_id for one in added})
    text = " ".join(one.text for one in added[:3])
    after = f"{before + len(added)} questions, {len(added)} of them new, to {segments} segments"
    return [Improved("questions", "question", space, text, f"{before} questions", after)], skipped


def _new(space: Space) -> list[Pooled]:
    """Return the questions that would join the pool of a space, in the order of the facts; of old revisions none."""
    counting = {said.id for turn in space.turns for said in space.facts.said_in(turn)}
    asked = asked_of(space, (said for said in space.facts.rows if said.id in counting))
    live = [one for one in asked if (row := space.segment_row(one.segment_id)) != NONE and space.live[row]]
    return admitted(_pooled(space, live), live)


def _pooled(space: Space, candidates: Sequence[Pooled]) -> list[Pooled]:
    """Return the pool of the segments of some questions, each about whom its names mean now."""
    segments = dict.fromkeys(one.segment_id for one in candidates)
    known = (one for segment in segments for one in space.questions.of_segment(segment))
    return [replace(one, entities=frozenset(space.facts.bearer(key) or key for key in one.entities)) for one in known]
