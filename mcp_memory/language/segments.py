"""Split texts into sentences, and group these into segments of about 200 tokens, which recall ranks (QRMeM §2.1).

A text without structure is cut where a segment is full, and neighbouring segments share one sentence, so that what two
sentences say together is in one segment. A text with headings, code or tables is cut where its own structure has it: a
heading, or the line that introduces a block, stays with what follows; a block of code or a table is one piece, up to
`WHOLE_BLOCK` times the limit (an embedder reads its beginning, and its words are indexed all the same); a segment that
is full ends before its last heading, if what precedes fills half the limit. **Departure.** The paper's segments have
600 tokens (§3.2).

**Structure** is that of Markdown (`outline`): headings, and the blocks that are one piece, code and tables. Headings
are lines of ``#`` signs and lines that are bold from end to end. A fence that is never closed reaches to the end of the
text, as in CommonMark. Everything takes time in proportion to the length of the text.

**Sentences**, of any language: ``sentencex`` tells a full stop that ends a sentence from one that ends an abbreviation.
Three rules are added. A line break ends a sentence if it looks intended: before a blank line or a list item, and after
a line that is much shorter than the width at which an editor wraps. The library gets at most `BLOCK_CHARS` characters
at a time, because its cost grows with the square of the length of a paragraph without spaces (450,000 characters of
Chinese took 73 s). Text without sentences (logs, code, base64) is cut into pieces of at most `SENTENCE_CHARS`
characters, so that an embedder that reads 256 tokens loses little of it.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from mcp_memory.heap import text_cache
from mcp_memory.language.tokens import count_tokens

SENTENCE_CHARS = 1_200
"""Most characters of a sentence; a longer one is cut behind a clause, else at white space, else anywhere."""
BLOCK_CHARS = 2_000
"""Characters passed to the library at once; more than `SENTENCE_CHARS`, so that it cuts no whole sentence."""
SHORT_LINE = 40
"""A line with fewer characters counts as ended on purpose, not wrapped."""

REPETITIVE_FROM = 60
"""From so many words and marks on, a sentence may be called repetitive; 1,200 characters of prose have 250."""
DISTINCT = 5
"""A sentence repeats itself if fewer than one in so many words and marks are different; of prose, half are."""
REPEATED_RUN = 16
"""It also repeats itself if one word or mark stands so many times in a row."""

_LINE_END = re.compile(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
_BREAKS_BEFORE = re.compile(r"\s*(?:[-*+•‣◦–—>|#]|\d{1,3}[.)]\s|$)")
_WORD = re.compile(r"\S")
_TOKEN = re.compile(r"[^\W_]+|_|[^\w\s]")
_SPACE = re.compile(r"\s")
_CLAUSE = re.compile(r"[,;:]\s")
_SCRIPTS = (("ru", re.compile(r"[\u0400-\u052f]")), ("el", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")))
"""Scripts whose abbreviations and question marks the library tells only by their language; of others it needs none."""
_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|nicht|ich|ein|eine|mit|auf|für|wir|sie|war|im|am|zu)\b", re.IGNORECASE)
_ENGLISH = re.compile(r"\b(?:the|and|is|to|of|a|i|in|you|it|was|that|my|for)\b", re.IGNORECASE)
_SAMPLE = 1_000


QUESTION_MARKS = ("?", "？", "؟", "\u037e", "՞")
"""Question marks in Latin, Chinese, Arabic, Greek and Armenian script."""


def ends_with_question_mark(text: str) -> bool:
    """Return whether a text ends with a question mark of any script."""
    return text.rstrip().endswith(QUESTION_MARKS)


def split(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a text as (start, end) in characters, in order.

    White space around a sentence is excluded; every other character lies in exactly one sentence. A text of white
    space only has no sentences.
    """
    language = language_of(text)
    return [
        piece
        for start, end in _paragraphs(text)
        if _WORD.search(text, start, end)
        for first, last in _sentences(text, start, end, language)
        for piece in _pieces(text, first, last)
    ]


def is_repetitive(text: str, start: int, end: int) -> bool:
    """Return whether a sentence says the same again and again, as in "not not not …": no rule reads such a sentence.

    Rules look at a word's neighbours, so that many equal ones cost them much, and nobody states anything in that way.
    """
    if end - start < 2 * REPETITIVE_FROM:
        return False
    tokens = _TOKEN.findall(text[start:end].lower())
    if len(tokens) < REPETITIVE_FROM:
        return False
    if len(set(tokens)) * DISTINCT < len(tokens):
        return True
    run = 1
    for before, token in pairwise(tokens):
        run = run + 1 if token == before else 1
        if run >= REPEATED_RUN:
            return True
    return False


def language_of(text: str) -> str:
    """Guess the language from the opening, where anything goes by it: German, Greek, Russian, or "en" for any other."""
    sample = text[:_SAMPLE]
    if not sample.isascii():
        for name, letters in _SCRIPTS:
            if len(letters.findall(sample)) * 4 > len(sample):
                return name
    return "de" if len(_GERMAN.findall(sample)) > len(_ENGLISH.findall(sample)) else "en"


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    """Yield runs of wrapped lines; together they hold all of the text except line breaks."""
    start = line = 0
    for found in _LINE_END.finditer(text):
        end = found.start()
        if end - line < SHORT_LINE or _BREAKS_BEFORE.match(text, found.end(), found.end() + SHORT_LINE):
            yield start, end
            start = found.end()
        line = found.end()
    yield start, len(text)


def _sentences(text: str, start: int, end: int, language: str) -> Iterator[tuple[int, int]]:
    """Yield the sentences between two offsets; a block's last sentence is split again together with what follows it."""
    from sentencex import get_sentence_boundaries

    while start < end:
        stop = min(start + BLOCK_CHARS, end)
        block = text[start:stop]
        cuts = sorted({found["start_index"] for found in get_sentence_boundaries(language, block)} | {0})
        if stop < end:
            stop = start + cuts.pop() if len(cuts) > 1 else _cut(text, stop)
        yield from zip((start + cut for cut in cuts), [*(start + cut for cut in cuts[1:]), stop], strict=True)
        start = stop


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence without surrounding white space, in several pieces if it is too long."""
    while found := _WORD.search(text, start, end):
        start = found.start()
        stop = end if end - start <= SENTENCE_CHARS else _cut(text, start + SENTENCE_CHARS)
        yield start, start + len(text[start:stop].rstrip())
        start = stop


def _cut(text: str, stop: int) -> int:
    """Return where to cut at or before ``stop``: after a clause or word in the last quarter, else after a character."""
    for between in (_CLAUSE, _SPACE):
        if places := [found.end() for found in between.finditer(text, stop - SENTENCE_CHARS // 4, stop)]:
            return places[-1]
    place = stop
    while place > stop - 16 and _joins(text[place - 1], text[place]):
        place -= 1
    return place if place > stop - 16 else stop


def _joins(before: str, after: str) -> bool:
    """Whether two code points belong to one visible character."""
    return (
        unicodedata.category(after).startswith("M")
        or "\u200d" in (before, after)
        or "\U0001f3fb" <= after <= "\U0001f3ff"
        or "\U0001f1e6" <= after <= "\U0001f1ff"
    )


HEADING_CHARS = 80
"""Most characters of a heading that count; a longer bold line is a sentence."""
PATH_HEADINGS = 3
"""Most headings of a path: the nearest ones."""
BOLD_LEVEL = 7
"""The level of a bold line: below every ``#`` heading, which have the levels 1 to 6."""

_LINE = re.compile(r"[^\r\n]*(?:\r\n|[\r\n]|\Z)")
_FENCE = re.compile(r"[ \t]*(?:[-*+>][ \t]{1,3})?(`{3,}|~{3,})([^\r\n]*)")
_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+([^\r\n]*[^\s#])[ \t#]*[\r\n]*\Z")
_BOLD = re.compile(r"[ \t]{0,3}\*\*([^*\r\n]+)\*\*:?[ \t]*[\r\n]*\Z")


FENCES = ("```", "~~~")
"""What a line of Markdown begins with where a block of code begins or ends."""


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
        """Return at most `PATH_HEADINGS` headings above a place, outermost first; none stands above its own line."""
        at = bisect_right(self.headings, start) - 1
        if at < 0:
            return ()
        above = self._titles[at][:-1] if self.headings[at] == start else self._titles[at]
        return above[-PATH_HEADINGS:]


def code_blocks(text: str) -> list[tuple[int, int]]:
    """Return the spans of the fenced blocks of code in a text, fences included."""
    return [span for span in outline(text).blocks if text[slice(*span)].lstrip(" \t-*+>").startswith(FENCES)]


def without_code(text: str) -> str:
    """Return a text with line ends in place of its blocks of code, so that places stay the same."""
    if any(fence in text for fence in FENCES):
        for begin, end in code_blocks(text):
            text = text[:begin] + "\n" * (end - begin) + text[end:]
    return text


def cut_line(text: str, start: int, end: int, chars: int) -> int:
    """Return where a line that begins at ``start`` ends: at a word, and before any code."""
    fence = text.find("```", start + 1, end + 2)  # a sentence may end within a fence
    end = fence if fence > start else end
    if end - start <= chars:
        return end
    space = text.rfind(" ", start + chars // 2, start + chars)
    return space if space > start else start + chars


@text_cache(16)  # asked of each part of a book that is indexed, and of each passage that is shown
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
            if title and len(title) <= HEADING_CHARS:
                level = len(signs) or BOLD_LEVEL
                while stack and stack[-1][0] >= level:
                    stack.pop()
                stack.append((level, title))
                found.headings.append(start + len(words) - len(words.lstrip(" \t")))
                found._titles.append(tuple(one for _, one in stack))
        rows = False
    if fence:
        found.blocks.append((began, len(text)))
    return found


WHOLE_BLOCK = 3
"""A block stays whole up to so many times the limit of a segment."""
BLANK_CHARS = 16
"""Characters that count as a token at least: drawings of blanks and rules have few words."""
_LEADS = (":", "：")


@dataclass(frozen=True, slots=True)
class _SentenceGroup:
    """Sentences that stay together.

    Attributes:
        first: index of the first.
        last: index of the last, inclusive.
        size: in tokens.
        begins: it begins with a heading, or is a block: nothing before it is shared with it.
        shares: it is a single sentence of prose, which the next segment may repeat.
        heading: it begins with a heading.
    """

    first: int
    last: int
    size: int
    begins: bool
    shares: bool
    heading: bool


def pack_segments(text: str, spans: Sequence[tuple[int, int]], limit: int = 200) -> list[tuple[int, int]]:
    """Group sentences into segments of about ``limit`` tokens.

    Args:
        text: the whole text.
        spans: its sentences as (start, end) in characters, as `split` returns them.
        limit: most tokens of a segment, by `count_tokens`; a longer sentence is a segment of its own, and a block of
            code may have `WHOLE_BLOCK` times as many.

    Returns:
        Segments as (first, last) indices of sentences, both inclusive, in order; together they hold every sentence.
        Each starts with the last sentence of the previous segment, or with the next one if these two do not fit
        together or the structure of the text separates them, and each adds at least one sentence.
    """
    sizes = [max(count_tokens(text[start:end]), (end - start) // BLANK_CHARS) for start, end in spans]
    segments: list[tuple[int, int]] = []
    held: list[_SentenceGroup] = []
    total = 0
    for group in _groups(text, spans, sizes, limit):
        while held and total + group.size > limit:
            end = _end(held, total, limit)
            segments.append((held[0].first, held[end - 1].last))
            rest = held[end:]
            if not rest and held[-1].shares and not group.begins and held[-1].size + group.size <= limit:
                rest = held[-1:]
            held, total = rest, sum(one.size for one in rest)
        held.append(group)
        total += group.size
    if held:
        segments.append((held[0].first, held[-1].last))
    return segments


def _end(held: Sequence[_SentenceGroup], total: int, limit: int) -> int:
    """Return how many of the groups a full segment takes: up to its last heading, if what precedes fills half of it."""
    for place in range(len(held) - 1, 0, -1):
        total -= held[place].size
        if held[place].heading and 2 * total >= limit:
            return place
    return len(held)


def _groups(text: str, spans: Sequence[tuple[int, int]], sizes: Sequence[int], limit: int) -> list[_SentenceGroup]:
    """Return the sentences as groups, in order."""
    shape = outline(text)
    block = _blocks_of(shape, spans)
    heads = set(shape.headings)
    heading = [start in heads for start, _ in spans]
    groups: list[_SentenceGroup] = []
    first = 0
    while first < len(spans):
        last, size = first, sizes[first]
        while last + 1 < len(spans) and size + sizes[last + 1] <= limit:
            if not _stays_with_next(text, spans, heading, block, last):
                break
            last += 1  # headings, and the line that introduces a block
            size += sizes[last]
        while last + 1 < len(spans) and block[last] >= 0 and block[last + 1] == block[last]:
            if size + sizes[last + 1] > WHOLE_BLOCK * limit:
                break
            last += 1
            size += sizes[last]
        in_block = block[last] >= 0
        shares = first == last and not in_block and not heading[first]
        groups.append(_SentenceGroup(first, last, size, in_block or heading[first], shares, heading[first]))
        first = last + 1
    return groups


def _stays_with_next(
    text: str, spans: Sequence[tuple[int, int]], heading: Sequence[bool], block: Sequence[int], at: int
) -> bool:
    """Return whether a sentence stays with the next: a heading does, and a line that introduces a block."""
    if block[at] >= 0:
        return False
    introduces = block[at + 1] >= 0 and text[spans[at][0] : spans[at][1]].rstrip("*_ ").endswith(_LEADS)
    return heading[at] or introduces


def _blocks_of(shape: Outline, spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the number of the block that each sentence has part in, or -1."""
    starts = [start for start, _ in shape.blocks]
    numbers = []
    for start, end in spans:
        number = bisect_right(starts, end - 1) - 1
        numbers.append(number if number >= 0 and shape.blocks[number][1] > start else -1)
    return numbers
