"""What the status reports: counts by kind and space, the store and its health, the judge and its costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from mcp_memory.domain.facts import Engine
from mcp_memory.domain.language_model import Spending


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """The state of the store, as of its last commit.

    Attributes:
        bytes: size on disk; None if unknown (not a local folder).
        embedder: name of the embedder of its vectors; None for an empty store.
        holders: ids of the running processes that have it open, this one included.
        queue: background jobs of this process that are not done yet.
        problems: in words; empty if healthy.
        needs_rebuild: whether `mcp-memory doctor --rebuild` mends them.
        notes: in words, what is no problem of the store and should be known.
    """

    uri: str
    bytes: int | None
    tx: int
    generation: int
    format: int
    embedder: str | None
    holders: tuple[int, ...]
    queue: int
    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()
    needs_rebuild: bool = False


COUNTED = (
    "messages", "documents", "sessions", "segments", "sentences", "assertions", "entities", "lessons", "points",
    "pending",
)  # fmt: skip
"""What is counted in each space: each revision of a document, each assertion, each lesson, each active memory point.
``pending`` are messages, documents and statements that are stored and not indexed yet."""


@dataclass(frozen=True, slots=True)
class TextsRead:
    """Progress of enrichment: messages and documents read by a language model, old revisions excluded.

    Attributes:
        waiting: not read yet, or being read.
        failed: abandoned after several tries.
        resting: why this process reads none at present, in words; otherwise empty.
    """

    waiting: int = 0
    done: int = 0
    failed: int = 0
    resting: str = ""


@dataclass(frozen=True, slots=True)
class Judging:
    """How Claude takes part.

    Attributes:
        when: it is asked: if the embedded judgement is unsure (``auto``), or always (``anthropic``).
        key: whether an API key is set.
        spent: tokens of this process.
        day_tokens: budget of uncached input tokens for a day (UTC); 0 for none.
        today: spent by all processes on this day, according to the store, without the time it took.
        texts: progress of enrichment; None if it is off.
        goals: whether it makes memory points for goals.
    """

    when: Literal["auto", "anthropic"]
    model: str
    url: str
    key: bool
    spent: Spending
    day_tokens: int = 0
    today: Spending = field(default_factory=Spending)
    texts: TextsRead | None = None
    goals: bool = False


@dataclass(frozen=True, slots=True)
class Status:
    """Counts, configuration and health of the memory.

    Attributes:
        spaces: how much each space holds, see `COUNTED`.
        judging: how Claude takes part; None if nothing leaves the machine.
        reader: the model that reads what a search found once more; None if it is switched off.
        notes: in words, what else should be known: why the reader does not read.
    """

    spaces: Mapping[str, Mapping[str, int]]
    embedder: str
    store: StoreStatus
    uptime_s: float
    version: str
    engine: Engine = "embedded"
    extractor: str | None = None
    judging: Judging | None = None
    reader: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def healthy(self) -> bool:
        """Whether no problem is known."""
        return not self.store.problems
