"""The registry of relations: cardinality, event or state, inverse, wording, how each is said; verbs and their forms.

``resources/relations.toml`` holds one table for each relation, with a `Row` for each way to say it. Its cardinality,
one value at a time (single) or several (multi), decides how versions are folded (REAL §III-A). Counterfactual repair
uses inverse, symmetric, implies and antonym (REAL §III-B2, Table I; DESIGN D37). A relation outside the registry has
*unknown* cardinality: it behaves as multi until the assertions suggest otherwise (``domain/facts.py``).

The table of verbs, ``resources/verbs.toml``, recognises verbs where facts are read, and inflects a relation that the
registry does not have, of which only the name is known.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

from mcp_memory.heap import text_cache
from mcp_memory.texts import resource

Cardinality = Literal["single", "multi", "unknown"]
RelationKind = Literal["state", "event"]
Level = Literal["kind", "whole"]
DID = "did"
"""The relation of what happened and has no relation of its own; its tail is the whole phrase, "took a course"."""
DATED = frozenset(("scheduled_for", "due_on", "starts_on", "ends_on"))
"""The relations whose tail is a date; what is said as "next week" is given in the words of the calendar."""
EntityType = Literal["person", "organisation", "place", "time", "number", "thing"]
Sort = Literal["verb", "passive", "adj", "noun", "possessed", "subject"]
Effect = Literal["state", "begin", "end", "event", "lasting"]
"""What the time of a clause means for a fact, see `Row`."""

_PARTS = re.compile(r"[\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Row:
    """One way to say a relation: *sort words | slots | effect | tail | options*.

    Attributes:
        relation: its name.
        sort: ``verb`` (active), ``passive`` (by the plain form of its verb), ``adj`` and ``noun`` (behind a form of
            "be"), ``possessed`` ("X's hometown is Y", about X) or ``subject`` ("the page size is 50", about the page
            size; the word ``any`` is every noun). The last two have no slots.
        word: in its plain form; a row with alternatives, ``like/love/enjoy``, stands for one row each.
        particles: the words behind it that belong to it, ``move back``.
        slots: any of these gives the tail: prepositions, ``obj`` for an object, ``time`` (the words of a date),
            ``each`` (the subjects to one another).
        effect: what the time of the clause means: ``state`` (it holds then), ``begin`` (from then on), ``end`` (no
            longer from then on), ``event`` (it happens then), ``lasting`` (it holds in any tense).
        tail: the kinds of thing (`rules.facts.tables.KINDS`) of which the tail must be one.
        options: the conditions of the clause (`rules.facts.tables.CONDITIONS`), ``swapped`` (the tail is the head),
            ``also`` (it holds beside the row that fits first), ``loose`` (its words may mean another relation, so that
            no fact is certain by them).
    """

    relation: str
    sort: Sort
    word: str
    particles: tuple[str, ...]
    slots: frozenset[str]
    effect: Effect
    tail: tuple[str, ...]
    options: frozenset[str]


def _rows(relation: str, text: str) -> Iterator[Row]:
    """Yield the rows of a line of the table, one for each alternative of its word."""
    (sort, words, *particles), *cells = (cell.split() for cell in text.split("|"))
    slots = [] if sort in ("possessed", "subject") else cells.pop(0)
    (effect,), tail, *options = cells
    for word in words.split("/"):
        yield Row(
            relation, sort, word, tuple(particles), frozenset(slots), effect, tuple(tail),  # type: ignore[arg-type]
            frozenset(option for cell in options for option in cell),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Relation:
    """A kind of fact.

    Attributes:
        name: in lower case, words joined by ``_``.
        label: wording between head and tail, "lives in".
        cardinality: number of values at one time.
        kind: a state lasts ("lives in"), an event happens at a time ("visited").
        inverse: relation that states the same from tail to head.
        symmetric: whether it is its own inverse.
        implies: relations that it makes likely between the same entities.
        antonym: relation that it excludes.
        above: whether its tail is a kind of which its head is one, or a whole of which it is a part; else None.
        shared: whether unrelated things have the same tail, as a year or a country.
        family: whether it joins a person with a relative, a partner or a pet.
        passing: whether a value is right only when it is told, as an age is: it is never certain.
        last_told: whether of several values the one told last counts, whatever their times ("the meeting is moved to
            the 5th"), and not the one that starts last.
        head: usual type of its head, or None.
        tail: usual type of its tail, or None.
        asked: words by which a question asks for it, in their base form.
        question: question for its tail, "Where does {head} live?"; may be empty.
        said: how it is said.
        third_person: wording "meets" for a label that is a bare verb, "meet"; otherwise empty.
    """

    name: str
    label: str
    cardinality: Cardinality = "unknown"
    kind: RelationKind = "state"
    inverse: str | None = None
    symmetric: bool = False
    implies: tuple[str, ...] = ()
    antonym: str | None = None
    above: Level | None = None
    shared: bool = False
    family: bool = False
    passing: bool = False
    last_told: bool = False
    head: EntityType | None = None
    tail: EntityType | None = None
    asked: tuple[str, ...] = ()
    question: str = ""
    said: tuple[Row, ...] = ()
    third_person: str = ""

    @property
    def event(self) -> bool:
        """Whether it happens at a time rather than lasting."""
        return self.kind == "event"


class Registry:
    """Known relations, found by any of their names."""

    def __init__(self, text: str) -> None:
        """Read the registry from TOML.

        Raises:
            ValueError: the text is not TOML, or a table is not a relation.
        """
        self._known: dict[str, Relation] = {}
        self._names: dict[str, str] = {}
        for name, table in tomllib.loads(text).items():
            also, label = table.pop("also", []), table.pop("label", name.replace("_", " "))
            try:
                said = tuple(row for line in table.pop("said", ()) for row in _rows(name, line))
                known = Relation(name, label, said=said, **{k: _frozen(v) for k, v in table.items()})
            except (TypeError, ValueError) as error:
                raise ValueError(f"relation {name!r}: {error}") from error
            self._known[name] = known
            for other in (name, *also):
                if self._names.setdefault(other, name) != name:
                    raise ValueError(f"relation name {other!r} stands for both {self._names[other]!r} and {name!r}")

    def __iter__(self) -> Iterator[Relation]:
        return iter(self._known.values())

    def name(self, written: str) -> str:
        """Return the canonical name of a relation written in any form: "livesIn", "Lives in", "resides_in"."""
        plain = "_".join(part for part in _PARTS.split(_HUMP.sub("_", unicodedata.normalize("NFKC", written))) if part)
        plain = plain.casefold()
        return self._names.get(plain, plain)

    def get(self, name: str) -> Relation:
        """Return a relation by its name; outside the registry its cardinality is unknown.

        Names that start with ``favourite_`` or ``current_`` are single.
        """
        return self._known.get(name) or _unlisted_relation(name)


@cache
def relations() -> Registry:
    """Return the registry that ships with the project."""
    return Registry(resource("relations.toml"))


@text_cache(4_096)
def _unlisted_relation(name: str) -> Relation:
    label = name.replace("_", " ")
    if name.startswith(("favourite_", "current_")):
        return Relation(name, f"has as {label}", "single", asked=tuple(label.split()))
    words = label.split()
    wording = " ".join((third_person(words[0]), *words[1:])) if begins_with_verb(words) else ""
    return Relation(name, label, asked=tuple(words), third_person=wording)


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class Verbs:
    """The table of verbs, ``resources/verbs.toml``.

    Attributes:
        irregular: plain form, past and participle of each.
        regular: plain forms.
        further: other pasts and participles, with their plain forms.
        behind: words that may follow a verb and belong to it.
    """

    irregular: tuple[tuple[str, str, str], ...]
    regular: tuple[str, ...]
    further: Mapping[str, str]
    behind: frozenset[str]


@cache
def verbs() -> Verbs:
    """Return the table of verbs that ships with the project."""
    table = tomllib.loads(resource("verbs.toml"))
    entries = table["irregular"].strip().replace("\n", "|").split("|")
    irregular = tuple((plain, past, participle) for plain, past, participle in map(str.split, entries))
    regular = (*table["regular"].split(), *table["of_rows"].split())
    return Verbs(irregular, regular, table["further"], frozenset(table["behind"].split()))


def third_person(verb: str) -> str:
    """Return the third person of a verb in its plain form: "meet" gives "meets"."""
    if verb in ("have", "be"):
        return "has" if verb == "have" else "is"
    if verb.endswith("y") and verb[-2:-1] not in tuple("aeiou"):
        return verb[:-1] + "ies"
    return verb + ("es" if verb.endswith(("s", "sh", "ch", "x", "z", "o")) else "s")


def begins_with_verb(words: Sequence[str]) -> bool:
    """Return whether words are a verb in its plain form, alone or with a preposition at the end.

    Otherwise the first word may be a noun, as in "work email" and "head of".
    """
    return bool(words) and words[0] in _plain_forms() and (len(words) == 1 or words[-1] in verbs().behind)


@cache
def _plain_forms() -> frozenset[str]:
    known = verbs()
    past = {past for plain, past, _ in known.irregular if past != plain}
    return frozenset((*known.regular, *(entry[0] for entry in known.irregular))) - past  # "found" is mostly of "find"
