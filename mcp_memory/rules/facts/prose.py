"""Choose what of a text is read for facts: sentences of its speaker, within limits of length and time.

Left out are the parts of a message that are no prose of its speaker: code, tables, logs, tracebacks, quoted mail.
What stands there was written by a program or by somebody else, and often reads like a statement ("User lives in Berlin"
in a test fixture). The facts are read from the rest. Each line is looked at once.
"""

from __future__ import annotations

import logging
import re
import time
from collections import Counter
from collections.abc import Iterator, Sequence

from mcp_memory.domain.turns import READ_CHARS, Turn
from mcp_memory.language.segments import is_repetitive

Span = tuple[int, int]

_LINE = re.compile(r"[^\n]*\n?")
_FENCE = re.compile(r"\s{0,3}(?:[-*+>]\s{1,3})?(?P<fence>`{3,}|~{3,})(?P<rest>.*)")
_FOREIGN = re.compile(
    r"\s*(?:>|&gt;|<[a-zA-Z/!]|\|"  # a quoted line, markup, a row of a table
    r"|(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|\[?\d\d:\d\d:\d\d[\].,])"  # a line of a log
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|CRITICAL|FATAL)\b\s*[\]:|\-(]"
    r"|(?:File\s\"|at\s[\w$.<>]+\(|Caused\sby:\s|[\w.]{1,60}(?:Error|Exception|Warning):\s)"  # a traceback
    r"|(?:\$\s[a-z./]|>>>\s|PS\s[A-Z]:\\|@@\s|(?:\+\+\+|---)\s[ab/])"  # a prompt, a diff
    r"|(?:def\s\w{1,60}\(|class\s\w{1,60}\s?[(:{]|import\s[\w.]{1,60}\s*;?$|from\s[\w.]{1,60}\simport\s|#include\b"
    r"|(?:const|let|var)\s[\w{}\[\], ]{1,80}=|(?:async\s)?function\b[^(]{0,60}\(|@[\w.]{1,60}(?:\(|$)"
    r"|(?:SELECT|INSERT\sINTO|UPDATE|DELETE\sFROM|(?:CREATE|ALTER|DROP)\s[A-Z]+|FROM|WHERE)\s)"
    r"|[\w.\[\]'\"]{1,60}\s?(?:=|\+=|:=)\s?(?:[\"'\[{(]|[\w.]{1,60}[(\[]|(?:True|False|None|null|new|await)\b)"
    r"|[{}()\[\];]+\s*$)"
)
_CODE_END = re.compile(r"(?:[;{}]|=>|->)\s*$")
_TABLE = re.compile(r"\s(?:\||\t)\s?\S.*(?:\||\t)")
_TRACEBACK = re.compile(r"\s*Traceback \(most recent call last\)")
MOST_OF_A_LINE = 400
"""Characters of a line that decide what it is; no pattern sees more, so a hostile line costs no more than others."""
LONGEST = 1_200
"""Characters of a sentence that are read; longer ones were not written as one sentence."""
CEILING_S = 10.0
"""Seconds of the processor for one message, some 15 times what the worst of 94 hostile texts takes on 200,000
characters. A rebuild on another machine may read more or less of such a message."""
TOLD_AGAIN = 8
"""How often a sentence is read that a text repeats word for word."""

_log = logging.getLogger(__name__)


def spans_to_read(turn: Turn, sentences: Sequence[Span]) -> Iterator[tuple[int, Span]]:
    """Yield the index and the characters of each sentence that is read for facts.

    Left out are sentences that repeat themselves, the ninth and later ones with the same words, and what follows after
    `READ_CHARS` of a message. So the time for a text is proportional to its length, and that for a message is limited.
    If a message takes `CEILING_S` nevertheless, the rest of it is not read, and the log says so.

    Args:
        turn: the text.
        sentences: spans of its sentences, in characters.
    """
    talk = turn.kind == "message"
    foreign, passed = (foreign_spans(turn.text) if talk else []), 0
    occurrences, read_chars, until = Counter[str](), 0, time.thread_time() + CEILING_S
    for index, sentence in enumerate(sentences):
        (start, end), passed = cut_out(sentence, foreign, passed)
        if start >= end:
            continue
        span = start, min(end, start + LONGEST)
        text = turn.text[slice(*span)]
        occurrences[text] += 1
        if is_repetitive(turn.text, *span) or occurrences[text] > TOLD_AGAIN:
            continue
        read_chars += len(text)
        if talk and read_chars > READ_CHARS:
            return
        if talk and time.thread_time() > until:
            _log.warning("%s: reading its text for facts took over %g s; what follows character %s is stored and can "
                         "be found, but its facts are not read", turn.id, CEILING_S, start)  # fmt: skip
            return
        yield index, span


def foreign_spans(text: str) -> list[Span]:
    """Return the spans of a message that its speaker did not write as prose, in order and apart, in characters.

    Covered are fenced blocks (an open fence reaches to the end), quoted lines ("> …"), rows of tables, lines of logs,
    of tracebacks, of shell sessions and of source code.
    """
    spans: list[Span] = []
    fence = ""
    in_traceback = False
    for match in _LINE.finditer(text):
        start, end = match.span()
        if start == end:
            break
        line = text[start : min(end, start + MOST_OF_A_LINE)].rstrip("\n")
        mark = _FENCE.match(line)
        if fence:
            foreign = True
            if mark and mark["fence"].startswith(fence) and not mark["rest"].strip():
                fence = ""
        elif mark and "`" not in mark["rest"]:
            foreign, fence = True, mark["fence"]
        else:
            in_traceback = (in_traceback and (line[:1].isspace() or not line)) or bool(_TRACEBACK.match(line))
            foreign = in_traceback or _is_foreign(line)
        if not foreign:
            continue
        if spans and spans[-1][1] == start:
            spans[-1] = spans[-1][0], end
        else:
            spans.append((start, end))
    return spans


def _is_foreign(line: str) -> bool:
    return bool(_FOREIGN.match(line) or _CODE_END.search(line) or _TABLE.search(line))


def cut_out(span: Span, foreign: list[Span], first: int) -> tuple[Span, int]:
    """Return what of a sentence stands before the next foreign span, empty if it begins in one; and that span's index.

    Args:
        span: the span of the sentence.
        foreign: the spans of a message, as `foreign_spans` returns them.
        first: index of the foreign span to begin with: for the first sentence 0, then the index that this function
            returned for the sentence before, so that each foreign span is looked at once.
    """
    start, end = span
    while first < len(foreign) and foreign[first][1] <= start:
        first += 1
    if first < len(foreign) and foreign[first][0] < end:
        end = max(start, foreign[first][0])
    return (start, end), first
