"""Rows that belong together: what one transaction adds, or what a refresh found new."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.vectors import Matrix


def _no_vectors() -> Matrix:
    return np.empty((0, 0), dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Batch:
    """Turns with their pieces, in the order in which they are to be read.

    Attributes:
        turns: the turns.
        segments: the segments of these turns, by turn and then by index.
        sentences: the sentences of these turns, by turn and then by index.
        segment_vectors: shape ``(len(segments), d)``, each row of length 1.
        sentence_vectors: shape ``(len(sentences), d)``, each row of length 1.
        assertions: what was asserted, by these turns or by the caller about earlier ones, in the order of recording.
    """

    turns: tuple[Turn, ...] = ()
    segments: tuple[Segment, ...] = ()
    sentences: tuple[Sentence, ...] = ()
    segment_vectors: Matrix = field(default_factory=_no_vectors)
    sentence_vectors: Matrix = field(default_factory=_no_vectors)
    assertions: tuple[Assertion, ...] = ()

    @property
    def empty(self) -> bool:
        """Whether there is nothing in it that a commit would be for; pieces come with their turns."""
        return not self.turns and not self.assertions
