"""Names in a row of words: "directed by the Danish poet Ada Moor, Tom Gale and others" names two.

A regular expression cannot tell capitals of every script, so a small scanner walks the words instead; it looks at each
word once.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from mcp_memory.rules.facts.tables import openings as tables
from mcp_memory.rules.facts.tables import word_set
from mcp_memory.rules.facts.tables.kinds import ROLES

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
            if rest is None or not before or not (set(words) & (tables.NATIONALITIES | tables.HALVES)):
                if set(words) <= tables.NATIONALITIES:
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
    if token is None or token[0].lower() not in tables.STYLES or not token[0][0].isupper():
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
    return low in ROLES or low in _BEFORE or low in tables.PEOPLE or low.rstrip("s") in ROLES
