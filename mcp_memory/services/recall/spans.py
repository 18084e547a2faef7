"""Spans: which characters of a message a language model is shown.

- `telling_spans`: of a span everything but idle text. A block of code is left out, its fences and what only announces
  it ("here's my code:") too; where what stands in code is asked for, its lines are shown, first those that say most.
- `gist_spans`: of a message as much as fits into one line: how it begins, then the clauses with figures and with what
  is asked for, the person's own words each.
- `is_idle_reply`: a sentence of an assistant that offers more, closes, or is a heading alone tells nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from mcp_memory.language import shapes
from mcp_memory.language.briefs import BREAK, LEAD, worth_of
from mcp_memory.services.recall.units import code_blocks

CODE_CHARS = 240
"""Characters of the code of one message that are shown."""
HEADING_CHARS = 40
"""Characters up to which a line of an assistant without a figure is a heading or a fragment."""
CLAUSE_CHARS = 24
"""Characters from which on a clause stands for itself."""

Span = tuple[int, int]
Tells = Callable[[str], bool]

_FENCE = re.compile(r"```[^\n]*")
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
        text: of the message.
        start: of the span.
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
    fence = _FENCE.match(text, begin, stop)
    inside = fence.end() if fence else begin
    close = stop - 3 if text[begin:stop].endswith("```") else stop
    lines = [match.span() for match in _LINE.finditer(text, inside, close) if match[0].strip()]
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


def asks_for_code(text: str) -> bool:
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
