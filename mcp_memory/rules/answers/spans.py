"""Pieces of a sentence that can be an answer, and how a piece is cut to be one.

A span is a stretch of the sentence with a `fit`: how much its shape speaks for it, whatever the sentence says. The
rules here are those that every kind of question shares; `names`, `amounts`, `dates` and `phrases` propose the spans.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from mcp_memory.domain.answers import EvidenceSentence

MOST_WORDS = 25
MOST_CHARACTERS = 240  # for scripts without spaces, where a sentence is one word
_BREAK = re.compile(r"\s[-–—]+\s|[;:,!?()\[\]。，、；：！？]\s*|\.(?=\s|$)|…")
_CONJUNCTION = re.compile(
    r"\b(?:but|because|'cause|so|when|which|while|although|though|since|where"
    r"|and (?=(?:i|i'm|we|it|it's|he|she|they|that|now|had|have|the)\b))",
    re.I,
)
_OPENING = re.compile(
    r"(?:(?:yeah|yes|yep|yup|well|oh|so|and|but|also|btw|wow|no|nope|thanks|thank you|hey|hi|plus|actually|honestly"
    r"|sure|definitely|absolutely|because|when|that)\b[\s,!–-]*)+",
    re.I,
)
_SUBJECT = re.compile(
    r"(?:i|we|it|he|she|they|that|this|there|you)"
    r"(?:['’](?:m|ve|re|s|d|ll)| am| is| was| were| are| have| has| had| will| would)?\s+"
    r"(?:(?:just|really|recently|also|definitely|actually|still|already|finally)\s+)?",
    re.I,
)
_EDGE = ' \t\r\n,;:-–—!?.…"“”()[]。，、；：！？'


class Span(NamedTuple):
    """A stretch of a sentence.

    Attributes:
        start: first character, from the start of the sentence.
        end: first character after it.
        fit: what its shape adds to the sentence's support.
        text: how it is said, where that is not its own words ("yesterday" is said as a date).
        also: a second sentence that it rests on.
        hedged: whether it should be said with doubt.
        typed: whether it is of the type asked for by its own shape, as a name after "in" is a place. Where two such
            stand in one clause, only its meaning tells which of them is asked for.
    """

    start: int
    end: int
    fit: float
    text: str | None = None
    also: EvidenceSentence | None = None
    hedged: bool = False
    typed: bool = False

    def apart(self, other: Span) -> bool:
        """Return whether two spans of a sentence have no character in common."""
        return self.end <= other.start or other.end <= self.start


def clauses(text: str) -> list[tuple[int, int]]:
    """Return the clauses of a sentence, as first character and first character after it."""
    cuts = {0, len(text)}
    for found in _BREAK.finditer(text):
        cuts |= {found.start(), found.end()}
    cuts |= {found.start() for found in _CONJUNCTION.finditer(text)}
    ordered = sorted(cuts)
    return [(start, end) for start, end in pairwise(ordered) if any(letter.isalnum() for letter in text[start:end])]


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a clause without what opens it ("Yeah, I'm …") and without the signs at its edges; never nothing."""
    first = start
    for pattern in (_OPENING, _SUBJECT):
        found = pattern.match(text, first, end)
        if found and any(letter.isalnum() for letter in text[found.end() : end]):
            first = found.end()
    return bare(text, first, end)


def bare(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the white space and signs at its edges."""
    inner = text[start:end]
    left = len(inner) - len(inner.lstrip(_EDGE))
    return (start + left, start + len(inner.rstrip(_EDGE))) if left < len(inner) else (start, end)


def widened(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span with as many of the clauses around it as an answer may hold."""
    if fits(text):
        return bare(text, 0, len(text))
    cuts = [0, *(found.end() for found in _BREAK.finditer(text)), len(text)]
    left = max(cut for cut in cuts if cut <= start)
    right = min((cut for cut in cuts if cut >= end), default=len(text))
    if not fits(text[left:right]):
        return shortened(text, start, right)
    while True:
        more_right = min((cut for cut in cuts if cut > right), default=right)
        more_left = max((cut for cut in cuts if cut < left), default=left)
        if more_right > right and fits(text[left:more_right]):
            right = more_right
        elif more_left < left and fits(text[more_left:right]):
            left = more_left
        else:
            return bare(text, left, right)


def shortened(text: str, start: int, end: int) -> tuple[int, int]:
    """Return as much of the span, from its start, as an answer may hold."""
    words = list(re.finditer(r"\S+", text[start:end]))
    if len(words) > MOST_WORDS:
        end = start + words[MOST_WORDS - 1].end()
    return bare(text, start, min(end, start + MOST_CHARACTERS))


def fits(text: str) -> bool:
    """Return whether a text is short enough to be an answer."""
    return len(text) <= MOST_CHARACTERS and len(text.split()) <= MOST_WORDS
