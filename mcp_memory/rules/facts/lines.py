"""The lines of the tables of adjectives and nouns, read once."""

from __future__ import annotations

from functools import cache

Line = tuple[tuple[str, ...], tuple[str, ...], str, str]
"""The words, the prepositions that may follow, the relation, and what the tail must be."""


@cache
def lines(text: str) -> tuple[Line, ...]:
    """Return the lines of a table, each taken apart."""
    rows = (tuple(cell.strip() for cell in line.split("|")) for line in text.strip().splitlines())
    return tuple((tuple(words.split()), tuple(slots.split()), relation, tail) for words, slots, relation, tail in rows)
