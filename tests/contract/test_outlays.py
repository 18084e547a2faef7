"""Every store sums what was spent on each day over all processes and restarts."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest
from batches import DIMENSION, batch

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.language_model import Reservation, Spending
from mcp_memory.errors import EngineError
from mcp_memory.ports import Store
from mcp_memory.services.background.ledger import DayLedger

pytestmark = pytest.mark.anyio

Open = Callable[..., Store]
NOW = 1_800_000_000_000
TODAY = 20_833


async def _write(store: Store, *outlays: Reservation, rows: Batch | None = None) -> int:
    async with store.writing() as transaction:
        return await transaction.commit(rows or Batch(outlays=outlays))


async def _spent(store: Store, day: int) -> Spending:
    async with store.reading(whole=False) as view:
        return view.spent(day)


async def test_what_was_spent_is_summed_for_each_day(open_store: Open) -> None:
    store = open_store()
    assert await _write(store, Reservation(TODAY, Spending(1, 900))) == 1
    assert (
        await _write(store, Reservation(TODAY, Spending(0, -300, 250, 60)), Reservation(TODAY, Spending(1, 100))) == 2
    )
    assert await _write(store, Reservation(TODAY + 1, Spending(1, 70))) == 3
    await _write(store, rows=batch("a"))
    for opened in (store, open_store()):
        assert await _spent(opened, TODAY) == Spending(2, 700, 250, 60)
        assert await _spent(opened, TODAY + 1) == Spending(1, 70)
        assert await _spent(opened, TODAY - 1) == Spending()
        async with opened.reading() as view:
            assert (list(view.spaces), view.tx) == (["default"], 4)


async def test_two_processes_see_each_other_and_never_spend_more_than_a_day_allows(open_store: Open) -> None:
    stores = [open_store(), open_store()]
    ledgers = [DayLedger(store, 1_000, lambda: NOW, lambda: None) for store in stores]
    refused = []

    async def spend(ledger: DayLedger) -> None:
        try:
            ledger.settle(reserved := await ledger.reserve(300), reserved.what)
        except EngineError as error:
            refused.append(str(error))

    async with anyio.create_task_group() as tasks:
        for ledger in (*ledgers, *ledgers, *ledgers):
            tasks.start_soon(spend, ledger)
    assert [await _spent(store, TODAY) for store in (*stores, open_store())] == [Spending(3, 900)] * 3
    assert len(refused) == 3
    assert all("900 of 1,000 input tokens" in one for one in refused)


async def test_a_call_cancelled_before_its_commit_spends_nothing(open_store: Open) -> None:
    store = open_store(dimension=DIMENSION)
    with anyio.CancelScope() as scope:
        async with store.writing() as transaction:
            scope.cancel()
            await transaction.commit(Batch(outlays=(Reservation(TODAY, Spending(1, 900)),)))
    assert await _spent(open_store(), TODAY) == Spending()
