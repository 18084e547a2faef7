"""Channels that only messages have: who said it, what it replies to, and its form.

A message's form is whether it is a question or a statement, short or long. It orders what other channels found and
finds nothing by itself.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_memory.language.sentences import QUESTION_MARKS
from mcp_memory.search.channels import Channel, ChannelInput
from mcp_memory.vectors import Column, Scores
from mcp_memory.view.space import NONE, Space

STATEMENT = 0.1
"""Added to ``form`` where the message does not end with a question mark (measured: +2 points of R@2)."""
LENGTH = 0.05
"""Added to ``form`` for a message of `FULL_LENGTH` words, less for a shorter one (measured: +.5 points of R@5)."""
FULL_LENGTH = 30
"""In words."""
_UNKNOWN = -1


class SpeakerIndex:
    """The speaker and the form of each segment."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._speakers: Column[np.int32] = Column(np.int32)
        self._statements: Column[np.bool_] = Column(np.bool_)
        self._words: Column[np.int32] = Column(np.int32)

    def extend(self, space: Space, since: int) -> None:
        """Add the segments of ``space`` from row ``since`` on."""
        for row in range(since, len(space.segments)):
            turn = space.segment_turn[row]
            text = space.text(space.segments[row])
            speaker = (turn.speaker or turn.role) if turn.kind != "document" else None
            self._speakers.append(self._numbers.setdefault(speaker, len(self._numbers)) if speaker else _UNKNOWN)
            self._statements.append(not text.rstrip().endswith(QUESTION_MARKS))
            self._words.append(len(text.split()))

    def said_by(self, speakers: Sequence[str]) -> NDArray[np.bool_]:
        """Return which segments one of these speakers said, shape ``(segments,)``; documents have no speaker."""
        return np.isin(self._speakers.values, [self._numbers[name] for name in speakers if name in self._numbers])

    @property
    def statements(self) -> NDArray[np.bool_]:
        """Which segments do not end with a question mark."""
        return self._statements.values

    def replies(self, previous: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which messages come right after a question that somebody else asked.

        Args:
            previous: the row before each segment in its session, or `NONE`, shape ``(segments,)`` (`Space.previous`).
        """
        speakers, questions = self._speakers.values, ~self._statements.values
        # A previous row of -1 reads the last segment; the next line drops it.
        others = (speakers != speakers[previous]) | (speakers == _UNKNOWN)
        replies: NDArray[np.bool_] = (previous != NONE) & questions[previous] & others
        return replies

    def relative_length(self, full: int) -> Scores:
        """Return the length of each segment as a share of ``full`` words, in [0, 1]."""
        return np.minimum(self._words.values / np.float32(full), np.float32(1.0)).astype(np.float32)


def _reply(given: ChannelInput, weight: float) -> Scores | None:
    if not (given.talk and given.switches.meaning):
        return None
    previous = given.space.previous
    before = given.similarity[previous[given.rows]]
    return np.float32(weight) * before * given.space.index(SpeakerIndex).replies(previous)[given.rows]


def _speaker(given: ChannelInput, weight: float) -> Scores | None:
    if not given.talk or len(given.query.speakers) != 1:
        return None
    said = given.space.index(SpeakerIndex).said_by(given.query.speakers)
    return said[given.rows] * np.float32(weight * given.unit)


def _form(given: ChannelInput, _: float) -> Scores | None:
    if not given.talk:
        return None
    speakers = given.space.index(SpeakerIndex)
    statement = STATEMENT * speakers.statements[given.rows]
    length = LENGTH * speakers.relative_length(FULL_LENGTH)[given.rows]
    form: Scores = (given.unit * (statement + length)).astype(np.float32)
    return form


REPLY = Channel("reply", talk=0.2, switch=lambda on: on.replies, score=_reply)
"""The similarity of the question asked just before, for a message that is another speaker's reply to it.

Measured on dialogues: +3.5 points of R@2, +1 of R@5, +.6 of R@10, -.5 of R@20; .1 gives half of it.
"""
SPEAKER = Channel("speaker", talk=0.4, switch=lambda on: on.speaker, score=_speaker)
"""Added to messages by the one speaker that the query names.

Measured: +3.5 points of R@10; values from .3 to .5 lie within half a point.
"""
FORM = Channel("form", talk=1.0, score=_form, finds=False)
"""Statements before questions, long messages before short ones; `STATEMENT` and `LENGTH` are its weights."""
