"""What reads facts out of texts: the extractor of a write, and the reader that asks a language model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Excerpt, Turn


class Extractor(Protocol):
    """Extracts facts from a text."""

    @property
    def name(self) -> str:
        """The name of the method, as status shows it."""

    @property
    def version(self) -> int:
        """Its version, from 1. What an older version read is read again when a store is opened."""

    def extract(
        self,
        turn: Turn,
        partner: str | None,
        sentences: Sequence[tuple[int, int]],
        times: Sequence[Sequence[StatedTime]],
        before: Sequence[Turn] = (),
    ) -> list[Assertion]:
        """Return what a turn asserts, in the order of its words. Blocking, and without side effects.

        Args:
            turn: the text with its speaker and time.
            partner: the addressee of a message, if known: "you".
            sentences: spans of its sentences, in characters.
            times: what each of them states.
            before: the last messages of its session before it.
        """


class TextReader(Protocol):
    """Extracts facts from texts with a language model."""

    @property
    def ready(self) -> bool:
        """Whether it can be asked at all."""

    async def read(self, excerpts: Sequence[Excerpt], before: Sequence[Excerpt]) -> list[Assertion]:
        """Return what texts of one session assert, each assertion supported by its own text; not recorded yet.

        Args:
            excerpts: to be read, in the order of the session.
            before: the context before them.

        Raises:
            EngineCutOff: they contain too much for one reply.
            EngineError: no usable reply; the subclass says what helps.
        """
