"""A memory whose texts a stand-in of Claude reads for facts, and the replies of that stand-in."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from remembering import space_in
from standin.messages_api import Asked, Script, StandIn, standing_in
from standin.replies import Reply, Silence, message
from unit.reasoning.judged_memory import wired
from unit.services.learning_memory import said

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.memory import Memory
from mcp_memory.rules.answers.judge import EmbeddedQuestionJudge
from mcp_memory.services.enrichment import Enrichment

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
        memory = wired(api.url, **({"retries": 0, "enrich": "all"} | engine))  # type: ignore[arg-type]
        memory.new_question_judge = EmbeddedQuestionJudge
        items_written = tuple(items or said(*(lines or (KEYS,))))
        await memory.write(WriteRequest("default", "talk", "message", items_written))
        try:
            yield memory, api
        finally:
            await memory.aclose()


def another(memory: Memory, api: StandIn, **engine: object) -> Memory:
    """Return the memory of another process on the same store."""
    store: Any = memory.store
    other = wired(api.url, store.disk, **({"retries": 0, "enrich": "all"} | engine))  # type: ignore[arg-type]
    other.new_question_judge = EmbeddedQuestionJudge
    return other


def enriching(memory: Memory) -> Enrichment:
    """Return what reads the texts of a memory."""
    assert memory.enriching is not None
    return memory.enriching


async def read_all(memory: Memory) -> int:
    """Read until nothing is left to read now; return the number of steps."""
    steps = 1
    while await enriching(memory).step():
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
