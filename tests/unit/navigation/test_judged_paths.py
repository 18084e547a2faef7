"""When a judge is asked about paths, and how its scores are found again in a later view."""

from __future__ import annotations

from dataclasses import replace

from small_graph import ask, graph, said

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.paths import Path, PathScores
from mcp_memory.language.questions import understand
from mcp_memory.navigation.beam import FORMULAS, BeamStep
from mcp_memory.navigation.judged_paths import worth_judging
from mcp_memory.navigation.settings import NavigationSettings

WIDTH = NavigationSettings().width
ASKED = understand("Where does Ann's brother live?", ())
BROTHER = said("Ann", "sibling_of", "Bob")
ROME, ACME = said("Bob", "lives_in", "Rome"), said("Bob", "works_at", "Acme")


def steps(*rows: Assertion, question: str = "Where does Ann's brother live?", **how: object) -> list[BeamStep]:
    shown: list[BeamStep] = []
    ask(graph(*rows), question, scores=shown.append, **how)  # type: ignore[arg-type]
    return shown


def test_neighbours_of_a_root_that_all_have_a_place_are_not_worth_a_call() -> None:
    (first, *_) = steps(BROTHER, said("Ann", "likes", "jazz"))
    assert not worth_judging(first, WIDTH, ASKED)
    assert worth_judging(first, 1, ASKED)


def test_one_way_to_extend_a_path_is_not_worth_a_call_and_two_are() -> None:
    assert [worth_judging(seen, WIDTH, ASKED) for seen in steps(BROTHER, ROME)] == [False, False]
    assert [worth_judging(seen, WIDTH, ASKED) for seen in steps(BROTHER, ROME, ACME)] == [False, True]


def test_ways_through_what_many_share_are_not_worth_a_call() -> None:
    years = [said("Film", "released_on", "1977"), *(said(f"Song{n}", "released_on", "1977") for n in range(6))]
    asked = "When was Film released?"
    assert not any(worth_judging(seen, WIDTH, understand(asked, ())) for seen in steps(*years, question=asked))


def test_guesses_are_never_worth_a_call() -> None:
    (_, second) = steps(BROTHER, ROME, ACME)
    assert worth_judging(second, WIDTH, ASKED)
    assert not worth_judging(replace(second, inferred=True), WIDTH, ASKED)


def test_paths_that_lead_nowhere_are_not_worth_a_call() -> None:
    (_, second) = steps(BROTHER, ROME, ACME)
    low = replace(second, extensions=tuple(tuple(_worth(path, 0.1) for path in group) for group in second.extensions))
    assert worth_judging(second, WIDTH, ASKED)
    assert not worth_judging(replace(low, beams=tuple(_worth(path, 0.1) for path in low.beams)), WIDTH, ASKED)


def test_paths_without_a_relation_that_the_question_asks_for_are_not_worth_a_call() -> None:
    (_, second) = steps(BROTHER, ROME, ACME)
    assert not worth_judging(second, WIDTH, understand("Which colour does Ann prefer?", ()))


def _worth(path: Path, share: float) -> Path:
    return replace(path, scores=replace(path.scores, relevance=share))


def test_scores_of_a_step_are_found_by_the_words_of_its_paths() -> None:
    first, second = steps(BROTHER, ROME, ACME)
    told = PathScores(0.7, 0.8, 0.9)
    evaluation = FORMULAS.with_scores(second, [told for _ in second.paths])
    assert evaluation.scores(first) is None
    (_, later) = steps(BROTHER, ROME, ACME, said("Bob", "likes", "tea"))  # in a view to which something was added
    scores = dict(zip((path.end for path in later.paths), evaluation.scores(later) or (), strict=True))
    assert scores.pop("tea") == next(path.scores for path in later.paths if path.end == "tea")
    assert set(scores.values()) == {told}
