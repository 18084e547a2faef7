"""The tables that the rules read: closed word classes, kinds of nouns, and the rows of the relations.

``closed.PREPOSITIONS`` is a class of ``resources/closed.toml``. ``nouns.ROLES`` is a kind of ``resources/nouns.toml``:
English puts the kind last ("Halden Clinic", "shipping company"), so the last word of a phrase decides.

Of several rows for one phrase the first that fits holds: those with more particles first, then those with the more
specific kind, then by their order in ``resources/relations.toml``. A test holds that every row can fire.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache

from mcp_memory.domain.relations import Registry, Row, Sort, relations
from mcp_memory.language.vocabulary import COMMON_DEMONYMS, word_set
from mcp_memory.texts import resource


class Words:
    """Sets of words, each an attribute by its name in capitals."""

    def __init__(self, table: Mapping[str, str]) -> None:
        vars(self).update({name.upper(): word_set(words) for name, words in table.items()})

    def __getattr__(self, name: str) -> frozenset[str]:  # tells mypy what the attributes are; all of them are there
        raise AttributeError(name)


_CLOSED = tomllib.loads(resource("closed.toml"))
OWNERS: Mapping[str, str] = _CLOSED.pop("owners")
"""The pronoun of each possessive, "my": "i"."""
ADVERBIAL_PHRASES: list[str] = _CLOSED.pop("adverbial_phrases").replace("\n", " ").split(", ")
closed = Words(_CLOSED | {"auxiliaries": " ".join(_CLOSED[name] for name in ("be", "have", "do", "modals"))})

_NOUNS = tomllib.loads(resource("nouns.toml"))
for kind, further in (("ownable", "vehicles"), ("states", "conditioned")):
    _NOUNS[kind] = f"{_NOUNS[kind]} {_NOUNS[further]}"
nouns = Words(_NOUNS)
NATIONALITIES = COMMON_DEMONYMS
ROLE_ENDINGS = ("ologist", "ician", "grapher", "smith", "maker", "keeper", "worker", "driver", "teacher", "writer")
"""Endings of further nouns for roles."""

KINDS = (
    "medicine", "language", "time", "startup", "award", "pet", "condition", "child", "sibling", "ownable", "event",
    "venue", "team", "club", "company", "firm", "org", "workplace", "role", "place", "person", "work", "name",
    "activity", "amount", "software", "subject", "liked", "thing", "value", "any",
)  # fmt: skip
"""The kinds that a tail may have to be of (`kinds.fits`), the most specific first."""
CONDITIONS = word_set("present past perfect simple negated human employed intransitive")
"""What a row may ask of its clause: its tense and polarity, and a person as its subject.

``employed``: it has no object but a job, and nothing "on" ("I started pottery at the Chapter" tells of no employer).
``intransitive``: it has no object ("we moved the database to Frankfurt" tells of no home).
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
