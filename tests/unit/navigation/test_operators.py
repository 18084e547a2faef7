"""Operators: the evidence that each returns, and the next steps that it suggests."""

import pytest
from small_graph import cosine_by_relation, said

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import Turn
from mcp_memory.language.questions import understand
from mcp_memory.navigation.operators import counterfactual, timeline, versions
from mcp_memory.ports import OperatorInput
from mcp_memory.server.tools.explore import explore_reply
from mcp_memory.view.space import Space

ROWS = (
    said("Ann", "lives_in", "Paris", 2010), said("Ann", "lives_in", "London", 2015),
    said("Ann", "works_at", "Acme", 2012), said("Acme", "located_in", "Leeds", 2001),
    said("Ann", "lives_in", "Mars", 2020, confidence=0.45), said("Bob", "bought", "a boat", 2013),
)  # fmt: skip

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


def space_of(*rows):
    names = dict.fromkeys(row.turn_id for row in rows)
    text = "Said so. And so on."
    turns = [Turn(name, "x", "s", name, "message", text, "Zed", None, None, 0, 0, 0, 0) for name in names]
    space = Space("x")
    space.add(Batch(tuple(turns), assertions=rows))
    return space


def step(operator, rows=ROWS, *, query=None, **asked):
    question = understand(query, ()) if query else None
    cosine = cosine_by_relation(works_at=0.4, lives_in=0.3)
    return operator(OperatorInput(space_of(*rows), cosine, question, **asked))


def texts(found):
    return [item.text for item in found.items]


def test_a_relation_limits_guesses_to_its_own_whatever_the_query():
    rows = (*ROWS, said("Ann", "plays", "the flute"))
    for query in ("Where is Ann?", "What does Ann like?"):
        for relation, only in ("works_at", "Ann works at Leeds"), ("likes", "Ann likes the flute"):
            assert texts(step(counterfactual, rows, entity="Ann", relation=relation, query=query)) == [only]
    assert texts(step(counterfactual, rows, entity="Ann", relation="owns", query="Where is Ann?")) == []
