"""Claude asked by several real servers on one store, one of which may be killed while it waits.

Where a day's budget is counted their clock stands still, so that no test lasts from one day into the next.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest
from rows_checked import row_problems
from standin.messages_api import Asked, standing_in
from standin.perfect import Known, perfect
from standin.replies import Reply, Silence
from standin.rooms import room
from stdio_client import SERVE, serving
from unit.reasoning.anthropic.enriched_memory import KEYS, PORTO, enriching, knowing, numbered, read_all, read_by_claude
from unit.reasoning.anthropic.judged_memory import KEY, wired
from unit.rules.answers.small_memory import said

from mcp_memory.domain.requests import WriteRequest
from mcp_memory.domain.status import TextsRead
from mcp_memory.memory import Memory
from mcp_memory.services.ingest import deriver, silent
from mcp_memory.storage.settings import StorageSettings
from mcp_memory.storage.store import LanceStore
from mcp_memory.wiring import open_store

pytestmark = pytest.mark.anyio
BEFORE_MIDNIGHT = [str(Path(__file__).with_name("midnight_server.py"))]
TALK = (
    *(("Ann", "My brother is Bob."), ("Ann", "My sister is Cleo."), ("Ann", "I like jazz.")),
    *(("Bob", "I live in Rome."), ("Bob", "I work at Acme."), ("Bob", "I like tea."), ("Cleo", "I live in Oslo.")),
)
MESSAGES = [{"speaker": name, "text": text} for name, text in TALK]
LONG = [{"speaker": "Bob", "text": f"Walk number {number} {'went on and ' * 40} ended."} for number in range(20)]
NUMBERS = [{"speaker": "Ann", "text": f"Number {number} {'word ' * 60}."} for number in range(24)]
QUESTION = "Where does the brother of Ann work?"
ASKED = {"question": QUESTION, "learn": False}
KNOWN = {QUESTION: Known("Acme", ("work at Acme",), ("Bob", "Acme"))}
DAY_TOKENS = 40_000  # of which readings take three quarters at most: two answers always find enough


def asking(store: Path, url: str, program: list[str] | None = None, **engine: str) -> Any:
    """Return a server that asks the stand-in at an address."""
    given = {"JUDGE": "anthropic", "BASE_URL": url, "TIMEOUT_S": "300", "ENRICH": "all"} | engine
    around = {f"MCP_MEMORY_ENGINE_{name}": text for name, text in given.items()}
    return serving(store, program=program or SERVE, ANTHROPIC_API_KEY=KEY, **around)


async def test_questions_and_readings_of_two_servers_share_the_budget_of_a_day_and_a_restart_keeps_it(
    tmp_path: Path,
) -> None:
    def warned(answers: list[dict[str, Any]]) -> list[str]:
        return [warning for answer in answers for warning in answer["warnings"]]

    def converse(url: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        def server() -> Any:
            return asking(tmp_path / "store", url, BEFORE_MIDNIGHT, DAY_TOKENS=str(DAY_TOKENS), TIMEOUT_S="100")

        with server() as one, server() as two:
            one.structured("memory_write", messages=MESSAGES)
            two.structured("memory_write", messages=LONG)
            until = time.monotonic() + 120
            while not any(talk.structured("memory_status")["claude"]["texts"].get("done") for talk in (one, two)):
                assert time.monotonic() < until  # some are read before the answers take the rest of the day
            answers: list[dict[str, Any]] = []
            while not any("the budget of the day is spent" in warning for warning in warned(answers)):
                numbers = [(talk, talk.begin("memory_answer", **ASKED)) for talk in (one, two)]
                answers += [talk.reply(number)["result"]["structuredContent"] for talk, number in numbers]
                assert len(answers) < 40
            statuses = [talk.structured("memory_status")["claude"] for talk in (one, two)]
        with server() as three:
            return [*answers, three.structured("memory_answer", **ASKED)], statuses

    async with standing_in(perfect(KNOWN)) as api:
        answers, statuses = await anyio.to_thread.run_sync(converse, api.url)
    assert {(answer["answer"], answer["engine"]) for answer in answers[:2]} == {("Acme", "anthropic")}
    assert "the next begins on 2024-01-02 at 00:00 UTC" in warned(answers[-1:])[0]
    assert api.tokens <= DAY_TOKENS
    assert all(claude["today"]["input_tokens"] <= DAY_TOKENS for claude in statuses)
    sent: Counter[str] = Counter()
    for asked in api.requests:
        sent.update(numbered(asked).values() if room(asked) == "reading" else ())
    assert set(sent.values()) == {1}
    assert sum(asked.tokens for asked in api.requests if room(asked) == "reading") < 0.75 * DAY_TOKENS
    assert {room(asked) for asked in api.requests} >= {"question", "answer", "reading"}
    counts = [[claude["texts"].get(state, 0) for state in ("waiting", "done", "failed")] for claude in statuses]
    assert all(sum(count) == len(TALK) + len(LONG) for count in counts)


def opened(url: str, folder: Path) -> Memory:
    """Return a memory over the real store in a folder, as another process would open it."""
    memory = wired(url, enrich="all")
    config = replace(memory.settings, storage=StorageSettings(uri=str(folder / "store")))
    return replace(memory, settings=config, store=open_store(config, memory.embedder, memory.extractor))


async def test_two_stores_read_each_text_once_also_after_a_restart_and_a_rebuild(tmp_path: Path) -> None:
    lines = [f"Ann: Number {number} {'word ' * 60}." for number in range(30)]
    read, both = knowing({"keys": PORTO}), anyio.Event()

    def script(asked: Asked) -> Reply | Silence:
        if len(api.requests) == 2:
            both.set()
        return read(asked)

    async def texts(memory: Memory) -> TextsRead | None:
        judging = (await memory.status()).judging
        assert judging is not None
        return judging.texts

    async with standing_in(script) as api:
        one, two = opened(api.url, tmp_path), opened(api.url, tmp_path)
        await one.write(WriteRequest("default", "talk", "message", tuple(said(*lines, KEYS))))
        api.gate = anyio.Event()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read_all, one)
            tasks.start_soon(read_all, two)
            with anyio.fail_after(300):
                await both.wait()
            api.gate.set()
        sent = Counter(line for asked in api.requests for line in numbered(asked).values())
        assert (len(sent), set(sent.values())) == (31, {1})
        assert await texts(one) == await texts(two) == TextsRead(0, 31, 0)
        kept = await read_by_claude(two)
        assert [fact.tail for fact in kept] == ["Porto"]
        for memory in (one, two):
            await memory.aclose()

        store = opened(api.url, tmp_path).store
        assert isinstance(store, LanceStore)
        await store.rebuild(deriver(one.reading, progress=silent))
        assert await row_problems(store) == []
        await store.aclose()
        before, three = len(api.requests), opened(api.url, tmp_path)
        await read_all(three)
        assert (len(api.requests), await texts(three)) == (before, TextsRead(0, 31, 0))
        assert await read_by_claude(three) == kept
        assert not await enriching(three).step()
        await three.aclose()
