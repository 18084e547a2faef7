"""What the memory says of itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from mcp_memory.domain.facts import Engine
from mcp_memory.domain.spending import Spending


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """The store as it lies there.

    Attributes:
        uri: where.
        bytes: how much it takes; None where that cannot be told (no local folder).
        tx: the last commit.
        generation: of the derived tables.
        format: of the tables.
        embedder: what made its vectors; None for an empty store.
        holders: ids of the living processes that have it open, this one included.
        queue: pieces of background work of this process that are not done yet.
        problems: in words; empty when all is well.
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


@dataclass(frozen=True, slots=True)
class SpaceStatus:
    """How much a space holds.

    Revisions of documents count each, and so do each statement of a fact, each judge's word, and memory points in use.
    """

    name: str
    messages: int
    documents: int
    sessions: int
    segments: int
    sentences: int
    assertions: int = 0
    entities: int = 0
    lessons: int = 0
    points: int = 0


@dataclass(frozen=True, slots=True)
class TextsRead:
    """How far a language model has read the messages and documents of a store, old revisions left out.

    Attributes:
        waiting: to be read, or being read.
        done: read.
        failed: given up after several tries.
        resting: why this process reads none for now, in words; empty where it does, or has nothing to read.
    """

    waiting: int = 0
    done: int = 0
    failed: int = 0
    resting: str = ""


@dataclass(frozen=True, slots=True)
class Judging:
    """How Claude takes part; it is sent questions and goals with the evidence found for them, or all texts too.

    Attributes:
        when: it is asked: where the embedded judgement is unsure (``auto``), or for every answer (``anthropic``).
        model: that is asked.
        url: where it is asked.
        key: whether there is one.
        spent: by this process.
        day_tokens: uncached input tokens that a day of UTC may cost; 0 where nothing bounds it.
        today: spent by all processes on this day, as the store has it; the time that it took is no part of it.
        texts: how far it has read all that was written; None where it is sent nothing but questions and evidence.
        goals: whether it makes the memory points of a goal.
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
    """The answer to "how is the memory?".

    Attributes:
        spaces: by name.
        embedder: what makes the vectors.
        store: as it lies there.
        uptime_s: of this process, in seconds.
        version: of the program.
        engine: whose judgement decides.
        extractor: what reads facts out of texts; None where nothing does.
        judging: how Claude takes part; None where nothing leaves the machine.
    """

    spaces: tuple[SpaceStatus, ...]
    embedder: str
    store: StoreStatus
    uptime_s: float
    version: str
    engine: Engine = "embedded"
    extractor: str | None = None
    judging: Judging | None = None

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong that the memory knows of."""
        return not self.store.problems
