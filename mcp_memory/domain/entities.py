"""Compare the names of entities.

Names are stored as written and compared by their *key*, which ignores case, punctuation, articles, titles and the
possessive ending.

An alias that the memory inferred is no fact and no evidence, but a judgement kept apart from facts (DESIGN 2.5). No
stored text or fact changes. Facts about either name are read together until a statement denies the alias.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from mcp_memory.domain.facts import Engine
from mcp_memory.domain.times import Millis

PROJECT = "the project"
"""What "we" at work do and use belongs to it, unless a project or a thing has been named."""
TITLES = frozenset(
    (
        "dr",
        "mr",
        "mrs",
        "ms",
        "miss",
        "prof",
        "professor",
        "doctor",
        "sir",
        "dame",
        "lord",
        "lady",
        "rev",
    )
)
"""Titles before a person's name. "St" is not one of them: St. Louis is not Louis."""
ARTICLES = frozenset(("the", "a", "an", "my", "our"))
_JOINING = frozenset(("of", "and", "the"))  # "Lord" in "Lord of the Rings" is not a title


def entity_key(name: str) -> str:
    """Return the key of a name, equal for all its spellings: "the Dr. Patel" and "patel" both give "patel".

    If all words are articles or titles, the last one is kept. A name without words is its own key.
    """
    words = _words(name)
    while _article(words, name) or _title(words):
        words.pop(0)
    return " ".join(words) or name.strip()


def titled(name: str) -> bool:
    """Return whether a name starts with a title, which only people have."""
    words = _words(name)
    if _article(words, name):
        words.pop(0)
    return _title(words)


def _article(words: list[str], name: str) -> bool:
    initial = name.lstrip()[1:2] == "."  # "A. Lincoln"
    return len(words) > 1 and words[0] in ARTICLES and not initial


def _title(words: list[str]) -> bool:
    return len(words) > 1 and words[0] in TITLES and words[1] not in _JOINING


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case, "c++" and "o'neill" whole, without the last one's possessive ending."""
    if name.isascii() and name.replace(" ", "").isalnum():
        return name.lower().split()  # same result as below, ten times as fast
    plain = unicodedata.normalize("NFKC", name).casefold().replace("’", "'")
    words = [word.strip("'").lstrip("+#") for word in "".join(map(_word_character, plain)).split()]
    words = [word for word in words if any(character.isalnum() for character in word)]
    if words:
        words[-1] = words[-1].removesuffix("'s") or words[-1]
    return words


def _word_character(character: str) -> str:
    """Return a letter, digit, combining mark, or one of ``'+#`` unchanged; a space for any other visible character."""
    if character.isalnum() or character in "'+#":
        return character
    category = unicodedata.category(character)
    return character if category[0] == "M" else "" if category == "Cf" else " "


@dataclass(frozen=True, slots=True)
class Alias:
    """The judgement that two names mean one entity.

    Attributes:
        space: where it holds.
        name: of the entity, as written.
        alias: the other name, as written.
        reason: in words.
        source: the judge.
        at: when it was made.
    """

    space: str
    name: str
    alias: str
    reason: str
    source: Engine
    at: Millis
