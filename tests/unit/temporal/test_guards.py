"""Assertions that the guards keep and drop (DESIGN 1)."""

from dataclasses import replace

import pytest

from mcp_memory.domain.facts import WHOLE, Assertion
from mcp_memory.domain.requests import NewFact
from mcp_memory.domain.turns import Turn
from mcp_memory.language.iso import parse
from mcp_memory.temporal.assertions import guard_assertions, statement

TEXT = "My sister lives in Bergen. She likes tea."
TURN = Turn("t_1", "default", "s", "r", "message", TEXT, "Maria", None, None, 0, 0, 0, 0)
SPANS = [(0, 26), (27, 41)]
FACT = Assertion("x_1", "default", "t_1", 0, 0, 25, "Maria's sister", "lives_in", "Bergen", False, 0, 10, False, 0.95,
                 "FACT", False, "embedded", 0, 0)  # fmt: skip


def test_an_assertion_that_the_text_supports_is_kept() -> None:
    assert guard_assertions(TURN, None, SPANS, [FACT]) == [FACT]


@pytest.mark.parametrize(
    "change",
    [
        {"tail": "Oslo"},
        {"head": "Tom"},
        {"head": "Tom's sister"},
        {"tail": ""},
        {"turn_id": "t_2"},
        {"since": 10},
        {"end": 40},
        {"start": 25},
        {"sentence": 2},
        {"confidence": float("nan")},
        {"relation": ""},
    ],
)
def test_an_assertion_that_the_text_does_not_support_is_dropped(change: dict[str, object]) -> None:
    assert guard_assertions(TURN, None, SPANS, [replace(FACT, **change)]) == []  # type: ignore[arg-type]


def test_the_name_of_the_addressee_is_known() -> None:
    fact = replace(FACT, head="Tom", tail="tea", sentence=1, start=27, end=40)
    assert guard_assertions(TURN, "Tom", SPANS, [fact]) == [fact]


def test_a_fact_about_the_whole_text_may_span_it() -> None:
    fact = replace(FACT, sentence=WHOLE, start=0, end=len(TEXT))
    assert guard_assertions(TURN, None, SPANS, [fact]) == [fact]


@pytest.mark.parametrize(("confidence", "clipped"), [(1.7, 1.0), (0.0, 0.01), (-3.0, 0.01)])
def test_confidence_is_clipped_to_its_range(confidence: float, clipped: float) -> None:
    fact = replace(FACT, confidence=confidence)
    assert [kept.confidence for kept in guard_assertions(TURN, None, SPANS, [fact])] == [clipped]


def test_a_denial_says_from_when_on_a_fact_no_longer_holds() -> None:
    told = NewFact("Ann", "lives_in", "Oslo", valid_from=parse("2020-05-01")[0])
    assert statement(told) == "Ann lives in Oslo from 1 May 2020."
    assert statement(replace(told, negated=True)) == "No longer from 1 May 2020 on: Ann lives in Oslo."
