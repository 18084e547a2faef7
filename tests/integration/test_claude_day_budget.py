"""One day's budget over real server processes on one store, one of which is killed while it waits for Claude.

Their clock stands still, so that no test lasts from one day into the next.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import anyio
import pytest
from standin.messages_api import standing_in
from standin.replies import Silence, said
from stdio_client import StdioClient, serving
from unit.reasoning.anthropic.judged_memory import KEY, TALK

pytestmark = pytest.mark.anyio
SERVE = [str(Path(__file__).with_name("midnight_server.py"))]
MESSAGES = [{"speaker": line.split(": ")[0], "text": line.split(": ")[1]} for line in TALK]
ASKED = {"question": "Where did Bob move to?", "learn": False}
DAY_TOKENS = 3_000
"""Three requests at most, of which each is some 1,000 by the servers' own estimate."""


def surroundings(url: str) -> dict[str, str]:
    engine = {"JUDGE": "anthropic", "BASE_URL": url, "DAY_TOKENS": str(DAY_TOKENS), "TIMEOUT_S": "100"}
    engine |= {"UNDERSTAND": "false"}
    return {f"MCP_MEMORY_ENGINE_{name}": text for name, text in engine.items()} | {"ANTHROPIC_API_KEY": KEY}


async def test_two_servers_share_the_budget_of_a_day_and_a_restart_keeps_it(tmp_path: Path) -> None:
    def converse(url: str) -> tuple[list[dict[str, Any]], dict[str, Any]]:
        def server() -> AbstractContextManager[StdioClient]:
            return serving(tmp_path / "store", program=SERVE, **surroundings(url))

        with server() as one, server() as two:
            one.structured("memory_write", messages=MESSAGES)
            numbers = [(talk, talk.begin("memory_answer", **ASKED)) for _ in range(4) for talk in (one, two)]
            answers = [talk.reply(number)["result"]["structuredContent"] for talk, number in numbers]
        with server() as three:
            answers += [three.structured("memory_answer", **ASKED) for _ in range(3)]
            return answers, three.structured("memory_status")["claude"]

    async with standing_in([said("Lisbon", ("S1",))]) as api:
        answers, claude = await anyio.to_thread.run_sync(converse, api.url)
    engines = [answer["engine"] for answer in answers]
    assert 0 < engines.count("anthropic") == len(api.requests) <= 3
    assert api.tokens <= DAY_TOKENS
    assert engines[-1] == "embedded"
    assert "the budget of the day is spent" in answers[-1]["warnings"][0]
    assert "the next begins on 2024-01-02 at 00:00 UTC" in answers[-1]["warnings"][0]
    assert claude["today"]["calls"] == len(api.requests)
    assert api.tokens <= claude["today"]["input_tokens"] <= claude["today"]["allowed_tokens"] == DAY_TOKENS


async def test_tokens_that_a_killed_server_had_sent_count_as_spent(tmp_path: Path) -> None:
    async with standing_in([Silence()]) as api:

        def killed() -> None:
            with serving(tmp_path / "store", program=SERVE, **surroundings(api.url)) as one:
                one.structured("memory_write", messages=MESSAGES)
                one.begin("memory_answer", **ASKED)
                anyio.from_thread.run(api.arrived.wait)
                one.process.kill()

        def after() -> dict[str, Any]:
            with serving(tmp_path / "store", program=SERVE, **surroundings(api.url)) as two:
                claude: dict[str, Any] = two.structured("memory_status")["claude"]
                return claude

        with anyio.fail_after(300):
            await anyio.to_thread.run_sync(killed)
        claude = await anyio.to_thread.run_sync(after)
    assert (claude["calls"], claude["today"]["calls"]) == (0, 1)
    assert api.tokens <= claude["today"]["input_tokens"] < DAY_TOKENS
