"""Repair: when it applies (DESIGN W8), and its budget."""

from __future__ import annotations

import pytest
from small_graph import graph, said

from mcp_memory.domain.paths import Path, PathScores, Root, Rule, Step
from mcp_memory.navigation.beam import continuations
from mcp_memory.navigation.counterfactual import counterfactual_budget, needs_repair


def scores(*pairs: tuple[float, float]) -> list[PathScores]:
    return [PathScores(relevance, coherence, 0.5) for relevance, coherence in pairs]


@pytest.mark.parametrize(
    ("candidates", "called", "places"),
    [
        (scores((0.7, 0.9), (0.6, 0.4), (0.4, 0.8), (0.55, 0.6)), False, 3),
        (scores((0.4, 0.9), (0.3, 0.8)), True, 5),
        (scores((0.9, 0.1), (0.1, 0.9)), True, 5),  # DESIGN D33: the paper would not repair
        ([], True, 5),
    ],
)
def test_repair_applies_if_no_candidate_is_reliable_and_fills_the_remaining_places(
    candidates: list[PathScores], called: bool, places: int
) -> None:  # DESIGN W8
    assert needs_repair(candidates) is called
    assert counterfactual_budget(candidates) == places


def test_a_path_that_stops_may_be_repaired_too() -> None:  # DESIGN D39
    (fact,) = graph(said("Ann", "visited", "Oslo")).all()

    def path(rule: Rule | None, sufficiency: float) -> Path:
        return Path(Root("ann", "Ann", "FACT"), (Step(fact, True, rule),), "oslo", PathScores(0.9, 0.2, sufficiency))

    guess = path("cooccurrence", 0.6)
    assert continuations(path(None, 0.5), [path(None, 0.4)], [guess]) == [guess]
