"""Find the parts of a message that are no prose of its speaker: code, tables, logs, tracebacks, quoted mail.

What stands there was written by a program or by somebody else, and often reads like a statement ("User lives in Berlin"
in a test fixture). The facts are read from the rest. Each line is looked at once.
"""

from __future__ import annotations

import re

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
        span: of the sentence.
        foreign: as `foreign_spans` returns them.
        first: index of the first of them that may end behind the sentence's start; pass on what was returned last.
    """
    start, end = span
    while first < len(foreign) and foreign[first][1] <= start:
        first += 1
    if first < len(foreign) and foreign[first][0] < end:
        end = max(start, foreign[first][0])
    return (start, end), first
