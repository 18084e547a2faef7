"""Broad recall: everything that bears on a query as short lines, or an overview of it (modes ``all``, ``overview``).

A *unit* is an exchange (``search/exchanges.py``): a message to an assistant with the replies to it, else a message, or
a segment of a document. It *bears on* a question (`find_units`) if:

- its score in the search, or `EXCHANGE_WEIGHT` times that as an exchange, is at least the share `BEARING_SHARE` of the
  best one's; half of that where a telling cue of the topic leads to it: one in at most one sentence of 50 (MRAgent eq.
  5, φ(c, g) over all tags);
- it is among the best that a part of the question or another wording of it finds;
- it tells of a time still to come that the question asks about: such dates lead ("What is coming up?"). Where
  it asks for nothing else ("What have I got on in December?"), the best of the search follow;
- it tells of an area of life or work that the question asks for, such as health or money (``language/shapes.py``);
- a memory point that is related to the question rests on it (HGMem §3.6, which answers from all of a point's texts).

**Everything** (`_everything`), for lists, orders, and how many: a line for each message, ranked by relevance; the reply
shows those of a page in the order of time, and says how many there are. So the first page has the most relevant ones of
every session, and the next pages (``skip``) go on with what bears on it less. Of an exchange with an assistant the
person's messages are listed, since such a question is about what the person did and said, and the assistant's where the
question asks what it said (`language.questions.asks_for_advice`).

**Overview** (`_overview`), for summaries: how something went, broad and even over time. The units are ordered by time
and divided into equal parts. The best `FIRST_UNITS` come first whatever their time; then each part gives its best unit
in turn, so that no stretch is left out.

**Lines** (`Lines`): what was said in some 150 characters, in its own words. A short message is its own line. A line of
a long message of the user, and of a long sentence of anybody, is its brief (``language/briefs.py``): the matter, and
the clauses with figures. Of other messages it is the sentence that says most of the topic, with what is around it as
far as there is room, and never code. The line of a long reply that an assistant divided by headings is these headings:
they say what it advised. In an overview both sides of an exchange share a line.

Source: MRAgent's topics τ lead to all of their episodes (§3.1, eq. 5), HGMem's points to all of their texts, and its
global view covers what no point covers yet (§3.4). **Departures.** The papers bound what they return by the budget of
a language model's loop, and have it write a summary of each unit when it is written. Here the whole set is counted, as
far as memory can tell, and paged, and a line is verbatim, or headings in their own words, and made when it is read.

**Measured** on long chats with an assistant, of the messages that a summary rests on: 20 at R@20 by the search alone,
26 here, and 58 in 40 lines, of which a reply of 2,000 tokens shows some 34; with both sides of an exchange in lines of
their own 41 in 40 lines.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from anyio import to_thread

from mcp_memory.domain.evidence import Evidence, EvidenceKind, RecallResult, Source
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import Turn, by_assistant, by_user
from mcp_memory.language.briefs import brief
from mcp_memory.language.questions import asks_for_advice
from mcp_memory.language.segments import code_blocks, cut_line, without_code
from mcp_memory.language.shapes import (
    areas_asked,
    asks_for_number,
    asks_for_time_alone,
    time_ahead,
    topic_of,
    wanted_breadth,
)
from mcp_memory.language.tokens import stems
from mcp_memory.reconstruct.graph import CueGraph, query_cues
from mcp_memory.search.channels import similarity
from mcp_memory.search.exchanges import ExchangeIndex, exchange_scores
from mcp_memory.search.ranking import PARTS, CandidateSet
from mcp_memory.search.times import segments_telling_within, with_event_times
from mcp_memory.search.words import WordIndex
from mcp_memory.vectors import Scores
from mcp_memory.view.evidence import known_sentences, point_evidence
from mcp_memory.view.space import Space
from mcp_memory.visible import as_name

MOST_LINES = 60
"""Items of evidence of the modes ``all`` and ``overview``, unless the call states a number."""
BEARING_SHARE = 0.6
"""Share of the best score from which on a message bears on the question. Measured on 51 questions to dialogues that
want a list: 89 of 100 of what they rest on, in some 27 lines; .4 finds 95 in some 130, .7 finds 83 in 14."""
PARTS_OF_TIME = 6
"""Into how many equal parts of the time an overview divides what bears on the question."""
FEW_LINES, FEW_COUNTED = 3, 6
"""Fewest lines of a broad recall that ``auto`` shows instead of the best evidence, if that has as many.

The second is for a number: "How many requests may a phone send?" asks for one that was said rather than for things to
count. Of 640 questions to eight invented talks, 584 instead of 579 show the last message that the answer rests on.
"""
EXCHANGE_WEIGHT = 1.5
"""What the score of an exchange counts beside that of the search: it is a sum of shares, of which one that is meant
often has only some.

Measured, of the records that questions for lists, numbers, orders and summaries rest on, among 20: of kept worlds 71 of
100 with the greater of both scores, 71 with that of the search alone and 66 with that of exchanges alone; of long chats
with an assistant 51 with the greater one and 48 with that of the search alone.
"""
OF_AN_AREA, BESIDE_THE_BEST = 0.3, 0.9
"""How much a unit tells of the area asked for if it bears on the question, and what that counts beside its score."""
FULL_RARITY = 1.5
"""Sum of the rarities of its words, each in [0, 1], at which a text tells of an area as much as any."""
OF_ANOTHER = 0.6
"""Share that what another person says has, where the question names one who speaks in the space."""
NEARLY_BEST = 0.8
"""The least share of the best score for a part of the question that a list takes in."""
TELLING, FEW_SENTENCES = 50, 2
"""A cue is telling if it is in at most one sentence of so many (as tags are), or in so few."""
BEHIND_DATES = 12
"""What the search finds best that stands behind the dates where a question asks for a time alone."""
FIRST_UNITS = 10
"""Units that come first in an overview by their score alone."""
LONG_UNITS = 8
"""Units that have long lines."""


class Unit(NamedTuple):
    """An exchange, a message or a segment of a document that bears on a question.

    Attributes:
        score: in (0, 1], best = 1.
        place: orders units by time.
        rows: the rows of its segments, in order.
    """

    score: float
    place: tuple[int, int]
    rows: tuple[int, ...]


async def with_list(space: Space, query: Query, found: CandidateSet, result: RecallResult) -> RecallResult:
    """Return the result of a broad question with the lines of a broad recall as its evidence.

    The result keeps the best evidence where ``auto`` finds documents, whose questions are answered by single passages,
    and where it finds too little for a list: such a question only looks like one for a list. One line is enough of what
    is still to come: what is near to "What is coming up?" in meaning is mostly over.
    """
    breadth = wanted_breadth(query)
    if query.topic_vector is None:
        return result
    if query.mode == "auto" and not space.talk[found.rows[int(found.total.argmax())]]:
        return result
    cosines = similarity(space, query.topic_vector)

    def page() -> RecallResult:
        units = find_units(space, query, found, cosines, result.points)
        every = _overview(space, units) if breadth == "overview" else _everything(space, query, units)
        callers = [point for point in result.points if point.source == "caller"]
        every = [*callers, *every]  # they lead: somebody judged what belongs together
        fewest = FEW_COUNTED if asks_for_number(query.text) else 1 if time_ahead(query) else FEW_LINES
        if query.mode == "auto" and len(every) < min(fewest, len(result.evidence)):
            return result
        lines = Lines(space, query, breadth)
        shown = [lines.of(one) for one in every[query.skip : query.skip + (query.lines or MOST_LINES)]]
        evidence = with_event_times(shown, query.window)
        return replace(result, evidence=evidence, breadth=breadth, total=len(every), skipped=query.skip)

    return await to_thread.run_sync(page)  # the first that walks cues reads every sentence


def find_units(
    space: Space, query: Query, found: CandidateSet, topic_cosines: Scores, points: Iterable[Point]
) -> list[Unit]:
    """Return the units that bear on a question, best first; ties by time.

    ``topic_cosines`` are of each segment to the topic of the question, shape ``(len(space.segments),)``, and ``points``
    are related to it.
    """
    index, topic = space.index(ExchangeIndex), topic_of(query.text)
    rows, total = found.rows, np.maximum(found.total, 0)
    best = float(total.max()) or 1.0
    scores = np.zeros(len(index), dtype=np.float32)
    np.maximum.at(scores, index.of[rows], total / np.float32(best))
    least = np.full(len(index), BEARING_SHARE, dtype=np.float32)
    if index.replies[rows].any():
        talk = space.talk[rows]
        own = exchange_scores(space, rows[talk], total[talk], topic_cosines, stems(topic))
        scores = np.maximum(scores, own * np.float32(EXCHANGE_WEIGHT * (float(total[talk].max()) / best)))
    least[_exchanges_with_cues(space, index, topic)] /= 2
    bearing = scores >= least
    if (ahead := time_ahead(query)) is not None:
        then = index.of[np.flatnonzero(segments_telling_within(space, ahead) & space.live)]
        scores[then] = (1 + scores[then]) / 2
        scores[~np.isin(np.arange(len(index)), then)] *= np.float32(0.5)
        bearing[then] = True
        if asks_for_time_alone(query):  # a plan may have no date that could be read
            bearing[index.of[rows[np.argsort(-total, kind="stable")[:BEHIND_DATES]]]] = True
    if (of_parts := found.scores.get(PARTS.name)) is not None and of_parts.any():
        shares = np.cbrt(of_parts / of_parts.max())
        near = shares >= NEARLY_BEST
        np.maximum.at(scores, index.of[rows[near]], shares[near])
        bearing[index.of[rows[near]]] = True
    of_areas = np.zeros(len(index), dtype=np.float32)
    np.maximum.at(of_areas, index.of, _area_scores(space, topic, query.speakers))
    bearing |= of_areas >= OF_AN_AREA
    scores = np.maximum(scores, of_areas * BESIDE_THE_BEST)
    pieces = known_sentences(space, (name for point in points for name in point.sentences))
    resting = {row for piece in pieces for row in space.segments_with(piece.turn_id, piece.index)}
    bearing[[int(index.of[row]) for row in resting]] = True
    held: dict[int, list[int]] = {}
    for row in rows[bearing[index.of[rows]]].tolist():
        held.setdefault(int(index.of[row]), []).append(row)
    highest = max([1.0, *(float(scores[number]) for number in held)])
    units = [
        Unit(max(float(scores[number]) / highest, 1e-3), (space.segment_turn[min(own)].time, min(own)), (*sorted(own),))
        for number, own in held.items()
    ]
    return sorted(units, key=lambda unit: (-unit.score, unit.place))


def _area_scores(space: Space, topic: str, speakers: Collection[str]) -> Scores:
    """Return how much each segment tells of the areas for which a topic asks, in [0, 1]; all 0 where it asks for none.

    It tells the more, the more of the words of an area it has and the rarer they are in the space.
    """
    index = space.index(WordIndex)
    every = np.arange(len(space.segments))
    scores = np.zeros(len(every), dtype=np.float32)
    rarest = index.rarity("")
    for stem in sorted(frozenset[str]().union(*(area.told for area in areas_asked(topic)))):
        scores[index.contains(every, stem)] += index.rarity(stem) / rarest
    if speakers:
        for row in np.flatnonzero(scores).tolist():
            turn = space.segment_turn[row]
            if turn.speaker not in (None, *speakers) and not by_user(turn):  # the user may be whom it names
                scores[row] *= OF_ANOTHER
    share: Scores = np.minimum(scores / np.float32(FULL_RARITY), 1)
    return share


def _exchanges_with_cues(space: Space, index: ExchangeIndex, topic: str) -> list[int]:
    """Return the exchanges to which a telling cue of the topic leads."""
    graph = CueGraph.of(space)
    most = max(FEW_SENTENCES, len(space.sentences) // TELLING)
    numbers = (graph.number(cue.key) for cue in query_cues(topic))
    telling = (number for number in numbers if number is not None and graph.degree(number) <= most)
    pieces = (space.sentences[row] for row in {row for number in telling for row in graph.rows(number)})
    return [int(index.of[row]) for piece in pieces for row in space.segments_with(piece.turn_id, piece.index)[:1]]


def _everything(space: Space, query: Query, units: Sequence[Unit]) -> list[Point | Listed]:
    """Return everything that bears on a question, best first."""
    wants_replies, ahead = asks_for_advice(query.text), time_ahead(query)
    then = frozenset() if ahead is None else frozenset(np.flatnonzero(segments_telling_within(space, ahead)).tolist())
    found: list[Listed] = []
    for rank, unit in enumerate(units):
        said = _messages(space, unit)
        meant = [one for one in said if by_assistant(one[0]) == wants_replies or not then.isdisjoint(one[1])] or said
        found += (Listed(turn, tuple(rows), unit.score, rank < LONG_UNITS) for turn, rows in meant)
    return [*_distinct(space, found)]


def _overview(space: Space, units: Sequence[Unit]) -> list[Point | Listed]:
    """Return what covers a question broadly, the most telling first, over equal parts of the time."""
    return [*_distinct(space, [one for unit in _spread(units, PARTS_OF_TIME) for one in _exchange(space, unit)])]


def _messages(space: Space, unit: Unit) -> list[tuple[Turn, list[int]]]:
    """Return the messages of a unit with their segments, in order; of a document each segment by itself."""
    found: dict[str, tuple[Turn, list[int]]] = {}
    for row in unit.rows:
        turn = space.segment_turn[row]
        found.setdefault(turn.id, (turn, []))[1].append(row)
    return list(found.values())


def _exchange(space: Space, unit: Unit) -> Iterator[Listed]:
    """Yield the messages of a unit; a person's and the reply to it as one."""
    said = _messages(space, unit)
    asked = [one for one in said if not by_assistant(one[0])]
    replies = [one for one in said if by_assistant(one[0])]
    if len(asked) == 1 and replies:
        yield Listed(asked[0][0], tuple(asked[0][1]), unit.score, reply=(replies[0][0], tuple(replies[0][1])))
        asked, replies = [], replies[1:]
    for turn, rows in (*asked, *replies):
        yield Listed(turn, tuple(rows), unit.score)


def _distinct(space: Space, listed: Iterable[Listed]) -> list[Listed]:
    """Return what is listed, the same words of the same speaker only once."""
    found: dict[tuple[str | None, str], Listed] = {}
    for one in listed:
        segments = [space.segments[row] for row in one.rows]
        said = one.turn.text[segments[0].start : max(segment.end for segment in segments)]
        found.setdefault((one.turn.speaker or one.turn.role, " ".join(said.casefold().split())), one)
    return list(found.values())


def _spread(units: Sequence[Unit], parts: int) -> list[Unit]:
    """Return the best `FIRST_UNITS` units first, then the best of each part of the time in turn."""
    rest = sorted(units[FIRST_UNITS:], key=lambda unit: unit.place)
    each = max(1, -(-len(rest) // parts))
    order: list[tuple[int, float, Unit]] = []  # of each: how many of its part come before it
    for start in range(0, len(rest), each):
        best = sorted(rest[start : start + each], key=lambda unit: (-unit.score, unit.place))
        order += ((rank, -unit.score, unit) for rank, unit in enumerate(best))
    return [*units[:FIRST_UNITS], *(unit for *_, unit in sorted(order, key=lambda one: (*one[:2], one[2].place)))]


LINE_CHARS = 150
"""Characters of a line, about 38 tokens: some 45 lines fit into a reply of 2,000.

Measured on long chats, in such a reply: of the messages that orders rest on 77 of 100 with 170 and 360, 81 with 150 and
240, 86 with 130, but fewer of the words of the right answers; of those for summaries 56 with 130 and 80 characters of
both sides, 62 with 110 and 50, 64 with 85 and none.
"""
LONG_CHARS = 240
"""Characters of the lines of the best units, which may need more than one sentence to be understood."""
ASKED_CHARS, REPLY_CHARS = 110, 50
"""Characters of both sides of an exchange in one line."""
LEAST_HEADINGS = 3
"""Headings that a reply must have to be shown by them."""
OPENING_GAIN = 0.15
"""What a message's first sentence gains: people begin with what they want."""
VALUE_GAIN = 0.2
"""What a sentence gains that has a number where it is asked how many."""
_NUMBER = re.compile(r"\d[\d.,:]*\b")
_HEADING = re.compile(r"^\s*(?:#{1,6}\s+(.+?)|(?:\d+[.)]\s+|[-*•]\s+)?\*\*(.+?)\*\*:?.*)\s*$", re.MULTILINE)
_GENERIC = re.compile(
    r"(?:(?:step[- ]by[- ]step|full|complete|final|sample|updated|improved|additional|key|example|code|usage|new|your"
    r"|the)\s+)*"
    r"(?:examples?|code|explanations?|summary|conclusion|overview|usage|output|notes?|steps?|guide|implementation"
    r"|considerations|features|improvements|breakdown|solution|result|tasks?|day|week|phase|part|step|option|objective"
    r"|duration|date|goals?|question|answer)?\s*[\d:.]*",
    re.IGNORECASE,
)
"""Headings that say nothing of what stands below them."""
_NUMBERING = re.compile(r"^(?:step\s+)?\d+[.):]\s*|[*_`:]+", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Listed:
    """A message, or a segment of a document, that a broad recall lists; it is worded only where it is shown.

    Attributes:
        turn: the message or document.
        rows: the rows of its segments.
        score: the score of its unit.
        long: whether its line may have `LONG_CHARS`.
        reply: an assistant's reply to it with its segments, in one line with it; None for a line of its own.
    """

    turn: Turn
    rows: tuple[int, ...]
    score: float
    long: bool = False
    reply: tuple[Turn, tuple[int, ...]] | None = None


class Lines:
    """Makes lines of what is listed for one question."""

    def __init__(self, space: Space, query: Query, name: str) -> None:
        """Begin without a line; ``name`` is the channel that the lines name."""
        self._space, self._query, self._name = space, query, name
        self._stems = frozenset(stems(topic_of(query.text)))

    def of(self, listed: Point | Listed) -> Evidence:
        """Return the line of a message or of a document's segment; a memory point as it is."""
        if isinstance(listed, Point):
            return point_evidence(self._space, listed, 1.0, (self._name, "points"))
        turn, score, chars = listed.turn, listed.score, LONG_CHARS if listed.long else LINE_CHARS
        segments = [self._space.segments[row] for row in listed.rows]
        name, start, end = segments[0].id, segments[0].start, max(segment.end for segment in segments)
        if listed.reply is not None:
            asked = Source(turn, start, cut_line(turn.text, start, end, ASKED_CHARS))
            reply, said = self._reply(*listed.reply)
            text = f"{brief(turn.text[start:end], ASKED_CHARS, self._stems)} → "
            text += f"{as_name(reply.turn.speaker or 'assistant')}: {said}"
            return self._line(name, "segment", score, asked, reply, text=text)
        if by_assistant(turn) and (headings := _headings(turn, LINE_CHARS)):
            return self._line(name, "segment", score, Source(turn, start, segments[0].end), text=headings)
        inside = list(dict.fromkeys(row for segment in segments for row in self._space.sentences_within(segment)))
        if by_user(turn) and end - start > chars:
            return self._brief(name, "segment", score, turn, start, end, chars)
        if end - start <= chars or not inside:
            one = len(inside) == 1
            name = self._space.sentences[inside[0]].id if one else name
            source = Source(turn, start, cut_line(turn.text, start, end, chars))
            return self._line(name, "sentence" if one else "segment", score, source)
        return self._sentence(turn, inside, score, start, chars)

    def _line(
        self, name: str, kind: EvidenceKind, score: float, source: Source, *more: Source, text: str = ""
    ) -> Evidence:
        said = text or source.quote
        return Evidence(name, kind, said, score, (self._name,), (source, *more), abridged=bool(text))

    def _brief(
        self, name: str, kind: EvidenceKind, score: float, turn: Turn, start: int, end: int, chars: int
    ) -> Evidence:
        source = Source(turn, start, cut_line(turn.text, start, end, chars))
        return self._line(name, kind, score, source, text=brief(turn.text[start:end], chars, self._stems))

    def _reply(self, turn: Turn, rows: Sequence[int]) -> tuple[Source, str]:
        """Return what stands of a reply beside the message: its headings, or how it begins."""
        segment = self._space.segments[rows[0]]
        if headings := _headings(turn, REPLY_CHARS):
            return Source(turn, segment.start, segment.end), headings
        source = Source(turn, segment.start, cut_line(turn.text, segment.start, segment.end, REPLY_CHARS))
        return source, f"{source.quote} …"

    def _sentence(self, turn: Turn, inside: Sequence[int], score: float, first: int, chars: int) -> Evidence:
        """Return the sentence that says most of the topic, code only where there is nothing else, with what follows."""
        sentences, code = self._space.sentences, code_blocks(turn.text)

        def in_code(start: int) -> bool:
            return any(begin <= start < end for begin, end in code)

        plain = [row for row in inside if not in_code(sentences[row].start)] or list(inside)
        worth = np.zeros(len(plain), dtype=np.float32)
        if self._space.sentence_vectors is not None and self._query.topic_vector is not None:
            worth += self._space.sentence_vectors.take(np.array(plain, dtype=np.intp)) @ self._query.topic_vector
        counts = self._query.answer_type == "how_many"
        for place, row in enumerate(plain):
            text = self._space.text(sentences[row])
            said = self._stems.intersection(stems(text))
            worth[place] += np.float32(0.5 * len(said) / max(1, len(self._stems)))
            worth[place] += np.float32(OPENING_GAIN if sentences[row].index == 0 else 0)
            new = counts and any(number not in self._query.text for number in _NUMBER.findall(text))
            worth[place] += np.float32(VALUE_GAIN if new else 0)
        best = plain[int(np.argmax(worth))]
        name, start, end = sentences[best].id, sentences[best].start, sentences[best].end
        if end - start > chars:
            return self._brief(name, "sentence", score, turn, start, end, chars)
        if end - first <= chars and not in_code(first):
            start = first
        for row in inside[inside.index(best) + 1 :]:
            if sentences[row].end - start > chars or in_code(sentences[row].start):
                break
            end = sentences[row].end
        return self._line(name, "sentence", score, Source(turn, start, cut_line(turn.text, start, end, chars)))


def _headings(turn: Turn, chars: int) -> str:
    """Return a long reply by its headings; empty if it has fewer than `LEAST_HEADINGS`."""
    said: dict[str, None] = {}
    for match in _HEADING.finditer(without_code(turn.text)):
        words = _NUMBERING.sub("", match[1] or match[2]).strip()
        if words and not _GENERIC.fullmatch(words):
            said.setdefault(words)
    if len(said) < LEAST_HEADINGS:
        return ""
    text = ""
    for words in said:
        if text and len(text) + len(words) > chars:
            break
        text = f"{text}; {words}" if text else words
    return text
