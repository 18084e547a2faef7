"""What words mean, as tables to read and to extend: verbs, adjectives, nouns, kin, names, and the small words."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text that lists them with spaces between."""
    return frozenset(words.split())
