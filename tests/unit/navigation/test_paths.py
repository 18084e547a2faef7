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


MARCH = midnight(2015, 3, 1)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (shown(MARCH, FOREVER), "Alice -lives_in[2015-03-01,now) c=.95-> London"),
        (shown(MARCH, midnight(2019, 1, 2)), "Alice -lives_in[2015-03-01,2019-01-02) c=.95-> London"),
        (shown(MARCH, FOREVER, forward=False), "London <-lives_in[2015-03-01,now) c=.95- Alice"),
        (
            shown(MARCH, FOREVER, inferred="hyponymy", confidence=0.76),
            "Alice -lives_in[2015-03-01,now) c=.76 by hyponymy-> London",
        ),
        (shown(BEGINNING, FOREVER), "Alice -lives_in[…,now) c=.95-> London"),
        (shown(2**61, FOREVER), "Alice -lives_in[…,now) c=.95-> London"),
    ],
)
def test_a_path_shows_relation_time_direction_confidence_and_rule(line: str, expected: str) -> None:
    assert line == expected


def test_a_path_of_two_steps_is_one_line() -> None:
    facts = graph(said("Ann", "sibling_of", "Bob"), said("Bob", "lives_in", "Rome", 2011))
    best = ask(facts, "Where does Ann's brother live?").paths[0]
    assert serialise(best) == ("Ann -sibling_of[2010-01-01,now) c=.95-> Bob -lives_in[2011-01-01,now) c=.95-> Rome")
