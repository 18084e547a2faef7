"""When a search names paths for a judge to score, and what the scores of a judge decide."""

from __future__ import annotations

import pytest
from small_graph import ask, graph, said

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.paths import PathScores
from mcp_memory.navigation.paths import serialise
from mcp_memory.navigation.settings import NavigationSettings

ASKED = "Where does Ann's brother live?"
BROTHER, JAZZ = said("Ann", "sibling_of", "Bob"), said("Ann", "likes", "jazz")
ROME, ACME = said("Bob", "lives_in", "Rome"), said("Bob", "works_at", "Acme")
YEARS = (said("Film", "released_on", "1977"), *(said(f"Song{n}", "released_on", "1977") for n in range(6)))


@pytest.mark.parametrize(
    ("rows", "question", "width", "ends"),
    [
        ((BROTHER, JAZZ), ASKED, 5, set()),  # all neighbours of the root have a place
        ((BROTHER, JAZZ), ASKED, 1, {"bob", "jazz"}),
        ((BROTHER, ROME), ASKED, 5, set()),  # one way on
        ((BROTHER, ROME, ACME), ASKED, 5, {"bob", "rome", "acme"}),
        (YEARS, "When was Film released?", 5, set()),  # what many share leads nowhere
        ((BROTHER, ROME, ACME), "Which colour does Ann prefer?", 5, set()),  # no relation that is asked for
    ],
)
def test_a_judge_is_asked_where_a_path_could_go_on_in_more_ways_than_it_keeps(
    rows: tuple[Assertion, ...], question: str, width: int, ends: set[str]
) -> None:
    found = ask(graph(*rows), question, settings=NavigationSettings(width=width))
    assert {path.end for path in found.fork} == ends


def test_the_scores_of_a_judge_decide_and_are_found_by_the_words_of_a_path_in_a_later_view() -> None:
    fork = ask(graph(BROTHER, ROME, ACME), ASKED).fork
    judged = {serialise(path): PathScores(0.9, 0.9, 1.0 if path.end == "acme" else 0.1) for path in fork}
    later = ask(graph(BROTHER, ROME, ACME, said("Bob", "likes", "tea")), ASKED, judged=judged)
    assert later.paths[0].end == "acme"
    assert "rome" not in [path.end for path in later.paths[:1]]
    assert later.fork == ()
    plain = ask(graph(BROTHER, ROME, ACME, said("Bob", "likes", "tea")), ASKED)
    assert [path for path in later.paths if path.end == "tea"] == [path for path in plain.paths if path.end == "tea"]


def test_scores_that_are_those_of_the_formulas_change_nothing() -> None:
    plain = ask(graph(BROTHER, ROME, ACME), ASKED)
    again = ask(graph(BROTHER, ROME, ACME), ASKED, judged={serialise(path): path.scores for path in plain.fork})
    assert (again.roots, again.paths) == (plain.roots, plain.paths)
