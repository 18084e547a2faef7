"""Parse queries that compare two things: which two, and how.

"Who was born first, Ann or Bob?" asks for an order and wants one of two, "Is Ann older than Bob?" wants yes or no, "Are
Ash and Elm in the same country?" asks whether something is equal. The two are found by the names that facts know, and
have to be joined by "or", "and", "than", "as", "before" or "after". The remainder of the query says what is compared.
English only.

**Countries** are those that a word means, and those of an entity by its facts. "Denmark" and "Danish" mean one country,
"English" a part of "British". The words are in `language.vocabulary`; the states of the U.S. are added here, since
texts name them without the country. A name that may also mean a town, a person or another country is left out:
"Georgia".
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import Literal

from mcp_memory.domain.answers import KnownFacts, RelationFacts
from mcp_memory.domain.entities import ARTICLES, TITLES, entity_key
from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import MARKS, words
from mcp_memory.language.vocabulary import COUNTRIES, FORMER_COUNTRIES
from mcp_memory.rules.answers.values import ValidValue, contested_values, select_values, valid_values

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
        key: the key of the entity, as in `RelationFacts`.
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


@dataclass(frozen=True, slots=True)
class Country:
    """A country, or a region or former state with the countries of today that it belongs or belonged to.

    Attributes:
        name: in lower case.
        within: the countries of today; for a country of today itself.
    """

    name: str
    within: frozenset[str]

    def same_as(self, other: Country) -> bool | None:
        """Return whether both are one country; None where one is part of the other, or both are parts of a third."""
        if self.name == other.name:
            return True
        return False if self.within.isdisjoint(other.within) else None


def country_named(written: str) -> Country | None:
    """Return the country that a word or name means, "Danish" or "the Kingdom of Denmark", or None."""
    key = entity_key(written)
    for opening in ("kingdom of ", "republic of ", "islamic republic of ", "people's republic of "):
        if key not in _countries_by_name() and key.startswith(opening):
            key = key.removeprefix(opening)
    return _countries_by_name().get(key)


@cache
def _countries_by_name() -> dict[str, Country]:
    found: dict[str, Country] = {}
    for line in COUNTRIES.strip().splitlines():
        name, *others = _words(line)
        found |= dict.fromkeys((name, *others), Country(name, frozenset((name,))))
    for name in _STATES:
        found[name] = found["united states"]
    for line in FORMER_COUNTRIES.strip().splitlines():
        called, _, wholes = line.partition("|")
        name, *others = _words(called)
        within = frozenset(one.strip() for one in wholes.split(","))
        found |= dict.fromkeys((name, *others), Country(name, within))
    return {key: one for key, one in found.items() if key not in _UNCLEAR}


def _words(line: str) -> list[str]:
    """Return the names and demonyms of one line of the table."""
    return [word.strip(" *") for word in re.split("[,:]", line)]


_UNCLEAR = frozenset(("georgia", "guinea", "congo", "congolese", "guinean", "korea", "korean", "dominican"))
_STATES = (
    "alabama", "alaska", "arizona", "arkansas", "california", "colorado", "connecticut", "florida", "hawaii", "idaho",
    "illinois", "indiana", "iowa", "kansas", "kentucky", "louisiana", "maine", "maryland", "massachusetts", "michigan",
    "minnesota", "mississippi", "missouri", "montana", "nebraska", "nevada", "new hampshire", "new jersey",
    "new mexico", "new york", "new york city", "north carolina", "north dakota", "ohio", "oklahoma", "oregon",
    "pennsylvania", "rhode island", "south carolina", "south dakota", "tennessee", "texas", "utah", "vermont",
    "virginia", "west virginia", "wisconsin", "wyoming",
)  # fmt: skip


_COUNTRY_RELATIONS = ("nationality", "comes_from", "located_in")
"""Relations that give the origin of a person, a work or a place; the first known one counts."""
MOST_STEPS = 3  # from a place to the country that it lies in


def country_of(
    groups: Sequence[RelationFacts], knowledge: KnownFacts, *, past: bool
) -> tuple[tuple[ValidValue, ...], Country] | None:
    """Return the one country that an entity belongs to and the facts that state it, or None."""
    for name in _COUNTRY_RELATIONS:
        group = next((one for one in groups if one.relation == name and one.forward), None)
        if group is None:
            continue
        if group.denials or contested_values(group):
            return None
        values = select_values(valid_values(group, knowledge), None, event=False, past=past, moment=knowledge.moment)
        countries: list[tuple[tuple[ValidValue, ...], Country]]
        countries = [((value,), country) for value in values if (country := country_named(value.value))]
        if name == "located_in" and not countries:
            countries = [found for value in values for found in _surrounding_countries(value, knowledge)]
        if countries:
            return countries[0] if len({country.name for _, country in countries}) == 1 else None
    return None


def _surrounding_countries(
    place: ValidValue, knowledge: KnownFacts
) -> Iterator[tuple[tuple[ValidValue, ...], Country]]:
    """Yield the countries that a place lies in, by the facts about the larger places around it."""
    paths: list[tuple[ValidValue, ...]] = [(place,)]
    for _ in range(MOST_STEPS):
        longer = [(*path, value) for path in paths for value in _containing_places(path[-1].value, knowledge)]
        found = [((path[0], path[-1]), country) for path in longer if (country := country_named(path[-1].value))]
        if found:
            yield from found
            return
        paths = longer[:20]


def _containing_places(name: str, knowledge: KnownFacts) -> list[ValidValue]:
    key = entity_key(name)
    located = [one for one in knowledge.groups if one.relation == "located_in" and one.forward and one.inferred is None]
    groups = [one for one in located if key in map(entity_key, one.names)]
    return [value for group in groups for value in valid_values(group, knowledge)]
