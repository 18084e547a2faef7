"""The day's account: every request is recorded before it is sent, and all processes together keep the budget."""

from __future__ import annotations

from collections.abc import Callable

import anyio
import pytest
from fakes import FakeLog, FakeStore

from mcp_memory.domain.language_model import Spending, day_number
from mcp_memory.domain.times import DAY, Millis
from mcp_memory.errors import EngineError, StoreUnwritable
from mcp_memory.services.background.ledger import DayLedger

pytestmark = pytest.mark.anyio
NOON: Millis = 19_000 * DAY + DAY // 2
SPENT = r"the budget of the day is spent \((?P<spent>[\d,]+) of 1,000 input tokens\); the next begins on 2022-01-09 "


class Account:
    """A process that spends: its store, its ledger, and how often it was told that there is something to enter."""

    def __init__(self, log: FakeLog, tokens: int = 1_000, clock: Callable[[], Millis] = lambda: NOON) -> None:
        self.store = FakeStore(log)
        self.told = 0
        self.ledger = DayLedger(self.store, tokens, clock, self._tell)

    async def stored(self, day: int = 19_000) -> Spending:
        async with self.store.reading(whole=False) as view:
            return view.spent(day)

    def _tell(self) -> None:
        self.told += 1


async def test_what_one_process_has_reserved_another_cannot_spend() -> None:
    one, other = Account(log := FakeLog()), Account(log)
    await one.ledger.reserve(700)
    with pytest.raises(EngineError, match=SPENT) as refused:
        await other.ledger.reserve(301)
    assert "(700 of" in str(refused.value)
    assert (await other.ledger.reserve(300)).what == Spending(1, 300)
    assert await one.stored() == await other.stored() == Spending(2, 1_000)


async def test_many_at_once_of_two_processes_never_reserve_more_than_the_budget() -> None:
    accounts = [Account(log := FakeLog()), Account(log)]
    refused = []

    async def spend(account: Account) -> None:
        try:
            await account.ledger.reserve(90)
        except EngineError as error:
            refused.append(error)

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            for account in accounts:
                tasks.start_soon(spend, account)
    assert (len(refused), await accounts[0].stored()) == (20 - 11, Spending(11, 990))


async def test_the_real_cost_replaces_the_estimate_with_the_next_request() -> None:
    one = Account(log := FakeLog())
    one.ledger.settle(await one.ledger.reserve(900), took := Spending(1, 200, 50, 60))
    assert (one.told, await one.stored()) == (1, Spending(1, 900))
    async with one.store.reading() as view:
        assert one.ledger.spent(view, 19_000) == took
    await one.ledger.reserve(800)
    assert await Account(log).stored() == took + Spending(1, 800)
    assert len(log.commits) == 2


async def test_a_new_day_starts_at_zero_and_corrections_count_for_the_day_of_the_request() -> None:
    time = [19_001 * DAY - 1]
    one = Account(log := FakeLog(), clock=lambda: time[0])
    reserved = await one.ledger.reserve(1_000)
    with pytest.raises(EngineError, match=SPENT):
        await one.ledger.reserve(1)
    time[0] += 1
    assert (await one.ledger.reserve(1_000)).day == day_number(time[0]) == 19_001
    one.ledger.settle(reserved, Spending(1, 400))
    await one.ledger.enter()
    assert await Account(log).stored() == Spending(1, 400)
    assert await Account(log).stored(19_001) == Spending(1, 1_000)


async def test_a_request_that_cannot_be_recorded_is_refused_and_corrections_wait() -> None:
    one = Account(log := FakeLog())
    one.ledger.settle(await one.ledger.reserve(900), Spending(1, 100))
    log.full = True
    with pytest.raises(
        EngineError, match=r"could not be recorded \(storage.uri 'memory' cannot be written to: the disk"
    ):
        await one.ledger.reserve(100)
    with pytest.raises(StoreUnwritable):
        await one.ledger.enter()
    log.full = False
    await one.ledger.enter()
    assert await Account(log).stored() == Spending(1, 100)
