"""Two people with one first name: no question about the one is answered with what was told of the other."""

from __future__ import annotations

import pytest
from unit.rules.answers.namesakes import crossings, tell
from unit.services.learning_memory import memory, told

from mcp_memory.domain.query import Query

pytestmark = pytest.mark.anyio

PAIRS = [("Dalva", "Dalva Moor"), ("Moor", "Dalva Moor"), ("Dalva Holt", "Dalva Moor")]


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_namesakes_with_different_facts_are_never_mixed_up(first: str, second: str) -> None:
    telling, one = tell(first, second, seed=1), memory(read=True)
    await told(one, *telling.lines)
    answers = {asked: (await one.answer(Query(asked, learn=False))).text for asked, _, _ in telling.questions}
    assert len(answers) == 80
    assert not list(crossings(telling, answers))
    right = sum(own.casefold() in (answers[asked] or "").casefold() for asked, own, _ in telling.questions)
    assert right >= 60
