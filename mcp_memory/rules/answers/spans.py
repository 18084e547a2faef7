"""Pieces of a sentence that can be an answer, and how a piece is cut to be one.

A span is a stretch of the sentence with a `fit`: how much its shape speaks for it, whatever the sentence says. The
rules here are those that every kind of question shares; `names`, `amounts`, `dates` and `phrases` propose the spans.

Words with their places: what the rules for spans read a sentence as.

`mcp_memory.language.tokens` says which words are the same; here each keeps where it stands, so that a span of words is
a span of the stored text and every quote stays verbatim. A word without a stem is a stop word ("the", "did").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from mcp_memory.domain.answers import EvidenceSentence
from mcp_memory.language.tokens import stems

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
    second: EvidenceSentence | None = None
    hedged: bool = False
    typed: bool = False

    def is_disjoint(self, other: Span) -> bool:
        """Return whether two spans of a sentence have no character in common."""
        return self.end <= other.start or other.end <= self.start


def split_clauses(text: str) -> list[tuple[int, int]]:
    """Return the clauses of a sentence, as first character and first character after it."""
    cuts = {0, len(text)}
    for found in _BREAK.finditer(text):
        cuts |= {found.start(), found.end()}
    cuts |= {found.start() for found in _CONJUNCTION.finditer(text)}
    ordered = sorted(cuts)
    return [(start, end) for start, end in pairwise(ordered) if any(letter.isalnum() for letter in text[start:end])]


def trim_clause(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a clause without what opens it ("Yeah, I'm …") and without the signs at its edges; never nothing."""
    first = start
    for pattern in (_OPENING, _SUBJECT):
        found = pattern.match(text, first, end)
        if found and any(letter.isalnum() for letter in text[found.end() : end]):
            first = found.end()
    return strip_edges(text, first, end)


def strip_edges(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the white space and signs at its edges."""
    inner = text[start:end]
    left = len(inner) - len(inner.lstrip(_EDGE))
    return (start + left, start + len(inner.rstrip(_EDGE))) if left < len(inner) else (start, end)


def widen_to_clauses(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the span with as many of the clauses around it as an answer may hold."""
    if fits_answer(text):
        return strip_edges(text, 0, len(text))
    cuts = [0, *(found.end() for found in _BREAK.finditer(text)), len(text)]
    left = max(cut for cut in cuts if cut <= start)
    right = min((cut for cut in cuts if cut >= end), default=len(text))
    if not fits_answer(text[left:right]):
        return shorten(text, start, right)
    while True:
        more_right = min((cut for cut in cuts if cut > right), default=right)
        more_left = max((cut for cut in cuts if cut < left), default=left)
        if more_right > right and fits_answer(text[left:more_right]):
            right = more_right
        elif more_left < left and fits_answer(text[more_left:right]):
            left = more_left
        else:
            return strip_edges(text, left, right)


def shorten(text: str, start: int, end: int) -> tuple[int, int]:
    """Return as much of the span, from its start, as an answer may hold."""
    words = list(re.finditer(r"\S+", text[start:end]))
    if len(words) > MOST_WORDS:
        end = start + words[MOST_WORDS - 1].end()
    return strip_edges(text, start, min(end, start + MOST_CHARACTERS))


def fits_answer(text: str) -> bool:
    """Return whether a text is short enough to be an answer."""
    return len(text) <= MOST_CHARACTERS and len(text.split()) <= MOST_WORDS


_WORD = re.compile(r"\w+(?:['’&/‐-]\w+)*")
_CONNECTORS = frozenset(
    [
        "of",
        "the",
        "de",
        "van",
        "von",
        "der",
        "den",
        "du",
        "la",
        "le",
        "di",
        "da",
        "del",
        "dos",
        "al",
        "el",
        "bin",
        "ibn",
        "&",
        "y",
    ]
)
_SPACE = re.compile(r"\s{1,3}|\s?&\s?|\s?\.\s")
FAR = 9
"""Words between a span and the question's words where the sentence holds none of them."""


class Word(NamedTuple):
    """A word of a sentence.

    Attributes:
        start: first character, from the start of the sentence.
        end: first character after it.
        low: in lower case.
        stems: as a question's words are compared; none for a stop word, several for "well-known".
        capital: whether it is written as a name is.
    """

    start: int
    end: int
    lower_case: str
    stems: tuple[str, ...]
    capital: bool


def read_words(text: str) -> list[Word]:
    """Return the words of a sentence, in order."""
    return [Word(found.start(), found.end(), *_word_parts(found[0])) for found in _WORD.finditer(text)]


@lru_cache(maxsize=32_768)
def _word_parts(word: str) -> tuple[str, tuple[str, ...], bool]:
    capital = word[0].isupper() or (word[0].isdigit() and any(letter.isupper() for letter in word))
    return word.lower(), tuple(stems(word)) if len(word) <= 64 else (word[:64].lower(),), capital


def word_at(words: Sequence[Word], place: int) -> int:
    """Return the index of the word that holds a character, or of the next one; the last where none follows."""
    return next((index for index, word in enumerate(words) if word.end > place), len(words) - 1)


def novelty(words: Iterable[Word], known: AbstractSet[str]) -> float:
    """Return the share of the content words that are not known already; 0 where there are no content words."""
    content = [word.stems for word in words if word.stems]
    return sum(known.isdisjoint(found) for found in content) / len(content) if content else 0.0


def word_gap(first: int, last: int, hits: Sequence[int]) -> int:
    """Return how many words a span, from the first to the last word, lies away from the nearest hit."""
    return min((max(first - hit, hit - last, 0) for hit in hits), default=FAR)


def name_runs(text: str, words: Sequence[Word]) -> list[tuple[int, int]]:
    """Return the runs of capitalised words, small connecting words between them included, as first and last index."""
    found: list[tuple[int, int]] = []
    index = 0
    while index < len(words):
        if not _starts_name(words[index]):
            index += 1
            continue
        last = index
        while (following := _next_capital(text, words, last)) is not None:
            last = following
        found.append((index, last))
        index = last + 1
    return found


def _starts_name(word: Word) -> bool:
    return word.capital and bool(word.stems) and word.lower_case.partition("'")[0].partition("’")[0] != "i"


def _next_capital(text: str, words: Sequence[Word], last: int) -> int | None:
    """Return the next capitalised word of the same name, or None where the name ends."""
    index = last + 1
    while (
        index < len(words) and index <= last + 2 and words[index].lower_case in _CONNECTORS and not words[index].capital
    ):
        index += 1
    if index >= len(words) or not _starts_name(words[index]):
        return None
    joined = all(adjacent(text, words, place) for place in range(last, index))
    return index if joined else None


def adjacent(text: str, words: Sequence[Word], index: int) -> bool:
    """Return whether nothing but white space (or what a name may hold) stands between a word and the next one."""
    return _SPACE.fullmatch(text[words[index].end : words[index + 1].start]) is not None
