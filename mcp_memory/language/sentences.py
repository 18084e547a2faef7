"""Split a text of any language into sentences.

``sentencex`` tells a full stop that ends a sentence from one that ends an abbreviation. Three rules are added. A line
break ends a sentence if it looks intended: before a blank line or a list item, and after a line that is much shorter
than the width at which an editor wraps. The library gets at most `BLOCK` characters at a time, because its cost grows
with the square of the length of a paragraph without spaces (450,000 characters of Chinese took 73 s). Text without
sentences (logs, code, base64) is cut into pieces of at most `LONGEST` characters, so that an embedder that reads 256
tokens loses little of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise

LONGEST = 1_200
"""Most characters of a sentence; a longer one is cut at white space, or anywhere if it has none."""
BLOCK = 2_000
"""Characters passed to the library at once; more than `LONGEST`, so that it cuts no whole sentence."""
SHORT_LINE = 40
"""A line with fewer characters counts as ended on purpose, not wrapped."""

MANY = 60
"""From so many words and marks on, a sentence may be called repetitive; 1,200 characters of prose have 250."""
DISTINCT = 5
"""A sentence repeats itself if fewer than one in so many words and marks are different; of prose, half are."""
RUN = 16
"""It does so, too, if one word or mark stands as often as this in a row."""

_LINE_END = re.compile(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
_BREAKS_BEFORE = re.compile(r"\s*(?:[-*+•‣◦–—>|#]|\d{1,3}[.)]\s|$)")
_WORD = re.compile(r"\S")
_TOKEN = re.compile(r"\w+|[^\w\s]")
_SPACE = re.compile(r"\s")
_SCRIPTS = (
    ("zh", re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")),
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af\u1100-\u11ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff\u0750-\u077f]")),
    ("ru", re.compile(r"[\u0400-\u052f]")),
    ("el", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
)
_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|nicht|ich|ein|eine|mit|auf|für|wir|sie|war|im|am|zu)\b", re.IGNORECASE)
_ENGLISH = re.compile(r"\b(?:the|and|is|to|of|a|i|in|you|it|was|that|my|for)\b", re.IGNORECASE)
_SAMPLE = 1_000


QUESTION_MARKS = ("?", "？", "؟", "\u037e", "՞")
"""Question marks in Latin, Chinese, Arabic, Greek and Armenian script."""


def split(text: str) -> list[tuple[int, int]]:
    """Return the sentences of a text as (start, end) in characters, in order.

    White space around a sentence is excluded; every other character lies in exactly one sentence. A text of white
    space only has no sentences.
    """
    language = _language(text)
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
    if end - start < 2 * MANY:
        return False
    tokens = _TOKEN.findall(text[start:end].lower())
    if len(tokens) < MANY:
        return False
    if len(set(tokens)) * DISTINCT < len(tokens):
        return True
    run = 1
    for before, token in pairwise(tokens):
        run = run + 1 if token == before else 1
        if run >= RUN:
            return True
    return False


def _language(text: str) -> str:
    """Guess the language from the script of the opening; the library uses it to recognise abbreviations."""
    sample = text[:_SAMPLE]
    if not sample.isascii():
        counts = {name: len(letters.findall(sample)) for name, letters in _SCRIPTS}
        counts["ja"] = counts["ja"] and counts["ja"] + counts["zh"]  # only Japanese mixes both scripts
        best = max(counts, key=counts.__getitem__)
        if counts[best] * 4 > len(sample):
            return best
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
        stop = min(start + BLOCK, end)
        block = text[start:stop]
        cuts = sorted({found["start_index"] for found in get_sentence_boundaries(language, block)} | {0})
        if stop < end and len(cuts) > 1:
            stop = start + cuts.pop()
        yield from zip((start + cut for cut in cuts), [*(start + cut for cut in cuts[1:]), stop], strict=True)
        start = stop


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield a sentence without surrounding white space, in several pieces if it is too long."""
    while found := _WORD.search(text, start, end):
        start = found.start()
        stop = end if end - start <= LONGEST else _cut(text, start + LONGEST)
        yield start, start + len(text[start:stop].rstrip())
        start = stop


def _cut(text: str, stop: int) -> int:
    """Return where to cut at or before ``stop``: at white space in the last quarter, otherwise between characters."""
    spaces = [found.start() for found in _SPACE.finditer(text, stop - LONGEST // 4, stop)]
    if spaces:
        return spaces[-1]
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
