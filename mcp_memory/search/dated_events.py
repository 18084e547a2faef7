"""Date two events between which a question asks for the time (`language.constraints`).

Each event is looked for by itself: among the messages and passages nearest to it, the one that says most of it and
states a time counts, the time nearest to its words. Where it states none, a time counts that the same speaker told
shortly before with a word of the event, else the day on which it was said, and is called so. A date that the question
itself gives is taken from there.

A message's support is the cosine of its best sentence with the event plus `CONTAINED` of the share of the event's words
that it contains; a time `AWAY` sentences from it costs that much, and the day of saying `UNSTATED`.

Of a stretch of time ("16 December to 15 January") the last day counts for what ends or is done, and the first for what
begins or is only named.

Source: REAL resolves "before she moved" by the facts (§3.3.1) and MRAgent asks for the time of an event by an operator
(§3.1, Table 4). **Departures.** Both find one event; here there are two, and the days between them are counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from mcp_memory.domain.evidence import DatedEvent, Source
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, Millis, StatedTime
from mcp_memory.domain.turns import Turn, by_assistant
from mcp_memory.language.stated import stated_times
from mcp_memory.language.tokens import stems
from mcp_memory.search.windows import recallable
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Scores
from mcp_memory.view.space import NONE, Space

NEAREST = 12
"""Segments nearest to an event that are read for its time."""
CONTAINED = 0.5
"""Weight of the share of an event's words that a sentence contains, beside its cosine."""
AWAY = 0.03
"""Cost of each sentence between the one that tells of the event and the time."""
UNSTATED = 0.15
"""Cost of the day of saying in place of a stated time."""
EARLIER = 0.1
"""Cost of a time that the same speaker told shortly before."""
BACK = 4
"""Segments before a message in which such a time is looked for."""
ADVICE = 0.15
"""Cost of the words of an assistant: what it plans and drafts has dates, too."""
_ENDS = re.compile(r"\b(?:end|finish|complet|deadline|due|done|deliver|last)\w*", re.IGNORECASE)
EXACT = frozenset(("time", "day", "week", "month"))
"""Grains of times between which days or weeks can be counted."""


def dated_events(space: Space, query: Query, cosines: Sequence[Scores]) -> tuple[DatedEvent, ...]:
    """Return the two events of a query with their dates, in their order in the question; none if one has no date.

    Args:
        space: the space of a view that does not change meanwhile.
        query: the query with its events understood and embedded.
        cosines: of each event with each segment.
    """
    found = tuple(_date_event(space, query, event, near) for event, near in zip(query.events, cosines, strict=True))
    return tuple(event for event in found if event) if all(found) else ()


def _date_event(space: Space, query: Query, event: Query, cosines: Scores) -> DatedEvent | None:
    """Return an event with the date that the question gives it, or else the best of the texts nearest to it."""
    given = [time for time in stated_times(event.text, None) if _exact(time)]
    if given:
        return DatedEvent(event.text, *_day(event, given[0]))
    words = space.index(WordIndex)
    rarity = words.rarities(event.stems)
    open_ = recallable(space, query.window, query.role)
    rows = np.flatnonzero(open_)
    if not len(rows):
        return None
    contained = sum(
        (weight * words.contains(rows, stem).astype(np.float32) for stem, weight in rarity.items()),
        np.zeros(len(rows), dtype=np.float32),
    )
    total = cosines[rows] + CONTAINED * contained / np.float32(sum(rarity.values()) or 1.0)
    nearest = rows[np.argsort(-total, kind="stable")[:NEAREST]]
    segments: dict[str, list[int]] = {}
    for row in nearest.tolist():
        segments.setdefault(space.segment_turn[row].id, []).append(row)
    choices = [
        one for name, near in segments.items() for one in _choices(space, event, rarity, space.turns[name], near)
    ]
    return max(choices, key=lambda choice: choice[0])[1] if choices else None


def _choices(
    space: Space, event: Query, rarity: dict[str, float], turn: Turn, segments: Iterable[int]
) -> Iterator[tuple[float, DatedEvent]]:
    """Yield the times that a message, or some segments of a document, may give an event, with the support of each."""
    rows = space.sentences_of(turn.id)
    if turn.kind == "document":  # which may be a book
        rows = sorted({row for segment in segments for row in space.sentences_within(space.segments[segment])})
    if not rows or space.sentence_vectors is None:
        return
    near = (space.sentence_vectors.take(np.array(rows, dtype=np.intp)) @ event.vectors[-1]).tolist()
    whole = sum(rarity.values()) or 1.0

    def covered(text: str) -> float:
        said = set(stems(text))
        return sum(weight for stem, weight in rarity.items() if stem in said) / whole

    pieces = [space.sentences[row] for row in rows]
    less = ADVICE if by_assistant(turn) else 0.0
    support = [
        cosine + CONTAINED * covered(space.text(piece)) - less for cosine, piece in zip(near, pieces, strict=True)
    ]
    best = int(np.argmax(support))
    stated = False
    for piece in pieces:
        begin = piece.start
        for time in sorted(piece.times, key=lambda time: time.start):
            if _exact(time):
                stated = True
                told = covered(turn.text[begin : _clause_end(turn.text, time.end, piece.end)])
                score = support[best] - AWAY * min(abs(piece.index - pieces[best].index), 5) + AWAY * told
                yield score, DatedEvent(event.text, *_day(event, time), Source(turn, piece.start, piece.end))
                begin = time.end
    if not stated:
        for source, time in _told_before(space, event, turn):
            yield support[best] - EARLIER, DatedEvent(event.text, *_day(event, time), source)
    if not stated and turn.said_at is not None and turn.kind == "message":
        day, source = turn.local_time // DAY * DAY, Source(turn, pieces[best].start, pieces[best].end)
        yield support[best] - UNSTATED, DatedEvent(event.text, day, day + DAY, source, said=True)


def _told_before(space: Space, event: Query, turn: Turn) -> Iterator[tuple[Source, StatedTime]]:
    """Yield the times in what the same speaker said shortly before, where a sentence has a word of the event.

    "I adopted a puppy last week." – "What is it called?" – "Her name is Bella."
    """
    row = int(space.previous_rows[space.segments_with(turn.id, 0)[0]]) if space.segments_with(turn.id, 0) else NONE
    for _ in range(BACK):
        if row == NONE:
            return
        before = space.segment_turn[row]
        near = before.speaker == turn.speaker and turn.time - before.time < DAY
        for place in space.sentences_within(space.segments[row]) if near else ():
            piece = space.sentences[place]
            times = [time for time in piece.times if _exact(time)]
            if times and not set(event.stems).isdisjoint(stems(space.text(piece))):
                yield Source(before, piece.start, piece.end), times[0]
        row = int(space.previous_rows[row])


def _exact(time: StatedTime) -> bool:
    return time.grain in EXACT and time.since > BEGINNING and time.until < FOREVER


def _day(event: Query, time: StatedTime) -> tuple[Millis, Millis]:
    """Return the day of a stretch of time that an event means; a week or a month, which no day is known of, whole."""
    if time.grain in ("week", "month") or time.until - time.since <= DAY:
        return time.since, time.until
    last = (time.until - 1) // DAY * DAY
    return (last, last + DAY) if _ENDS.search(event.text) else (time.since, time.since // DAY * DAY + DAY)


def _clause_end(text: str, start: int, end: int) -> int:
    """Return where the clause ends in which a time stands: at the next comma or "and"."""
    places = [place for mark in (",", ";", " and ", ". ") if (place := text.find(mark, start, end)) >= 0]
    return min(places, default=end)
