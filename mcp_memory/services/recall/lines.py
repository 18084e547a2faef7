"""Lines of a broad recall: what was said in some 150 characters, in its own words.

A short message is its own line. A line of a long message of the user, and of a long sentence of anybody, is its brief
(``language/briefs.py``): the matter, and the clauses with figures. Of other messages it is the sentence that says most
of the topic, with what is around it as far as there is room, and never code. The line of a long reply that an assistant
divided by headings is these headings: they say what it advised. In an overview both sides of an exchange share a line.

**Departures.** In the papers a language model words a summary of each unit when it is written (MRAgent §3.1, topics;
HGMem's descriptions). Here a line is verbatim, or headings in their own words, and is made when it is read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from mcp_memory.domain.evidence import Evidence, EvidenceKind, Source
from mcp_memory.domain.points import Point
from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import Turn, by_assistant, by_user
from mcp_memory.language.briefs import brief
from mcp_memory.language.segments import code_blocks, without_code
from mcp_memory.language.shapes import topic_of
from mcp_memory.language.tokens import stems
from mcp_memory.view.evidence import point_evidence
from mcp_memory.view.space import Space
from mcp_memory.visible import as_name

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
HEADINGS = 3
"""Headings that a reply must have to be shown by them."""
OPENING = 0.15
"""What a message's first sentence gains: people begin with what they want."""
VALUE = 0.2
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
            worth[place] += np.float32(OPENING if sentences[row].index == 0 else 0)
            new = counts and any(number not in self._query.text for number in _NUMBER.findall(text))
            worth[place] += np.float32(VALUE if new else 0)
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


def cut_line(text: str, start: int, end: int, chars: int) -> int:
    """Return where a line that begins at ``start`` ends: at a word, and before any code."""
    fence = text.find("```", start + 1, end + 2)  # a sentence may end within a fence
    end = fence if fence > start else end
    if end - start <= chars:
        return end
    space = text.rfind(" ", start + chars // 2, start + chars)
    return space if space > start else start + chars


def _headings(turn: Turn, chars: int) -> str:
    """Return a long reply by its headings; empty if it has fewer than `HEADINGS`."""
    said: dict[str, None] = {}
    for match in _HEADING.finditer(without_code(turn.text)):
        words = _NUMBERING.sub("", match[1] or match[2]).strip()
        if words and not _GENERIC.fullmatch(words):
            said.setdefault(words)
    if len(said) < HEADINGS:
        return ""
    text = ""
    for words in said:
        if text and len(text) + len(words) > chars:
            break
        text = f"{text}; {words}" if text else words
    return text
