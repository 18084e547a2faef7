"""A message or a paragraph, read by the rules, and what came out as short lines."""

from datetime import UTC, datetime

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import Turn
from mcp_memory.language.dates import stated_times
from mcp_memory.language.sentences import split
from mcp_memory.rules.facts.extractor import RuleExtractor

SAID = int(datetime(2023, 5, 8, tzinfo=UTC).timestamp() * 1000)


def turn(text: str, *, speaker: str | None = "Maria", title: str | None = None) -> Turn:
    kind = "message" if title is None else "document"
    who = speaker if title is None else None
    return Turn("t_1", "default", "s", "r", kind, text, who, None, title, SAID, SAID, 0, 0)


def read(
    text: str, *, speaker: str | None = "Maria", partner: str | None = "Tom", title: str | None = None
) -> list[Assertion]:
    said = turn(text, speaker=speaker, title=title)
    spans = split(text)
    times = [stated_times(text, said.said_at, *span) for span in spans]
    return RuleExtractor().extract(said, partner, spans, times)


def facts(text: str, **who: str | None) -> list[str]:
    return [f"{'not ' * fact.negated}{fact.head} {fact.relation} {fact.tail}" for fact in read(text, **who)]


def held(text: str, **who: str | None) -> list[str]:
    return [f"{fact.tail} {_day(fact.since)} {_day(fact.until)}" for fact in read(text, **who)]


def _day(instant: int) -> str:
    if instant <= BEGINNING:
        return "…"
    return "…" if instant >= FOREVER else str(datetime.fromtimestamp(instant / 1000, UTC).date())
