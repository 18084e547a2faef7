"""Enrichment: which process reads which text and when, over processes, failures and restarts."""

from dataclasses import replace

import anyio
import pytest
from standin.replies import Silence, error, message, overloaded
from unit.reasoning.judged_memory import (
    KEYS,
    NOW,
    PORTO,
    another,
    asked,
    enriched,
    facts,
    jobs_of,
    knowing,
    numbered,
    read_all,
    read_by_claude,
)
from unit.services.learning_memory import said

from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.domain.status import TextsRead
from mcp_memory.domain.times import DAY
from mcp_memory.errors import ConfigurationError
from mcp_memory.server.tools.status import status_reply
from mcp_memory.services import enrichment as room
from mcp_memory.settings import Settings
from mcp_memory.wiring import open_memory

HOME = knowing({"keys": PORTO})
NOTHING = [facts()]


def talk(count, words=1):
    """Return so many messages, each of one sentence."""
    return said(*(f"{'Ann' if number % 2 else 'Bob'}: Number {number} {'word ' * words}." for number in range(count)))


async def texts(memory):
    judging = (await memory.status()).judging
    return judging.texts


async def test_facts_that_claude_read_answer_a_question_that_the_rules_cannot():
    async with enriched(HOME) as (memory, _):
        before = await asked(memory, "Where does Bob live?", learn=False)
        await read_all(memory)
        after = await asked(memory, "Where does Bob live?", learn=False)
        assert (before.text, after.text) == (None, "Porto")
        assert after.citations[0].source.quote == KEYS.removeprefix("Bob: ")
        assert await texts(memory) == TextsRead(0, 1, 0)


async def test_a_write_returns_without_waiting_for_claude_and_is_read_later():
    async with enriched([Silence()]) as (memory, api), anyio.create_task_group() as tasks:
        tasks.start_soon(memory.enriching.step)
        with anyio.fail_after(300):
            await api.arrived.wait()
            result = await memory.write(WriteRequest("default", "talk", "message", tuple(said("Ann: Hello there."))))
            assert (await asked(memory, "Who has the keys?", learn=False)).engine == "embedded"
        assert result.items[0].stored
        assert await texts(memory) == TextsRead(2, 0, 0)
        tasks.cancel_scope.cancel()


async def test_the_newest_text_is_read_first_with_those_before_it_in_its_session():
    async with enriched(NOTHING, items=talk(30, words=30)) as (memory, api):
        memory.clock = lambda: NOW + 1
        await memory.write(WriteRequest("default", "walk", "message", tuple(said("Ann: The newest is here."))))
        await read_all(memory)
        read = [list(numbered(one).values()) for one in api.requests]
        assert read[0] == ["The newest is here."]
        assert [line.split()[1] for line in read[1]] == [str(number) for number in range(18, 30)]
        assert [line.split()[1] for lines in read[:0:-1] for line in lines] == [str(number) for number in range(30)]
        assert "[-] Ann: Number 17 word" in api.requests[1].text


async def test_a_text_is_read_once_even_after_a_repeated_write_or_a_restart():
    async with enriched(HOME) as (memory, api):
        await read_all(memory)
        await memory.write(WriteRequest("default", "talk", "message", tuple(said(KEYS))))
        other = another(memory, api)
        assert (await read_all(memory), await read_all(other)) == (1, 1)
        assert len(api.requests) == 1
        assert len(await read_by_claude(other)) == 1
        await other.aclose()


async def test_one_process_on_a_store_reads_at_a_time_and_another_goes_on_where_it_died():
    silent = [True]
    async with enriched(lambda one: Silence() if silent[0] else HOME(one)) as (memory, api):
        other = another(memory, api)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(memory.enriching.step)
            with anyio.fail_after(300):
                await api.arrived.wait()
            assert not await other.enriching.step()
            tasks.cancel_scope.cancel()
        assert (len(api.requests), await jobs_of(memory)) == (1, [])
        silent[0] = False
        assert not await other.enriching.step()  # it rests after a look at which another one was reading
        other.clock = lambda: NOW + room.PAUSE_MS
        await read_all(other)
        assert [job.state for job in await jobs_of(other)] == ["done"]
        assert [one.recorded_at for one in await read_by_claude(memory)] == [NOW + room.PAUSE_MS]
        await other.aclose()


async def test_a_failing_text_is_tried_again_after_a_rest_and_finally_given_up():
    async with enriched([message("no JSON")]) as (memory, api):
        for tries in range(1, room.MOST_TRIES + 1):
            moment = NOW + tries * room.PAUSE_MS
            for now in (moment - 1, moment, moment + 1):  # before and after it is not asked
                memory.clock = lambda now=now: now
                assert not await memory.enriching.step()
            (job,) = await jobs_of(memory)
            assert (job.tries, job.state == "failed", len(api.requests)) == (tries, tries == room.MOST_TRIES, tries)
        memory.clock = lambda: NOW + DAY
        assert not await memory.enriching.step()
        assert (len(api.requests), await texts(memory)) == (room.MOST_TRIES, TextsRead(0, 0, 1))


async def test_texts_that_failed_together_are_tried_alone():
    bad = [True]
    async with enriched(lambda one: message("?") if bad[0] else facts(), items=talk(3)) as (memory, api):
        assert not await memory.enriching.step()
        assert {job.tries for job in await jobs_of(memory)} == {1}
        bad[0], memory.clock = False, lambda: NOW + room.PAUSE_MS
        await read_all(memory)
        assert [len(numbered(one)) for one in api.requests] == [3, 1, 1, 1]
        assert await texts(memory) == TextsRead(0, 3, 0)


@pytest.mark.parametrize("reply", [overloaded(), error(500), error(429)])
async def test_an_unreachable_service_fails_no_text_and_the_process_rests(reply):
    async with enriched([reply, facts()]) as (memory, api):
        assert not await memory.enriching.step()
        assert not await memory.enriching.step()
        assert (len(api.requests), await jobs_of(memory)) == (1, [])
        memory.clock = lambda: NOW + room.PAUSE_MS
        await read_all(memory)
        assert await texts(memory) == TextsRead(0, 1, 0)


async def test_a_refused_key_is_not_tried_again_before_the_next_start_and_status_says_so():
    async with enriched([error(401, "authentication_error"), facts()]) as (memory, api):
        assert not await memory.enriching.step()
        assert await texts(memory) == TextsRead(1, 0, 0, "the key was refused; it tries again after the next start")
        told = status_reply(await memory.status()).text
        assert "1 waiting. It reads none for now: the key was refused; it tries again after the next start." in told
        memory.clock = lambda: NOW + 100 * DAY
        assert not await memory.enriching.step()
        assert (len(api.requests), await jobs_of(memory)) == (1, [])
        other = another(memory, api)
        await read_all(other)
        assert await texts(other) == TextsRead(0, 1, 0)
        await other.aclose()


async def test_settings_that_would_leave_texts_waiting_for_ever_are_refused():
    config = replace(Settings(), engine=replace(Settings().engine, judge="auto", enrich="all"))
    with pytest.raises(ConfigurationError, match="set engine\\.judge to 'anthropic'"):
        await open_memory(config)


async def test_half_of_a_day_s_budget_is_left_to_questions_and_the_next_day_it_goes_on():
    async with enriched(NOTHING, items=talk(80, words=40), day_tokens=20_000) as (memory, api):
        await read_all(memory)
        other = another(memory, api, day_tokens=20_000)
        await read_all(other)
        assert 3 <= len(api.requests) <= 5
        assert 7_000 < api.tokens < 12_500
        first = len(api.requests)
        memory.clock = lambda: NOW + DAY - 1
        assert not await memory.enriching.step()
        memory.clock = lambda: NOW + DAY
        await read_all(memory)
        assert len(api.requests) > first
        assert all(job.tries == 0 for job in await jobs_of(memory))
        await other.aclose()


async def test_a_long_document_is_read_in_parts_each_sentence_once():
    sentences = [f"Sentence {number} is about the harbour and its {'old ' * 20}boats." for number in range(1_600)]
    text = " ".join(sentences)
    assert len(text) > 200_000
    async with enriched(NOTHING, "Ann: Hello.") as (memory, api):
        await read_all(memory)
        before = len(api.requests)
        item = NewItem(text, ref="doc", title="Harbour")
        await memory.write(WriteRequest("default", "talk", "document", (item,)))
        other = another(memory, api)
        for turn in range(200):
            await (memory, other)[turn % 2].enriching.step()  # either goes on where the other ended
        parts = api.requests[before:]
        assert [line for one in parts for line in numbered(one).values()] == sentences
        assert max(one.tokens for one in parts) < 3_000
        assert sum(one.tokens for one in parts) < 250_000
        assert "[-] Sentence" in parts[1].text
        assert await texts(other) == TextsRead(0, 2, 0)
        await other.aclose()


async def test_shutdown_does_not_wait_for_claude_and_leaves_the_store_consistent():
    async with enriched([Silence()]) as (memory, api):
        memory.background._rest_s = 0
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(memory.work)
            with anyio.fail_after(300):
                await api.arrived.wait()
                await memory.background.drain(float("inf"))
                await api.hung_up.wait()
            tasks.cancel_scope.cancel()
        assert (await jobs_of(memory), await read_by_claude(memory)) == ([], [])
