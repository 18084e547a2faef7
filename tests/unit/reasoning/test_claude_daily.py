"""What a question may cost, and the day: once its budget is spent, the embedded engine answers."""

from fakes import full_disk
from judged_memory import NOW, asked, claude_of, judged
from standin.replies import said

from mcp_memory.domain.language_model import Spending
from mcp_memory.domain.times import DAY
from mcp_memory.reasoning.answer import token_room

DAY_TOKENS = 2_900
"""A request of these memories is some 1,000 by their estimate."""
REFUSED = "Claude did not judge this, the embedded engine did: the budget of the day is spent ("
ANEW = "of 2,900 input tokens); the next begins on 2024-01-02 at 00:00 UTC."
LISBON = said("Lisbon", ("S1",))


async def today(memory):
    """Return what status reports about this day."""
    judging = (await memory.status()).judging
    return judging.today


async def spend_the_day(memory, api):
    """Ask until Claude is no longer asked, and return how often it was."""
    while (answer := await asked(memory, learn=False)).engine == "anthropic":
        assert len(api.requests) < 20
    assert answer.text == "Lisbon, as told on 8 May 2023"
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
        assert claude_of(memory).spent.calls == 0
        assert (await asked(memory)).engine == "anthropic"


def test_a_judgement_has_room_for_evidence_however_much_was_spent_before_it():
    assert token_room(8_000, 2_000, 0.5) == 2_000
    assert token_room(5_000, 2_000, 0.5) == 700  # as much as it leaves for another
    assert token_room(2_500, 2_000, 1) == 500
    assert token_room(30_000, 2_000, 0.5) == token_room(20_000, 2_000, 1) == 4_000
