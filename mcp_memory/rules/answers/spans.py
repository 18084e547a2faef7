"""Words, clauses and spans of a sentence, and how a span is cut so that it can be an answer.

`mcp_memory.language.tokens` decides which words are equal. Here each word also keeps its position, so that a span of
words is a span of the stored text and every quote is verbatim. `typed_spans` and `phrase_spans` propose the spans.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

from mcp_memory.domain.answers import EvidenceSentence
from mcp_memory.heap import text_cache
from mcp_memory.language.tokens import STOP_WORDS, stem, stems, words
from mcp_memory.language.vocabulary import word_set

MOST_WORDS = 25
MOST_CHARACTERS = 240  # for scripts without spaces, where a sentence is one word
_BREAK = re.compile(r"\s[-–—]+\s|(?:(?<!\d),|,(?!\d{3})|[;:!?()\[\]。，、；：！？])\s*|\.(?=\s|$)|…")
_CONJUNCTION = re.compile(
    r"\b(?:but|because|'cause|so|when|which|while|although|though|since|where"
    r"|and (?=(?:i|i'm|we|it|it's|he|she|they|that|now|had|have|the)\b))",
    re.I,
)
_EDGE = ' \t\r\n,;:-–—!?.…"“”()[]。，、；：！？'


class Span(NamedTuple):
    """A stretch of a sentence that may be the answer.

    Attributes:
        start: first character, counted from the start of the sentence.
        end: first character after it.
        fit: what the shape of the span adds to the support of its sentence.
        text: the answer, where it is not the span's own words ("yesterday" becomes a date).
        second: a second sentence that the answer rests on.
        hedged: whether the answer should be expressed with doubt.
        typed: whether its shape shows the wanted type, as a name after "in" is a place. Where two such spans stand in
            one clause, only the meaning decides which of them is wanted.
    """

    start: int
    end: int
    fit: float
    text: str | None = None
    second: EvidenceSentence | None = None
    hedged: bool = False
    typed: bool = False

    def is_disjoint(self, other: Span) -> bool:
        """Return whether two spans of a sentence share no character."""
        return self.end <= other.start or other.end <= self.start


def split_clauses(text: str) -> list[tuple[int, int]]:
    """Return the clauses of a sentence as (first character, first character after it)."""
    cuts = {0, len(text)}
    for found in _BREAK.finditer(text):
        cuts |= {found.start(), found.end()}
    cuts |= {found.start() for found in _CONJUNCTION.finditer(text)}
    ordered = sorted(cuts)
    return [(start, end) for start, end in pairwise(ordered) if any(letter.isalnum() for letter in text[start:end])]


def strip_edges(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a span without the white space and punctuation at its edges."""
    inner = text[start:end]
    left = len(inner) - len(inner.lstrip(_EDGE))
    return (start + left, start + len(inner.rstrip(_EDGE))) if left < len(inner) else (start, end)


def shorten(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the beginning of a span, cut to the length of an answer."""
    words = list(re.finditer(r"\S+", text[start:end]))
    if len(words) > MOST_WORDS:
        end = start + words[MOST_WORDS - 1].end()
    return strip_edges(text, start, min(end, start + MOST_CHARACTERS))


_WORD = re.compile(r"\w+(?:['’&/‐-]\w+)*")
_CONNECTORS = word_set("of the de van von der den du la le di da del dos al el bin ibn & y")
_SPACE = re.compile(r"\s{1,3}|\s?&\s?|\s?\.\s")
FAR = 9
"""Distance in words where the sentence holds none of the query's words."""


def all_stems(text: str) -> set[str]:
    """Return the stems of a text's content words, irregular forms by their plain form too: "bought" is "buy"."""
    return {*stems(text), *(stem(word) for word in words(text) if word not in STOP_WORDS)}


class SentenceWord(NamedTuple):
    """A word of a sentence.

    Attributes:
        start: first character, counted from the start of the sentence.
        end: first character after it.
        lower_case: the word in lower case.
        stems: the stems that are compared with the query's; none for a stop word, several for "well-known", and for
            "bought", which is also a form of "buy".
        capital: whether it is capitalised as a name is.
    """

    start: int
    end: int
    lower_case: str
    stems: tuple[str, ...]
    capital: bool


def read_words(text: str) -> list[SentenceWord]:
    """Return the words of a sentence in order."""
    return [SentenceWord(found.start(), found.end(), *_word_parts(found[0])) for found in _WORD.finditer(text)]


@text_cache(32_768)
def _word_parts(word: str) -> tuple[str, tuple[str, ...], bool]:
    capital = word[0].isupper() or (word[0].isdigit() and any(letter.isupper() for letter in word))
    if len(word) > 64:
        return word.lower(), (word[:64].lower(),), capital
    found = stems(word)
    return word.lower(), tuple(dict.fromkeys((*found, stem(word)))) if found else (), capital


def word_at(words: Sequence[SentenceWord], place: int) -> int:
    """Return the index of the word that holds a character, else of the next word, else of the last one."""
    return next((index for index, word in enumerate(words) if word.end > place), len(words) - 1)


def novelty(words: Iterable[SentenceWord], known: AbstractSet[str]) -> float:
    """Return the share of the content words that are not in ``known``; 0 without content words."""
    content = [word.stems for word in words if word.stems]
    return sum(known.isdisjoint(found) for found in content) / len(content) if content else 0.0


def word_gap(first: int, last: int, hits: Sequence[int]) -> int:
    """Return how many words lie between a span (from word ``first`` to word ``last``) and the nearest hit."""
    return min((max(first - hit, hit - last, 0) for hit in hits), default=FAR)


def name_runs(text: str, words: Sequence[SentenceWord]) -> list[tuple[int, int]]:
    """Return the runs of capitalised words as (first, last) index; small connecting words inside a run belong to it."""
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


def _starts_name(word: SentenceWord) -> bool:
    return word.capital and bool(word.stems) and word.lower_case.partition("'")[0].partition("’")[0] != "i"


def _next_capital(text: str, words: Sequence[SentenceWord], last: int) -> int | None:
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


def adjacent(text: str, words: Sequence[SentenceWord], index: int) -> bool:
    """Return whether only white space (or a character that names contain) separates a word from the next one."""
    return _SPACE.fullmatch(text[words[index].end : words[index + 1].start]) is not None
