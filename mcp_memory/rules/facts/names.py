"""What the form of an opening tells, and the brackets that stand in it."""

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
class Formula:
    """One fact, and the words that say it.

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
    """What stands in brackets.

    Attributes:
        start: first character inside.
        end: the closing bracket.
        born: whether it says that somebody was born.
    """

    start: int
    end: int
    born: bool


def brackets(text: str, start: int, end: int) -> list[Bracket]:
    """Return the outermost brackets between two places, the first few."""
    found: list[Bracket] = []
    deep = opened = 0
    for place in range(start, end):
        character = text[place]
        if character == "(":
            opened = opened if deep else place + 1
            deep += 1
        elif character == ")" and deep:
            deep -= 1
            if not deep:
                found.append(Bracket(opened, place, bool(_BORN.search(text, opened, place))))
                if len(found) == _MOST:
                    break
    return found


def masked(text: str, beside: Sequence[Bracket]) -> str:
    """Return a text of the same length with spaces for the brackets and what they hold."""
    parts, place = [], 0
    for bracket in beside:
        parts += [text[place : bracket.start - 1], " " * (bracket.end - bracket.start + 2)]
        place = bracket.end + 1
    return "".join([*parts, text[place:]])


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


class Run(NamedTuple):
    """A name, and where it stands.

    Attributes:
        start: first character.
        end: first character after it.
        role: whether a role stood before it: "the poet".
    """

    start: int
    end: int
    role: bool = False


def run(text: str, place: int, stop: int) -> Run | None:
    """Return the name that begins at a place, up to ten words with capitals and the small words between them."""
    first = place = _skip(text, place, stop)
    end = first
    for _ in range(10):
        token = _TOKEN.match(text, place, stop)
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
        place = _skip(text, token.end(), stop)
    while end > first and text[end - 1] in "-/&'’":
        end -= 1
    return Run(first, end) if end - first > 1 else None


def named(text: str, place: int, stop: int) -> Run | None:
    """Return the name at a place behind what says who it is: of "the Danish poet Ada Moor" the last two words."""
    role = False
    for _ in range(9):
        found = run(text, place, stop)
        if found is not None:
            rest = _TOKEN.match(text, _skip(text, found.end, stop), stop)
            words = text[found.start : found.end].lower().split()
            before = rest is not None and rest[0][0].islower() and _stands_before(rest[0])
            if rest is None or not before or not (set(words) & (article_words.NATIONALITIES | article_words.HALVES)):
                if set(words) <= article_words.NATIONALITIES:
                    return None
                return Run(found.start, found.end, role)
            place = found.end
            continue
        token = _TOKEN.match(text, _skip(text, place, stop), stop)
        if token is None or not _stands_before(token[0]):
            return None
        role = role or token[0].lower().rstrip("-") in ROLES
        place = token.end()
        if text[place : place + 1] in ("-", "/"):
            place += 1
    return None


def listed(text: str, place: int, stop: int) -> list[Run]:
    """Return the names of a list, "A, B and C", in order."""
    found: list[Run] = []
    while len(found) < MOST:
        name = named(text, place, stop)
        if name is None:
            break
        name = styled(text, name, stop)
        found.append(name)
        part = _AS.match(text, name.end, stop)
        join = _AND.match(text, part.end() if part else name.end, stop)
        if join is None:
            break
        place = join.end()
        if place < stop and (after := _AND.match(text, place, stop)) and after.end() > place:
            place = after.end()
    return found


def styled(text: str, name: Run, stop: int) -> Run:
    """Return a name with the title behind its comma: "Otto II, Duke of Harn", "Tom Gale, Jr."."""
    comma = _COMMA.match(text, name.end, stop)
    if comma is None:
        return name
    place = comma.end()
    number = _NUMBERED.match(text, place, stop)
    token = _TOKEN.match(text, _skip(text, number.end() if number else place, stop), stop)
    if token is None or token[0].lower() not in article_words.STYLES or not token[0][0].isupper():
        return name
    title = run(text, token.start(), stop)
    return Run(name.start, title.end, name.role) if title else name


def quoted(text: str, place: int, stop: int) -> Run | None:
    """Return what stands in quotation marks at a place."""
    found = _QUOTED.match(text, place, stop)
    return Run(found.start(1), found.end(1)) if found else None


def _skip(text: str, place: int, stop: int) -> int:
    found = _SPACE.match(text, place, stop)
    return found.end() if found else place


def _stands_before(word: str) -> bool:
    low = word.lower().rstrip("-")
    return low in ROLES or low in _BEFORE or low in article_words.PEOPLE or low.rstrip("s") in ROLES
