"""The neighbours of an entity, as one question may walk to them: REAL's cascade of filters (§3.3.2, step I).

Both directions are walked (DESIGN D36). What remains is ranked: by what the question asks for by name, then by meaning,
a little lower where it is walked backward, or is of another kind than the intent looks for and not asked for by name
(DESIGN D35: soft, since a strict filter prunes most answers). Of a hub only so many versions on each side are looked
at, ``scanned`` of a root and ``passed`` of what lies on the way (`NavigationSettings`): of what goes out the relations
that the question asks for first, and of each the newest; of what comes in, likewise, whatever came up first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from mcp_memory.domain.facts import Intent, Version
from mcp_memory.domain.paths import Step
from mcp_memory.navigation.fact_query import FactQuery, Moment, holds
from mcp_memory.navigation.scores import Likeness
from mcp_memory.navigation.settings import NavigationSettings
from mcp_memory.view.facts import Facts


@dataclass(frozen=True, slots=True)
class Edge:
    """A step that can be taken from an entity.

    Attributes:
        step: the step.
        end: key of the entity that it leads to.
        rank: among the neighbours; higher is better.
    """

    step: Step
    end: str
    rank: float


class Neighbourhood:
    """What lies around entities for one question; each entity is looked at once.

    Attributes:
        facts: of the space.
        asking: the question.
        likeness: of versions to it.
        roots: keys of the entities that it is about.
        at: the time in question, None for any.
        uncertain: whether what is only suspected takes part.
        settings: of this room.
    """

    def __init__(
        self,
        facts: Facts,
        asking: FactQuery,
        likeness: Likeness,
        roots: Iterable[str],
        *,
        at: Moment | None,
        uncertain: bool,
        settings: NavigationSettings,
    ) -> None:
        self.facts = facts
        self.asking = asking
        self.likeness = likeness
        self.roots = frozenset(roots)
        self.at = at if settings.temporal_filter else None
        self.uncertain = uncertain
        self.settings = settings
        self._all: dict[str, tuple[tuple[Version, bool, str], ...]] = {}
        self._edges: dict[tuple[str, Intent], tuple[Edge, ...]] = {}

    def edges(self, key: str, intent: Intent) -> tuple[Edge, ...]:
        """Return the steps that pass the filters, best first."""
        if (key, intent) not in self._edges:
            valid = [found for found in self._around(key) if self._holds(found[0], intent)]
            self._edges[key, intent] = self._ranked(valid, intent)
        return self._edges[key, intent]

    def over(self, key: str, intent: Intent) -> tuple[Edge, ...]:
        """Return the steps that only the time in question keeps out, what was contested apart, best first."""
        out = [found for found in self._around(key) if found[0].since < found[0].until]
        return self._ranked([found for found in out if not self._holds(found[0], intent)], intent)

    def links(self, key: str, intent: Intent, names: frozenset[str]) -> list[Edge]:
        """Return the steps along a few relations that pass the time filter, not ranked.

        The rules ask this of many entities, so it costs nothing where there are none; the way back is left out of hubs.
        """
        if self._only_a_name(key):
            return []
        found = [version for name in self.facts.relations_of(key) if name in names for version in self._of(key, name)]
        edges = [self._edge(version, forward=True) for version in found[: self.settings.premises]]
        if self.facts.degree(key) <= self.settings.premises:
            into = self.facts.to(key, suspected=self.uncertain)
            edges += [self._edge(version, forward=False) for version in into if version.relation in names]
        return [edge for edge in edges if edge.end != key and self._holds(edge.step.version, intent)]

    def best(self, key: str, intent: Intent, without: Iterable[str]) -> list[Edge]:
        """Return N_cand: the m best steps to entities that the path has not been to."""
        visited = frozenset(without)
        return list(
            islice((edge for edge in self.edges(key, intent) if edge.end not in visited), self.settings.expanded)
        )

    def _holds(self, version: Version, intent: Intent) -> bool:
        return holds(version, self.at, intent, past=self.asking.past)

    def _ranked(self, found: list[tuple[Version, bool, str]], intent: Intent) -> tuple[Edge, ...]:
        near = self.likeness.of(version for version, _, _ in found)
        edges = []
        for (version, forward, end), likeness in zip(found, near, strict=True):
            rank = likeness + (1 - likeness) * self.settings.asked * self.asking.asks(version.relation)
            rank -= self.settings.backward * (not forward)
            if self.settings.intent:
                rank -= self.settings.incompatible * (1 - self.asking.wants(version, intent, self.facts))
            edges.append(Edge(Step(version, forward, confidence=version.confidence), end, rank))
        edges.sort(key=lambda edge: (-edge.rank, -edge.step.version.since, edge.step.version.id))
        return tuple(edges)

    def _around(self, key: str) -> tuple[tuple[Version, bool, str], ...]:
        if key not in self._all:
            limit = 0 if self._only_a_name(key) else self.settings.passed
            limit = self.settings.scanned if key in self.roots else limit
            out = [(one, True, self.facts.target_key(one, forward=True)) for one in islice(self._out(key), limit)]
            asked = self.facts.to(key, suspected=self.uncertain, first=lambda name: -self.asking.asks(name))
            into = islice(asked, limit)
            back = [(version, False, self.facts.key(version.head)) for version in into]
            self._all[key] = tuple(found for found in (*out, *back) if found[2] != key)
        return self._all[key]

    def _only_a_name(self, key: str) -> bool:
        """Return whether this is another name of an entity that was passed already (`Facts.end`)."""
        return self.facts.known_entity(key) not in (key, None)

    def _out(self, key: str) -> Iterator[Version]:
        # Folded one by one as they are wanted: those that are asked for, then the others as they came up.
        for relation in sorted(self.facts.relations_of(key), key=lambda name: -self.asking.asks(name)):
            yield from self._of(key, relation)

    def _of(self, key: str, relation: str) -> Iterator[Version]:
        """Yield the versions of one (head, relation) that may take part, newest first."""
        yield from reversed(self.facts.versions(key, relation))
        if self.uncertain:
            yield from reversed(self.facts.suspected(key, relation))

    def _edge(self, version: Version, *, forward: bool) -> Edge:
        end = self.facts.target_key(version, forward=forward)
        return Edge(Step(version, forward, confidence=version.confidence), end, 0.0)
