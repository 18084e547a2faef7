"""A memory that asks a stand-in of Claude, or lets it read its texts, wired like the real one, with its replies."""

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from fakes import Disk
from remembering import space_in
from standin.messages_api import Asked, Script, StandIn, standing_in
from standin.replies import Reply, Silence, message
from unit.services.learning_memory import NOW as NOW
from unit.services.learning_memory import answered, on_disk, said

from mcp_memory.configurable import Switches, WriteSettings
from mcp_memory.domain.evidence import AnswerResult
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.rules.answers.judge import EmbeddedQuestionJudge
from mcp_memory.rules.facts.extractor import RuleExtractor
from mcp_memory.settings import Settings
from mcp_memory.wiring import judges, open_claude

ASKED = "Where did Bob move to?"
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
    chosen = replace(Settings().engine, **settings)
    config = Settings(engine=chosen, write=WriteSettings(wait=True), switches=switches or Switches())
    claude = open_claude(config, {"ANTHROPIC_API_KEY": key} if key else {})
    return on_disk(Memory, config, disk, extractor=RuleExtractor(), **judges(config, claude))


@asynccontextmanager
async def judged(
    script: Script | Sequence[Reply | Silence], *lines: str, **engine: object
) -> AsyncIterator[tuple[Memory, StandIn]]:
    """Yield a memory that holds what Ann and Bob said, or other lines, and the stand-in that it asks."""
    async with standing_in(script) as api:
        memory = wired(api.url, **engine)
        await memory.write(WriteRequest("default", "talk", "message", tuple(said(*(lines or TALK)))))
        try:
            yield memory, api
        finally:
            await memory.aclose()


async def asked(memory: Memory, question: str = ASKED, *, learn: bool = True, **more: object) -> AnswerResult:
    """Ask with the defaults of the tool."""
    return await answered(memory, question, learn=learn, **more)


KEYS = "Bob: The keys to the house in Porto were handed over to me, and that is where you find me these days."
"""A text in which the rules find no home."""
PORTO = {"head": "Bob", "relation": "lives_in", "tail": "Porto", "change": True}
_NUMBERED = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)


def numbered(asked: Asked) -> dict[int, str]:
    """Return the sentences of a request by their numbers."""
    _, data, _ = re.split(r"^=== \w{16} ===$", asked.text, flags=re.MULTILINE)
    return {int(number): text for number, text in _NUMBERED.findall(data)}


def facts(*stated: Mapping[str, Any], **more: Any) -> Reply:
    """Return a good message with facts."""
    return message(json.dumps({"facts": list(stated)} | more))


def knowing(known: Mapping[str, Mapping[str, Any]]) -> Script:
    """Return a reader that finds a fact in each sentence with certain words, and none in others."""

    def read(asked: Asked) -> Reply:
        lines = numbered(asked).items()
        return facts(*({"line": n, **fact} for n, text in lines for words, fact in known.items() if words in text))

    return read


@asynccontextmanager
async def enriched(
    script: Script | Sequence[Reply | Silence], *lines: str, items: Sequence[NewItem] = (), **engine: object
) -> AsyncIterator[tuple[Memory, StandIn]]:
    """Yield a memory that holds what was said, none of it read yet, and the stand-in that is to read it.

    Questions are answered by the embedded engine.
    """
    async with standing_in(script) as api:
        memory = wired(api.url, **({"retries": 0, "enrich": "all"} | engine))
        memory.new_question_judge = EmbeddedQuestionJudge
        items_written = tuple(items or said(*(lines or (KEYS,))))
        await memory.write(WriteRequest("default", "talk", "message", items_written))
        try:
            yield memory, api
        finally:
            await memory.aclose()


def another(memory: Memory, api: StandIn, **engine: object) -> Memory:
    """Return the memory of another process on the same store."""
    other = wired(api.url, memory.store.disk, **({"retries": 0, "enrich": "all"} | engine))
    other.new_question_judge = EmbeddedQuestionJudge
    return other


async def read_all(memory: Memory) -> int:
    """Read until nothing is left to read now; return the number of steps."""
    steps = 1
    while await memory.enriching.step():
        steps += 1
        assert steps < 1_000
    return steps


async def jobs_of(memory: Memory) -> list[Job]:
    """Return how far each text is read, in the order of their first jobs."""
    return list((await space_in(memory.store)).jobs.values())


async def read_by_claude(memory: Memory) -> list[Assertion]:
    """Return what Claude read, in the order of recording."""
    rows = (await space_in(memory.store)).facts.rows
    return [one for one in rows if one.extractor == "anthropic"]
