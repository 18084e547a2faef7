"""Countries: the country that a word means, and the country of an entity by its facts.

"Denmark" and "Danish" mean one country, "English" a part of "British". The words are in `language.vocabulary`; the
states of the U.S. are added here, since texts name them without the country. A name that may also mean a town, a person
or another country is left out: "Georgia".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from mcp_memory.domain.answers import KnownFacts, RelationFacts
from mcp_memory.domain.entities import entity_key
from mcp_memory.language.vocabulary import COUNTRIES, FORMER_COUNTRIES
from mcp_memory.rules.answers.values import ValidValue, contested_values, select_values, valid_values


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


def find_country(written: str) -> Country | None:
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
        countries = [((value,), country) for value in values if (country := find_country(value.value))]
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
        found = [((path[0], path[-1]), country) for path in longer if (country := find_country(path[-1].value))]
        if found:
            yield from found
            return
        paths = longer[:20]


def _containing_places(name: str, knowledge: KnownFacts) -> list[ValidValue]:
    key = entity_key(name)
    located = [one for one in knowledge.groups if one.relation == "located_in" and one.forward and one.inferred is None]
    groups = [one for one in located if key in map(entity_key, one.names)]
    return [value for group in groups for value in valid_values(group, knowledge)]
