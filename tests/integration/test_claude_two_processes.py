"""Two real servers on one store with every step of Claude on: one day's budget, and no text is read twice.

Their clock stands still, so that no test lasts from one day into the next.
"""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest
from standin.messages_api import standing_in
from standin.perfect import Known, perfect
from standin.rooms import room
from stdio_client import serving
from unit.reasoning.anthropic.enriched_memory import numbered
from unit.reasoning.anthropic.judged_memory import KEY

pytestmark = pytest.mark.anyio
SERVE = [str(Path(__file__).with_name("midnight_server.py"))]
TALK = (
    *(("Ann", "My brother is Bob."), ("Ann", "My sister is Cleo."), ("Ann", "I like jazz.")),
    *(("Bob", "I live in Rome."), ("Bob", "I work at Acme."), ("Bob", "I like tea."), ("Cleo", "I live in Oslo.")),
)
MESSAGES = [{"speaker": name, "text": text} for name, text in TALK]
LONG = [{"speaker": "Bob", "text": f"Walk number {number} {'went on and ' * 40} ended."} for number in range(20)]
QUESTION = "Where does the brother of Ann work?"
ASKED = {"question": QUESTION, "learn": False}
KNOWN = {QUESTION: Known("Acme", ("work at Acme",), ("Bob", "Acme"))}
DAY_TOKENS = 40_000  # of which readings take three quarters at most: two answers always find enough


async def test_questions_and_text_readings_of_two_servers_share_the_budget_of_a_day(tmp_path: Path) -> None:
    def converse(url: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        engine = {"JUDGE": "anthropic", "BASE_URL": url, "DAY_TOKENS": str(DAY_TOKENS), "TIMEOUT_S": "100"}
        engine |= {"ENRICH": "all"}
        around = {f"MCP_MEMORY_ENGINE_{name}": text for name, text in engine.items()} | {"ANTHROPIC_API_KEY": KEY}
        store = tmp_path / "store"
        with serving(store, program=SERVE, **around) as one, serving(store, program=SERVE, **around) as two:
            one.structured("memory_write", messages=MESSAGES)
            two.structured("memory_write", messages=LONG)
            until = time.monotonic() + 120
            while not any(talk.structured("memory_status")["claude"]["texts"].get("done") for talk in (one, two)):
                assert time.monotonic() < until  # some are read before the answers take the rest of the day
            answers = []
            while not any("the budget of the day is spent" in warning for warning in said_by(answers)):
                numbers = [(talk, talk.begin("memory_answer", **ASKED)) for talk in (one, two)]
                answers += [talk.reply(number)["result"]["structuredContent"] for talk, number in numbers]
                assert len(answers) < 40
            return answers, [talk.structured("memory_status")["claude"] for talk in (one, two)]

    async with standing_in(perfect(KNOWN)) as api:
        answers, statuses = await anyio.to_thread.run_sync(converse, api.url)
    assert {answer["answer"] for answer in answers} == {"Acme"}
    assert {answer["engine"] for answer in answers[:2]} == {"anthropic"}
    assert api.tokens <= DAY_TOKENS
    assert all(claude["today"]["input_tokens"] <= DAY_TOKENS for claude in statuses)
    sent: Counter[str] = Counter()
    for asked in api.requests:
        sent.update(numbered(asked).values() if room(asked) == "reading" else ())
    assert set(sent.values()) == {1}
    assert sum(asked.tokens for asked in api.requests if room(asked) == "reading") < 0.75 * DAY_TOKENS
    assert {room(asked) for asked in api.requests} >= {"question", "navigation", "answer", "reading"}
    counts = [[claude["texts"].get(state, 0) for state in ("waiting", "done", "failed")] for claude in statuses]
    assert all(sum(count) == len(TALK) + len(LONG) for count in counts)


def said_by(answers: list[dict[str, Any]]) -> list[str]:
    return [warning for answer in answers for warning in answer["warnings"]]
