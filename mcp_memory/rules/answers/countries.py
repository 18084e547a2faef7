"""Countries, by every word that texts have for them: "Denmark" and "Danish" are one, "English" is of "British".

General knowledge, small and English: sovereign states of today with what their people are called, the states of the
U.S., which texts name without the country, and some that are parts of others or are no more. A name that may as well
mean a town, a person or another country is left out: "Georgia".

The country that somebody or something is of, by the facts that say so.
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
    """A country, or a land that is part of one or was several.

    Attributes:
        name: in lower case.
        within: the countries of today that it is of, or that were of it; itself where it is one.
    """

    name: str
    within: frozenset[str]

    def same_as(self, other: Country) -> bool | None:
        """Return whether both are one country; None where one is a part of the other or both are of a third."""
        if self.name == other.name:
            return True
        return False if self.within.isdisjoint(other.within) else None


def find_country(written: str) -> Country | None:
    """Return the country that a word or a name means, "Danish" or "the Kingdom of Denmark"; None for anything else."""
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
"""Where a person, a work or a place is from, the first that is known."""
MOST_STEPS = 3  # from a place to the country that it lies in


def country_of(
    groups: Sequence[RelationFacts], knowledge: KnownFacts, *, past: bool
) -> tuple[tuple[ValidValue, ...], Country] | None:
    """Return the one country that somebody or something is of, and the facts that say so."""
    for name in _COUNTRY_RELATIONS:
        group = next((value for value in groups if value.relation == name and value.forward), None)
        if group is None:
            continue
        if group.denials or contested_values(group):
            return None
        values = select_values(valid_values(group, knowledge), None, event=False, past=past, moment=knowledge.moment)
        countries: list[tuple[tuple[ValidValue, ...], Country]]
        countries = [((value,), land) for value in values if (land := find_country(value.value))]
        if name == "located_in" and not countries:
            countries = [found for value in values for found in _surrounding_countries(value, knowledge)]
        if countries:
            return countries[0] if len({land.name for _, land in countries}) == 1 else None
    return None


def _surrounding_countries(
    place: ValidValue, knowledge: KnownFacts
) -> Iterator[tuple[tuple[ValidValue, ...], Country]]:
    """Yield the countries that a place lies in by the facts about what it lies in."""
    paths: list[tuple[ValidValue, ...]] = [(place,)]
    for _ in range(MOST_STEPS):
        wider = [(*path, value) for path in paths for value in _containing_places(path[-1].value, knowledge)]
        found = [((path[0], path[-1]), land) for path in wider if (land := find_country(path[-1].value))]
        if found:
            yield from found
            return
        paths = wider[:20]


def _containing_places(name: str, knowledge: KnownFacts) -> list[ValidValue]:
    key = entity_key(name)
    groups = (
        value
        for value in knowledge.groups
        if value.relation == "located_in" and value.forward and value.inferred is None
    )
    return [
        value for group in groups if key in map(entity_key, group.names) for value in valid_values(group, knowledge)
    ]
