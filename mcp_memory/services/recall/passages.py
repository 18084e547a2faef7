"""Passages: the evidence as a language model reads it, whole messages where they are short, and nothing idle.

The rules judge the sentences that were found. A model reads them in their place, so beside them it is shown:

- the rest of a message that is not long (`WHOLE_CHARS`): its next sentence often is the answer;
- what was said next, where a message asks what the query asks, and what a passage replies to that is not understood by
  itself (`Evidence.before`).

Small talk and pictures without words take no place, as in the text of a recall (``search/small_talk.py``), nor does
code that is not asked for, nor an assistant's offers and headings, nor what nearly repeats another text. All
of it consists of spans of stored texts, each once, in the order of the evidence.

**Broad questions.** A summary or an order is judged from lines: first one of each exchange that the broad recall lists
(``broad.py``), with the person's own words and figures and the headings of what was advised, then the rest of the same
messages. So all sessions are there before there are details, also where the room ends.

**Departures.** QRMeM shows segments by rank (§2.2), MRAgent episodes (§3.1), which a language model wrote as wholes.
In a trial with 89 requests about dialogues, a message was cut just before what was asked for in four cases.

**Spans** are the characters of a message that are shown:

- `telling_spans`: of a span everything but idle text. A block of code is left out, its fences and what only announces
  it ("here's my code:") too; where what stands in code is asked for, its lines are shown, first those that say most.
- `gist_spans`: of a message as much as fits into one line: how it begins, then the clauses with figures and with what
  is asked for, the person's own words each.
- `is_idle_reply`: a sentence of an assistant that offers more, closes, or is a heading alone tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from mcp_memory.domain.answers import EvidenceSentence
from mcp_memory.domain.evidence import Evidence, Source
from mcp_memory.domain.query import Query
from mcp_memory.domain.turns import Turn, by_assistant
from mcp_memory.language import shapes
from mcp_memory.language.briefs import BREAK, LEAD, worth_of
from mcp_memory.language.segments import FENCES, code_blocks
from mcp_memory.language.tokens import stems
from mcp_memory.search.small_talk import SmallTalk
from mcp_memory.services.recall.units import REPLIES
from mcp_memory.view.space import NONE, Space

CODE_CHARS = 240
"""Characters of the code of one message that are shown."""
HEADING_CHARS = 40
"""Characters up to which a line of an assistant without a figure is a heading or a fragment."""
CLAUSE_CHARS = 24
"""Characters from which on a clause stands for itself."""

Span = tuple[int, int]
Tells = Callable[[str], bool]

_LINE = re.compile(r"[^\n]+")
_LEAD_IN = re.compile(
    r"(?:(?:^|[,;.!?]|\s[-–—])\s*(?:and|but|so|also)?\s*|\s(?:and|but|so)\s)"
    r"(?:like this|(?:here|this|below)['’]?s?|[^,;.!?]*\b(?:here|this|these|following|below|so far|like|code|snippet"
    r"|example))(?: [^,;.!?]*)?:\s*$",
    re.IGNORECASE,
)
"""The clause at the end of a text that only announces the code behind it."""
_FIGURE = re.compile(r"(?<![\w.])[v$€£]?\d[\d.,:/]*\d?(?:%|\w{0,2})(?!\w)")
_RESULT = re.compile(
    r"\b(?:decid|cho(?:os|se)|switch|finish|complet|improv|reduc|increas|achiev|fix|replac|deploy|launch|prefer|never"
    r"|already|now|deadline|instead)\w*",
    re.IGNORECASE,
)
_IN_CODE = re.compile(
    r"\b(?:librar(?:y|ies)|packages?|dependenc(?:y|ies)|columns?|fields?|elements?|tags?|rules?)\b", re.IGNORECASE
)
"""What may be named in code alone."""
_OFFER = re.compile(
    r"\b(?:would you like|do you (?:have|want|need)|does (?:this|that)|is there anything|feel free|let me know|if you"
    r" (?:have|need|want|run into|encounter) (?:any|more|further|specific|help|additional)|you['’]re welcome|happy"
    r" (?:to help|coding)|good luck|keep up the|great (?:job|work)|i['’]m (?:glad|happy) (?:to|that))\b",
    re.IGNORECASE,
)
_MARK = re.compile(r"\W*(?:\d+[.)])?\W*")
"""The mark of an item, without it."""
_OPENS = re.compile(
    r"\W*(?:certainly|absolutely|of course|sure(?: thing)?|great|glad to|happy to)\b[^.!?:\d]*[.!?:]?\W*$", re.I
)


def telling_spans(text: str, start: int, end: int, tells: Tells | None = None) -> list[Span]:
    """Return the parts of a span of a message that tell something, in order.

    Args:
        text: the text of the message.
        start: the start of the span.
        end: behind it.
        tells: whether a line of code says something of what is asked: such lines are shown first, up to `CODE_CHARS`;
            None to show no code.
    """
    found: list[Span] = []
    at = start
    for begin, stop in code_blocks(text):
        if stop <= start or begin >= end:
            continue
        lines = _code_spans(text, begin, stop, tells) if tells is not None else []
        shown = [one for one in lines if start <= one[0] < end]
        if begin > at:
            found += _prose(text, at, begin, announces=not shown)
        found += shown
        at = max(at, stop)
    before_code = tells is None and text[end : end + CLAUSE_CHARS].lstrip().startswith("```")
    return found + _prose(text, at, end, announces=before_code)


def _prose(text: str, start: int, end: int, *, announces: bool) -> list[Span]:
    """Return a span without space around it, and without a last clause that announces what is not shown."""
    if announces and (lead := _LEAD_IN.search(text[start:end])):
        end = start + lead.start() + (lead[0][:1] in ".!?")
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return [(start, end)] if any(char.isalnum() for char in text[start:end]) else []


def _code_spans(text: str, begin: int, stop: int, tells: Tells) -> list[Span]:
    """Return the lines of a block that are shown, joined where they follow each other."""
    of_block = _LINE.finditer(text, begin, stop)
    lines = [line.span() for line in of_block if line[0].strip() and not line[0].lstrip(" \t-*+>").startswith(FENCES)]
    chosen, left = set[Span](), CODE_CHARS
    for line in sorted(lines, key=lambda line: not tells(text[line[0] : line[1]])):
        size = line[1] - line[0]
        if line not in chosen and size <= left:
            chosen.add(line)
            left -= size
    return _joined(text, sorted(chosen))


def _joined(text: str, spans: Sequence[Span]) -> list[Span]:
    """Return spans in order, those joined between which nothing but space is."""
    found: list[Span] = []
    for start, end in spans:
        if found and not text[found[-1][1] : start].strip():
            found[-1] = found[-1][0], end
        else:
            found.append((start, end))
    return found


def gist_spans(text: str, spans: Sequence[Span], asked: frozenset[str], chars: int) -> list[Span]:
    """Return the clauses of spans that say most in about ``chars`` characters, in order (``language/briefs.py``).

    The first clause comes first, as people begin with what they want, without the words that only lead to it.
    """
    clauses = [clause for span in spans for clause in _clauses(text, *span)]
    if not clauses:
        return []
    (start, end), *rest = clauses
    lead = LEAD.match(text, start, end)
    start = lead.end() if lead and lead.end() - start < (end - start) // 2 else start
    chosen = {(start, end if end - start <= chars else _word_end(text, start, chars))}
    left = chars - (end - start)

    def worth(clause: Span) -> float:
        said = text[clause[0] : clause[1]]
        return worth_of(said, asked) + 0.5 * bool(_RESULT.search(said))

    for clause in sorted(rest, key=lambda one: (-worth(one), one)):
        if clause[1] - clause[0] <= left and worth(clause) > 0:
            chosen.add(clause)
            left -= clause[1] - clause[0]
    return _joined(text, sorted(chosen))


def _clauses(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the clauses of a span, those of a few words with the next one, and the last with the one before."""
    at = start
    for match in BREAK.finditer(text, start, end):
        if match.start() - at >= CLAUSE_CHARS and end - match.end() >= CLAUSE_CHARS:
            yield from _prose(text, at, match.start(), announces=False)
            at = match.end()
    yield from _prose(text, at, end, announces=False)


def _word_end(text: str, start: int, chars: int) -> int:
    space = text.rfind(" ", start, start + chars)
    return space if space > start else start + chars


def whole_words(text: str, start: int, end: int) -> Span:
    """Return a span with the words that it cuts; a very long sentence is stored in pieces that may end within one."""
    while 0 < start < len(text) and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while 0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def asks_for_something_in_code(text: str) -> bool:
    """Return whether a question or what is missing asks for code, or for what is often named in code alone."""
    return shapes.asks_for_code(text) or _IN_CODE.search(text) is not None


def is_idle_reply(said: str) -> bool:
    """Return whether a sentence of an assistant offers more, closes, or is a heading or fragment alone."""
    said = said.strip()
    figure, short = _FIGURE.search(said) is not None, len(said) < HEADING_CHARS
    if _MARK.fullmatch(said) or _OPENS.match(said):
        return True
    if _OFFER.search(said) and len(said) <= 6 * HEADING_CHARS and not figure:
        return True
    heading = said.startswith("#") and "\n" not in said and len(said) < 2 * HEADING_CHARS
    return heading or (short and not figure and said.endswith((":", "*", "?", "!")))


WHOLE_CHARS = 500
"""Characters up to which a message is shown whole."""
SAME = 0.5
"""Share of the query's content that a question of the evidence has to contain, so that what was said next is shown."""
LINE_CHARS = 150
"""Characters of the line of an exchange."""
ALIKE = 0.9
"""Share of the words of a text that another one has, from which on it only repeats it, if it has"""
LEAST_ALIKE = 8
"""so many different words at least."""

BROAD = frozenset(("all", "overview"))
"""Marks the lines of a broad recall (`Evidence.via`)."""
_ASIDE = re.compile(r"\[[^\[\]]*\]")  # what is no speech: "[shares a picture: a dog]"


def passages_of(
    space: Space,
    query: Query,
    sentences: Iterable[EvidenceSentence],
    evidence: Sequence[Evidence],
    gates: Mapping[str, float],
    missing: Sequence[str] = (),
) -> list[EvidenceSentence]:
    """Return what a language model is shown of the sentences that were found, in their order.

    Args:
        space: the space of the sentences; the view does not change meanwhile.
        query: understood.
        sentences: of the evidence, the best first; of a broad recall its lines.
        evidence: the evidence that they belong to.
        gates: the gates of the sentences that are not neutral for the query, by id.
        missing: what a judge said is missing.
    """
    return list(_Passages(space, query, gates, missing).of(list(sentences), evidence))


class _Passages:
    def __init__(self, space: Space, query: Query, gates: Mapping[str, float], missing: Sequence[str]) -> None:
        self._space, self._gates, self._small = space, gates, SmallTalk(space)
        self._code = asks_for_something_in_code(" ".join((query.text, *missing)))
        own = {stem for name in query.speakers for stem in stems(name)}
        self._asked = set(query.stems) - own
        self._wanted = frozenset({*query.stems, *(stem for text in missing for stem in stems(text))} - own)
        self._shown: dict[str, list[tuple[int, int]]] = {}
        self._said: list[tuple[str | None, frozenset[str]]] = []

    def of(self, sentences: Sequence[EvidenceSentence], evidence: Sequence[Evidence]) -> Iterator[EvidenceSentence]:
        before = {item.id: item.before for item in evidence if item.before is not None}
        listed = {item.id: item for item in evidence if BROAD.intersection(item.via)}
        lines = [one for one in sentences if one.evidence_id in listed]
        for one in sentences:
            turn = one.source.turn
            if one.evidence_id in listed or self._is_idle(turn):
                continue
            yield from self._pieces(one, one.source)
            if (said := before.pop(one.evidence_id, None)) is not None:
                yield from self._pieces(one, said)
            if (reply := self._reply(turn)) is not None and not self._is_idle(reply):
                yield from self._pieces(one, Source(reply, 0, len(reply.text)))
        for one in lines:
            yield from self._line(one)
            yield from self._advice(one, listed[one.evidence_id])
        for one in lines:
            turn = one.source.turn
            yield from self._pieces(one, one.source if turn.kind == "document" else Source(turn, 0, len(turn.text)))
        for one in lines:
            for source in listed[one.evidence_id].sources[1:2]:
                yield from self._pieces(one, source)

    def _line(self, found: EvidenceSentence) -> Iterator[EvidenceSentence]:
        """Yield what fits into one line of a message, or of the listed part of a document."""
        turn, source = found.source.turn, found.source
        start, end = (source.start, source.end) if turn.kind == "document" else (0, len(turn.text))
        spans = [(start, end)] if turn.kind == "document" else telling_spans(turn.text, start, end)
        for span in gist_spans(turn.text, spans, self._wanted, LINE_CHARS):
            yield from self._once(found, turn, span)

    def _advice(self, found: EvidenceSentence, line: Evidence) -> Iterator[EvidenceSentence]:
        """Yield the headings of the reply to a listed message, as the overview words it: what was advised."""
        _, arrow, said = line.text.partition(REPLIES)
        if not arrow or said.endswith("…"):
            return
        turn = line.sources[1].turn
        for words_said in said.partition(": ")[2].split("; "):
            if (at := turn.text.find(words_said)) >= 0:
                yield from self._once(found, turn, (at, at + len(words_said)))

    def _pieces(self, found: EvidenceSentence, source: Source) -> Iterator[EvidenceSentence]:
        """Yield the sentences of a span, or of its whole message, as far as they were not shown yet."""
        turn, space = source.turn, self._space
        whole = turn.kind == "message" and len(turn.text) <= WHOLE_CHARS
        rows = space.sentences.overlapping(turn.id, source.start, source.end)
        for row in space.sentences_of(turn.id) if whole else rows:
            piece = space.sentences[row]
            for span in self._telling(turn, piece.start, piece.end):
                yield from self._once(found, turn, span)

    def _telling(self, turn: Turn, start: int, end: int) -> list[tuple[int, int]]:
        if turn.kind == "document":
            return [(start, end)]
        start, end = whole_words(turn.text, start, end)
        spans = telling_spans(turn.text, start, end, self._tells if self._code else None)
        return [one for one in spans if not (by_assistant(turn) and is_idle_reply(turn.text[one[0] : one[1]]))]

    def _tells(self, line: str) -> bool:
        return not self._wanted.isdisjoint(stems(line))

    def _once(self, found: EvidenceSentence, turn: Turn, span: tuple[int, int]) -> Iterator[EvidenceSentence]:
        """Yield the parts of a span that were not shown yet; nothing where they repeat another text."""
        shown = self._shown.setdefault(turn.id, [])
        for start, end in _left(span, shown):
            said = turn.text[start:end]
            start, end = start + len(said) - len(said.lstrip()), end - len(said) + len(said.rstrip())
            if start >= end or self._repeats(turn, turn.text[start:end]):
                continue
            shown.append((start, end))
            rows = self._space.sentences.overlapping(turn.id, start, end)
            within = [self._space.sentences[row] for row in rows]
            times = within[0].times if within and (within[0].start, within[0].end) == (start, end) else ()
            gate = min((self._gates.get(piece.id, 1.0) for piece in within), default=1.0)
            source = Source(turn, start, end)
            yield EvidenceSentence(found.evidence_id, source, times, found.score, found.cosine, gate)

    def _repeats(self, turn: Turn, said: str) -> bool:
        """Return whether a text of another message, or document, that is shown already says nearly the same."""
        own = frozenset(stems(said))
        role = None if turn.kind == "document" else turn.speaker or turn.role
        if len(own) >= LEAST_ALIKE:
            figures = {stem for stem in own if any(char.isdigit() for char in stem)}
            for who, other in self._said:
                if role == who and figures <= other and len(own & other) >= ALIKE * len(own):
                    return True
            self._said.append((role, own))
        return False

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
        after = int(self._space.next_rows[rows[-1]])
        if len(shared) < SAME * len(self._asked) or after == NONE:
            return None
        reply = self._space.segment_turn[after]
        return reply if reply.speaker != turn.speaker and len(reply.text) <= WHOLE_CHARS else None


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
