"""Words that tell what was said: of any length, in every script, and never as a part of another word.

In scripts that write no spaces a run of letters becomes its pairs of neighbours, so "李明" is found within a
sentence, and the single sign "明" only where it stands alone, as "Bo" is not found in "Boston". Case, width, accents of
Latin letters and invisible signs tell nothing.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator

from mcp_memory.domain.spelling import MARKS, UNSPACED, readable, without_accents
from mcp_memory.language.vocabulary import word_set

_COMMON = word_set(
    "the and for are was were has had have did does can could will would shall should may might must not but that this "
    "these those with from about into over when where what which who whom whose why how many much long his her its "
    "their our your you she him they them all any some one two then than there here out off a i am an as at be by do "
    "go he if in is it me my no of oh ok on or so to up us we"
)
"""Words of questions and sentences that tell nothing of what was said."""
_WORD = re.compile(rf"[{UNSPACED}]+|(?:(?![{UNSPACED}])[^\W_][{MARKS}]*)+")
_ASCII_WORD = re.compile(r"[a-z0-9]+")
_UNSPACED = re.compile(f"[{UNSPACED}]")
_SHORT = 2


def words_in(text: str) -> set[str]:
    """Return the words of a text in lower case, without the commonest."""
    if text.isascii():
        return set(_ASCII_WORD.findall(text.lower())) - _COMMON
    return {word for written in _written(text) for word in _parts(written)} - _COMMON


def telling_words(text: str) -> set[str]:
    """Return the words of a text by which it would be recognised elsewhere.

    A short word in small letters is none, as any language has many of them; "Bo", "42" and "李" are.
    """
    telling = (written for written in _written(text) if len(written) > _SHORT or not written.islower())
    return {word for written in telling for word in _every_part(written)} - _COMMON


def without_words_of(words: set[str], text: str) -> set[str]:
    """Return those of some words which a text does not have."""
    if text.isascii():
        return words.difference(_ASCII_WORD.findall(text.lower()))
    return words.difference(*map(_parts, _written(text)))


def holds(words: frozenset[str], *texts: str) -> bool:
    """Return whether one of some texts has one of some words."""
    return bool(words) and any(not words.isdisjoint(words_in(text)) for text in texts)


def _written(text: str) -> list[str]:
    if not text.isascii():
        text = without_accents(unicodedata.normalize("NFKC", readable(text)))
    return _WORD.findall(text)


def _parts(written: str) -> Iterator[str]:
    folded = written.casefold()
    if folded.isascii() or len(folded) == 1 or not _UNSPACED.match(folded):
        yield folded
    else:
        yield from map("".join, itertools.pairwise(folded))


def _every_part(written: str) -> Iterator[str]:
    yield from _parts(written)
    if not written.isascii() and _UNSPACED.match(written):
        yield from written.casefold()
