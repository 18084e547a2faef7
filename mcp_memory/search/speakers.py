"""Who said each segment, and in what form: as a question or a statement, short or long."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_memory.language.sentences import QUESTION_MARKS
from mcp_memory.vectors import Scores
from mcp_memory.view.columns import Column
from mcp_memory.view.space import NONE, Space

UNKNOWN = -1


class SpeakerIndex:
    """The speaker and the form of each segment."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._who: Column[np.int32] = Column(np.int32)
        self._states: Column[np.bool_] = Column(np.bool_)
        self._words: Column[np.int32] = Column(np.int32)

    def extend(self, space: Space, since: int) -> None:
        """Take in the segments of ``space`` from row ``since`` on."""
        for row in range(since, len(space.segments)):
            turn = space.segment_turn[row]
            text = space.text(space.segments[row])
            who = (turn.speaker or turn.role) if turn.kind != "document" else None
            self._who.append(self._numbers.setdefault(who, len(self._numbers)) if who else UNKNOWN)
            self._states.append(not text.rstrip().endswith(QUESTION_MARKS))
            self._words.append(len(text.split()))

    def by(self, speakers: Sequence[str]) -> NDArray[np.bool_]:
        """Return which segments were said by one of these, shape ``(segments,)``; documents are said by nobody."""
        return np.isin(self._who.values, [self._numbers[name] for name in speakers if name in self._numbers])

    @property
    def statements(self) -> NDArray[np.bool_]:
        """Which segments do not end with a question mark."""
        return self._states.values

    def replies(self, previous: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which segments of talk come right after a question that somebody else asked.

        Args:
            previous: the row before each segment in its session, or `NONE`, shape ``(segments,)`` (`Space.previous`).
        """
        who, asks = self._who.values, ~self._states.values
        others = (who != who[previous]) | (who == UNKNOWN)  # a row of -1 reads the last one, which the next line drops
        answers: NDArray[np.bool_] = (previous != NONE) & asks[previous] & others
        return answers

    def fullness(self, full: int) -> Scores:
        """Return how far each segment comes to ``full`` words, in [0, 1]."""
        return np.minimum(self._words.values / np.float32(full), np.float32(1.0)).astype(np.float32)
