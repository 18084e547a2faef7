"""When things were, beside when the question asks about.

"Who owned the mill in 1955?" finds the right document by its words; the paragraph of the right time is what words and
meaning miss, since the text says "In 1951 it was sold to Grey" and, further down, "In 1962 …". What is known of time
are the dates that the sentences state (``language/stated.py``) and when a message was said. For documents:

- *nearness*: exp(-gap / 8 years), the gap from the question's interval to a date of the segment, nothing where they
  overlap. What comes after the interval counts as twice as far: a state begins before the time that it is asked for.
  An open end ("since 1990") fades too, by 20 years, as one goes along it.
- *validity*: what a sentence says from a date on holds until the next later date that the same document states further
  down (the paragraphs of one document, or the documents of one head, in their order): a fold of the text, before any
  facts are read from it. exp(-gap / 2 years) to that span.
- *closeness*: the nearness of a sentence's date times the likeness of the sentence to the question, the best of a
  segment's. It tells two dates within one paragraph apart. Only for the best segments by all else.
- *siblings*: the best segment of a document (of one head) speaks for the others, which name the thing no more.

Of a question that is open on one side ("after 1962", "before", "since", "until") the end that it names is asked for.
An undated segment takes the last date before it in the document at half its worth, or the day on which its document
was written where that is known. A message counts by when it was said and by what it states, each by exp(-gap / 15
days), and here an open side is taken as it is.

All of it counts only as far as the document bears on the question at all: by relevance = 2 · siblings / best - 1, at
least 0, with the siblings' score before time. So a date lifts no passage that has nothing else to do with the question
(measured: +.6 points of R@5; without it, questions whose date belongs to one hop of several lost up to 10 of R@10).

**One scale.** Time only brings another order: everything is scaled so that the best of a kind scores what the best did
without it. A question without dates is scored exactly as if none of this were there.

**Measured** on 1,000 questions about times in long articles: R@5 65.4 without, 84.2 with; by the halves of the
articles, of which one chose the numbers, 85.7 and 82.9. On dialogues R@2 57.2 and 58.3; where the date is known but not
written in the question ("last week"), R@5 80 and 95. In one space with both, as much. .4 ms at 10,000 segments.

**Tried without success** (R@5 of the same): the span from a segment's first to its last date (-.4), how much of the
interval a date covers (-.3), only the start of the interval (+.2, -.3 on the half that chose), a fixed worth for
undated segments (-.5 to -2), dates in section titles (0), taking the question's time out of its words or meaning (-.4
to 0), its rare words in the sentence of the date in place of the likeness (-.3), the scores of neighbours (0), damping
long spans (-.5), validity within a section only (-.3). In talk, newest first for "recently" (0).
"""

from __future__ import annotations

from bisect import bisect_left

import numpy as np

from mcp_memory.domain.times import BEGINNING, FOREVER, Constraint, Millis
from mcp_memory.domain.turns import Segment, Turn
from mcp_memory.language.gregorian import DAY, HOUR
from mcp_memory.language.names import head
from mcp_memory.search.spans import FAR, Rows, SpanColumns, Spans
from mcp_memory.search.weights import Weights
from mcp_memory.vectors import Scores, Vector
from mcp_memory.view.columns import Column
from mcp_memory.view.space import Space

YEAR = 365.2425 * DAY
"""In milliseconds. Gaps are counted in years."""
SAID = np.float32(15 / 365.2425)
"""Years, namely 15 days, after which a message is worth 1/e (measured: 7 to 30 days are alike)."""
BESIDE = np.float32(0.8)
"""The worth of a message just outside the interval that is asked for beside one within."""
CARRIED = 0.5
"""The worth of a date that was stated before an undated segment (measured: +.2 points of R@5, +.4 of R@10)."""
CLOSELY = 50
"""Segments whose sentences are compared with the question; 25 to 100 give the same."""


class TimeIndex:
    """The dates of each segment, and which documents are about the same."""

    def __init__(self) -> None:
        self.talk = SpanColumns()
        self.documents = SpanColumns()
        self._subject: Column[np.int32] = Column(np.int32)  # of each segment; -1 for talk
        self._numbers: dict[tuple[str, ...] | str, int] = {}  # of the subjects, by head, or by turn where there is none
        # By subject: place and start of the dates that no later one follows yet, each no later than the one before it.
        self._open: dict[int, list[tuple[int, float]]] = {}
        self._last: dict[int, tuple[float, str]] = {}  # by subject: the last date stated, and the turn that states it

    def extend(self, space: Space, since: int) -> None:
        """Take in the segments of ``space`` from row ``since`` on."""
        turn_id, subject = "", -1  # the segments of a document follow one another
        for row in range(since, len(space.segments)):
            turn = space.segment_turn[row]
            if turn.kind != "document":
                subject = -1
                self.talk.add(row, _stated(space, space.segments[row]))
            else:
                if turn.id != turn_id:
                    subject = self._numbers.setdefault(head(turn.title, turn.text) or turn.id, len(self._numbers))
                self._add(space, row, turn, subject)
            turn_id = turn.id
            self._subject.append(subject)

    def siblings(self, rows: Rows, scores: Scores) -> Scores:
        """Return for each of these segments of documents the best score of any about the same, at least 0."""
        subjects = self._subject.values[rows]
        best = np.zeros(len(self._numbers), dtype=np.float32)
        np.maximum.at(best, subjects, scores)
        return best[subjects]

    def _add(self, space: Space, row: int, turn: Turn, subject: int) -> None:
        stated = _stated(space, space.segments[row])
        if not stated:
            last, said_by = self._last.get(subject, (-FAR, ""))
            if said_by and (turn.said_at is None or said_by == turn.id):
                self.documents.add(row, [(-1, last, last)], CARRIED)
            elif turn.said_at is not None:
                self.documents.add(row, [(-1, _years(turn.said_at), _years(turn.said_at + DAY))])
            return
        waiting = self._open.setdefault(subject, [])
        place = len(self.documents)
        self.documents.add(row, stated)
        for at, (_, first, _) in enumerate(stated, place):
            if first > -FAR:
                while waiting and waiting[-1][1] < first:
                    self.documents.hold(waiting.pop()[0], first)
                waiting.append((at, first))
                self._last[subject] = first, turn.id


def in_documents(
    space: Space, asked: Constraint, rows: Rows, scores: Scores, weights: Weights, question: Vector | None
) -> dict[str, Scores]:
    """Return what time adds to segments of documents: ``time`` and ``siblings``, in units of the cosine.

    Args:
        space: its view keeps a `TimeIndex`.
        asked: with dates.
        rows: the segments.
        scores: what they have without time.
        weights: of the terms.
        question: its vector, or None, which leaves out closeness; so does a space that holds no vectors.

    Returns:
        Each of shape ``(len(rows),)``; nothing where no document states a time.
    """
    index = space.index(TimeIndex)
    best = float(scores.max(initial=0))
    if not len(index.documents) or best <= 0:
        return {}
    count = len(space.segments)
    siblings = index.siblings(rows, scores)
    relevance = np.maximum(2 * siblings / np.float32(best) - 1, 0)
    bears = np.flatnonzero(relevance)
    chosen = np.zeros(count, dtype=np.bool_)
    chosen[rows[bears]] = True
    spans = index.documents.of(chosen)
    since, until = _end(asked)
    near = spans.near(since, until)
    time = np.float32(weights.document_near) * spans.best(near, count)
    time += np.float32(weights.document_valid) * spans.best(spans.valid(since, until), count)
    time = time[rows] * relevance
    if question is not None and space.sentence_vectors is not None:
        likely = bears[_first(scores[bears] + time[bears] + siblings[bears], CLOSELY)]
        closeness = _closeness(space, spans, near, rows[likely], question)[rows[likely]]
        time[likely] += np.float32(weights.document_close) * closeness * relevance[likely]
    siblings[bears] = index.siblings(rows[bears], scores[bears] + time[bears])
    return {"time": time, "siblings": np.float32(weights.document_siblings) * siblings}


def _first(scores: Scores, most: int) -> Rows:
    """Return the places of the ``most`` best."""
    return np.argpartition(-scores, most)[:most] if len(scores) > most else np.arange(len(scores))


def in_talk(space: Space, asked: Constraint, rows: Rows, weights: Weights) -> Scores:
    """Return what time gives segments of talk, relative to meaning over its maximum; shape ``(len(rows),)``.

    Args:
        space: its view keeps a `TimeIndex`.
        asked: with dates.
        rows: the segments.
        weights: of the two terms.
    """
    since, until = _years(asked.since), _years(asked.until)
    said = (space.times[rows] / YEAR).astype(np.float32)
    spans = space.index(TimeIndex).talk.every()
    stated = spans.best(_near(spans.since, spans.until, since, until), len(space.segments))[rows]
    time: Scores = np.float32(weights.talk_said) * _near(said, said, since, until)
    time += np.float32(weights.talk_stated) * stated
    time -= time.min()  # what all share tells nothing
    return time


def _near(first: Scores, last: Scores, since: float, until: float) -> Scores:
    """Return how near what lies from ``first`` to ``last`` is to an interval, as it counts in talk."""
    near: Scores = np.exp(-(np.maximum(since - last, 0) + np.maximum(first - until, 0)) / SAID)
    return np.where((first < until) & (last >= since), near, BESIDE * near)


def _closeness(space: Space, spans: Spans, near: Scores, rows: Rows, question: Vector) -> Scores:
    """Return the best nearness times likeness of the sentences of these segments; for all segments, 0 elsewhere."""
    wanted = np.zeros(len(space.segments), dtype=np.bool_)
    wanted[rows] = True
    segments = np.repeat(spans.segments, np.diff(spans.starts, append=len(spans.since)))
    places = np.flatnonzero(wanted[segments] & (spans.sentences >= 0))
    found = np.zeros(len(space.segments), dtype=np.float32)
    if space.sentence_vectors is not None and len(places):
        distinct, which = np.unique(spans.sentences[places], return_inverse=True)
        likeness = np.maximum(space.sentence_vectors.take(distinct) @ question, 0)
        np.maximum.at(found, segments[places], near[places] * likeness[which])
    return found


def _end(asked: Constraint) -> tuple[float, float]:
    """Return the interval in years, of one that is open on a side only the end that it names."""
    since, until = _years(asked.since), _years(asked.until)
    if asked.order == "before" or asked.since == BEGINNING:
        return until - HOUR / YEAR, until - HOUR / YEAR  # the last moment before the end, which no interval holds
    if asked.order == "after" or asked.until == FOREVER:
        return since, since
    return since, until


def _stated(space: Space, segment: Segment) -> list[tuple[int, float, float]]:
    """Return what a segment's sentences state, in order: row of the sentence, since, until."""
    rows = space.sentences_of(segment.turn_id)
    first = bisect_left(rows, segment.first, key=lambda row: space.sentences[row].index)
    stated = []
    for row in rows[first : first + segment.last - segment.first + 1]:
        sentence = space.sentences[row]
        if sentence.index <= segment.last:
            stated += [(row, _years(time.since), _years(time.until)) for time in sentence.times]
    return stated


def _years(instant: Millis) -> float:
    """Return an instant in years since 1970."""
    return -FAR if instant <= BEGINNING else FAR if instant >= FOREVER else instant / YEAR
