"""Run the extractor over a message or a paragraph, and show its facts as short lines."""

from datetime import UTC, datetime

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import Turn
from mcp_memory.language.segments import split
from mcp_memory.language.stated import stated_times
from mcp_memory.rules.facts.extractor import RuleExtractor

SAID_AT = int(datetime(2023, 5, 8, tzinfo=UTC).timestamp() * 1000)


def turn(text: str, *, speaker: str | None = "Maria", title: str | None = None, dated: bool = True) -> Turn:
    kind = "message" if title is None else "document"
    author = speaker if title is None else None
    return Turn("t_1", "default", "s", "r", kind, text, author, None, title, SAID_AT if dated else None, SAID_AT, 0, 0)


def read(
    text: str,
    *,
    speaker: str | None = "Maria",
    partner: str | None = "Tom",
    title: str | None = None,
    dated: bool = True,
) -> list[Assertion]:
    source = turn(text, speaker=speaker, title=title, dated=dated)
    spans = split(text)
    times = [stated_times(text, source.said_at, *span) for span in spans]
    return RuleExtractor().extract(source, partner, spans, times)


def facts(text: str, **context: str | None) -> list[str]:
    return [f"{'not ' * fact.negated}{fact.head} {fact.relation} {fact.tail}" for fact in read(text, **context)]


def intervals(text: str, **context: str | None) -> list[str]:
    return [f"{fact.tail} {_day(fact.since)} {_day(fact.until)}" for fact in read(text, **context)]


def _day(instant: int) -> str:
    if instant <= BEGINNING:
        return "…"
    return "…" if instant >= FOREVER else str(datetime.fromtimestamp(instant / 1000, UTC).date())
