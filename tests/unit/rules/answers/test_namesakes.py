"""Two people with one first name: no question about the one is answered with what was told of the other."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from unit.rules.answers.namesakes import crossings, tell
from unit.services.learning_memory import memory, told

from mcp_memory.domain.query import Query
from mcp_memory.domain.requests import NewFact

pytestmark = pytest.mark.anyio

PAIRS = [("Dalva", "Dalva Moor"), ("Moor", "Dalva Moor"), ("Dalva Holt", "Dalva Moor")]


def apart(*lines: str) -> list[str]:
    """Return lines that are told on different days, so that none of them says how another is meant."""
    first = date(2023, 5, 1)
    return [part for day, line in enumerate(lines) for part in (f"@ {first + timedelta(days=day)}", line)]


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_namesakes_with_different_facts_are_never_mixed_up(first: str, second: str) -> None:
    telling, one = tell(first, second, seed=1), memory(read=True)
    await told(one, *apart(*telling.lines))
    answers = {asked: (await one.answer(Query(asked, learn=False))).text for asked, _, _ in telling.questions}
    assert len(answers) == 40
    assert not list(crossings(telling, answers))
    right = sum(own.casefold() in (answers[asked] or "").casefold() for asked, own, _ in telling.questions)
    assert right >= 20 or " " not in first  # a first name alone may mean the other


@pytest.mark.parametrize(("first", "second"), PAIRS)
async def test_what_is_told_of_one_namesake_alone_is_no_plain_answer_about_the_other(first: str, second: str) -> None:
    telling, one = tell(first, second, seed=1, one_sided=5), memory(read=True)
    await told(one, *apart(*telling.lines))
    answers = {asked: (await one.answer(Query(asked, learn=False))).text for asked, _, _ in telling.questions}
    assert not list(crossings(telling, answers))


async def test_facts_of_exactly_the_name_are_no_facts_of_a_longer_one() -> None:
    one = await told(memory(read=True), "Ketil: Dalva lives in Nesby.", "Ketil: Dalva Moor lives in Braksund.")
    for name, own in (("Dalva", "Nesby"), ("Dalva Moor", "Braksund")):
        found = await one.answer(Query(f"Where does {name} live?"))
        assert found.text in (own, None)


async def test_a_first_name_of_two_people_is_answered_for_neither() -> None:
    one = await told(memory(read=True), "Ketil: Dalva Moor lives in Nesby.", "Ketil: Dalva Holt lives in Braksund.")
    found = await one.answer(Query("Where does Dalva live?"))
    assert found.text is None
    assert {said.quote for said in found.closest} == {"Dalva Moor lives in Nesby.", "Dalva Holt lives in Braksund."}


async def test_the_only_person_of_a_name_is_meant_by_it() -> None:
    one = await told(memory(read=True), "Ketil: Dalva Moor lives in Nesby.", "Ketil: Runa Holt lives in Braksund.")
    found = await one.answer(Query("Where does Dalva live?"))
    assert (found.text, found.hedged) == ("Nesby", False)


async def test_a_longer_name_than_the_known_one_is_not_answered_for() -> None:
    one = await told(memory(read=True), "Ketil: Dalva lives in Nesby.")
    assert (await one.answer(Query("Where does Dalva Moor live?"))).text is None


async def test_two_names_of_one_person_leave_no_doubt() -> None:
    also = "Ketil: Dalva Moor is also known as Dalva."
    facts = (NewFact("Dalva Moor", "also_known_as", "Dalva"),)
    lines = apart("Ketil: Dalva Moor lives in Nesby.", "Ketil: Dalva likes chess.", also)
    one = await told(memory(read=True), *lines)
    await told(one, facts=facts)
    found = await one.answer(Query("Where does Dalva live?"))
    assert (found.text, found.hedged) == ("Nesby", False)
