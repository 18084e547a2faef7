"""Hubs: of an entity with thousands of facts only a limited number are read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from small_graph import ask, cosine_by_relation, graph, said

from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.language.questions import understand
from mcp_memory.navigation.fact_query import FactQuery
from mcp_memory.navigation.paths import Neighbourhood, StatementSimilarity
from mcp_memory.navigation.settings import NavigationSettings
from mcp_memory.view.facts import Facts

RELATIONS = ("visited", "owns", "read", "likes", "knows")


class Counted(Facts):
    """Facts that count the incoming versions that are read, and record the outgoing relations."""

    into = 0
    folded: list[str] = []  # noqa: RUF012 - set again by each test

    def to(
        self, key: str, *, suspected: bool = False, first: Callable[[str], float] | None = None
    ) -> Iterator[Version]:
        for version in super().to(key, suspected=suspected, first=first):
            self.into += 1
            yield version

    def versions(self, key: str, relation: str) -> tuple[Version, ...]:
        self.folded.append(relation)
        return super().versions(key, relation)


def big() -> Counted:
    facts = Counted()
    facts.folded = []
    facts.add(said("Hub", RELATIONS[place % 5], f"thing {place}", 2000 + place % 20) for place in range(5_000))
    facts.add(said(f"person {place}", "lives_in", "Town", 2000 + place % 20) for place in range(5_000))
    facts.add(said(f"person {place}", "works_at", f"firm {place % 900}") for place in range(10_000))
    return facts


def test_only_some_neighbours_of_a_hub_are_compared_requested_relations_first() -> None:
    facts, compared = big(), [0]

    def near(assertions: Sequence[Assertion]) -> list[float]:
        compared[0] += len(assertions)
        return [0.0] * len(assertions)

    found = ask(facts, "What does Hub like?", near=near)
    assert {path.steps[0].version.relation for path in found.paths} == {"likes"}
    assert compared[0] <= 2 * NavigationSettings().scanned
    assert set(facts.folded) == {"likes"}


def test_incoming_facts_of_a_hub_are_computed_only_as_far_as_they_are_read() -> None:
    facts = big()
    found = ask(facts, "Who lives in Town?")
    assert all(path.steps[0].version.relation == "lives_in" for path in found.paths)
    assert facts.into <= 20 * NavigationSettings().scanned
    assert facts.into >= NavigationSettings().scanned


def test_fewer_facts_of_a_hub_are_read_inside_a_path_than_at_its_root() -> None:
    facts = graph(said("Ann", "lives_in", "Town"), *(said(f"person {n}", "lives_in", "Town") for n in range(300)))
    around = partial(
        Neighbourhood,
        facts,
        FactQuery(understand("Who lives there?", ())),
        StatementSimilarity(cosine_by_relation(), (0, 1), 4),
    )
    settings = NavigationSettings()
    root = around(["town"], at=None, uncertain=False, settings=settings)
    passed = around(["ann"], at=None, uncertain=False, settings=settings)
    assert len(root.edges("town", "FACT")) == settings.scanned
    assert len(passed.edges("town", "FACT")) == settings.passed
