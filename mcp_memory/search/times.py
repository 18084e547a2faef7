"""The channel ``time``: when texts happened, compared with the time that the query asks about.

"Who owned the mill in 1955?" finds the right document by its words, but not the paragraph of the right time: the text
says "In 1951 it was sold to Grey" and, further down, "In 1962 …". Known times are the dates that sentences state
(``language/stated.py``) and when a message was said. For documents there are three terms:

- *nearness*: exp(-gap / 8 years), where the gap runs from the query's interval to a date of the segment and is 0 where
  they overlap. A date after the interval counts as twice as far: a state begins before the time for which it is asked.
  An open end ("since 1990") fades too, over 20 years along it.
- *validity*: what a sentence states from a date on is valid until the next later date stated further down in the same
  document (the paragraphs of one document, or the documents of one title, in their order): a fold of the text, before
  any facts are read from it. exp(-gap / 2 years) to that span.
- *closeness*: the nearness of a sentence's date times the similarity of the sentence to the query, the best sentence of
  a segment. It separates two dates within one paragraph. Computed only for the segments that are best by all else.

A channel of its own, *siblings*, counts the best score of any segment of the same document (or title) for its others
too, which do not repeat the name.

For a query that is open on one side ("after 1962", "before", "since", "until") the named end is compared. An undated
segment takes the last date before it in the document at half its worth, or the day on which its document was written
where that is known. A message counts by when it was said and by the times it states, each by exp(-gap / 15 days), for
a time to come by what it states alone; for messages an open-ended interval stays open-ended.

The terms count only as far as the document fits the query at all: they are multiplied by relevance = 2 · siblings /
best - 1, at least 0, with the siblings' score before time. So a date does not lift a passage that has nothing else to
do with the query (measured: +.6 points of R@5; without it, questions whose date belongs to one hop of several lost up
to 10 of R@10).

**One scale.** Time only changes the order: all scores are scaled so that the best of a kind scores what the best scored
without time. A query without dates is scored exactly as if this channel did not exist.

**Measured** on 1,000 questions about times in long articles: R@5 65.4 without, 84.2 with; on the half of the articles
that chose no number 82.9. On dialogues R@2 57.2 and 58.3; where the date is known but not written in the question
("last week"), R@5 80 and 95.

**Spans.** The spans of time of all segments lie in one array (`SPAN`), in years since 1970 as float32 (exact to two
minutes today, to an hour in Roman times), so that a query is compared with thousands of them at once.

**Windows** (`recallable`). Within the times that a caller asks for lies what was said then, and what tells of then.
"I flew home last Sunday", said on 2 September, tells of 27 August. So a segment is within a window if it was said
within it, or states a time of which at least half lies within it. Of an open time ("since May") the end that is stated
counts. Half, since "in August" does not tell of the 27th, and "last week" does tell of the week in which it lies.

Source: GAM-RAG keeps for each sentence the time that it states (§3.1) and MRAgent asks for the time of an event (§3.1,
Table 4). **Departures.** Both compare times by the similarity of their words; here they are resolved when a text is
written, and compared as intervals.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcp_memory.domain.evidence import Evidence
from mcp_memory.domain.query import ANY_TIME, Constraint, Window
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, Millis
from mcp_memory.domain.turns import Role, Segment, Turn
from mcp_memory.language.iso import HOUR
from mcp_memory.language.stated import only_likely, times_within
from mcp_memory.language.tokens import head
from mcp_memory.search.channels import Channel, ChannelInput, SpeakerIndex, sum_scores
from mcp_memory.search.words import Title, TitleIndex
from mcp_memory.vectors import Column, Rows, Scores, Vector
from mcp_memory.view.space import Space

FAR = 1e6
"""In years: stands for an open end, so that differences stay finite."""
NEARNESS_DECAY = np.float32(8)
"""Years of gap after which nearness has fallen to 1/e (measured: 6 to 12 are alike)."""
OUTSIDE_YEARS = np.float32(0.5)
"""Years added to the gap of spans that do not overlap, so that a span that only touches scores below one within."""
OPEN_END_DECAY = np.float32(20)
"""Years along an open end after which nearness has fallen to 1/e (measured: +.4 points of R@5; 12 to 40 are alike)."""
VALIDITY_DECAY = np.float32(2)
"""Years beyond a span of validity after which validity has fallen to 1/e (measured: 1 to 4 are alike)."""
LATER_FACTOR = np.float32(2)
"""Factor on gaps of spans that begin after the interval (measured: 1 loses .4 points of R@5)."""
TIME = Channel("time", talk=1.0, document=1.0)
"""The sum of the terms below, each with its own weight."""
SIBLINGS = Channel("siblings", document=1.0, finds=False)
"""The best score of any segment of the same document, for a dated query (without it -.2 points of R@5, -.5 of R@20)."""
SAID_WEIGHT = 0.3
"""Weight, in talk, of being said at the time that the query asks about, less the farther from it (measured, with the
next: +12 points of R@2 where the query writes the date, +22 where it does not)."""
STATED_WEIGHT = 0.2
"""Weight, in talk, of stating such a time."""
NEARNESS_WEIGHT = 0.25
"""Weight, in documents (measured on questions about times in long articles: without it -3 points of R@5)."""
VALIDITY_WEIGHT = 0.15
"""Weight, in documents (likewise: without it -2)."""
CLOSENESS_WEIGHT = 0.2
"""Weight, in documents (likewise: without it -1)."""
YEAR = 365.2425 * DAY
"""In milliseconds. Gaps are counted in years."""
MESSAGE_DECAY = np.float32(15 / 365.2425)
"""Years, namely 15 days, after which a message is worth 1/e (measured: 7 to 30 days are alike)."""
OUTSIDE_INTERVAL = np.float32(0.8)
"""The worth of a message just outside the query's interval, relative to one within."""
CARRIED_WORTH = 0.5
"""The worth of a date stated before an undated segment (measured: +.2 points of R@5, +.4 of R@10)."""
COMPARED_SEGMENTS = 50
"""Segments whose sentences are compared with the query; 25 to 100 give the same."""
SPAN = np.dtype(
    [("segment", np.intp), ("sentence", np.intp), ("since", np.float32), ("until", np.float32), ("worth", np.float32)]
)
"""A span of time: the rows of its segment and of the sentence that states it (-1 where none does); where it begins
(``-FAR`` for "until 1980") and ends (``FAR`` for "since 1990"); and how far it counts, in [0, 1]."""
Spans = NDArray[Any]
"""Spans, in the order of their segments, shape ``(m,)`` with the fields of `SPAN`."""


class TimeIndex:
    """The dates of each segment.

    Attributes:
        talk: the spans of messages.
        documents: the spans of documents.
        valid_until: until when the statement of each span of ``documents`` is valid; ``-FAR`` where unknown.
    """

    def __init__(self) -> None:
        self.talk: Column[Any] = Column(SPAN)
        self.documents: Column[Any] = Column(SPAN)
        self.valid_until: Column[np.float32] = Column(np.float32)
        # By subject (a title, else a document): position and start of the dates that no later one follows yet, each no
        # later than the one before; the last date stated, and the turn that states it.
        self._open: dict[Title | str, list[tuple[int, float]]] = {}
        self._last: dict[Title | str, tuple[float, str]] = {}

    def add_segments(self, space: Space, since: int) -> None:
        """Add the segments of ``space`` from row ``since`` on."""
        turn_id = ""
        subject: Title | str = ""  # the segments of a document follow one another
        for row in range(since, len(space.segments)):
            turn, stated = space.segment_turn[row], _stated_times(space, space.segments[row])
            if turn.kind != "document":
                _add(self.talk, row, stated)
            else:
                if turn.id != turn_id:
                    subject = head(turn.title, turn.text) or turn.id
                self._add_document(row, stated, turn, subject)
            turn_id = turn.id

    def _add_document(
        self, row: int, stated: Sequence[tuple[int, float, float]], turn: Turn, subject: Title | str
    ) -> None:
        spans, worth = stated, 1.0
        last, stated_by = self._last.get(subject, (-FAR, ""))
        if not stated and stated_by and (turn.said_at is None or stated_by == turn.id):
            spans, worth = [(-1, last, last)], CARRIED_WORTH
        elif not stated and turn.said_at is not None:
            spans = [(-1, _years(turn.local_time), _years(turn.local_time + DAY))]
        position = len(self.documents)
        _add(self.documents, row, spans, worth)
        self.valid_until.extend([-FAR] * len(spans))
        waiting = self._open.setdefault(subject, [])
        for at, (_, first, _) in enumerate(stated, position):
            if first > -FAR:
                while waiting and waiting[-1][1] < first:
                    self.valid_until[waiting.pop()[0]] = first
                waiting.append((at, first))
                self._last[subject] = first, turn.id


def _add(column: Column[Any], row: int, spans: Sequence[tuple[int, float, float]], worth: float = 1.0) -> None:
    """Add the spans of the next segment, each as (row of its sentence, since, until)."""
    column.extend(np.array([(row, *span, worth) for span in spans], dtype=SPAN))


def add_temporal_scores(inputs: ChannelInput, asked: Constraint, scores: Mapping[str, Scores]) -> dict[str, Scores]:
    """Return the scores with ``time`` and ``siblings`` among them, on the same scale.

    Args:
        inputs: what the channels read; the view of its space keeps a `TimeIndex`.
        asked: the query's time, with dates.
        scores: the scores of the channels before, by name, each of shape ``(len(inputs.rows),)``.
    """
    before = sum_scores(scores, len(inputs.rows))
    if inputs.talk:
        added = {
            TIME.name: np.float32(inputs.unit)
            * _message_times(inputs.space, asked, inputs.rows, inputs.query.local_now)
        }
    else:
        vector = inputs.query.vector if inputs.switches.meaning else None
        added = _document_times(inputs.space, asked, inputs.rows, before, vector)
    timed = {**scores, **added}
    best, now = float(before.max()), float(sum_scores(timed, len(before)).max())
    return {name: part * np.float32(best / now) for name, part in timed.items()} if min(best, now) > 0 else timed


def _document_times(
    space: Space, asked: Constraint, rows: Rows, scores: Scores, query: Vector | None
) -> dict[str, Scores]:
    """Return ``time`` and ``siblings`` of document segments, each of shape ``(len(rows),)``; {} where none has a date.

    Args:
        space: the space that they are in.
        asked: the query's time, with dates.
        rows: the segments.
        scores: what they have without time.
        query: its vector; None leaves out closeness, and so does a space that holds no vectors.
    """
    index = space.index(TimeIndex)
    best = float(scores.max(initial=0))
    if not len(index.documents) or best <= 0:
        return {}
    subjects = space.index(TitleIndex).subjects[rows]
    siblings = _best_of_subject(subjects, scores)
    relevance = np.maximum(2 * siblings / np.float32(best) - 1, 0)
    relevant = np.flatnonzero(relevance)
    chosen = np.zeros(len(space.segments), dtype=np.bool_)
    chosen[rows[relevant]] = True
    places = np.flatnonzero(chosen[index.documents.values["segment"]])
    spans, valid_until = index.documents.values[places], index.valid_until.values[places]
    since, until = _compared_interval(asked)
    nearness = _nearness(spans, since, until)
    time = np.float32(NEARNESS_WEIGHT) * _best_of_segments(space, spans, nearness)
    time += np.float32(VALIDITY_WEIGHT) * _best_of_segments(space, spans, _validity(spans, valid_until, since, until))
    time = time[rows] * relevance
    if query is not None and space.sentence_vectors is not None:
        likely = relevant[_best(scores[relevant] + time[relevant] + siblings[relevant], COMPARED_SEGMENTS)]
        closeness = _closeness(space, spans, nearness, rows[likely], query)[rows[likely]]
        time[likely] += np.float32(CLOSENESS_WEIGHT) * closeness * relevance[likely]
    siblings[relevant] = _best_of_subject(subjects[relevant], scores[relevant] + time[relevant])
    return {TIME.name: time, SIBLINGS.name: np.float32(SIBLINGS.document) * siblings}


def _nearness(spans: Spans, since: float, until: float) -> Scores:
    """Return the nearness of each span to an interval, in [0, 1]."""
    begin, end = spans["since"], spans["until"]
    gaps = np.maximum(since - end, 0) + OUTSIDE_YEARS * (end <= since)
    gaps += LATER_FACTOR * (np.maximum(begin - until, 0) + OUTSIDE_YEARS * _begins_after(spans, since, until))
    along = np.where(end == FAR, np.maximum(since - begin, 0), 0)
    along += np.where(begin == -FAR, np.maximum(end - until, 0), 0)
    near: Scores = np.exp(-gaps / NEARNESS_DECAY - along / OPEN_END_DECAY) * spans["worth"]
    return near


def _validity(spans: Spans, valid_until: Scores, since: float, until: float) -> Scores:
    """Return how far an interval lies within the validity of each span, in [0, 1]; 0 before the span begins."""
    fading = np.exp(-np.maximum(since - valid_until, 0) / VALIDITY_DECAY)
    valid: Scores = fading * ~_begins_after(spans, since, until)
    return valid


def _begins_after(spans: Spans, since: float, until: float) -> NDArray[np.bool_]:
    after: NDArray[np.bool_] = (spans["since"] >= until) & (spans["since"] > since)  # a single moment overlaps itself
    return after


def _best_of_segments(space: Space, spans: Spans, values: Scores) -> Scores:
    """Return the greatest of each segment's values, at least 0, shape ``(len(space.segments),)``."""
    best = np.zeros(len(space.segments), dtype=np.float32)
    np.maximum.at(best, spans["segment"], values)
    return best


def _best_of_subject(subjects: NDArray[np.int32], scores: Scores) -> Scores:
    """Return for each of some document segments the best score of any with its subject, at least 0."""
    best = np.zeros(int(subjects.max(initial=0)) + 1, dtype=np.float32)
    np.maximum.at(best, subjects, scores)
    return best[subjects]


def _best(scores: Scores, count: int) -> Rows:
    """Return the positions of the ``count`` best, in no order."""
    return np.argpartition(-scores, count)[:count] if len(scores) > count else np.arange(len(scores))


def _message_times(space: Space, asked: Constraint, rows: Rows, now: Millis) -> Scores:
    """Return the time score of messages relative to the best similarity, shape ``(len(rows),)``.

    Of a time to come only what states it counts, if anything does: nothing was said then.
    """
    since, until = _years(asked.since), _years(asked.until)
    spans = space.index(TimeIndex).talk.values
    time = _best_of_segments(space, spans, _message_nearness(spans["since"], spans["until"], since, until))[rows]
    if asked.since >= now and asked.order != "now" and time.max(initial=0) == 1:
        time *= np.float32(SAID_WEIGHT + STATED_WEIGHT)
    else:
        said = (space.local_times.values[rows] / YEAR).astype(np.float32)
        time = np.float32(STATED_WEIGHT) * time + np.float32(SAID_WEIGHT) * _message_nearness(said, said, since, until)
    time -= time.min()  # what all messages share says nothing
    return time


def _message_nearness(first: Scores, last: Scores, since: float, until: float) -> Scores:
    """Return the nearness of times from ``first`` to ``last`` to an interval, as it counts in talk."""
    near: Scores = np.exp(-(np.maximum(since - last, 0) + np.maximum(first - until, 0)) / MESSAGE_DECAY)
    return np.where((first < until) & (last >= since), near, OUTSIDE_INTERVAL * near)


def _closeness(space: Space, spans: Spans, nearness: Scores, rows: Rows, query: Vector) -> Scores:
    """Return the best nearness times similarity of the sentences of these segments; for all segments, 0 elsewhere."""
    places = np.flatnonzero(np.isin(spans["segment"], rows) & (spans["sentence"] >= 0))
    if space.sentence_vectors is None or not len(places):
        return np.zeros(len(space.segments), dtype=np.float32)
    distinct, which = np.unique(spans["sentence"][places], return_inverse=True)
    similarity = np.maximum(space.sentence_vectors.take(distinct) @ query, 0)
    return _best_of_segments(space, spans[places], nearness[places] * similarity[which])


def _compared_interval(asked: Constraint) -> tuple[float, float]:
    """Return the interval in years; of one that is open on a side, only the end that it names."""
    since, until = _years(asked.since), _years(asked.until)
    if asked.order == "before" or asked.since == BEGINNING:
        return until - HOUR / YEAR, until - HOUR / YEAR  # the last moment before the end
    if asked.order == "after" or asked.until == FOREVER:
        return since, since
    return since, until


def _stated_times(space: Space, segment: Segment) -> list[tuple[int, float, float]]:
    """Return the times that a segment's sentences state, in order: row of the sentence, since, until."""
    rows = space.sentences.of_turn(segment.turn_id)
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


SHARE_WITHIN = 0.5
"""The least share of a stated time that lies within a window."""
MOMENT: Millis = 60_000
"""A time is at least so long when shares are compared."""


def recallable(space: Space, window: Window, role: Role | None = None) -> NDArray[np.bool_]:
    """Return which segments may be recalled: live, within a window and, of a role, said by such a speaker."""
    open_: NDArray[np.bool_] = space.live
    if window != ANY_TIME:
        first, last = (
            space.times if instant else space.local_times.values
            for instant in (window.since_instant, window.until_instant)
        )
        said = (first >= window.since) & (last < window.until)
        open_ = open_ & (said | segments_telling_within(space, window))
    return open_ if role is None else open_ & space.index(SpeakerIndex).in_role(space, role)


def tells_of(window: Window, since: Millis, until: Millis) -> bool:
    """Return whether a stated time lies mostly within a window."""
    if since <= BEGINNING:
        since = until - MOMENT
    length = MOMENT if until >= FOREVER else max(until - since, MOMENT)
    return min(since + length, window.until) - max(since, window.since) >= SHARE_WITHIN * length


def segments_telling_within(space: Space, window: Window) -> NDArray[np.bool_]:
    """Return which segments state a time that lies mostly within a window, shape ``(len(space.segments),)``."""
    index = space.index(TimeIndex)
    found = np.zeros(len(space.segments), dtype=np.bool_)
    first, last = (max(-FAR, min(FAR, bound / YEAR)) for bound in (window.since, window.until))
    moment = MOMENT / YEAR
    for spans in (index.talk.values, index.documents.values):
        begins, ends = spans["since"].astype(np.float64), spans["until"].astype(np.float64)  # float32 adds no minute
        since = np.where(begins == -FAR, ends - moment, begins)
        until = np.where(ends == FAR, since + moment, ends)
        length = np.maximum(until - since, moment)
        inside = np.minimum(since + length, last) - np.maximum(since, first) >= SHARE_WITHIN * length
        found[spans["segment"][inside & (spans["sentence"] >= 0)]] = True
    return found


def with_event_times(evidence: Sequence[Evidence], window: Window) -> tuple[Evidence, ...]:
    """Return evidence in which sentences and passages from outside a window have the time within it that they state.

    What was recalled for a time was said then, or only tells of then.
    """

    def with_time(item: Evidence) -> Evidence:
        if item.kind in ("sentence", "segment") and item.sources and not window.holds(item.sources[0].turn):
            for time in times_within(item.sources[0].quote, item.sources[0].turn.local_time):
                if tells_of(window, time.since, time.until) and not only_likely(item.sources[0].quote, time):
                    return replace(item, valid_from=time.since, valid_to=time.until, told_then=True)
        return item

    return tuple(evidence) if window == ANY_TIME else tuple(map(with_time, evidence))
