"""LanceDB's store keeps what was spent through older formats, rebuilds and odd rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from batches import batch, derive
from lance_at import commit_to, open_at
from rows_checked import row_problems

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.language_model import Reservation, Spending
from mcp_memory.domain.turns import Turn
from mcp_memory.storage.store import LanceStore

pytestmark = pytest.mark.anyio
TODAY = 20_833


def outlay(tokens: int, calls: int = 1, day: int = TODAY) -> Batch:
    return Batch(outlays=(Reservation(day, Spending(calls, tokens)),))


async def _spent(store: LanceStore) -> Spending:
    async with store.reading(whole=False) as view:
        return view.spent(TODAY)


async def test_a_rebuild_keeps_what_was_spent_before_and_during_it(uri: str) -> None:
    await commit_to(store := open_at(uri), batch("a"))
    await commit_to(store, outlay(700))
    meanwhile = iter([outlay(-200, 0)])

    async def make(turns: Sequence[Turn]) -> Batch:
        for rows in meanwhile:
            await commit_to(store, rows)
        return derive(turns)

    for _ in range(2):
        await open_at(uri).rebuild(make)
        for opened in (store, open_at(uri)):
            assert await _spent(opened) == Spending(1, 500)
    assert await row_problems(open_at(uri)) == []


async def test_a_commit_holds_the_spending_of_one_day(uri: str) -> None:
    two = Batch(outlays=(*outlay(1).outlays, *outlay(1, day=TODAY + 1).outlays))
    with pytest.raises(ValueError, match="one day"):
        await commit_to(open_at(uri), two)
    assert await _spent(open_at(uri)) == Spending()
