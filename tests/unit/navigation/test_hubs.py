"""Hubs: of an entity with thousands of facts only a limited number are read."""

from __future__ import annotations

from functools import partial

from small_graph import cosine_by_relation, graph, said

from mcp_memory.language.questions import understand
from mcp_memory.navigation.fact_query import FactQuery
from mcp_memory.navigation.paths import Neighbourhood, StatementSimilarity
from mcp_memory.navigation.settings import NavigationSettings


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
