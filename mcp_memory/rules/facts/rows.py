"""The rows of the relation table: how each relation is said, as ``said`` of ``resources/relations.toml`` gives it.

A row reads *sort words | slots | effect | tail | options*:

- *sort*: ``verb`` (active), ``passive`` (by the plain form of its verb), ``adj`` and ``noun`` (behind a form of "be"),
  ``possessed`` ("X's hometown is Y", about X) and ``subject`` ("the page size is 50", about the page size; ``any`` is
  every noun). The last two have no slots.
- *words*: the word with its particles, ``move back``; alternatives are joined by ``/``, ``like/love/enjoy``.
- *slots*: where the tail stands: prepositions, ``obj`` for an object, ``time`` (the words of a date), ``each`` (the
  subjects to one another).
- *effect*: what the time of the clause means: ``state`` (it holds then), ``begin`` (from then on), ``end`` (no longer
  from then on), ``event`` (it happens then), ``lasting`` (it holds in any tense).
- *tail*: the kinds of thing (`KINDS`) of which the tail must be one.
- *options*: conditions of the clause (`CONDITIONS`), ``swapped`` (the tail is the head), ``also`` (it holds beside the
  row that fits first), ``loose`` (its words may mean another relation, so that no fact is certain by them).

Of several rows for one phrase the first that fits holds: those with more particles first, then those with the more
specific kind, then by their order in the file. A test holds that every row can fire.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from mcp_memory.domain.relations import Registry, relations
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.tables import closed

Sort = Literal["verb", "passive", "adj", "noun", "possessed", "subject"]
SLOTLESS = ("possessed", "subject")
Effect = Literal["state", "begin", "end", "event", "lasting"]
"""What the time of a clause means for a fact, see above."""

KINDS = (
    "dose", "medicine", "language", "time", "startup", "award", "pet", "condition", "child", "sibling", "craft",
    "vehicle", "ownable", "instrument", "played", "event", "venue", "team", "club", "assembly", "ensemble", "school",
    "company", "firm", "org", "workplace", "role", "residence", "place", "first_name", "person", "work", "won", "name",
    "activity", "colour", "amount", "tool", "subject", "hobby", "liked", "cause", "noted", "used", "thing", "value",
    "any",
)  # fmt: skip
"""The kinds that a tail may have to be of (`kinds.fits`), the most specific first."""
CONDITIONS = word_set(
    "present past perfect progressive simple negated positive talk document human owned done employed"
)
"""What a row may ask of its clause.

Its tense and polarity, its text, and as its subject a person or somebody's thing ("my car").
``employed``: it has no object but a job, and nothing "on" ("I started pottery at the Chapter" tells of no employer).
``past`` includes the perfect tense, and for an event what has a date to come, ``done`` does not;
``present`` includes the progressive tense, ``simple`` does not."""
_OPTIONS = word_set("swapped also loose")
_SLOTS = closed.PREPOSITIONS | {"obj", "time", "each"}


@dataclass(frozen=True, slots=True)
class Row:
    """One way to say a relation.

    Attributes:
        relation: its name.
        sort: the part of speech that says it.
        word: in its plain form.
        particles: the words that belong to it, "up", "out".
        slots: any of these gives the tail; empty for ``possessed`` and ``subject``.
        effect: what the time of the clause means for the fact.
        tail: the kinds of which the tail must be one.
        conditions: the conditions of the clause.
        swapped: whether the tail is the head of the fact.
        also: whether it holds beside the row that fits first.
    """

    relation: str
    sort: Sort
    word: str
    particles: tuple[str, ...]
    slots: frozenset[str]
    effect: Effect
    tail: tuple[str, ...]
    conditions: frozenset[str] = frozenset()
    swapped: bool = False
    also: bool = False

    @property
    def rank(self) -> tuple[int, int]:
        """The place of the row: more particles first, then the more specific kind."""
        return -len(self.particles), max(KINDS.index(kind) for kind in self.tail)


Rows = dict[tuple[Sort, str], tuple[Row, ...]]
"""The rows of a table by their word, in the order in which they are tried."""


def parse_row(relation: str, text: str) -> tuple[Row, ...]:
    """Return the rows of one line, one for each alternative of its word.

    Raises:
        ValueError: the line has no such form, or has an unknown sort, slot, effect, kind or option.
    """
    cells = [cell.strip() for cell in text.split("|")]
    sort, _, words = cells[0].partition(" ")
    if sort in SLOTLESS:
        cells.insert(1, "")
    first, *particles = words.split() or [""]
    slots, effect, tail, options = (cell.split() for cell in [*cells, "", "", "", ""][1:5])
    flags = set(options)
    known = sort in get_args(Sort) and {*slots} <= _SLOTS and {*effect} <= {*get_args(Effect)} and {*tail} <= {*KINDS}
    if not (known and first and tail and len(effect) == 1 and flags <= _OPTIONS | CONDITIONS and len(cells) < 6):
        form = "sort words | slots | effect | tail | options"
        raise ValueError(f"relation {relation!r}: the row {text!r} is not of the form {form}")
    return tuple(
        Row(
            relation, sort, word, tuple(particles), frozenset(slots), effect[0], tuple(tail),  # type: ignore[arg-type]
            frozenset(flags & CONDITIONS), "swapped" in flags, "also" in flags,
        )
        for word in first.split("/")
    )  # fmt: skip


def read_rows(registry: Registry) -> Rows:
    """Return the rows of all relations, each word's in the order in which they are tried."""
    by_word: dict[tuple[Sort, str], list[Row]] = {}
    for relation in registry:
        for text in relation.said:
            for row in parse_row(relation.name, text):
                by_word.setdefault((row.sort, row.word), []).append(row)
    return {key: tuple(sorted(rows, key=lambda row: row.rank)) for key, rows in by_word.items()}


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
