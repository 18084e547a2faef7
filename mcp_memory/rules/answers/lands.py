"""The country that somebody or something is of, by the facts that say so."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from mcp_memory.domain.answers import KnownFacts, RelationFacts
from mcp_memory.domain.entities import entity_key
from mcp_memory.rules.answers.countries import Country, country
from mcp_memory.rules.answers.held import Held, chosen, held, lost

_LANDS = ("nationality", "comes_from", "located_in")
"""Where a person, a work or a place is from, the first that is known."""
MOST_STEPS = 3  # from a place to the country that it lies in


def land(
    groups: Sequence[RelationFacts], knowledge: KnownFacts, *, past: bool
) -> tuple[tuple[Held, ...], Country] | None:
    """Return the one country that somebody or something is of, and the facts that say so."""
    for name in _LANDS:
        group = next((one for one in groups if one.relation == name and one.forward), None)
        if group is None:
            continue
        if group.denials or lost(group):
            return None
        values = chosen(held(group, knowledge), None, event=False, past=past, moment=knowledge.moment)
        lands: list[tuple[tuple[Held, ...], Country]]
        lands = [((one,), land) for one in values if (land := country(one.value))]
        if name == "located_in" and not lands:
            lands = [found for one in values for found in _around(one, knowledge)]
        if lands:
            return lands[0] if len({land.name for _, land in lands}) == 1 else None
    return None


def _around(place: Held, knowledge: KnownFacts) -> Iterator[tuple[tuple[Held, ...], Country]]:
    """Yield the countries that a place lies in by the facts about what it lies in."""
    paths: list[tuple[Held, ...]] = [(place,)]
    for _ in range(MOST_STEPS):
        wider = [(*path, one) for path in paths for one in _located(path[-1].value, knowledge)]
        found = [((path[0], path[-1]), land) for path in wider if (land := country(path[-1].value))]
        if found:
            yield from found
            return
        paths = wider[:20]


def _located(name: str, knowledge: KnownFacts) -> list[Held]:
    key = entity_key(name)
    groups = (one for one in knowledge.groups if one.relation == "located_in" and one.forward and one.inferred is None)
    return [one for group in groups if key in map(entity_key, group.names) for one in held(group, knowledge)]
