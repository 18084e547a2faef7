"""A search whose scores a caller replaces: equal scores give equal paths, and its limits hold with any scores."""

from __future__ import annotations

from collections.abc import Callable
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_graph import ask, graph, said
from test_beam_properties import QUESTIONS, check_limits, graphs, moments, near

from mcp_memory.domain.paths import PathScores
from mcp_memory.language.questions import understand
from mcp_memory.navigation.beam import BeamStep
from mcp_memory.navigation.fact_query import FactQuery, Moment, holds
from mcp_memory.navigation.paths import entities_on, serialise
from mcp_memory.navigation.settings import NavigationSettings
from mcp_memory.view.facts import Facts

ANN = (
    *(said("Ann", "sibling_of", "Bob"), said("Ann", "likes", "jazz"), said("Bob", "lives_in", "Rome")),
    *(said("Bob", "works_at", "Acme"), said("Bob", "likes", "tea")),
)
some = settings(max_examples=200, deadline=None)


def whatever(seed: int) -> Callable[[BeamStep], list[PathScores]]:
    """Return scores that do not depend on the content of paths and are the same each time; 0 and 1 are among them."""

    def share(text: str) -> float:
        return crc32(f"{seed} {text}".encode()) % 11 / 10

    def scores(seen: BeamStep) -> list[PathScores]:
        texts = [serialise(path) for path in seen.paths]
        return [PathScores(share(f"qr {text}"), share(f"lc {text}"), share(f"as {text}")) for text in texts]

    return scores


@some
@given(graphs, st.sampled_from(QUESTIONS), moments)
def test_returning_the_scores_unchanged_changes_nothing(facts: Facts, question: str, at: Moment | None) -> None:
    again = ask(facts, question, at=at, near=near, scores=lambda seen: [path.scores for path in seen.paths])
    assert again == ask(facts, question, at=at, near=near)


@some
@given(graphs, st.sampled_from(QUESTIONS), moments, st.integers(0, 999))
def test_with_any_scores_paths_stay_within_the_limits_and_follow_valid_facts(
    facts: Facts, question: str, at: Moment | None, seed: int
) -> None:  # DESIGN I11, DESIGN I32 to DESIGN I34
    rows, settings = list(facts.rows), NavigationSettings()
    asking = FactQuery(understand(question, ()))
    stable = {version.id for version in facts.all()}
    found = ask(facts, question, at=at, near=near, scores=whatever(seed))
    assert facts.rows == rows
    for path in found.paths:
        assert path.root in found.roots
        assert 1 <= len(path.steps) <= settings.depth
        assert len(entities_on(path, facts)) == len(path.steps) + 1
        for step in path.steps:
            if step.inferred:
                assert step.via
            else:
                assert step.version.id in stable
                assert holds(step.version, at, path.root.intent, past=asking.past)
    check_limits(found, settings, whatever(seed))
    assert {path.root for path in found.paths} == {path.root for path in ask(facts, question, at=at, near=near).paths}


def test_every_step_is_yielded_with_its_beams_and_their_extensions() -> None:
    shown: list[BeamStep] = []
    ask(graph(*ANN), "Where does Ann's brother live?", scores=shown.append)
    first, second = shown
    assert (first.place, second.place) == ((0, False), (1, False))
    assert {path.end for path in first.paths} == {"bob", "jazz"}
    assert [len(path.steps) for path in second.paths] == [1, 1, 2, 2, 2]
    assert {path.end for path in second.paths[2:]} == {"rome", "acme", "tea"}


def test_a_score_for_the_path_itself_stops_it_there() -> None:
    def enough(seen: BeamStep) -> list[PathScores]:
        return [PathScores(0.9, 0.9, 1.0 if len(path.steps) == 1 else 0.5) for path in seen.paths]

    question = "Where does Ann's brother live?"
    assert {len(path.steps) for path in ask(graph(*ANN), question).paths} == {1, 2}
    assert {len(path.steps) for path in ask(graph(*ANN), question, scores=enough).paths} == {1}


def test_too_few_scores_raise_an_error() -> None:
    with pytest.raises(ValueError, match="shorter"):
        ask(graph(*ANN), "Where does Ann live?", scores=lambda seen: [PathScores(1, 1, 1)][: len(seen.paths) - 1])
