"""The structure of a text in Markdown: its headings, and the blocks that are one piece, code and tables.

Headings are lines of ``#`` signs and lines that are bold from end to end. A fence that is never closed reaches to the
end of the text, as in CommonMark. Everything takes time in proportion to the length of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

TITLE = 80
"""Most characters of a heading that count; a longer bold line is a sentence."""
NEAREST = 3
"""Most headings of a path: the nearest ones."""
BOLD = 7
"""The level of a bold line: below every ``#`` heading, which have the levels 1 to 6."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|[\r\n]|\Z)")
_FENCE = re.compile(r"[ \t]*(?:[-*+>][ \t]{1,3})?(`{3,}|~{3,})([^\r\n]*)")
_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+([^\r\n]*[^\s#])[ \t#]*[\r\n]*\Z")
_BOLD = re.compile(r"[ \t]{0,3}\*\*([^*\r\n]+)\*\*:?[ \t]*[\r\n]*\Z")


@dataclass(slots=True)
class Outline:
    """Headings and blocks of one text, in order.

    Attributes:
        headings: where the line of each begins.
        blocks: the spans of code, its fences included, and of tables, in characters.
    """

    headings: list[int] = field(default_factory=list)
    blocks: list[tuple[int, int]] = field(default_factory=list)
    _titles: list[tuple[str, ...]] = field(default_factory=list)  # of each heading: those above it, then its own

    def path(self, start: int) -> tuple[str, ...]:
        """Return the headings above a place, at most `NEAREST`, outermost first; none stands above its own line."""
        at = bisect_right(self.headings, start) - 1
        if at < 0:
            return ()
        above = self._titles[at][:-1] if self.headings[at] == start else self._titles[at]
        return above[-NEAREST:]


def outline(text: str) -> Outline:
    """Return the headings and blocks of a text."""
    found = Outline()
    stack: list[tuple[int, str]] = []  # the open headings with their levels
    fence, began, rows = "", 0, False  # rows: the line before was a row of a table
    for line in _LINE.finditer(text):
        start, end, words = line.start(), line.end(), line.group()
        mark = _FENCE.match(words)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                found.blocks.append((began, end))
                fence = ""
        elif mark:
            fence, began = mark[1], start
        elif words.lstrip(" \t").startswith("|"):
            if rows and found.blocks[-1][1] == start:
                found.blocks[-1] = found.blocks[-1][0], end
            else:
                found.blocks.append((start, end))
            rows = True
            continue
        elif heading := _HEADING.match(words) or _BOLD.match(words):
            signs = heading[1] if heading.re is _HEADING else ""
            title = heading[heading.lastindex or 1].strip(" *_")
            if title and len(title) <= TITLE:
                level = len(signs) or BOLD
                while stack and stack[-1][0] >= level:
                    stack.pop()
                stack.append((level, title))
                found.headings.append(start + len(words) - len(words.lstrip(" \t")))
                found._titles.append(tuple(one for _, one in stack))
        rows = False
    if fence:
        found.blocks.append((began, len(text)))
    return found
