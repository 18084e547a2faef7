"""The day's account: every request is recorded before it is sent, and all processes together keep the budget."""

import anyio
import pytest
from fakes import Disk, DiskStore, full_disk

from mcp_memory.domain.language_model import Spending, day_number
from mcp_memory.domain.times import DAY
from mcp_memory.errors import EngineError
from mcp_memory.services.ledger import DayLedger

NOON = 19_000 * DAY + DAY // 2
SPENT = r"the budget of the day is spent \((?P<spent>[\d,]+) of 1,000 input tokens\); the next begins on 2022-01-09 "


def account(disk, clock=lambda: NOON):
    """Return the account of a process."""
    return DayLedger(DiskStore(disk), 1_000, clock)


async def stored(disk, day=19_000):
    async with DiskStore(disk).reading(whole=False) as view:
        return view.spent(day)


async def test_what_one_process_has_reserved_another_cannot_spend_also_when_it_died():
    one, other = account(disk := Disk()), account(disk)
    await one.reserve(700)
    with pytest.raises(EngineError, match=SPENT) as refused:
        await other.reserve(301)
    assert "(700 of" in str(refused.value)
    assert (await other.reserve(300)).what == Spending(1, 300)
    assert await stored(disk) == Spending(2, 1_000)


async def test_many_at_once_of_two_processes_never_reserve_more_than_the_budget():
    accounts = [account(disk := Disk()), account(disk)]
    refused = []

    async def spend(one):
        try:
            await one.reserve(90)
        except EngineError as error:
            refused.append(error)

    async with anyio.create_task_group() as tasks:
        for _ in range(10):
            for one in accounts:
                tasks.start_soon(spend, one)
    assert (len(refused), await stored(disk)) == (20 - 11, Spending(11, 990))


async def test_the_real_cost_replaces_the_estimate():
    one = account(disk := Disk())
    await one.settle(await one.reserve(900), took := Spending(1, 200, 50, 60))
    await one.reserve(800)
    assert await stored(disk) == took + Spending(1, 800)


async def test_a_new_day_starts_at_zero_and_corrections_count_for_the_day_of_the_request():
    time = [19_001 * DAY - 1]
    one = account(disk := Disk(), clock=lambda: time[0])
    reserved = await one.reserve(1_000)
    with pytest.raises(EngineError, match=SPENT):
        await one.reserve(1)
    time[0] += 1
    assert (await one.reserve(1_000)).day == day_number(time[0]) == 19_001
    await one.settle(reserved, Spending(1, 400))
    assert await stored(disk) == Spending(1, 400)
    assert await stored(disk, 19_001) == Spending(1, 1_000)


async def test_a_request_that_cannot_be_recorded_is_refused_and_a_cost_that_cannot_be_stays_as_estimated():
    one = account(disk := Disk())
    reserved = await one.reserve(900)
    with full_disk():
        with pytest.raises(EngineError, match=r"could not be recorded \(storage.uri 'memory' cannot be written to"):
            await one.reserve(100)
        await one.settle(reserved, Spending(1, 100))
    assert await stored(disk) == Spending(1, 900)
