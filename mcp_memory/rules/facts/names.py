"""Find names in the text of an opening: "directed by the Danish poet Ada Moor, Tom Gale and others" has two.

A regular expression cannot recognise the capitals of every script, so a small scanner reads the words instead, each
once. The module also defines the values that all readers of openings share: a fact, and brackets.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from mcp_memory.domain.times import StatedTime
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.tables import article_words
from mcp_memory.rules.facts.tables.nouns import ROLES

_BORN = re.compile(r"\b(?:born|b\.|née|né)(?=[\s.])|†", re.IGNORECASE)
_MOST = 8


@dataclass(frozen=True, slots=True)
class OpeningFact:
    """One fact of an opening, and the words that state it.

    Attributes:
        head: what it is about.
        relation: its name.
        tail: as written.
        start: first character of the words.
        end: first character after them.
        time: when it happened.
    """

    head: str
    relation: str
    tail: str
    start: int
    end: int
    time: StatedTime | None = None


@dataclass(frozen=True, slots=True)
class Bracket:
    """A pair of brackets and what they hold.

    Attributes:
        start: first character inside.
        end: the closing bracket.
        born: whether it says that somebody was born.
    """

    start: int
    end: int
    born: bool


def find_brackets(text: str, start: int, end: int) -> list[Bracket]:
    """Return the first few outermost brackets of a span."""
    spans: list[Bracket] = []
    deep = opened = 0
    for position in range(start, end):
        character = text[position]
        if character == "(":
            opened = opened if deep else position + 1
            deep += 1
        elif character == ")" and deep:
            deep -= 1
            if not deep:
                spans.append(Bracket(opened, position, bool(_BORN.search(text, opened, position))))
                if len(spans) == _MOST:
                    break
    return spans


def mask_brackets(text: str, spans: Sequence[Bracket]) -> str:
    """Return a text of the same length with spaces in place of the brackets and their content."""
    parts, position = [], 0
    for bracket in spans:
        parts += [text[position : bracket.start - 1], " " * (bracket.end - bracket.start + 2)]
        position = bracket.end + 1
    return "".join([*parts, text[position:]])


MOST = 12
"""Names read of one list."""
_TOKEN = re.compile(r"[^\W_][\w'’.&/-]{0,60}")
_SPACE = re.compile(r"[ \t\n]{0,3}")
_PARTICLES = word_set(
    "of the de del della di da dos do du des la le las los van von der den ter ten zu zum al el bin ibn bint y e i af"
    " av und"
)
_BEFORE = word_set(
    "the a an his her its their late former wife husband brother sister father mother son daughter first second film"
    " record television stage jazz pop rock folk classical rap soul blues opera veteran and fellow author band group"
    " music video game novelist's company brothers siblings duo recording artist king queen team"
)
_QUOTED = re.compile(r"\s{0,2}[\"“]\s?([^\"“”]{1,120}?)\s?[\"”]")
_AND = re.compile(r"\s{0,2},?\s{0,2}(?:and|&)\s{1,2}|\s{0,2},\s{0,2}")
_AS = re.compile(r"\s{1,2}as\s[^,.;]{1,60}(?=,)")
_COMMA = re.compile(r"\s?,\s{0,2}")
_NUMBERED = re.compile(r"\d{1,2}(?:st|nd|rd|th)")
_ABBREVIATED = re.compile(r"(?:[^\W\d_]|St|Ste|Jr|Sr|Dr|Mr|Mrs|Prof|Inc|Ltd|Co|(?:[^\W\d_]\.){1,4}[^\W\d_])\.")


class NameSpan(NamedTuple):
    """The span of a name.

    Attributes:
        start: first character.
        end: first character after it.
        role: whether a role is before it: "the poet".
    """

    start: int
    end: int
    role: bool = False


def read_name(text: str, position: int, stop: int) -> NameSpan | None:
    """Return the name at a position: up to ten capitalised words and the particles between them."""
    first = position = _skip(text, position, stop)
    end = first
    for _ in range(10):
        token = _TOKEN.match(text, position, stop)
        if token is None:
            break
        word = token[0]
        if word[0].isupper() or (end > first and word.isdigit() and len(word) < 4):
            end = token.end()
            if word.endswith(".") and not _ABBREVIATED.fullmatch(word):
                end -= 1
                break
        elif end == first or word.lower() not in _PARTICLES:
            break
        position = _skip(text, token.end(), stop)
    while end > first and text[end - 1] in "-/&'’":
        end -= 1
    return NameSpan(first, end) if end - first > 1 else None


def name_after_description(text: str, position: int, stop: int) -> NameSpan | None:
    """Return the name behind a description: the last two words of "the Danish poet Ada Moor"."""
    role = False
    for _ in range(9):
        name = read_name(text, position, stop)
        if name is not None:
            rest = _TOKEN.match(text, _skip(text, name.end, stop), stop)
            words = text[name.start : name.end].lower().split()
            before = rest is not None and rest[0][0].islower() and _stands_before(rest[0])
            if rest is None or not before or not (set(words) & (article_words.NATIONALITIES | article_words.HALVES)):
                if set(words) <= article_words.NATIONALITIES:
                    return None
                return NameSpan(name.start, name.end, role)
            position = name.end
            continue
        token = _TOKEN.match(text, _skip(text, position, stop), stop)
        if token is None or not _stands_before(token[0]):
            return None
        role = role or token[0].lower().rstrip("-") in ROLES
        position = token.end()
        if text[position : position + 1] in ("-", "/"):
            position += 1
    return None


def read_name_list(text: str, position: int, stop: int) -> list[NameSpan]:
    """Return the names of a list, "A, B and C", in order."""
    names: list[NameSpan] = []
    while len(names) < MOST:
        name = name_after_description(text, position, stop)
        if name is None:
            break
        name = with_title(text, name, stop)
        names.append(name)
        part = _AS.match(text, name.end, stop)
        join = _AND.match(text, part.end() if part else name.end, stop)
        if join is None:
            break
        position = join.end()
        if position < stop and (after := _AND.match(text, position, stop)) and after.end() > position:
            position = after.end()
    return names


def with_title(text: str, name: NameSpan, stop: int) -> NameSpan:
    """Return a name with the title behind its comma: "Otto II, Duke of Harn", "Tom Gale, Jr."."""
    comma = _COMMA.match(text, name.end, stop)
    if comma is None:
        return name
    position = comma.end()
    number = _NUMBERED.match(text, position, stop)
    token = _TOKEN.match(text, _skip(text, number.end() if number else position, stop), stop)
    if token is None or token[0].lower() not in article_words.STYLES or not token[0][0].isupper():
        return name
    title = read_name(text, token.start(), stop)
    return NameSpan(name.start, title.end, name.role) if title else name


def quoted_span(text: str, position: int, stop: int) -> NameSpan | None:
    """Return the text in quotation marks at a position."""
    match = _QUOTED.match(text, position, stop)
    return NameSpan(match.start(1), match.end(1)) if match else None


def _skip(text: str, position: int, stop: int) -> int:
    match = _SPACE.match(text, position, stop)
    return match.end() if match else position


def _stands_before(word: str) -> bool:
    low = word.lower().rstrip("-")
    return low in ROLES or low in _BEFORE or low in article_words.PEOPLE or low.rstrip("s") in ROLES
