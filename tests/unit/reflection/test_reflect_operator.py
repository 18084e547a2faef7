"""The reflect operator."""

import numpy as np
from unit.gain.sentence_space import documents
from unit.navigation.small_graph import said

from mcp_memory.domain.query import Window
from mcp_memory.language.questions import understand
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.reflection.navigators import reflect_step
from mcp_memory.reflection.settings import ReflectionSettings

LINES = ("Aa met Bb.", "Bb met Cc.", "Cc met Dd.", "Aa met Ee.", "Ee ran.")
WEIGHTS = np.float32([0.9, 0.8, 0.7, 0.1, 0.3])
ONE = ReflectionSettings(trials=1, rounds=0)


def step(query: str | None, settings: ReflectionSettings = ONE, **asked: object) -> OperatorResult:
    space = documents(*([(line, (0.0, 0.0))] for line in LINES))
    space.facts.add([said("Bb", "likes", "tea", turn="t_1")])
    if query is not None:
        asked |= {"query": understand(query, ()), "weigh": lambda rows: WEIGHTS[rows]}
    asking = OperatorInput(space, lambda rows: [0.0] * len(rows), **asked)  # type: ignore[arg-type]
    return reflect_step(asking, settings)


def texts(found: OperatorResult) -> list[str]:
    return [item.text for item in found.items]


def test_it_finds_segments_of_the_entity_nearest_to_those_of_the_query() -> None:
    found = step("Whom did Aa meet?", ids=("g_0",))
    assert texts(found) == ["Bb met Cc."]
    assert [(item.kind, item.via, item.score) for item in found.items] == [("sentence", ("reflect",), 1.0)]


def test_the_suggested_step_continues_with_the_new_entity_and_evidence() -> None:
    again, more = step("Whom did Aa meet?", ids=("s_0.0",)).next
    assert again.operator == "reflect"
    assert again.args == {"query": "Whom did Aa meet?; Bb", "ids": ("s_0.0", "s_1.0")}
    assert (more.operator, more.args["entity"]) == ("expand_facts", "Bb")
    assert texts(step(str(again.args["query"]), ids=tuple(again.args["ids"]))) == ["Cc met Dd."]


def test_without_known_names_it_tries_the_entities_of_the_given_segments() -> None:
    assert texts(step("Who was it?", ids=("g_1",), settings=ReflectionSettings(width=1, trials=1))) == ["Aa met Bb."]
    assert step("Who was it?") == OperatorResult(())


def test_reflection_can_be_switched_off() -> None:
    assert step("Whom did Aa meet?", ReflectionSettings(rounds=0, enabled=False)) == OperatorResult(())


def test_segments_without_weight_are_not_found_and_none_without_a_query() -> None:
    assert step(None, entity="Aa") == OperatorResult(())
    space = documents(*([(line, (0.0, 0.0))] for line in LINES))
    question = understand("Whom did Aa meet?", ())
    closed = OperatorInput(space, lambda rows: [], question, window=Window(9, 10), weigh=lambda rows: WEIGHTS[rows] * 0)
    assert reflect_step(closed, ONE) == OperatorResult(())
