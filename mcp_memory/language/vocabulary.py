"""Word lists that several rooms share: kinship words, and the names of countries with their demonyms.

The countries are in ``resources/countries.toml``; the names of months, weekdays and seasons are in ``iso.py``, the
words for them in ``expressions.py``.
"""

from __future__ import annotations

import tomllib

from mcp_memory.texts import resource


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text that lists them, separated by spaces."""
    return frozenset(words.split())


_WORDS: dict[str, str] = tomllib.loads(resource("words.toml"))


def _kinship() -> dict[str, tuple[str, str]]:
    rows = (tuple(cell.strip() for cell in line.split("|")) for line in _WORDS["kinship"].strip().splitlines())
    return {word: (relation, pronoun) for words, relation, pronoun in rows for word in words.split()}


RELATIVES = _kinship()
"""For each kinship word: the relation to the relative, and the pronoun that refers to the relative."""


def kinship_words(*relations: str) -> frozenset[str]:
    """Return the kinship words that express one of these relations, as the table writes them."""
    return frozenset(word for word, (relation, _) in RELATIVES.items() if relation in relations)


_COUNTRIES = tomllib.loads(resource("countries.toml"))
COUNTRIES = frozenset(_COUNTRIES["today"])
"""The sovereign states of today."""
_DEMONYMS = [word for kind in _COUNTRIES.values() for words in kind.values() for word in words.split(", ") if word]
DEMONYMS = frozenset(word.removesuffix("*") for word in _DEMONYMS)
"""What the people of all countries are called, of former ones and parts too, "danish", "south korean", "welsh"."""
COMMON_DEMONYMS = frozenset(word.removesuffix("*") for word in _DEMONYMS if word.endswith("*")) | {"korean"}
"""The more frequent demonyms; with "korean", which means either of two countries."""


ASKING = word_set(_WORDS["asking"])
"""Words that only ask, and words that say so little that a text may answer without them."""
