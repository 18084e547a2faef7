"""Claude as a reader: facts out of texts, where rules miss what is implied, passive or spread over clauses (DESIGN L1).

It sees some texts of one session, sentence by sentence with numbers, and names for each fact the line that states it.
What becomes of a fact is decided here and not by the model: it stands in the sentence that the number means, what its
names and times mean says ``asserting.py``, and it has to pass ``temporal/guards.py``: what is nowhere written is no
fact. What does not pass is left out, and the log tells how much that was.

**Departures.** DESIGN 5 has DESIGN L1 return sentences, cues, tags and entities too; here these follow from the text
alone, so that a memory with a key is built like one without, and one call reads twice as much.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from pydantic import BaseModel, ConfigDict

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import relations
from mcp_memory.domain.talkers import speaker
from mcp_memory.domain.times import Millis
from mcp_memory.ports import Excerpt
from mcp_memory.reasoning.anthropic.asserting import Fact, asserted_by
from mcp_memory.reasoning.anthropic.budget import Allowance, Budget
from mcp_memory.reasoning.anthropic.client import Claude, Prompt
from mcp_memory.reasoning.anthropic.laying import framed, plain
from mcp_memory.temporal.guards import guarded
from mcp_memory.texts import prompt

ALLOWANCE = Allowance(calls=8, input_tokens=20_000)
"""Of one reading. It is asked once; only a server that is overloaded or breaks the connection is asked again."""
MOST = 120
"""Facts of one reply that are looked at; no honest one has room for half as many."""
SENTENCE_CHARS = 1_200
"""Of a line: as long as the longest sentence (``language/sentences.py``)."""

_log = logging.getLogger(__name__)


class Reply(BaseModel):
    """What is stated."""

    model_config = ConfigDict(extra="forbid", strict=True)

    facts: list[Fact]


@dataclass(frozen=True, slots=True)
class Laid:
    """What a model sees, and what its numbers mean.

    Attributes:
        text: the sentences, between two lines with the same mark.
        lines: for each number the text and the index of the sentence within it.
    """

    text: str
    lines: Mapping[int, tuple[Excerpt, int]]


@dataclass(frozen=True, slots=True)
class ClaudeExtractor:
    """Asks Claude; fulfils `ports.TextReader`."""

    claude: Claude

    @property
    def ready(self) -> bool:
        """See `ports.TextReader`."""
        return self.claude.ready

    async def read(self, excerpts: Sequence[Excerpt], before: Sequence[Excerpt]) -> list[Assertion]:
        """See `ports.TextReader`."""
        laid = lay(excerpts, before)
        if not laid.lines:
            return []
        said = Prompt(stable(), prompt("temporal/asked.txt").substitute(texts=laid.text))
        return await self.claude.ask(
            said, Reply, lambda reply: asserted(reply, laid), Budget(ALLOWANCE), sent_back=False
        )


def stable() -> str:
    """Return what every reading is told."""
    names = ", ".join(relation.name for relation in relations())
    return prompt("temporal/system.txt").substitute(relations=names).strip()


def lay(excerpts: Sequence[Excerpt], before: Sequence[Excerpt]) -> Laid:
    """Return sentences as numbered lines, under a line that says who speaks to whom and when.

    Args:
        excerpts: what is to be read.
        before: what stands before it, without numbers.
    """
    shown: list[str] = []
    lines: dict[int, tuple[Excerpt, int]] = {}
    for excerpt in before:
        who = f"{plain(name, 100)}: " if (name := speaker(excerpt.turn)) else ""
        shown += [f"[-] {who}{sentence}" for _, sentence in _sentences(excerpt)]
    for excerpt in excerpts:
        sentences = list(_sentences(excerpt))
        shown += [_heading(excerpt)] if sentences else []
        for index, sentence in sentences:
            lines[len(lines) + 1] = excerpt, index
            shown.append(f"[{len(lines)}] {sentence}")
    return Laid(framed(shown), lines)


def asserted(reply: Reply, laid: Laid) -> list[Assertion]:
    """Return what a reply comes to, in the order of the texts; each assertion is borne out by its own text."""
    found: dict[str, tuple[Excerpt, list[Assertion]]] = {}
    for fact in reply.facts[:MOST]:
        if (place := laid.lines.get(fact.line)) and (assertion := asserted_by(fact, *place)):
            found.setdefault(place[0].turn.id, (place[0], []))[1].append(assertion)
    kept = {
        assertion.id: assertion
        for excerpt, said in found.values()
        for assertion in guarded(excerpt.turn, excerpt.partner, excerpt.sentences, said)
    }
    if len(kept) < len(reply.facts):
        _log.info("Of %d facts that Claude read, %d are not kept.", len(reply.facts), len(reply.facts) - len(kept))
    return list(kept.values())


def _sentences(excerpt: Excerpt) -> Iterator[tuple[int, str]]:
    for index in range(excerpt.first, excerpt.last):
        start, end = excerpt.sentences[index]
        if sentence := plain(excerpt.turn.text[start:end], SENTENCE_CHARS):
            yield index, sentence


def _heading(excerpt: Excerpt) -> str:
    """Return who says a text to whom and when; of a document its title. It can't be taken for a numbered line."""
    turn = excerpt.turn
    if turn.kind == "document":
        parts = ["a document", *([f'"{turn.title}"'] if turn.title else ())]
        parts += [_day(turn.said_at)] if turn.said_at is not None else []
    else:
        to = f" to {excerpt.partner}" if excerpt.partner else ""
        parts = [f"{speaker(turn) or turn.role}{to}", _day(turn.time)]
    return f"From {plain(', '.join(parts), 300)}:"


def _day(moment: Millis) -> str:
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=moment)).strftime("%A %Y-%m-%d")
    except OverflowError:
        return "an unknown day"
