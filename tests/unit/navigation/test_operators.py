"""Operators: the evidence that each returns, and the next steps that it suggests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest
from small_graph import cosine_by_relation, said, year

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.query import Window
from mcp_memory.domain.turns import Turn
from mcp_memory.language.questions import understand
from mcp_memory.navigation.operators import counterfactual, expand_facts, timeline, versions
from mcp_memory.ports import OperatorInput, OperatorResult
from mcp_memory.server.tools.explore import explore_reply
from mcp_memory.view.space import Space

ROWS = (
    said("Ann", "lives_in", "Paris", 2010), said("Ann", "lives_in", "London", 2015),
    said("Ann", "works_at", "Acme", 2012), said("Acme", "located_in", "Leeds", 2001),
    said("Ann", "lives_in", "Mars", 2020, confidence=0.45), said("Bob", "bought", "a boat", 2013),
)  # fmt: skip

Take = Callable[[OperatorInput], OperatorResult]


TOLD = (*(said("Ann", "lives_in", f"Town {n}", 2000 + n) for n in range(6)), said("Ann", "works_at", "Acme", 1990))


@pytest.mark.parametrize(
    ("operator", "entity", "shown", "until"),
    [
        (versions, "Ann", ["Acme", "Town 4", "Town 5"], " until 2004-01-02, or"),
        (timeline, "Ann", ["Town 3", "Town 4", "Town 5"], " until 2003-01-02, or"),
        (timeline, None, ["Town 3", "Town 4", "Town 5"], " until 2003-01-02, or"),
    ],
)
def test_of_a_long_history_the_latest_is_kept_and_what_is_left_out_is_told(operator, entity, shown, until):
    """By the limit, and by the budget of the reply; what still holds stays in `versions`."""
    found = step(operator, TOLD, entity=entity, limit=3)
    assert [item.text.split(" ", 3)[3] for item in found.items] == shown
    (warning,) = explore_reply(found, 2000).structured["warnings"]
    assert warning == f"4 earlier entries left out; for these give{until} a higher limit and max_tokens."
    reply = explore_reply(step(operator, TOLD, entity=entity), 400).structured
    assert 0 < len(reply["items"]) < 7
    assert [row["text"].split(" ", 3)[3] for row in reply["items"]][-1] == "Town 5"
    assert f"{7 - len(reply['items'])} earlier entr" in reply["warnings"][0]
    assert not any("quote" in one for row in reply["items"] for one in row["sources"])


def space_of(*rows: Assertion) -> Space:
    names = dict.fromkeys(row.turn_id for row in rows)
    text = "Said so. And so on."
    turns = [Turn(name, "x", "s", name, "message", text, "Zed", None, None, 0, 0, 0, 0) for name in names]
    space = Space("x")
    space.add(Batch(tuple(turns), assertions=rows))
    return space


def step(
    operator: Take,
    rows: Sequence[Assertion] = ROWS,
    *,
    query: str | None = None,
    **asked: object,
) -> OperatorResult:
    question = understand(query, ()) if query else None
    cosine = cosine_by_relation(works_at=0.4, lives_in=0.3)
    return operator(OperatorInput(space_of(*rows), cosine, question, **asked))  # type: ignore[arg-type]


def texts(found: OperatorResult) -> list[str]:
    return [item.text for item in found.items]


def test_expansion_returns_the_facts_around_an_entity_the_most_similar_first() -> None:
    found = step(expand_facts, entity="ann")
    assert texts(found) == ["Ann works at Acme", "Ann lives in London", "Ann lives in Paris"]
    assert found.items[0].score == 1.0
    assert all(0 <= item.score <= 1 and item.kind == "fact" and item.via == ("expand_facts",) for item in found.items)
    assert texts(step(expand_facts, entity="Acme")) == ["Ann works at Acme", "Acme is located in Leeds"]


def test_expansion_suggests_the_history_of_changed_values_and_neighbours_with_more_facts() -> None:
    found = step(expand_facts, entity="Ann")
    assert [(one.operator, dict(one.args)) for one in found.next] == [
        ("versions", {"entity": "Ann", "relation": "lives_in"}),
        ("expand_facts", {"entity": "Acme"}),
    ]


def test_without_direct_facts_expansion_suggests_guesses() -> None:
    found = step(expand_facts, entity="Ann", relation="likes", query="What does Ann like?")
    assert found.items == ()
    assert [(one.operator, dict(one.args)) for one in found.next] == [
        ("counterfactual", {"entity": "Ann", "relation": "likes", "query": "What does Ann like?"})
    ]


def test_versions_returns_the_whole_history_including_suspected_facts() -> None:
    found = step(versions, entity="Ann", relation="lives_in")
    assert texts(found) == ["Ann lives in Paris", "Ann lives in London", "Ann lives in Mars"]
    paris, _, mars = found.items
    assert (paris.valid_from, paris.valid_to) == (year(2010), year(2015))
    assert (paris.confidence, mars.confidence) == (0.95, 0.45)
    later = step(versions, entity="Ann", relation="lives_in", window=Window(year(2016)))
    assert texts(later) == ["Ann lives in London", "Ann lives in Mars"]


def test_timeline_returns_facts_by_start_of_an_entity_or_of_a_window() -> None:
    assert texts(step(timeline, entity="Acme")) == ["Acme is located in Leeds", "Ann works at Acme"]
    began = step(timeline, window=Window(year(2012), year(2014)))
    assert texts(began) == ["Ann works at Acme", "Bob bought a boat"]
    assert [one.args["entity"] for one in began.next] == ["Ann", "Bob"]
    assert len(step(timeline, limit=2).items) == 2


def test_guesses_have_their_rule_and_a_discounted_confidence() -> None:
    found = step(counterfactual, entity="Ann", query="Where is Ann?")
    guess = next(item for item in found.items if item.text == "Ann works at Leeds")
    assert (guess.inferred, guess.via, guess.id[:2]) == ("hyponymy", ("counterfactual",), "i_")
    assert guess.confidence == pytest.approx(0.95 * 0.8)
    assert len(guess.sources) == 2
    assert found.items[0].score == 1.0


def test_a_relation_limits_guesses_to_its_own_whatever_the_query() -> None:
    rows = (*ROWS, said("Ann", "plays", "the flute"))
    for query in ("Where is Ann?", "What does Ann like?"):
        for relation, only in ("works_at", "Ann works at Leeds"), ("likes", "Ann likes the flute"):
            assert texts(step(counterfactual, rows, entity="Ann", relation=relation, query=query)) == [only]
    assert texts(step(counterfactual, rows, entity="Ann", relation="owns", query="Where is Ann?")) == []


@pytest.mark.parametrize("operator", [expand_facts, versions, timeline, counterfactual])
def test_an_unknown_entity_gives_nothing(operator: Take) -> None:
    assert step(operator, entity="Nobody") == OperatorResult(())
    assert step(operator, (), entity="\ud800") == OperatorResult(())
