"""The rows of the relation table: how each relation is said, as ``said`` of ``resources/relations.toml`` gives it.

A row reads *sort words | slots | effect | tail | options*:

- *sort*: ``verb`` (active), ``passive`` (by the plain form of its verb), ``adj`` and ``noun`` (behind a form of "be"),
  ``possessed`` ("X's hometown is Y", about X) and ``subject`` ("the page size is 50", about the page size; ``any`` is
  every noun). The last two have no slots.
- *words*: the word with its particles, ``move back``; alternatives are joined by ``/``, ``like/love/enjoy``.
- *slots*: where the tail stands: prepositions, ``obj`` for an object, ``time`` (the words of a date), ``each`` (the
  subjects to one another).
- *effect*: what the time of the clause means: ``state`` (it holds then), ``begin`` (from then on), ``end`` (no longer
  from then on), ``event`` (it happens then), ``lasting`` (it holds in any tense), ``ended`` (it held until then).
- *tail*: the kinds of thing (`KINDS`) of which the tail must be one.
- *options*: conditions of the clause (`CONDITIONS`), ``swapped`` (the tail is the head), ``also`` (it holds beside the
  row that fits first), and a confidence in (0, 1], .95 without one.

Of several rows for one phrase the first that fits holds: those with more particles first, then those with the more
specific kind, then by their order in the file. A row that can never fire is refused when the table is read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal, get_args

from mcp_memory.domain.relations import COMMON, FURTHER, Registry, irregular_verbs, relations
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.facts.tables import closed

Sort = Literal["verb", "passive", "adj", "noun", "possessed", "subject"]
SLOTLESS = ("possessed", "subject")
Effect = Literal["state", "begin", "end", "event", "lasting", "ended"]
"""What the time of a clause means for a fact, see above."""

KINDS = (
    "dose", "medicine", "home", "degree", "language", "time", "title", "trip", "startup", "award", "pet", "condition",
    "child", "sibling", "craft", "vehicle", "ownable", "instrument", "played", "event", "venue", "team", "club",
    "assembly", "ensemble", "town_school", "school", "company", "firm", "org", "workplace", "office", "role",
    "residence", "place", "first_name", "person", "work", "won", "name", "activity", "colour", "address", "amount",
    "tool", "subject", "hobby", "liked", "cause", "noted", "used", "thing", "value", "any",
)  # fmt: skip
"""The kinds that a tail may have to be of (`kinds.fits`), the most specific first."""
CONDITIONS = word_set(
    "present past perfect progressive simple negated positive for_good talk document human owned done employed"
)
"""What a row may ask of its clause.

Its tense and polarity, the adverb "for good", its text, and as its subject a person or somebody's thing ("my car").
``employed``: it has no object, or a job ("I started pottery at the Chapter" tells of no employer).
``past`` includes the perfect tense, and for an event what has a date to come, ``done`` does not;
``present`` includes the progressive tense, ``simple`` does not."""
_OPTIONS = word_set("swapped also")
_SLOTS = closed.PREPOSITIONS | {"obj", "time", "each"}
CONFIDENCE = 0.95
"""Confidence of a row that states none."""
FEW_COUNTED = 0.89
"""The highest confidence of a form of which fewer than 30 facts were counted: none is certain."""


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
        confidence: in (0, 1].
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
    confidence: float = CONFIDENCE

    @property
    def rank(self) -> tuple[int, int]:
        """The place of the row: more particles first, then the more specific kind."""
        return -len(self.particles), max(KINDS.index(kind) for kind in self.tail)

    def shadows(self, later: Row) -> bool:
        """Return whether a later row of the same word can never fire because of this one."""
        return (
            not (self.also or later.also)
            and self.particles == later.particles
            and self.slots >= later.slots
            and self.conditions <= later.conditions
            and (set(self.tail) >= set(later.tail) or "any" in self.tail)
        )


Rows = dict[tuple[Sort, str], tuple[Row, ...]]
"""The rows of a table by their word, in the order in which they are tried."""


def parse_row(relation: str, text: str) -> tuple[Row, ...]:
    """Return the rows of one line, one for each alternative of its word.

    Raises:
        ValueError: the line has no such form, or has an unknown sort, slot, effect, kind or option.
    """
    cells = [cell.strip() for cell in text.split("|")]
    sort, _, words = cells[0].partition(" ")
    if sort not in get_args(Sort) or not words:
        raise _refused(relation, text, f"a row begins with one of {', '.join(get_args(Sort))} and a word")
    if sort in SLOTLESS:
        cells.insert(1, "")
    if len(cells) not in (4, 5):
        raise _refused(relation, text, "its cells are: sort words | slots | effect | tail | options")
    slots, effect, tail = frozenset(cells[1].split()), cells[2], tuple(cells[3].split())
    options = cells[4].split() if len(cells) == 5 else []
    numbers = [float(option) for option in options if option[0] in ".01"]
    flags = {option for option in options if option[0] not in ".01"}
    for what, unknown in (
        ("slots", slots - _SLOTS),
        ("effects", {effect} - set(get_args(Effect))),
        ("kinds", set(tail) - set(KINDS)),
        ("options", flags - _OPTIONS - CONDITIONS),
    ):
        if unknown:
            raise _refused(relation, text, f"unknown {what}: {', '.join(sorted(unknown))}")
    if not tail or (not slots and sort not in SLOTLESS):
        raise _refused(relation, text, "it has no slot, or no kind of tail")
    if any(not 0 < number <= 1 for number in numbers) or len(numbers) > 1:
        raise _refused(relation, text, "it needs one confidence in (0, 1]")
    contradictory = {"past", "present"} <= flags or {"negated", "positive"} <= flags or {"talk", "document"} <= flags
    if contradictory:
        raise _refused(relation, text, "its conditions exclude one another")
    rows = []
    first, *particles = words.split()
    for word in first.split("/"):
        if sort in ("verb", "passive") and _is_inflected(word):
            raise _refused(relation, text, f"{word!r} is no verb in its plain form")
        if sort == "adj" and len(word) > 4 and word.endswith("ed"):
            raise _refused(relation, text, f"'is {word}' is read as a passive, the row of a verb")
        row = Row(
            relation, sort, word, tuple(particles), slots, effect, tail,  # type: ignore[arg-type]  # checked above
            frozenset(flags & CONDITIONS), "swapped" in flags, "also" in flags, *numbers,
        )  # fmt: skip
        rows.append(row)
    return tuple(rows)


_PLAIN = word_set("embed shred wed bed shed") | {*COMMON.split(), *FURTHER.split()}


def _is_inflected(word: str) -> bool:
    """Return whether a verb of a row is not in its plain form, so that no clause has it."""
    plain, inflected = _irregular_forms()
    if word in _PLAIN or word in plain:
        return False
    return word in inflected or (len(word) > 5 and word.endswith(("ed", "ing")) and not word.endswith("eed"))


@cache
def _irregular_forms() -> tuple[frozenset[str], frozenset[str]]:
    """Return the plain forms of the irregular verbs, and their other forms."""
    verbs = irregular_verbs()
    return frozenset(verb[0] for verb in verbs), frozenset(form for verb in verbs for form in verb[1:])


def _refused(relation: str, text: str, reason: str) -> ValueError:
    return ValueError(f"relation {relation!r}: the row {text!r} can never fire: {reason}")


def read_rows(registry: Registry) -> Rows:
    """Return the rows of all relations, each word's in the order in which they are tried.

    Raises:
        ValueError: a row can never fire; it says which and why.
    """
    by_word: dict[tuple[Sort, str], list[Row]] = {}
    for relation in registry:
        for text in relation.said:
            for row in parse_row(relation.name, text):
                by_word.setdefault((row.sort, row.word), []).append(row)
    for key, rows in by_word.items():
        rows.sort(key=lambda row: row.rank)
        for number, row in enumerate(rows):
            if earlier := next((one for one in rows[:number] if one.shadows(row)), None):
                raise ValueError(
                    f"relation {row.relation!r}: a row of {' '.join(key)!r} can never fire: one of"
                    f" {earlier.relation!r} comes first"
                )
    return {key: tuple(rows) for key, rows in by_word.items()}


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
