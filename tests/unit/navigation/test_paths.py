"""Paths as one line of text: the form of REAL's eq. 9."""

from __future__ import annotations

import pytest
from small_graph import ask, graph, said

from mcp_memory.domain.facts import Version
from mcp_memory.domain.paths import Path, PathScores, Root, Step
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language.iso import midnight
from mcp_memory.navigation.paths import serialise


def shown(
    since: Millis, until: Millis, *, forward: bool = True, inferred: object = None, confidence: float = 0.95
) -> str:
    version = Version("f_1", "Alice", "lives_in", "London", since, until, True, "active", 0.95, "FACT", ())
    root, end = ("Alice", "london") if forward else ("London", "alice")
    step = Step(version, forward, inferred, confidence)  # type: ignore[arg-type]
    return serialise(Path(Root(root.lower(), root, "FACT"), (step,), end, PathScores(0, 0, 0)))


def test_a_path_shows_relation_time_and_confidence() -> None:
    assert shown(midnight(2015, 3, 1), FOREVER) == "Alice -lives_in[2015-03-01,now) c=.95-> London"
    assert shown(midnight(2015, 3, 1), midnight(2019, 1, 2)).startswith("Alice -lives_in[2015-03-01,2019-01-02) ")


def test_a_step_from_tail_to_head_has_its_arrow_on_the_other_side() -> None:
    line = shown(midnight(2015, 3, 1), FOREVER, forward=False)
    assert line == "London <-lives_in[2015-03-01,now) c=.95- Alice"


def test_an_inferred_step_names_its_rule() -> None:
    line = shown(midnight(2015, 3, 1), FOREVER, inferred="hyponymy", confidence=0.76)
    assert line == "Alice -lives_in[2015-03-01,now) c=.76 by hyponymy-> London"


@pytest.mark.parametrize("since", [BEGINNING, -(2**61), 2**61])
def test_a_start_that_is_unknown_or_outside_the_calendar_is_an_ellipsis(since: Millis) -> None:
    assert shown(since, FOREVER) == "Alice -lives_in[…,now) c=.95-> London"


def test_a_path_of_two_steps_is_one_line() -> None:
    facts = graph(said("Ann", "sibling_of", "Bob"), said("Bob", "lives_in", "Rome", 2011))
    best = ask(facts, "Where does Ann's brother live?").paths[0]
    assert serialise(best) == ("Ann -sibling_of[2010-01-01,now) c=.95-> Bob -lives_in[2011-01-01,now) c=.95-> Rome")
