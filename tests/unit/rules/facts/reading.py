"""Run the extractor over a message or a paragraph, and show its facts as short lines."""

from datetime import UTC, datetime

from extraction.score import extracted

from mcp_memory.domain.facts import CERTAIN, Assertion
from mcp_memory.domain.times import BEGINNING, FOREVER
from mcp_memory.domain.turns import Turn

SAID_AT = int(datetime(2023, 5, 8, tzinfo=UTC).timestamp() * 1000)
"""Everything is said on Monday 8 May 2023."""


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
    return extracted(turn(text, speaker=speaker, title=title, dated=dated), partner)


def facts(text: str, **context: str | None) -> list[str]:
    return [f"{'not ' * fact.negated}{fact.head} {fact.relation} {fact.tail}" for fact in read(text, **context)]


def shown(fact: Assertion) -> str:
    """Return a fact, with "!" before it if it is certain, and with its kind and time if it is no state since now."""
    since, until = _day(fact.since), _day(fact.until - 1)
    when = f" | {since} to {until} {fact.kind} {fact.precision or '-'}"
    plain = (since, until, fact.kind) == ("2023-05-08", "…", "state")
    sure = "! " * (fact.confidence >= CERTAIN)
    return f"{sure}{'not ' * fact.negated}{fact.head} {fact.relation} {fact.tail}{'' if plain else when}"


def _day(instant: int) -> str:
    if instant <= BEGINNING or instant >= FOREVER - 1:
        return "…"
    return str(datetime.fromtimestamp(instant / 1000, UTC).date())
