"""The day budget that memories on one store share: once it is spent, the embedded engine answers."""

import anyio
import pytest
from judged_memory import NOW, asked, claude_of, judged, wired
from standin.replies import Silence, said

from mcp_memory.domain.language_model import DAY_MS, Spending, day_number

pytestmark = pytest.mark.anyio
DAY_TOKENS = 2_900
"""A request of these memories is some 1,000 by their estimate."""
REFUSED = "Claude did not judge this, the embedded engine did: the budget of the day is spent ("
ANEW = "of 2,900 input tokens); the next begins on 2024-01-02 at 00:00 UTC."
LISBON = said("Lisbon", ("S1",))


async def today(memory):
    """Return what status reports about this day."""
    judging = (await memory.status()).judging
    assert judging is not None
    return judging.today


async def spend_the_day(memory, api):
    """Ask until Claude is no longer asked, and return how often it was."""
    while (answer := await asked(memory, learn=False)).engine == "anthropic":
        assert len(api.requests) < 20
    assert answer.text == "Lisbon"
    (warning,) = answer.recall.warnings
    assert warning.startswith(REFUSED)
    assert warning.endswith(ANEW)
    return len(api.requests)


async def test_a_spent_day_budget_leaves_the_embedded_engine_and_names_the_next_start():
    async with judged([LISBON], day_tokens=DAY_TOKENS) as (memory, api):
        requests = await spend_the_day(memory, api)
        assert requests > 0
        assert api.tokens <= DAY_TOKENS
        assert (await today(memory)).calls == requests
        memory.clock = lambda: NOW + DAY_MS
        assert await today(memory) == Spending()
        assert (await asked(memory)).engine == "anthropic"


async def test_two_memories_share_the_budget_and_a_third_that_starts_later_finds_it_spent():
    async with judged([LISBON], day_tokens=DAY_TOKENS) as (memory, api):
        assert (await asked(memory, learn=False)).engine == "anthropic"
        other = wired(api.url, memory.store.log, day_tokens=DAY_TOKENS)
        alone = await spend_the_day(other, api) - 1
        assert claude_of(other).spent.calls == alone
        for one in (memory, other):
            await one.background.drain(30)
        third = wired(api.url, memory.store.log, day_tokens=DAY_TOKENS)
        assert await today(memory) == await today(other) == await today(third)
        assert await spend_the_day(third, api) == len(api.requests)
        assert api.tokens <= DAY_TOKENS
        await other.aclose()
        await third.aclose()


async def test_the_day_counts_the_usage_that_replies_report():
    async with judged([LISBON]) as (memory, api):
        answer = await asked(memory)
        await memory.background.drain(30)
        async with memory.store.reading() as view:
            stored = view.spent(day_number(NOW))
        spent = answer.recall.spent
        assert spent is not None
        assert stored == await today(memory) == Spending(1, api.tokens, 0, spent.output_tokens)


async def test_a_request_is_recorded_before_it_is_sent_so_that_a_crash_counts_it():
    async with judged([Silence()], day_tokens=DAY_TOKENS) as (memory, api), anyio.create_task_group() as tasks:
        tasks.start_soon(asked, memory)
        with anyio.fail_after(300):
            await api.arrived.wait()
        async with wired(api.url, memory.store.log).store.reading() as view:
            stored = view.spent(day_number(NOW))
        assert stored == Spending(1, stored.input_tokens)
        assert api.tokens <= stored.input_tokens < DAY_TOKENS
        tasks.cancel_scope.cancel()


async def test_a_request_that_cannot_be_recorded_is_not_sent():
    async with judged([LISBON]) as (memory, api):
        memory.store.log.full = True
        answer = await asked(memory, learn=False)
        assert (answer.text, answer.engine, api.requests) == ("Lisbon", "embedded", [])
        (warning,) = answer.recall.warnings
        assert "what it would cost could not be recorded (storage.uri 'memory' cannot be written to" in warning
        assert claude_of(memory).spent.calls == 0
        memory.store.log.full = False
        assert (await asked(memory)).engine == "anthropic"


async def test_an_unreachable_server_spends_nothing_of_the_day():
    async with judged([LISBON]) as (other, _):
        gone = wired("http://127.0.0.1:9", other.store.log)
        assert (await asked(gone, learn=False)).engine == "embedded"
        await gone.background.drain(30)
        assert await today(gone) == await today(other) == Spending()
        await gone.aclose()


async def test_zero_sets_no_limit_and_spending_is_still_reported():
    async with judged([LISBON], day_tokens=0) as (memory, api):
        for _ in range(4):
            assert (await asked(memory, learn=False)).engine == "anthropic"
        judging = (await memory.status()).judging
        assert judging is not None
        assert (judging.day_tokens, judging.today.calls, judging.today.input_tokens) == (0, 4, api.tokens)
