"""Passages: the evidence as a language model reads it, whole messages where they are short, and nothing idle.

The rules judge the sentences that were found. A model reads them in their place, so beside them it is shown:

- the rest of a message that is not long (`WHOLE_CHARS`): its next sentence often is the answer;
- what was said next, where a message asks what the query asks, and what a passage replies to that is not understood by
  itself (`Evidence.before`).

Small talk and pictures without words take no place, as in the text of a recall (``search/told_of.py``), and a block of
code is its first line, unless the query asks for code. All of it consists of sentences of the space, each once, in the
order of the evidence.

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
from mcp_memory.language.shapes import asks_for_code
from mcp_memory.language.tokens import stems
from mcp_memory.search.told_of import SmallTalk
from mcp_memory.services.recall.units import code_blocks
from mcp_memory.view.space import NONE, Space

WHOLE_CHARS = 500
"""Characters up to which a message is shown whole."""
SAME = 0.5
"""Share of the query's content that a question of the evidence has to contain, so that what was said next is shown."""

_ASIDE = re.compile(r"\[[^\[\]]*\]")  # what is no speech: "[shares a picture: a dog]"


def passages_of(
    space: Space,
    query: Query,
    sentences: Iterable[EvidenceSentence],
    evidence: Sequence[Evidence],
    gates: Mapping[str, float],
) -> list[EvidenceSentence]:
    """Return what a language model is shown of the sentences that were found, in their order.

    Args:
        space: of the sentences; the view does not change meanwhile.
        query: understood.
        sentences: of the evidence, the best first.
        evidence: that they belong to.
        gates: of the sentences that are not neutral for the query, by id.
    """
    return list(_Passages(space, query, gates).of(sentences, evidence))


class _Passages:
    def __init__(self, space: Space, query: Query, gates: Mapping[str, float]) -> None:
        self._space, self._gates, self._small = space, gates, SmallTalk(space)
        self._code = asks_for_code(query.text)
        self._asked = set(query.stems).difference(*(stems(name) for name in query.speakers))
        self._shown: set[tuple[str, int]] = set()

    def of(self, sentences: Iterable[EvidenceSentence], evidence: Sequence[Evidence]) -> Iterator[EvidenceSentence]:
        before = {item.id: item.before for item in evidence if item.before is not None}
        for one in sentences:
            turn = one.source.turn
            if self._is_idle(turn):
                continue
            yield from self._pieces(one, one.source)
            if (said := before.pop(one.evidence_id, None)) is not None:
                yield from self._pieces(one, said)
            if (reply := self._reply(turn)) is not None and not self._is_idle(reply):
                yield from self._pieces(one, Source(reply, 0, len(reply.text)))

    def _pieces(self, found: EvidenceSentence, source: Source) -> Iterator[EvidenceSentence]:
        """Yield the sentences of a span, or of its whole message, that were not shown yet."""
        turn, space = source.turn, self._space
        whole = turn.kind == "message" and len(turn.text) <= WHOLE_CHARS
        pieces = [space.sentences[row] for row in space.sentences_of(turn.id)]
        for piece in pieces:
            if not whole and not (piece.start < source.end and source.start < piece.end):
                continue
            span = (piece.start, piece.end) if self._code else _without_code(turn.text, piece.start, piece.end)
            if span is not None and (turn.id, span[0]) not in self._shown:
                self._shown.add((turn.id, span[0]))
                gate = self._gates.get(piece.id, 1.0)
                yield EvidenceSentence(
                    found.evidence_id, Source(turn, *span), piece.times, found.score, found.cosine, gate
                )

    def _is_idle(self, turn: Turn) -> bool:
        """Return whether a message is small talk, or a picture that shows nothing of what is asked."""
        rows = self._space.segments_with(turn.id, -1)
        if turn.kind != "message" or not rows:
            return False
        bare = not _ASIDE.sub("", turn.text).strip() and self._asked.isdisjoint(stems(turn.text))
        return bare or self._small.holds(rows[0])

    def _reply(self, turn: Turn) -> Turn | None:
        """Return what was said next by another, where a message asks what the query asks."""
        rows = self._space.segments_with(turn.id, -1)
        if turn.kind != "message" or not rows or "?" not in turn.text or not self._asked:
            return None
        asked = [self._space.text(self._space.sentences[row]) for row in self._space.sentences_of(turn.id)]
        shared = {stem for text in asked if text.rstrip().endswith("?") for stem in stems(text)} & self._asked
        after = int(self._space.next[rows[-1]])
        if len(shared) < SAME * len(self._asked) or after == NONE:
            return None
        reply = self._space.segment_turn[after]
        return reply if reply.speaker != turn.speaker and len(reply.text) <= WHOLE_CHARS else None


def _without_code(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Return a span without code behind the first line of its block; None where nothing is left."""
    for begin, stop in code_blocks(text):
        if begin < start < stop:
            return None
        if start <= begin < end:
            first = text.find("\n", text.find("\n", begin) + 1)
            return start, min(end, first if begin < first < stop else stop)
    return start, end
