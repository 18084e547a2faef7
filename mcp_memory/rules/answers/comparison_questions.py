"""Parse queries that compare two things: which two, and how.

"Who was born first, Ann or Bob?" asks for an order and wants one of two, "Is Ann older than Bob?" wants yes or no, "Are
Ash and Elm in the same country?" asks whether something is equal. The two are found by the names that facts know, and
have to be joined by "or", "and", "than", "as", "before" or "after". The remainder of the query says what is compared.
English only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

from mcp_memory.domain.answers import RelationFacts
from mcp_memory.domain.entities import ARTICLES, TITLES, entity_key
from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import MARKS, words

_FORM = re.compile(r"\b(?:or|and|than|as|before|after)\b", re.I)
_EARLIER = frozenset(("first", "earlier", "earliest", "older", "oldest", "elder", "eldest", "sooner", "before"))
_LATER = frozenset(("last", "later", "latest", "younger", "youngest", "newer", "newest", "recently", "after"))
_AGES = frozenset(("older", "oldest", "elder", "eldest", "younger", "youngest", "newer", "newest"))
_SAME = frozenset(("same", "share", "shares", "shared", "common"))
_DIFFERENT = frozenset(("different", "differ", "differs"))
_OPEN = re.compile(
    r"\b(?:not?|never|cannot|neither|nor|less|least|if|would|could|should|why|how|all|only)\b|n['’]t\b", re.I
)
"""Words that invert a comparison, suppose it, or ask for more."""
_POLAR = frozenset(("than", "before", "after"))
_JOINED = _POLAR | frozenset(("or", "and", "as"))
_WORD = re.compile(rf"[^\W_][\w{MARKS}]*(?:['’+#][\w{MARKS}]*)*")
_BRACKETED = re.compile(r"[\"”]?\s?[(（\[][^()（）\[\]]{0,100}[)）\]]")  # "(1990 film)", of two that bear one name
MOST_NAMED = 6
_Openings = dict[str, list[tuple[tuple[str, ...], str]]]  # first words → whole names and the keys of their bearers
COMPARISON_WORDS = _EARLIER | _LATER | _SAME | _DIFFERENT | frozenset(("two", "out", "among", "more", "respectively"))
"""Words that say how things are compared, not what is compared."""


@dataclass(frozen=True, slots=True)
class ComparedEntity:
    """An entity that a query names.

    Attributes:
        text: as the query writes it, with a distinguishing addition in brackets.
        key: of the entity, as in `RelationFacts`.
        start: first character in the query.
        end: first character after it.
    """

    text: str
    key: str
    start: int
    end: int

    @property
    def is_possessive(self) -> bool:
        """Whether it is a possessive, "Ann's", so that something of the entity is meant."""
        return self.text.endswith(("'s", "’s", "'", "’"))


@dataclass(frozen=True, slots=True)
class Comparison:
    """A query that compares two entities.

    Attributes:
        things: the two, in the order of the query.
        form: whether it asks for their order in time, or whether something is the same.
        inverted: for an order, whether it asks for the later one; for sameness, whether it asks for "different".
        yes_no: whether it wants yes or no.
        ages: whether it asks for an age, and so for the time at which somebody or something began.
        remainder: the query without the two.
    """

    things: tuple[ComparedEntity, ComparedEntity]
    form: Literal["order", "same"]
    inverted: bool
    yes_no: bool
    ages: bool
    remainder: str


def parse_comparisons(query: Query, groups: Iterable[RelationFacts]) -> Iterator[Comparison]:
    """Yield the comparisons of two known entities that a query may mean, mostly one or none.

    "Did Ann move to Lisbon before Bob?" names three, and only the facts about them decide which two are compared.

    Args:
        query: the query.
        groups: facts about the entities that it names.
    """
    text = query.text
    if not _FORM.search(text):
        return
    if frozenset(words(text)).isdisjoint(_EARLIER | _LATER | _SAME | _DIFFERENT):
        return
    found = _find_entities(text, groups)[:MOST_NAMED]
    for first, second in combinations(found, 2):
        others = [entity for entity in found if entity.key not in (first.key, second.key)]
        within = [entity for entity in others if first.end <= entity.start < second.start]
        between = words(_blank_out(text[: second.start], within)[first.end :])
        joined = [word for word in between if word in _JOINED]
        if (
            len(joined) != 1
            or first.key == second.key
            or any(_in_enumeration(text, entity, first, second) for entity in others)
        ):
            continue
        if within and joined[0] not in _POLAR:
            continue
        if compared := _parse(query, (first, second), joined[0], _blank_out(text, (first, second))):
            yield compared


def _blank_out(text: str, things: Iterable[ComparedEntity]) -> str:
    """Return a text with spaces in place of the entities."""
    for entity in things:
        text = text[: entity.start] + " " * (entity.end - entity.start) + text[entity.end :]
    return text


def _parse(query: Query, things: tuple[ComparedEntity, ComparedEntity], joined: str, rest: str) -> Comparison | None:
    if _OPEN.search(rest):
        return None
    said = [word for word in words(rest) if joined in ("before", "after") or word not in ("before", "after")]
    outcomes = [not known.isdisjoint(said) for known in (_EARLIER, _LATER, _SAME, _DIFFERENT)]
    if sum(outcomes) != 1:
        return None
    _, after, same, other = outcomes
    polar = query.answer_type == "yes_no"
    if same or other:
        fits = joined in ("and", "as") or (other and joined == "than")
        return Comparison(things, "same", other, True, False, rest) if fits and polar else None
    ages = not _AGES.isdisjoint(said)
    if joined in _POLAR:
        return Comparison(things, "order", after, True, ages, rest) if polar else None
    if joined == "as" or (joined == "and" and polar):
        return None
    return Comparison(things, "order", after, False, ages, rest)


def _in_enumeration(text: str, other: ComparedEntity, first: ComparedEntity, second: ComparedEntity) -> bool:
    """Return whether a third entity stands in a list with the two: "Ann, Bob or Cara"."""
    if first.end <= other.start < second.start:
        return False
    before = other.end <= first.start
    between = text[other.end : first.start] if before else text[second.end : other.start]
    return {"or", "and", "the"}.issuperset(words(between))


def _find_entities(text: str, groups: Iterable[RelationFacts]) -> list[ComparedEntity]:
    """Return the entities that a text names, from left to right; at each position the longest name counts."""
    openings: _Openings = {}
    for key, names in {group.key: group.names for group in groups if not group.through}.items():
        for own in dict.fromkeys(tuple(entity_key(name).split()) for name in names):
            if own:
                openings.setdefault(own[0], []).append((own, key))
    words_in_text = [(found.start(), found.end(), _fold(found[0])) for found in _WORD.finditer(text)]
    cased = text != text.lower()
    things: list[ComparedEntity] = []
    place = 0
    while place < len(words_in_text):
        length, key = max(
            (
                (len(own), key)
                for own, key in _names_opening_with(openings, words_in_text[place][2])
                if _name_stands_at(own, words_in_text, place)
            ),
            default=(0, ""),
        )
        start, end = words_in_text[place][0], words_in_text[place + length - 1][1]
        if length == 0 or (cased and text[start:end] == text[start:end].lower() and not text[start].isdigit()):
            place += 1
            continue
        while (
            place and words_in_text[place - 1][2] in ARTICLES | TITLES and text[words_in_text[place - 1][0]].isupper()
        ):
            place, length, start = place - 1, length + 1, words_in_text[place - 1][0]
        apart = _BRACKETED.match(text, end)
        end = apart.end() if apart else end
        things.append(ComparedEntity(text[start:end], key, start, end))
        place = next(
            (at for at in range(place + length, len(words_in_text)) if words_in_text[at][0] >= end), len(words_in_text)
        )
    return things


def _names_opening_with(openings: _Openings, word: str) -> Iterator[tuple[tuple[str, ...], str]]:
    yield from openings.get(word, ())
    if word != (owner := word.removesuffix("'s")):
        yield from openings.get(owner, ())


def _name_stands_at(name: tuple[str, ...], words_in_text: Sequence[tuple[int, int, str]], place: int) -> bool:
    """Return whether a name stands at a position; its last word may be a possessive."""
    said = tuple(word for _, _, word in words_in_text[place : place + len(name)])
    return name in (said, (*said[:-1], *(word.removesuffix("'s") for word in said[-1:])))


def _fold(word: str) -> str:
    """Return a word as entity keys write it, with a possessive ending."""
    return unicodedata.normalize("NFKC", word).casefold().replace("’", "'").strip("'").lstrip("+#")
