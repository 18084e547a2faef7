"""Histories of a relation with one value at a time, told in any order: what is answered was true then."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from histories import DAY, history
from known_facts import NOW, about

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import Turn
from mcp_memory.language.iso import show
from mcp_memory.rules.answers.certain import certain_answer
from mcp_memory.view.space import Space


@pytest.mark.parametrize("dated", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_no_answer_about_a_day_is_wrong(seed: int, dated: bool) -> None:
    rng = random.Random(seed)
    told = history(rng, dated=dated)
    space = Space("default")
    turns, rows = [], []
    for place, one in enumerate(told.assertions("Ann")):
        text = f"Ann lives in {one.tail}"
        time = one.said_at
        turns.append(
            Turn(one.turn_id, "default", "s", f"m{place}", "message", text, "Eve", None, None, time, time, 0, place)
        )
        rows.append(replace(one, space="default", start=0, end=len(text)))
    space.add(Batch(tuple(turns), assertions=tuple(rows)))
    answered = 0
    for instant in told.instants(rng, 30):
        day = show(instant // DAY * DAY)
        query, knowledge = about(space, f"Where did Ann live on {day[:10]}?", now=NOW)
        found = certain_answer(query, knowledge)
        true = {told.value_at(instant // DAY * DAY), told.value_at(instant // DAY * DAY + DAY - 1)}
        assert found is None or set(found.text.split(", then ")) <= true
        answered += found is not None
    assert answered
