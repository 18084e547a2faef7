"""Units: what a broad recall lists, ranked, and each as one line of its words.

A unit is an exchange (``search/exchanges.py``): a message to an assistant with the replies to it, else a message, or a
segment of a document. It *bears on* a question if:

- its score in the search, or `EXCHANGE` times that as an exchange, is at least the share `BreadthSettings.bears` of the
  best one's; half of that where a telling cue of the topic leads to it: one in at most one sentence of 50 (MRAgent eq.
  5, φ(c, g) over all tags);
- it tells of an area of life or work that the question asks for, such as health or money (``search/areas.py``);
- a memory point that is related to the question rests on it (HGMem §3.3.4, which answers from all of a point's texts).

Words that were said twice by the same speaker are one line. A line of a long message of the user is its brief
(``language/shapes.py``): the matter, and the clauses with figures. Of other messages it is the sentence that says most
of the topic (where it is asked how many, one with a number counts more), with what is around it as far as there is
room, and never code; of a long sentence it is the part from the clause on that says most. A short message is its own
line. The line of a long reply that an assistant divided by headings is these headings: they say what it advised.

**Departures.** In the papers a language model words a summary of each unit when it is written (MRAgent §3.1, topics;
HGMem's descriptions). Here a line is verbatim, or headings in their own words, and is made when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from mcp_memory.domain.evidence import Evidence, Source
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import Turn, by_assistant, by_user
from mcp_memory.language.briefs import brief
from mcp_memory.language.segments import code_blocks, without_code
from mcp_memory.language.shapes import topic_of
from mcp_memory.language.tokens import stems
from mcp_memory.reconstruct.graph import CueGraph, query_cues
from mcp_memory.search.ahead import place_ahead, time_ahead
from mcp_memory.search.areas import area_scores
from mcp_memory.search.candidates import CandidateSet
from mcp_memory.search.exchanges import ExchangeIndex, exchange_scores
from mcp_memory.search.small_talk import SmallTalk
from mcp_memory.services.settings import BreadthSettings
from mcp_memory.vectors import Scores
from mcp_memory.view.evidence import known_sentences, point_evidence
from mcp_memory.view.space import Space
from mcp_memory.visible import as_name

LINE_CHARS = 150
"""Characters of a line, about 38 tokens: some 45 lines fit into a reply of 2,000.

Measured on long chats, in such a reply: of the messages that orders rest on 77 of 100 with 170 and 360, 81 with 150 and
240, 86 with 130, but fewer of the words of the right answers; of those for summaries 56 with 130 and 80 characters of
both sides, 62 with 110 and 50, 64 with 85 and none.
"""
ASKED_CHARS, REPLY_CHARS = 110, 50
"""Characters of both sides of an exchange in one line."""
REPLIES = " → "
"""Between both sides."""
LONG_CHARS = 240
"""Characters of the lines of the best units, which may need more than one sentence to be understood."""
LONG = 8
"""Units that have long lines."""
INFORMATIVE = 50
"""A cue is telling if it is in at most one sentence of so many (as tags are, ``reconstruct/graph.py``)."""
FEW = 2
"""Or in so few."""
HEADINGS = 3
"""Headings that a reply must have to be shown by them."""
OPENING = 0.15
"""What a message's first sentence gains: people begin with what they want."""
VALUE = 0.2
"""What a sentence gains that has a value of the kind asked for: a number where it is asked how many."""
_WORD = re.compile(r"\w[\w'’-]*")
_NUMBER = re.compile(r"\d[\d.,:]*\b")
_CLAUSE = re.compile(r"(?:[,;:]|\s[-–—])\s+")
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


EXCHANGE = 1.5
"""What the score of an exchange counts beside that of the search: it is a sum of shares, of which one that is meant
often has only some.

Measured, of the records that questions for lists, numbers, orders and summaries rest on, among 20: of kept worlds 71 of
100 with the greater of both scores, 71 with that of the search alone and 66 with that of exchanges alone; of long chats
with an assistant 51 with the greater one and 48 with that of the search alone.
"""
OF_AN_AREA, BESIDE_THE_BEST = 0.3, 0.9
"""How much a unit tells of the area asked for if it bears on the question, and what that counts beside its score."""
OF_A_WORDING, NEARLY_BEST = 3, 0.6
"""Best segments of a wording of the caller that a list takes in, and the least share of the best one's score."""


@dataclass(frozen=True, slots=True)
class Unit:
    """An exchange, a message or a segment of a document that bears on a question.

    Attributes:
        score: in (0, 1], best = 1.
        place: orders units by time.
        rows: the rows of its segments, in order.
    """

    score: float
    place: tuple[int, int]
    rows: tuple[int, ...]


def find_units(
    space: Space,
    query: Query,
    found: CandidateSet,
    topic_cosines: Scores,
    points: Iterable[Point],
    settings: BreadthSettings,
    wordings: Iterable[CandidateSet] = (),
) -> list[Unit]:
    """Return the units that bear on a question, best first; ties by time.

    Args:
        space: its view keeps an `ExchangeIndex`.
        query: understood and embedded.
        found: the candidates of the search, with what the loop found.
        topic_cosines: of each segment to the topic of the question, shape ``(len(space.segments),)``.
        points: memory points related to the question.
        settings: which mechanisms take part.
        wordings: the candidates of each wording of the caller; the best bear on the question, whatever its own words.
    """
    index, topic = space.index(ExchangeIndex), topic_of(query.text)
    rows, total = found.rows, np.maximum(found.total, 0)
    scores = np.zeros(len(index), dtype=np.float32)
    np.maximum.at(scores, index.of[rows], total / np.float32(float(total.max()) or 1.0))
    talk = space.talk[rows]
    least = np.full(len(index), settings.bears, dtype=np.float32)
    if index.replies[rows].any():
        own = exchange_scores(space, rows[talk], total[talk], topic_cosines, stems(topic))
        of_talk = float(total[talk].max()) / (float(total.max()) or 1.0)
        scores = np.maximum(scores, own * np.float32(EXCHANGE * of_talk))
    least[_exchanges_with_cues(space, index, topic)] /= 2
    bearing = scores >= least
    if (ahead := time_ahead(query)) is not None:
        scores, bearing = place_ahead(space, query, ahead, scores, settings.bears)
    for worded in wordings:
        best = np.argsort(-worded.total, kind="stable")[:OF_A_WORDING]
        shares = worded.total[best] / np.float32(float(worded.total.max()) or 1.0)
        named = index.of[worded.rows[best[shares >= NEARLY_BEST]]]
        np.maximum.at(scores, named, shares[shares >= NEARLY_BEST])
        bearing[named] = True
    told = area_scores(space, topic, query.speakers)
    of_areas = np.zeros(len(index), dtype=np.float32)
    np.maximum.at(of_areas, index.of, told)
    bearing |= of_areas >= OF_AN_AREA
    scores = np.maximum(scores, of_areas * BESIDE_THE_BEST)
    bearing[_exchanges(space, index, (name for point in points for name in point.sentences))] = True
    bearing &= np.isin(np.arange(len(index)), index.of[rows])  # within the window
    numbers = np.flatnonzero(bearing)
    held_rows: dict[int, list[int]] = {number: [] for number in numbers.tolist()}
    of = index.of
    for row in rows[bearing[of[rows]]].tolist():
        held_rows[int(of[row])].append(row)
    highest = max(1.0, float(scores[numbers].max(initial=1.0)))
    units = [
        Unit(
            max(float(scores[number]) / highest, 1e-3),
            (space.segment_turn[min(held)].time, min(held)),
            tuple(sorted(held)),
        )
        for number, held in held_rows.items()
        if held
    ]
    return sorted(units, key=lambda unit: (-unit.score, unit.place))


def messages(space: Space, unit: Unit) -> list[tuple[Turn, list[int]]]:
    """Return the messages of a unit with their segments, in order; of a document each segment by itself."""
    found: dict[str, tuple[Turn, list[int]]] = {}
    for row in unit.rows:
        turn = space.segment_turn[row]
        found.setdefault(turn.id, (turn, []))[1].append(row)
    return list(found.values())


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


def distinct(space: Space, listed: Iterable[Listed]) -> list[Listed]:
    """Return what is listed without small talk, the same words of the same speaker only once."""
    small = SmallTalk(space)
    found: dict[tuple[str | None, str], Listed] = {}
    for one in listed:
        if small.holds(one.rows[0]):
            continue
        segments = [space.segments[row] for row in one.rows]
        said = one.turn.text[segments[0].start : max(segment.end for segment in segments)]
        found.setdefault((one.turn.speaker or one.turn.role, " ".join(said.casefold().split())), one)
    return list(found.values())


class Lines:
    """Makes lines of what is listed for one question."""

    def __init__(self, space: Space, query: Query, name: str) -> None:
        """Begin without a line."""
        self._space, self._query, self._name = space, query, name
        self._stems = frozenset(stems(topic_of(query.text)))

    def of(self, listed: Point | Listed | Evidence) -> Evidence:
        """Return the line of a message or of a document's segment; a memory point and a fact as they are."""
        if isinstance(listed, Evidence):
            return listed
        if isinstance(listed, Point):
            return point_evidence(self._space, listed, 1.0, (self._name, "points"))
        turn, rows, score = listed.turn, listed.rows, listed.score
        if listed.reply is not None:
            return self._exchange(turn, rows, score, listed.reply)
        chars = LONG_CHARS if listed.long else LINE_CHARS
        if by_assistant(turn):
            return self._headings(turn, rows, score) or self._words(turn, rows, score, chars)
        segments = self._space.segments
        if by_user(turn) and segments[rows[-1]].end - segments[rows[0]].start > chars:
            return self._brief(turn, rows, score, chars)
        return self._words(turn, rows, score, chars)

    def _exchange(self, turn: Turn, rows: Sequence[int], score: float, reply: tuple[Turn, tuple[int, ...]]) -> Evidence:
        """Return one line of a message from its beginning, and of the reply by its headings or how it begins."""
        first = self._space.segments[rows[0]]
        source = Source(
            turn, first.start, _cut(turn.text, first.start, self._space.segments[rows[-1]].end, ASKED_CHARS)
        )
        headed = self._headings(*reply, score, REPLY_CHARS)
        if headed is None:
            begins = self._space.segments[reply[1][0]]
            end = _cut(reply[0].text, begins.start, begins.end, REPLY_CHARS)
            headed = Evidence(begins.id, "segment", "", score, (), (Source(reply[0], begins.start, end),))
        said = headed.text or f"{headed.sources[0].quote} …"
        said_by_user = brief(turn.text[first.start : self._space.segments[rows[-1]].end], ASKED_CHARS, self._stems)
        text = f"{said_by_user}{REPLIES}{as_name(reply[0].speaker or 'assistant')}: {said}"
        return Evidence(first.id, "segment", text, score, (self._name,), (source, headed.sources[0]), abridged=True)

    def _brief(self, turn: Turn, rows: Sequence[int], score: float, chars: int) -> Evidence:
        """Return what the user says in a long message, from its beginning."""
        first, end = self._space.segments[rows[0]], self._space.segments[rows[-1]].end
        source = Source(turn, first.start, _cut(turn.text, first.start, end, chars))
        text = brief(turn.text[first.start : end], chars, self._stems)
        return Evidence(first.id, "segment", text, score, (self._name,), (source,), abridged=True)

    def _headings(self, turn: Turn, rows: Sequence[int], score: float, chars: int = LINE_CHARS) -> Evidence | None:
        """Return a long reply by its headings; None if it has fewer than `HEADINGS`."""
        said: dict[str, None] = {}
        for match in _HEADING.finditer(without_code(turn.text)):
            words = _NUMBERING.sub("", match[1] or match[2]).strip()
            if words and not _GENERIC.fullmatch(words):
                said.setdefault(words)
        if len(said) < HEADINGS:
            return None
        text = ""
        for words in said:
            if text and len(text) + len(words) > chars:
                break
            text = f"{text}; {words}" if text else words
        segment = self._space.segments[rows[0]]
        source = Source(turn, segment.start, segment.end)
        return Evidence(segment.id, "segment", text, score, (self._name,), (source,), abridged=True) if text else None

    def _words(self, turn: Turn, rows: Sequence[int], score: float, chars: int) -> Evidence:
        """Return what was said itself: whole if it is short, else the most telling sentence with what follows."""
        space = self._space
        segments = [space.segments[row] for row in rows]
        first, last = segments[0].start, max(segment.end for segment in segments)
        inside = list(dict.fromkeys(row for segment in segments for row in space.sentences_within(segment)))
        if last - first <= chars or not inside:
            end = _cut(turn.text, first, last, chars)
            one = len(inside) == 1
            name, kind = (space.sentences[inside[0]].id, "sentence") if one else (segments[0].id, "segment")
            source = Source(turn, first, end)
            return Evidence(name, kind, source.quote, score, (self._name,), (source,))  # type: ignore[arg-type]
        best = self._best(turn, inside)
        start, end = space.sentences[best].start, space.sentences[best].end
        if end - first <= chars and not _in_code(turn, first):
            start = first
        elif end - start > chars:
            start = self._telling_part(turn.text, start, end, chars)
        for row in inside[inside.index(best) + 1 :]:
            piece = space.sentences[row]
            if piece.end - start > chars or _in_code(turn, piece.start):
                break
            end = piece.end
        source = Source(turn, start, _cut(turn.text, start, end, chars))
        return Evidence(space.sentences[best].id, "sentence", source.quote, score, (self._name,), (source,))

    def _best(self, turn: Turn, rows: Sequence[int]) -> int:
        """Return the sentence that says most of the topic, code only where there is nothing else."""
        space, sentences = self._space, self._space.sentences
        plain = [row for row in rows if not _in_code(turn, sentences[row].start)] or list(rows)
        worth = np.zeros(len(plain), dtype=np.float32)
        if space.sentence_vectors is not None and self._query.topic_vector is not None:
            worth += space.sentence_vectors.take(np.array(plain, dtype=np.intp)) @ self._query.topic_vector
        for place, row in enumerate(plain):
            said = self._stems.intersection(stems(space.text(sentences[row])))
            worth[place] += np.float32(0.5 * len(said) / max(1, len(self._stems)))
            worth[place] += np.float32(OPENING if sentences[row].index == 0 else 0)
            worth[place] += np.float32(VALUE if self._has_value(space.text(sentences[row])) else 0)
        return plain[int(np.argmax(worth))]

    def _has_value(self, text: str) -> bool:
        if self._query.answer_type != "how_many":
            return False
        return any(number not in self._query.text for number in _NUMBER.findall(text))

    def _telling_part(self, text: str, start: int, end: int, chars: int) -> int:
        """Return where the part of a long sentence begins that says most of the topic: at a clause, the earliest."""
        told = [(match.start(), match[0]) for match in _WORD.finditer(text, start, end)]
        places = [(place, stem) for place, word in told for stem in self._stems.intersection(stems(word))]
        places += [(match.start(), "") for match in _NUMBER.finditer(text, start, end) if self._has_value(match[0])]

        def worth(begin: int) -> int:
            return len({stem for place, stem in places if begin <= place < begin + chars})

        clauses = (match.end() for match in _CLAUSE.finditer(text, start, end))
        begins = [start, *(begin for begin in clauses if begin < end - chars // 2)]
        return max(begins, key=lambda begin: (worth(begin), -begin))


def callers_points(points: Iterable[Point]) -> list[Point]:
    """Return the points that a caller made or worded; they lead, since somebody judged what belongs together."""
    return [point for point in points if point.source == "caller"]


def _exchanges(space: Space, index: ExchangeIndex, sentences: Iterable[str]) -> list[int]:
    rows = {
        row for piece in known_sentences(space, sentences) for row in space.segments_with(piece.turn_id, piece.index)
    }
    return sorted({int(index.of[row]) for row in rows})


def _exchanges_with_cues(space: Space, index: ExchangeIndex, topic: str) -> list[int]:
    graph = CueGraph.of(space)
    most = max(FEW, len(space.sentences) // INFORMATIVE)
    numbers = (graph.number(cue.key) for cue in query_cues(topic))
    telling = (number for number in numbers if number is not None and graph.degree(number) <= most)
    pieces = (space.sentences[row] for row in sorted({row for number in telling for row in graph.rows(number)}))
    of = index.of
    return sorted({int(of[row]) for piece in pieces for row in space.segments_with(piece.turn_id, piece.index)[:1]})


def _in_code(turn: Turn, start: int) -> bool:
    return any(begin <= start < end for begin, end in code_blocks(turn.text))


def _cut(text: str, start: int, end: int, chars: int) -> int:
    """Return where a line that begins at ``start`` ends: at a word, and before any code."""
    fence = text.find("```", start + 1, end + 2)  # a sentence may end within a fence
    end = fence if fence > start else end
    if end - start <= chars:
        return end
    space = text.rfind(" ", start + chars // 2, start + chars)
    return space if space > start else start + chars
