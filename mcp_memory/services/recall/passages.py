"""Passages: the evidence as a language model reads it, whole messages where they are short, and nothing idle.

The rules judge the sentences that were found. A model reads them in their place, so beside them it is shown:

- the rest of a message that is not long (`WHOLE_CHARS`): its next sentence often is the answer;
- what was said next, where a message asks what the query asks, and what a passage replies to that is not understood by
  itself (`Evidence.before`).

Pictures without words, and code that is not asked for take no place. All of it consists of spans of stored
texts, each once, in the order of the evidence. Of a broad question (``broad.py``) one line of each message that is
listed comes first, with its figures, then the rest of these messages: so all sessions are there before there are
details, also where the room ends.

**Departures.** QRMeM shows segments by rank (§2.2), MRAgent episodes (§3.1), which a language model wrote as wholes.
In a trial with 89 requests about dialogues, a message was cut just before what was asked for in four cases.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from mcp_memory.domain.answers import EvidenceSentence
from mcp_memory.domain.evidence import Evidence, Source
from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import Turn
from mcp_memory.language.briefs import BREAK, worth_of
from mcp_memory.language.segments import code_blocks, cut_line, without_code
from mcp_memory.language.shapes import asks_for_code
from mcp_memory.language.tokens import stems
from mcp_memory.services.recall.broad import LINE_CHARS
from mcp_memory.view.space import NONE, Space

WHOLE_CHARS = 500
"""Characters up to which a message is shown whole."""
SAME_QUESTION_SHARE = 0.5
"""Share of the query's content that a question of the evidence has to contain, so that what was said next is shown."""
BROAD = frozenset(("all", "overview"))
"""Marks the lines of a broad recall (`Evidence.via`)."""

_ASIDE = re.compile(r"\[[^\[\]]*\]")  # what is no speech: "[shares a picture: a dog]"
_IN_CODE = re.compile(
    r"\b(?:librar(?:y|ies)|packages?|dependenc(?:y|ies)|columns?|fields?|elements?|tags?|rules?)\b", re.IGNORECASE
)
"""What may be named in code alone."""


def passages_of(
    space: Space,
    query: Query,
    sentences: Iterable[EvidenceSentence],
    evidence: Sequence[Evidence],
    gates: Mapping[str, float],
    missing: Sequence[str] = (),
) -> list[EvidenceSentence]:
    """Return what a language model is shown of the sentences that were found, in their order.

    ``gates``, by id, are those of the sentences that are not neutral for the query, and ``missing`` is what a judge
    said is missing.
    """
    return list(_Passages(space, query, gates, missing).of(list(sentences), evidence))


class _Passages:
    def __init__(self, space: Space, query: Query, gates: Mapping[str, float], missing: Sequence[str]) -> None:
        self._space, self._gates = space, gates
        wanted = " ".join((query.text, *missing))
        self._code = asks_for_code(wanted) or _IN_CODE.search(wanted) is not None
        self._wanted = frozenset(stems(wanted))
        self._asked = set(query.stems) - {stem for name in query.speakers for stem in stems(name)}
        self._shown: dict[str, list[tuple[int, int]]] = {}

    def of(self, sentences: Sequence[EvidenceSentence], evidence: Sequence[Evidence]) -> Iterator[EvidenceSentence]:
        items = {item.id: item for item in evidence}
        listed = {item.id for item in evidence if BROAD.intersection(item.via)}
        for one in sentences:
            if one.evidence_id in listed:
                yield from self._line(one)
        for one in sentences:
            turn = one.source.turn
            if one.evidence_id in listed:
                for source in items[one.evidence_id].sources[:2]:  # of an exchange the message, then the reply
                    whole = source.turn.kind != "document"
                    yield from self._pieces(one, Source(source.turn, 0, len(source.turn.text)) if whole else source)
            elif not self._is_idle(turn):
                yield from self._pieces(one, one.source)
                item = items.get(one.evidence_id)
                if item is not None and item.before is not None:
                    yield from self._pieces(one, item.before)
                if (reply := self._reply(turn)) is not None and not self._is_idle(reply):
                    yield from self._pieces(one, Source(reply, 0, len(reply.text)))

    def _line(self, found: EvidenceSentence) -> Iterator[EvidenceSentence]:
        """Yield how a listed message, or part of a document, begins, and the clauses that say most of the rest."""
        turn, source = found.source.turn, found.source
        start, end = (source.start, source.end) if turn.kind == "document" else (0, len(turn.text))
        text = without_code(turn.text)
        breaks = [match.span() for match in BREAK.finditer(text, start, end)]
        starts, ends = [start, *(behind for _, behind in breaks)], [*(before for before, _ in breaks), end]
        (_, first), *rest = zip(starts, ends, strict=True)
        shown, left = {(start, cut_line(text, start, first, LINE_CHARS))}, LINE_CHARS - (first - start)
        worth = {one: worth_of(text[slice(*one)], self._wanted) for one in rest}
        for begin, stop in sorted(rest, key=lambda one: (-worth[one], one)):
            if stop - begin <= left and worth[begin, stop] > 0:
                shown.add((begin, stop))
                left -= stop - begin
        for begin, stop in sorted(shown):
            yield from self._once(found, turn, begin, stop)

    def _pieces(self, found: EvidenceSentence, source: Source) -> Iterator[EvidenceSentence]:
        """Yield the sentences of a span, or of its whole message, as far as they were not shown yet."""
        turn, space = source.turn, self._space
        whole = turn.kind == "message" and len(turn.text) <= WHOLE_CHARS
        rows = space.sentences.overlapping(turn.id, source.start, source.end)
        for row in space.sentences.of_turn(turn.id) if whole else rows:
            piece = space.sentences[row]
            yield from self._once(found, turn, *_whole_words(turn.text, piece.start, piece.end))

    def _once(self, found: EvidenceSentence, turn: Turn, begin: int, stop: int) -> Iterator[EvidenceSentence]:
        """Yield the parts of a span that were not shown yet, without code that is not asked for."""
        shown = self._shown.setdefault(turn.id, [])
        code = [] if self._code or turn.kind == "document" else code_blocks(turn.text)
        for start, end in _left((begin, stop), (*shown, *code)):
            said = turn.text[start:end]
            start, end = start + len(said) - len(said.lstrip()), end - len(said) + len(said.rstrip())
            if not any(char.isalnum() for char in said):
                continue
            shown.append((start, end))
            within = map(self._space.sentences.__getitem__, self._space.sentences.overlapping(turn.id, start, end))
            gate = min((self._gates.get(piece.id, 1.0) for piece in within), default=1.0)
            yield EvidenceSentence(found.evidence_id, Source(turn, start, end), gate)

    def _is_idle(self, turn: Turn) -> bool:
        """Return whether a message is a picture that shows nothing of what is asked."""
        bare = turn.kind == "message" and not _ASIDE.sub("", turn.text).strip()
        return bare and self._asked.isdisjoint(stems(turn.text))

    def _reply(self, turn: Turn) -> Turn | None:
        """Return what was said next by another, where a message asks what the query asks."""
        rows = self._space.segments.of_turn(turn.id)
        if turn.kind != "message" or not rows or "?" not in turn.text or not self._asked:
            return None
        asked = [self._space.text(self._space.sentences[row]) for row in self._space.sentences.of_turn(turn.id)]
        shared = {stem for text in asked if text.rstrip().endswith("?") for stem in stems(text)} & self._asked
        after = int(self._space.rows_after[rows[-1]])
        if len(shared) < SAME_QUESTION_SHARE * len(self._asked) or after == NONE:
            return None
        reply = self._space.segment_turn[after]
        return reply if reply.speaker != turn.speaker and len(reply.text) <= WHOLE_CHARS else None


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span with the words that it cuts; a very long sentence is stored in pieces that may end within one."""
    while 0 < start < len(text) and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while 0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _left(span: tuple[int, int], shown: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the parts of a span that none of others covers."""
    at, end = span
    for start, stop in sorted(shown):
        if stop <= at or start >= end:
            continue
        if start > at:
            yield at, start
        at = max(at, stop)
    if at < end:
        yield at, end
