"""Words with their places: what the rules for spans read a sentence as.

`mcp_memory.language.tokens` says which words are the same; here each keeps where it stands, so that a span of words is
a span of the stored text and every quote stays verbatim. A word without a stem is a stop word ("the", "did").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

from mcp_memory.language.tokens import stems

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
    low: str
    stems: tuple[str, ...]
    capital: bool


def read(text: str) -> list[Word]:
    """Return the words of a sentence, in order."""
    return [Word(found.start(), found.end(), *_about(found[0])) for found in _WORD.finditer(text)]


@lru_cache(maxsize=32_768)
def _about(word: str) -> tuple[str, tuple[str, ...], bool]:
    capital = word[0].isupper() or (word[0].isdigit() and any(letter.isupper() for letter in word))
    return word.lower(), tuple(stems(word)) if len(word) <= 64 else (word[:64].lower(),), capital


def at(words: Sequence[Word], place: int) -> int:
    """Return the index of the word that holds a character, or of the next one; the last where none follows."""
    return next((index for index, word in enumerate(words) if word.end > place), len(words) - 1)


def novelty(words: Iterable[Word], known: AbstractSet[str]) -> float:
    """Return the share of the content words that are not known already; 0 where there are no content words."""
    content = [word.stems for word in words if word.stems]
    return sum(known.isdisjoint(found) for found in content) / len(content) if content else 0.0


def gap(first: int, last: int, hits: Sequence[int]) -> int:
    """Return how many words a span, from the first to the last word, lies away from the nearest hit."""
    return min((max(first - hit, hit - last, 0) for hit in hits), default=FAR)


def names(text: str, words: Sequence[Word]) -> list[tuple[int, int]]:
    """Return the runs of capitalised words, small connecting words between them included, as first and last index."""
    found: list[tuple[int, int]] = []
    index = 0
    while index < len(words):
        if not _names(words[index]):
            index += 1
            continue
        last = index
        while (following := _next_capital(text, words, last)) is not None:
            last = following
        found.append((index, last))
        index = last + 1
    return found


def _names(word: Word) -> bool:
    return word.capital and bool(word.stems) and word.low.partition("'")[0].partition("’")[0] != "i"


def _next_capital(text: str, words: Sequence[Word], last: int) -> int | None:
    """Return the next capitalised word of the same name, or None where the name ends."""
    index = last + 1
    while index < len(words) and index <= last + 2 and words[index].low in _CONNECTORS and not words[index].capital:
        index += 1
    if index >= len(words) or not _names(words[index]):
        return None
    joined = all(adjoin(text, words, place) for place in range(last, index))
    return index if joined else None


def adjoin(text: str, words: Sequence[Word], index: int) -> bool:
    """Return whether nothing but white space (or what a name may hold) stands between a word and the next one."""
    return _SPACE.fullmatch(text[words[index].end : words[index + 1].start]) is not None
