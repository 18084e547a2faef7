"""The rows of the relation table by their words, in the order in which they are tried.

Of several rows for one phrase the first that fits holds: those with more particles first, then those with the more
specific kind, then by their order in the file. A test holds that every row can fire.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from mcp_memory.domain.relations import Registry, Row, Sort, relations
from mcp_memory.language.vocabulary import word_set

KINDS = (
    "medicine", "language", "time", "startup", "award", "pet", "condition", "child", "sibling", "ownable", "event",
    "venue", "team", "club", "company", "firm", "org", "workplace", "role", "place", "person", "work", "name",
    "activity", "amount", "software", "subject", "liked", "thing", "value", "any",
)  # fmt: skip
"""The kinds that a tail may have to be of (`kinds.fits`), the most specific first."""
CONDITIONS = word_set("present past perfect simple negated human employed")
"""What a row may ask of its clause: its tense and polarity, and a person as its subject.

``employed``: it has no object but a job, and nothing "on" ("I started pottery at the Chapter" tells of no employer).
``past`` includes the perfect tense, and for an event what has a date to come; ``present`` includes the progressive
tense, ``simple`` does not."""

Rows = dict[tuple[Sort, str], tuple[Row, ...]]
"""The rows of a table by their word, in the order in which they are tried."""


def read_rows(registry: Registry) -> Rows:
    """Return the rows of all relations, each word's in the order in which they are tried."""
    by_word: dict[tuple[Sort, str], list[Row]] = {}
    for row in (row for relation in registry for row in relation.said):
        by_word.setdefault((row.sort, row.word), []).append(row)
    return {key: tuple(sorted(rows, key=_rank)) for key, rows in by_word.items()}


def _rank(row: Row) -> tuple[int, int]:
    """Return the place of a row: more particles first, then the more specific kind."""
    return -len(row.particles), max(KINDS.index(kind) for kind in row.tail)


@cache
def rows() -> Rows:
    """Return the rows of the table that ships with the project."""
    return read_rows(relations())


def words_of(sorts: Iterable[Sort]) -> list[str]:
    """Return the words of the rows of some sorts, in order, without particles."""
    wanted = set(sorts)
    return [word for sort, word in rows() if sort in wanted]


@cache
def adjectives() -> frozenset[str]:
    """Return the adjectives of all rows."""
    return frozenset(words_of(["adj"]))
