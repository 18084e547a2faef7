"""LanceDB's store keeps what was spent through older formats, rebuilds and odd rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from anyio.lowlevel import checkpoint
from batches import DIMENSION, batch, derive
from lance_at import NOW, commit_to, open_at, write_older_commits

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.language_model import Reservation, Spending
from mcp_memory.domain.turns import Turn
from mcp_memory.storage.schema import Commit
from mcp_memory.storage.store import LanceStore

pytestmark = pytest.mark.anyio
TODAY = 20_833
COLUMNS = ["day", "calls", "input_tokens", "cached_tokens", "output_tokens"]
LACKING = {4: ["aliases", "questions", *COLUMNS, "jobs"], 5: [*COLUMNS, "jobs"]}
"""Columns that commits of a format lack; format 5 got its last one during development."""


def outlay(tokens: int, calls: int = 1, day: int = TODAY) -> Batch:
    return Batch(outlays=(Reservation(day, Spending(calls, tokens)),))


async def _spent(store: LanceStore) -> Spending:
    async with store.reading(whole=False) as view:
        return view.spent(TODAY)


@pytest.mark.parametrize("former", LACKING)
async def test_a_store_without_spending_is_read_and_written_as_it_is(uri: str, former: int) -> None:
    await commit_to(store := open_at(uri), batch("a"))
    while store._compaction.running:
        await checkpoint()
    older = Commit(1, NOW, former, "fake", DIMENSION, 0, 1, 1, 1, 2, 1, 1, 0, 0)
    write_older_commits(uri, older, lacking=LACKING[former])
    assert await _spent(open_at(uri)) == Spending()
    await commit_to(open_at(uri), batch("b"))
    await commit_to(open_at(uri), outlay(700))
    assert await _spent(open_at(uri)) == Spending(1, 700)
    assert await open_at(uri).check() == []


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
    assert await open_at(uri).check() == []


async def test_a_commit_holds_the_spending_of_one_day(uri: str) -> None:
    two = Batch(outlays=(*outlay(1).outlays, *outlay(1, day=TODAY + 1).outlays))
    with pytest.raises(ValueError, match="one day"):
        await commit_to(open_at(uri), two)
    assert await _spent(open_at(uri)) == Spending()
