"""Paths score the segments that state them."""

from __future__ import annotations

import pytest

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.paths import Path, PathScores, Root, Step
from mcp_memory.domain.times import FOREVER
from mcp_memory.domain.turns import Kind, Segment, Turn
from mcp_memory.language.questions import understand
from mcp_memory.navigation.beam import score_segments
from mcp_memory.view.space import Space

STATED = (("Ann", "sibling_of", "Bob"), ("Bob", "lives_in", "Rome"), ("Cleo", "likes", "tea"))

ASKED = understand("What does Ann do?", ())


def space(kind: Kind = "message", *, stated: bool = True) -> Space:
    """Return a space of three turns of one sentence each that states one fact."""
    turns = [Turn(f"t_{i}", "x", "s", str(i), kind, "words", "Ann", None, None, None, 0, 0, i) for i in range(3)]
    pieces = [Segment(f"g_{turn.id}", "x", turn.id, 0, 0, 5, 0, 0) for turn in turns]
    facts = [
        Assertion(f"x_{i}", "x", f"t_{i}", 0, 0, 5, head, relation, tail, False, 0, FOREVER, stated, 0.9, "FACT", False,
                  "embedded", 0, 0)
        for i, (head, relation, tail) in enumerate(STATED)
    ]  # fmt: skip
    made = Space("x")
    made.add(Batch(turns=tuple(turns), segments=tuple(pieces), assertions=tuple(facts)))
    return made


def path(made: Space, scores: PathScores, *rows: int) -> Path:
    steps = []
    for row in rows:
        version = made.facts.version_of(made.facts.rows[row])
        assert version is not None
        steps.append(Step(version, forward=True, confidence=version.confidence))
    return Path(Root("ann", "Ann", "FACT"), tuple(steps), "end", scores)


def test_a_sufficient_path_scores_every_text_that_states_it() -> None:
    made = space()
    found = score_segments(made, ASKED, [path(made, PathScores(0.6, 0.9, 0.6), 0, 1)])
    assert found.tolist() == [pytest.approx(0.7 * 0.9), pytest.approx(0.7 * 0.9), 0.0]


@pytest.mark.parametrize(
    ("kind", "stated", "speaks"), [("document", False, False), ("document", True, True), ("message", False, True)]
)
def test_an_undated_fact_of_a_document_scores_nothing_if_the_query_has_a_date(
    kind: Kind, stated: bool, speaks: bool
) -> None:
    made = space(kind, stated=stated)
    found = [path(made, PathScores(0.9, 0.9, 0.9), 0)]
    assert score_segments(made, understand("What did Ann do in 2016?", ()), found).any() == speaks
    assert score_segments(made, ASKED, found).any()
