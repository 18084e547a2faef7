"""The propagate operator: one round of propagation."""

import numpy as np
from sentence_space import documents

from mcp_memory.domain.query import Window
from mcp_memory.gain.propagation import propagate_once
from mcp_memory.language.questions import understand
from mcp_memory.ports import OperatorInput, OperatorResult

Z = (0.0, 0.0)
LINES = ([("Ann met Bob.", Z), ("Ann slept.", Z)], [("Bob met Cid.", Z)], [("Bob ran.", Z)])
WEIGHTS = np.float32([0.2, 0.8, 0.5, 0.0])


def step(**asked: object) -> OperatorResult:
    query = asked.pop("query", None)
    if isinstance(query, str):
        asked |= {"query": understand(query, ()), "weigh": lambda rows: WEIGHTS[rows]}
    return propagate_once(OperatorInput(documents(*LINES), lambda rows: [0.0] * len(rows), **asked))  # type: ignore[arg-type]


def texts(found: OperatorResult) -> list[str]:
    return [item.text for item in found.items]


def test_an_entity_gives_its_sentences_most_similar_to_the_query_first() -> None:
    found = step(entity="ann", query="Who slept?")
    assert texts(found) == ["Ann slept.", "Ann met Bob."]
    assert [item.score for item in found.items] == [1.0, 0.25]
    assert all(item.kind == "sentence" and item.via == ("propagate",) for item in found.items)
    assert [item.sources[0].quote for item in found.items] == texts(found)
    assert texts(step(entity="Ann", query="Who slept?", limit=1)) == ["Ann slept."]


def test_other_entities_of_the_sentences_are_suggested() -> None:
    found = step(entity="cid", query="Who?")
    assert [(s.operator, dict(s.args)) for s in found.next] == [("propagate", {"entity": "Bob", "query": "Who?"})]
    assert [s.args for s in step(entity="bob").next] == [{"entity": "Ann"}]  # nothing else names Cid


def test_the_window_hides_what_was_said_outside_of_it() -> None:
    assert texts(step(entity="bob", window=Window(since=1, until=2))) == ["Bob met Cid."]


def test_nothing_named_or_known_gives_nothing() -> None:
    for asked in ({}, {"entity": "zed"}, {"query": "who was it?"}, {"entity": "zed", "query": "Where is Bob?"}):
        assert step(**asked) == OperatorResult(())
