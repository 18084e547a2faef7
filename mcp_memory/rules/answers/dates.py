"""When something happened: the times that a sentence states, written out, and the time at which it was said.

"Yesterday", said on 8 May 2023, is 7 May 2023. "Last week" is said as the week before the day it was said: whether the
calendar's week or the last seven days were meant, nobody knows. A sentence that states no time borrows one from its
neighbour in the same turn, or, where it tells of something that has just happened, the day on which it was said; both
are hedged. A document tells of many things, and its first date is often of another: there the sentence has to hold the
event that is asked about, or be a life, "(1863 – 1928)", of which the beginning or the end is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from mcp_memory.domain.times import BEGINNING, FOREVER, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.language.dates import day_in_words, in_words
from mcp_memory.rules.answers.asking import Asking
from mcp_memory.rules.answers.spans import Span
from mcp_memory.rules.answers.support import DAY, YEAR, Reading
from mcp_memory.rules.answers.words import at, gap

_STARTS = frozenset(
    ["born", "birth", "start", "begin", "began", "found", "establish", "open", "debut", "launch", "join"]
)
_ENDS = frozenset(["die", "death", "dead", "end", "close", "disband", "dissolv", "finish", "retir"])
_JUST = re.compile(
    r"\b(?:just|now|today|finally|at last|guess what|currently|this (?:morning|afternoon|evening))\b"
    r"|\bis (?:open|here)\b",
    re.I,
)
_AHEAD = re.compile(r"\b(?:will|going to|gonna|plan(?:s|ning)?|hop(?:e|ing)|soon|next|would|might|want)\b", re.I)
NEIGHBOUR = -0.9
SAID = -1.1
LIFE = 15 * YEAR


def dates(question: Asking, reading: Reading, readings: Sequence[Reading]) -> Iterator[Span]:
    """Return the times that the sentence gives for an answer.

    Args:
        question: asks when.
        reading: the sentence.
        readings: all sentences of the evidence; neighbours are looked for among them.
    """
    own = list(reading.times)
    for start, end, stated in own:
        if reading.is_document and not (_tells(question, reading) or _is_life(question, stated)):
            continue
        near = near_to_hits(reading, start, end)
        yield Span(start, end, near, in_words_of(question, stated, reading))
    if own or reading.is_document or not reading.hits:
        return
    source = reading.candidate.source
    for other in readings:
        there = other.candidate.source
        apart = max(there.start - source.end, source.start - there.end)
        if there.turn.id != source.turn.id or not 0 <= apart <= 3:
            continue
        for _, _, stated in other.times:
            text = in_words_of(question, stated, other)
            yield Span(0, len(reading.text), NEIGHBOUR, text, other.candidate, hedged=True)
    said = source.turn.said_at
    if said is not None and _JUST.search(reading.text) and not _AHEAD.search(reading.text):
        yield Span(0, len(reading.text), SAID, day_in_words(said), hedged=True)


def in_words_of(question: Asking, stated: StatedTime, reading: Reading) -> str:
    """Return a stated time as an answer to the question says it."""
    if told := as_told(stated, reading.candidate.source.turn):
        return told
    if _is_life(question, stated):
        if not _STARTS.isdisjoint(question.stems):
            return in_words(stated.since, stated.since + 1, stated.grain)
        return in_words(stated.until - 1, stated.until, stated.grain)
    return in_words(stated.since, stated.until, stated.grain)


def as_told(stated: StatedTime, turn: Turn) -> str | None:
    """Return a time that is not said by its own name, "last week" and weekends; None for all others."""
    said = turn.said_at
    if stated.relative and stated.grain == "week" and said is not None and 0 <= said - stated.until < 7 * DAY:
        return f"the week before {day_in_words(said)}"
    if "weekend" in turn.text[stated.start : stated.end].lower():
        return f"the weekend of {day_in_words(stated.since)}"
    return None


def _tells(question: Asking, reading: Reading) -> bool:
    """Return whether the sentence holds the event asked about: the last word of "when did … *die*"."""
    return question.event is None or any(question.event in reading.words[hit].stems for hit in reading.hits)


def _is_life(question: Asking, stated: StatedTime) -> bool:
    """Return whether a stated time is a beginning and an end, "(1863 – 1928)", one of which is asked for."""
    bounded = stated.since > BEGINNING and stated.until < FOREVER and stated.until - stated.since > LIFE
    asked = question.stems & (_STARTS | _ENDS)
    return bounded and bool(asked) and stated.grain in ("day", "month", "year")


def near_to_hits(reading: Reading, start: int, end: int) -> float:
    """Return how near a span stands to the question's words in the sentence, in (0, 1]."""
    first, last = at(reading.words, start), at(reading.words, end - 1)
    return 1 / (1 + gap(first, last, reading.hits) / 4)
