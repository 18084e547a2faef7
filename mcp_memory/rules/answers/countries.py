"""Countries, by every word that texts have for them: "Denmark" and "Danish" are one, "English" is of "British".

General knowledge, small and English: sovereign states of today with what their people are called, the states of the
U.S., which texts name without the country, and some that are parts of others or are no more. A name that may as well
mean a town, a person or another country is left out: "Georgia".
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from mcp_memory.domain.entities import entity_key
from mcp_memory.language.vocabulary import COUNTRIES, FORMER_COUNTRIES


@dataclass(frozen=True, slots=True)
class Country:
    """A country, or a land that is part of one or was several.

    Attributes:
        name: in lower case.
        within: the countries of today that it is of, or that were of it; itself where it is one.
    """

    name: str
    within: frozenset[str]

    def same(self, other: Country) -> bool | None:
        """Return whether both are one country; None where one is a part of the other or both are of a third."""
        if self.name == other.name:
            return True
        return False if self.within.isdisjoint(other.within) else None


def country(written: str) -> Country | None:
    """Return the country that a word or a name means, "Danish" or "the Kingdom of Denmark"; None for anything else."""
    key = entity_key(written)
    for opening in ("kingdom of ", "republic of ", "islamic republic of ", "people's republic of "):
        if key not in _named() and key.startswith(opening):
            key = key.removeprefix(opening)
    return _named().get(key)


@cache
def _named() -> dict[str, Country]:
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
