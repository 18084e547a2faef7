"""What the memory says of itself."""

from __future__ import annotations

from dataclasses import dataclass

from mcp_memory.domain.evidence import Engine


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
    """How much a space holds; revisions of documents count each, each statement of a fact, and each judge's word."""

    name: str
    messages: int
    documents: int
    sessions: int
    segments: int
    sentences: int
    assertions: int = 0
    entities: int = 0
    lessons: int = 0


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
    """

    spaces: tuple[SpaceStatus, ...]
    embedder: str
    store: StoreStatus
    uptime_s: float
    version: str
    engine: Engine = "embedded"
    extractor: str | None = None

    @property
    def healthy(self) -> bool:
        """Whether nothing is wrong that the memory knows of."""
        return not self.store.problems
