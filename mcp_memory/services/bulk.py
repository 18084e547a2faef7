"""Write many texts of many sessions with all that follows from them, in one commit: the same rows as of single writes.

A single write is stored before it is indexed, since somebody waits for it. Nobody waits for a text of a corpus: here
what follows is made first, of so many texts at once that several processes share the work, and one commit holds all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

import numpy as np

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.masking import Masking, check_secrets
from mcp_memory.domain.requests import WriteRequest
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Talkers, Turn
from mcp_memory.ports import Store
from mcp_memory.services.ingest import DerivedRows
from mcp_memory.services.write import Plan, make_plan, requested_turns
from mcp_memory.vectors import Matrix
from mcp_memory.view.view import View

Derive = Callable[[Sequence[Turn], Sequence[Talkers]], Awaitable[Sequence[DerivedRows]]]
"""Returns the rows of each text; its other argument says who spoke before each (`derive` in ``services/ingest.py``)."""


async def write_many(
    store: Store, requests: Sequence[WriteRequest], *, masking: Masking, derive: Derive, now: Millis
) -> bool:
    """Store what is new of some requests; return whether secrets are in it.

    Args:
        store: where it is stored.
        requests: one of each session at most, since whom a text addresses follows from those before it.
        masking: of secrets.
        derive: see `Derive`.
        now: kept beside the time of each text.

    Raises:
        InvalidInput: as for `write`. Nothing of any request is stored.
        StoreError: nothing of any request is stored.
    """
    wanted = [(request, *requested_turns(request, now, masking)) for request in requests]
    secrets = [check_secrets(request, items, masking) for request, items, _ in wanted]

    def plans(view: View) -> list[Plan]:
        return [
            make_plan(view.space(one.space), one, [*items, *statements.values()], statements, masking, now)
            for one, items, statements in wanted
        ]

    ready: dict[str, DerivedRows] = {}
    while True:
        async with store.reading(whole=False) as view:
            planned = plans(view)
        missing = _underived(planned, ready)
        if missing:
            derived = await derive([turn for turn, _ in missing], [who for _, who in missing])
            ready |= {turn.id: rows for (turn, _), rows in zip(missing, derived, strict=True)}
        batch = _batch(planned, ready)
        async with store.writing(batch) as transaction:
            current = plans(transaction.view)
            if _underived(current, ready):
                continue  # another process revised a document meanwhile: a known text is new again
            await transaction.commit(batch if current == planned else _batch(current, ready))
            return any(map(bool, secrets))


def _underived(plans: Sequence[Plan], ready: dict[str, DerivedRows]) -> list[tuple[Turn, Talkers]]:
    return [(turn, talkers) for plan in plans for turn, talkers in plan.new if turn.id not in ready]


def _batch(plans: Sequence[Plan], ready: dict[str, DerivedRows]) -> Batch:
    """Return the rows of some requests, one after the other."""
    parts = [plan.batch({turn.place: ready[turn.id] for turn, _ in plan.new}) for plan in plans]
    return Batch(
        turns=tuple(turn for part in parts for turn in part.turns),
        segments=tuple(one for part in parts for one in part.segments),
        sentences=tuple(one for part in parts for one in part.sentences),
        segment_vectors=_stack([part.segment_vectors for part in parts]),
        sentence_vectors=_stack([part.sentence_vectors for part in parts]),
        assertions=tuple(one for part in parts for one in part.assertions),
    )


def _stack(matrices: Sequence[Matrix]) -> Matrix:
    """Return matrices below each other; one without rows may have no columns."""
    filled = [matrix for matrix in matrices if len(matrix)]
    return np.concatenate(filled) if filled else Batch().segment_vectors
