"""Exchanges: what a person said to an assistant together with the assistant's replies, scored for a topic.

In a long chat with an assistant a person asks, the assistant answers at length, and the person asks on. Which messages
bear on a topic is decided by both: the person names it in few words, and a short "and if the user types fast?" is
understood from what came before and from the answer. So an exchange is scored as a whole, by numbers that are each
relative to the best exchange::

    ½·cos(person's words) + ½·cos(assistant's words) + BM25(person's words) + BM25(both)
    + ½·(person's best score in the search for the whole question) + ½·(the same, of both)

with the cosine of the best segment to the topic of the question, without the words that ask for a list
(`language.shapes.topic_of`). Where nobody spoke to an assistant, each message is an exchange by itself.

A short message that goes on from the exchange before it (`follows_up`) has at least `INHERITED` of that one's score.

Source: the unit of retrieval is QRMeM's static memory (§2.1), whose segments lie within a text; here a unit spans the
texts that belong together. MRAgent's episodes (§3.1) come from a language model that groups turns. **Departures.** The
grouping is by roles alone, and BM25 of an exchange is that of its best segment for each part.

**Measured** on long chats with an assistant, R@10 of the messages that a question about an order rests on: 17.6 by the
search alone, and 44 by exchanges (half of the questions 5.6 and 52, the other half 26 and 39).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.turns import by_assistant
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Column, Rows, Scores
from mcp_memory.view.space import NONE, Space

FOLLOW_UP_CHARS = 120
"""Characters up to which a message follows up the exchange before it: "And if the user types fast?"."""
INHERITED = 0.8
"""Share of the score of the exchange before it that a follow-up has at least.

Measured where a reply has 40 lines: 6 of 100 more of the messages that a question about an order rests on.
"""
_GOES_ON = re.compile(
    r"(?:hm+|ok(?:ay)?|so|and|but|or|also|then|yes|no|thanks|thank you|great|good|what if|what about|how about|it|this"
    r"|that|these|those)\b",
    re.IGNORECASE,
)


def follows_up(text: str) -> bool:
    """Return whether a message goes on from what was said before it: a short question, or "and", "what about"."""
    text = text.strip()
    return len(text) <= FOLLOW_UP_CHARS and (text.endswith("?") or _GOES_ON.match(text) is not None)


class ExchangeIndex:
    """The exchange of each segment: messages of a session from one of a person to the assistant's last reply to it."""

    def __init__(self) -> None:
        self._of: Column[np.intp] = Column(np.intp)
        self._replies: Column[np.bool_] = Column(np.bool_)
        self._follows: Column[np.intp] = Column(np.intp)

    def add_segments(self, space: Space, since: int) -> None:
        """Add the segments of ``space`` from row ``since`` on."""
        for row in range(since, len(space.segments)):
            turn, before = space.segment_turn[row], int(space.rows_before[row])
            reply = by_assistant(turn)
            joins = before != NONE and (reply or space.segment_turn[before].id == turn.id)
            if joins:
                self._of.append(self._of.values[before])
            else:
                self._of.append(len(self._follows))
                self._follows.append(self._of.values[before] if before != NONE and follows_up(turn.text) else NONE)
            self._replies.append(reply)

    def __len__(self) -> int:
        return len(self._follows)

    @property
    def of(self) -> Rows:
        """Shape ``(len(space.segments),)``: the number of each segment's exchange; those of a session ascend."""
        return self._of.values

    @property
    def replies(self) -> NDArray[np.bool_]:
        """Shape ``(len(space.segments),)``: whether a segment is of an assistant's message."""
        return self._replies.values

    @property
    def follows(self) -> Rows:
        """Shape ``(len(self),)``: the exchange that a short message follows up, or `NONE`."""
        return self._follows.values


def exchange_scores(
    space: Space, rows: Rows, found: Scores, topic_cosines: Scores, topic_stems: Sequence[str]
) -> Scores:
    """Return how much each exchange bears on a topic, best = 1.

    Args:
        space: its view keeps `ExchangeIndex` and `WordIndex`.
        rows: the rows of the segments that may be returned, all of them talk.
        found: the scores of the search for the whole question, at least 0, shape ``(len(rows),)``.
        topic_cosines: of each segment to the topic, shape ``(len(space.segments),)``.
        topic_stems: the stems of the topic.

    Returns:
        Shape ``(len(index),)``; 0 for exchanges without such segments.
    """
    index = space.index(ExchangeIndex)
    own, replies = index.of[rows], index.replies[rows]
    words = space.index(WordIndex).score(space, topic_stems, talk=True, neighbours=False)[rows]
    cosines = np.maximum(topic_cosines[rows], 0)

    def best(scores: Scores, among: NDArray[np.bool_]) -> Scores:
        highest = np.zeros(len(index), dtype=np.float32)
        np.maximum.at(highest, own[among], scores[among].astype(np.float32))
        return highest / np.float32(float(highest.max()) or 1.0)

    every = np.ones(len(rows), dtype=np.bool_)
    half = np.float32(0.5)
    total = half * (best(cosines, ~replies) + best(cosines, replies)) + best(words, ~replies) + best(words, every)
    total += half * (best(found, ~replies) + best(found, every))
    for number in np.flatnonzero((index.follows != NONE) & (total > 0)).tolist():  # in order, so that it is passed on
        total[number] = max(total[number], np.float32(INHERITED) * total[index.follows[number]])
    return total / np.float32(float(total.max()) or 1.0)
