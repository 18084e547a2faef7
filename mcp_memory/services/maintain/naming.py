"""Entities: names that mean one of them are brought together (DESIGN 2.5).

What is found (``reflection/disambiguation.py``) is recorded as an alias with its reason, decided under the store's lock
by what is told then. Nothing that was said is touched, so it is undone by saying that the two are not the same: a fact
``also_known_as`` with ``negated``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from anyio import to_thread

from mcp_memory.domain.aliases import Alias
from mcp_memory.domain.batch import Batch
from mcp_memory.domain.requests import Improved, Skipped
from mcp_memory.domain.times import Millis
from mcp_memory.ports import Embedder, Progress, Store
from mcp_memory.reflection.disambiguation import Entities, Pair
from mcp_memory.view.space import Space

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
