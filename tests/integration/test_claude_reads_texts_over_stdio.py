"""Claude reads stored texts for facts in the background of real servers: one is killed meanwhile, two follow."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest
from standin.messages_api import Asked, standing_in
from standin.replies import Reply, Silence
from stdio_client import StdioClient, serving
from unit.reasoning.anthropic.enriched_memory import facts, numbered
from unit.reasoning.anthropic.judged_memory import KEY

pytestmark = pytest.mark.anyio
MESSAGES = [{"speaker": "Ann", "text": f"Number {number} {'word ' * 60}."} for number in range(24)]


def surroundings(url: str) -> dict[str, str]:
    engine = {"JUDGE": "anthropic", "BASE_URL": url, "TIMEOUT_S": "300", "ENRICH": "all"}
    return {f"MCP_MEMORY_ENGINE_{name}": text for name, text in engine.items()} | {"ANTHROPIC_API_KEY": KEY}


async def test_no_text_is_read_twice_though_one_server_is_killed_while_it_waits(tmp_path: Path) -> None:
    asked_once, all_asked = threading.Event(), threading.Event()
    sent: Counter[str] = Counter()

    def script(asked: Asked) -> Reply | Silence:
        first = not sent
        sent.update(numbered(asked).values())
        asked_once.set()
        if len(sent) == len(MESSAGES):
            all_asked.set()
        return Silence() if first else facts()

    def converse(url: str) -> dict[str, Any]:
        with serving(tmp_path / "store", **surroundings(url)) as one:
            one.structured("memory_write", messages=MESSAGES)
            assert asked_once.wait(250)
            one.process.kill()
        with serving(tmp_path / "store", **surroundings(url)) as two, serving(tmp_path / "store", **surroundings(url)):
            assert all_asked.wait(250)
            return until_read(two)

    def until_read(server: StdioClient) -> dict[str, Any]:
        while True:
            texts: dict[str, Any] = server.structured("memory_status")["claude"]["texts"]
            if texts["done"] + leased == len(MESSAGES):
                return texts

    async with standing_in(script) as api:
        leased = 9
        with anyio.fail_after(300):
            texts = await anyio.to_thread.run_sync(converse, api.url, abandon_on_cancel=True)
        assert len(numbered(api.requests[0])) == leased
    assert set(sent.values()) == {1}
    assert texts == {"waiting": leased, "done": len(MESSAGES) - leased, "failed": 0}
