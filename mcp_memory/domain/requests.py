"""What the tools are asked and what they give back, in our own words; the server turns its JSON into these."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.domain.evidence import Engine
from mcp_memory.domain.times import FOREVER, Millis
from mcp_memory.domain.turns import Kind


@dataclass(frozen=True, slots=True)
class NewItem:
    """A message or document as the caller gave it; ``ref`` is None where it came without an id."""

    text: str
    ref: str | None = None
    speaker: str | None = None
    role: str | None = None
    title: str | None = None
    said_at: Millis | None = None


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What one call asks to remember."""

    space: str
    session: str
    kind: Kind
    items: tuple[NewItem, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """What became of one item; ``stored`` is False for one that was there already."""

    ref: str
    session: str
    stored: bool


@dataclass(frozen=True, slots=True)
class WriteResult:
    """What became of a call.

    Attributes:
        items: one for each item of the request, in its order.
        segments: how many were stored.
        sentences: how many were stored.
        warnings: in words: of an item that was there already and came with another speaker, role, time or title.
    """

    items: tuple[Written, ...]
    segments: int
    sentences: int
    warnings: tuple[str, ...]
    engine: Engine = "embedded"


@dataclass(frozen=True, slots=True)
class Window:
    """The times of what is recalled: from ``since`` (inclusive) to ``until`` (exclusive)."""

    since: Millis = -FOREVER
    until: Millis = FOREVER


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What to recall.

    Attributes:
        space: where; one that nothing was written to is empty.
        query: in the caller's words; None asks for the newest.
        limit: at most so many items of evidence.
        window: restricts the time at which something was said.
    """

    space: str
    query: str | None
    limit: int
    window: Window = Window()


@dataclass(frozen=True, slots=True)
class AnswerRequest:
    """What to answer: a question, from at most ``limit`` items of evidence."""

    space: str
    question: str
    limit: int
