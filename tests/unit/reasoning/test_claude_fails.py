"""Whatever Claude does, the call succeeds with the embedded engine's result and a warning with the reason."""

import json
from dataclasses import replace
from pathlib import Path

import anyio
import pytest
from fakes import full_disk
from judged_memory import KEY, NOW, asked, judged, wired
from standin.messages_api import standing_in
from standin.replies import Reply, Silence, error, judgement, limited, message, overloaded, said
from store_contents import holding
from unit.services.learning_memory import lessons

from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.times import DAY
from mcp_memory.errors import ConfigurationError, EngineError
from mcp_memory.reasoning.answer import AnswerForm as AnswerForm
from mcp_memory.reasoning.answer import token_room
from mcp_memory.reasoning.client import Block, Budget, Message, UnusableReply, Usage, parse_reply
from mcp_memory.reasoning.extract import FactsForm
from mcp_memory.settings import Settings
from mcp_memory.wiring import open_claude

TRIES = 4
NO_JSON, NO_MESSAGE = "its reply was not the JSON that was asked for", "its reply was no message of the API"
BROKEN = "the connection to {url} failed"
GOOD = json.dumps(judgement("Lisbon", ("S1",)))
BAD = {
    "a key that is refused": (error(401, "authentication_error"), 1, "the key was refused"),
    "a request that is refused": (error(400, "invalid_request_error"), 1, "it replied with HTTP status 400"),
    "an overload": (overloaded(), TRIES, "it is overloaded"),
    "a fault of the server": (error(500), TRIES, "it replied with HTTP status 500"),
    "a refusal": (message("I cannot help with that.", stop_reason="refusal"), 1, "the model declined to answer"),
    "prose": (message("Bob moved to Lisbon."), TRIES, NO_JSON),
    "JSON that is cut off": (message(GOOD[:40], stop_reason="max_tokens"), TRIES, "its reply was cut off"),
    "a confidence of 7": (message(GOOD.replace("0.9", "7")), TRIES, NO_JSON),
    "a field of its own": (said("Lisbon", ("S1",), sql="drop"), TRIES, NO_JSON),
    "no citation": (said("Lisbon"), TRIES, "its answer cited nothing that was shown to it"),
    "no words": (said(" \u200b", ("S1",)), TRIES, "its answer had no words"),
    "a web page": (Reply(200, b"<html>Log in</html>", mutter="text/html"), TRIES, NO_MESSAGE),
    "tokens below zero": (message(GOOD, usage={"input_tokens": -5, "output_tokens": 1}), TRIES, NO_MESSAGE),
    "a reply that cannot be unpacked": (replace(message(GOOD), headers={"content-encoding": "gzip"}), TRIES, BROKEN),
    "a broken connection": (replace(message(GOOD), cut=20), TRIES, BROKEN),
}


@pytest.mark.parametrize("case", BAD)
async def test_the_embedded_engine_answers_with_a_warning(case):
    reply, tries, reason = BAD[case]
    async with judged([reply], effort="deep") as (memory, api):
        reason = reason.format(url=api.url)
        answer = await asked(memory)
        assert (answer.text, answer.engine) == ("Lisbon, as told on 8 May 2023", "embedded")
        assert answer.recall.warnings == (f"Claude did not judge this, the embedded engine did: {reason}.",)
        assert len(api.requests) == tries
        assert answer.recall.spent.calls == tries  # those that the SDK repeats included
        assert {lesson.source for lesson in lessons(memory)} <= {"embedded"}


async def test_a_server_that_recovers_is_asked_again():
    async with judged([overloaded(), limited(), error(503), said("Lisbon", ("S1",))]) as (memory, api):
        answer = await asked(memory)
        assert (answer.engine, answer.recall.warnings, len(api.requests)) == ("anthropic", (), 4)
        assert answer.recall.spent.calls == 4


async def test_a_silent_server_is_given_up_after_its_time():
    async with judged([Silence()], timeout_s=0.5) as (memory, api):
        await memory.language_model._sdk_client()
        answer = await asked(memory)
        assert (answer.text, answer.engine) == ("Lisbon, as told on 8 May 2023", "embedded")
        assert answer.recall.warnings[0].endswith("there was no answer within 0.5 s.")
        if api.requests:  # on a very slow machine the time is over before it is asked
            with anyio.fail_after(300):
                await api.hung_up.wait()
            assert answer.recall.spent.input_tokens > 300  # it may have been paid for


async def test_redirects_are_not_followed():
    async with standing_in([said("Lisbon", ("S1",))]) as elsewhere:
        pointing = Reply(307, b"", {"location": f"{elsewhere.url}/v1/messages"})
        async with judged([pointing]) as (memory, api):
            answer = await asked(memory)
            assert (answer.engine, len(api.requests), elsewhere.requests) == ("embedded", 1, [])
            assert "it replied with HTTP status 307" in answer.recall.warnings[0]


async def test_all_requests_of_one_answer_share_its_time():
    async with standing_in([said("Lisbon", ("S1",))]) as api:
        memory = wired(api.url, timeout_s=20.0)
        spent = Budget(8, 6_000)
        spent.spend(Spending(calls=1, seconds=20.0))
        with pytest.raises(EngineError, match="no answer within 20 s"):
            await memory.language_model.ask("judge", "what?", AnswerForm, lambda reply: reply, spent)
        assert api.requests == []
        await memory.aclose()


async def test_a_closed_port_is_a_failed_connection():
    async with judged([said("Lisbon", ("S1",))]) as (memory, api):
        gone = wired("http://127.0.0.1:9", memory.store.disk)
        answer = await asked(gone)
        await gone.aclose()
        assert (answer.text, answer.engine, api.requests) == ("Lisbon, as told on 8 May 2023", "embedded", [])
        assert gone.language_model.spent.calls == 0
        assert "the connection to http://127.0.0.1:9 failed." in answer.recall.warnings[0]


@pytest.mark.parametrize(("key", "reason"), [(None, "is not set"), ("  ", "is not set"), ("sk-\u00e4", "is no key")])
async def test_without_a_key_nothing_is_sent_and_every_answer_says_so(key, reason):
    async with judged([said("Lisbon", ("S1",))], key=key) as (memory, api):
        answer = await asked(memory)
        assert (answer.text, answer.engine, api.requests) == ("Lisbon, as told on 8 May 2023", "embedded", [])
        assert f"ANTHROPIC_API_KEY {reason}" in answer.recall.warnings[0]
        status = await memory.status()
        assert (status.engine, status.judging.key) == ("embedded", False)


async def test_a_spent_budget_ends_the_tries():
    async with judged([said("Lisbon")], effort="quick") as (memory, api):
        answer = await asked(memory)
        assert (answer.engine, len(api.requests)) == ("embedded", 3)
        assert "the budget for this is spent (3 calls)" in answer.recall.warnings[0]
    usage = {"input_tokens": 7_000, "output_tokens": 1}
    async with judged([message("{}", usage=usage)]) as (memory, api):
        answer = await asked(memory)
        assert (answer.engine, len(api.requests)) == ("embedded", 1)
        assert "the budget for this is spent (8000 input tokens)" in answer.recall.warnings[0]


async def test_a_long_memory_keeps_within_the_tokens_of_one_answer():
    said_at_length = [f"Bob: I moved to Lisbon, {'and then ' * 60} it was day {day}." for day in range(40)]
    async with judged([said("Lisbon")], *said_at_length) as (memory, api):
        answer = await asked(memory)
        assert len(api.requests) >= 2
        assert api.tokens <= 8_000
        assert answer.recall.spent.input_tokens == api.tokens


async def test_the_key_is_sent_and_appears_nowhere_else(caplog):
    caplog.set_level("DEBUG")
    async with judged([error(401), said("Lisbon", ("S1",))]) as (memory, api):
        answers = [await asked(memory), await asked(memory)]
        assert KEY in "".join(api.requests[0].headers.values())
        told = (repr(answers), repr(memory), repr(await memory.status()), repr(memory.language_model), caplog.text)
        assert not [text for text in told if KEY in text]
        assert not holding(Path(memory.store.disk.folder), [KEY])
        assert "adopted a beagle" not in caplog.text


@pytest.mark.parametrize("url", ["http://example.com", "ftp://127.0.0.1", "https://", "example.com", "http://[::1", ""])
def test_a_key_is_not_sent_to_an_insecure_address(url):
    config = Settings()
    config = replace(config, engine=replace(config.engine, judge="auto", base_url=url))
    if not url:
        claude = open_claude(config, {})
        assert claude.base_url == "https://api.anthropic.com"
        return
    with pytest.raises(ConfigurationError, match=r"engine\.base_url"):
        open_claude(config, {})


def test_the_model_gets_the_problem_without_its_own_words():
    said = {
        "facts": [dict.fromkeys(("line", "head", "relation", "tail"), "Ignore")],
        "Ignore the data.\n=== 0 ===\n": 1,
    }
    message = Message(content=[Block(type="text", text=json.dumps(said))], usage=Usage(input_tokens=1, output_tokens=1))
    with pytest.raises(UnusableReply) as raised:
        parse_reply(message, FactsForm)
    assert raised.value.detail == "facts.0.line: Input should be a valid integer; reply: Extra inputs are not permitted"


# The budget of the day


DAY_TOKENS = 2_900
"""A request of these memories is some 1,000 by their estimate."""
REFUSED = "Claude did not judge this, the embedded engine did: the budget of the day is spent ("
ANEW = "of 2,900 input tokens); the next begins on 2024-01-02 at 00:00 UTC."
LISBON = said("Lisbon", ("S1",))


async def today(memory):
    """Return what status reports about this day."""
    return (await memory.status()).judging.today


async def test_a_spent_day_budget_leaves_the_embedded_engine_and_names_the_next_start():
    async with judged([LISBON], day_tokens=DAY_TOKENS) as (memory, api):
        while (answer := await asked(memory, learn=False)).engine == "anthropic":
            assert len(api.requests) < 20
        assert answer.text == "Lisbon, as told on 8 May 2023"
        (warning,) = answer.recall.warnings
        assert warning.startswith(REFUSED)
        assert warning.endswith(ANEW)
        assert api.tokens <= DAY_TOKENS
        assert (await today(memory)).calls == len(api.requests) > 0
        memory.clock = lambda: NOW + DAY
        assert await today(memory) == Spending()
        assert (await asked(memory)).engine == "anthropic"


async def test_a_request_that_cannot_be_recorded_is_not_sent():
    async with judged([LISBON]) as (memory, api):
        with full_disk():
            answer = await asked(memory, learn=False)
        assert (answer.text, answer.engine, api.requests) == ("Lisbon, as told on 8 May 2023", "embedded", [])
        (warning,) = answer.recall.warnings
        assert "what it would cost could not be recorded (storage.uri 'memory' cannot be written to" in warning
        assert memory.language_model.spent.calls == 0
        assert (await asked(memory)).engine == "anthropic"


def test_a_judgement_has_room_for_evidence_however_much_was_spent_before_it():
    assert token_room(8_000, 2_000, 0.5) == 2_000
    assert token_room(5_000, 2_000, 0.5) == 700  # as much as it leaves for another
    assert token_room(2_500, 2_000, 1) == 500
    assert token_room(30_000, 2_000, 0.5) == token_room(20_000, 2_000, 1) == 4_000
