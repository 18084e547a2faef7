"""A memory that asks a stand-in of Claude, on a disk of its own and with countable vectors, wired like the real one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace

from fakes import Disk
from standin.messages_api import Script, StandIn, standing_in
from standin.replies import Reply, Silence
from unit.services.learning_memory import NOW as NOW
from unit.services.learning_memory import on_disk, said

from mcp_memory.configurable import Switches, WriteSettings
from mcp_memory.domain.evidence import AnswerResult
from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.reasoning.client import Claude
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.settings import Settings
from mcp_memory.wiring import judges, open_claude

KEY = "sk-ant-test-key-that-nobody-may-see"
TALK = (
    "Bob: I moved to Lisbon last Friday.",
    "Ann: I adopted a beagle in May. He is called Rufus.",
    "Ann: My sister is a baker.",
    "Cem: The weather in Lisbon is mild.",
)


def wired(
    url: str, disk: Disk | None = None, *, key: str | None = KEY, switches: Switches | None = None, **engine: object
) -> Memory:
    """Return a memory whose Claude is at ``url``; it is not in a hurry, and pauses are those that the server names.

    Claude judges alone, unless ``engine`` gives it other steps too.
    """
    alone = {"understand": False, "points": False}
    settings = {"judge": "anthropic", "base_url": url, "timeout_s": 30.0} | alone | engine
    chosen = replace(Settings().engine, **settings)  # type: ignore[arg-type]
    config = Settings(engine=chosen, write=WriteSettings(wait=True), switches=switches or Switches())
    claude = open_claude(config, {"ANTHROPIC_API_KEY": key} if key else {})
    assert claude is not None
    return on_disk(Memory, config, disk, extractor=RuleExtractor(), **judges(config, claude))


@asynccontextmanager
async def judged(
    script: Script | Sequence[Reply | Silence], *lines: str, **engine: object
) -> AsyncIterator[tuple[Memory, StandIn]]:
    """Yield a memory that holds what Ann and Bob said, or other lines, and the stand-in that it asks."""
    async with standing_in(script) as api:
        memory = wired(api.url, **engine)  # type: ignore[arg-type]
        await memory.write(WriteRequest("default", "talk", "message", tuple(said(*(lines or TALK)))))
        try:
            yield memory, api
        finally:
            await memory.aclose()


async def asked(
    memory: Memory,
    question: str = "Where did Bob move to?",
    space: str = "default",
    *,
    limit: int = 12,
    learn: bool = True,
) -> AnswerResult:
    """Ask with the defaults of the tool."""
    return await memory.answer(Query(question, space, limit, learn=learn))


def claude_of(memory: Memory) -> Claude:
    """Return the Claude client of a memory that has one."""
    assert isinstance(memory.language_model, Claude)
    return memory.language_model
