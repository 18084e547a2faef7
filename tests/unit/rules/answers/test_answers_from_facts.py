"""Answers from facts through the services: supplied by a caller, found by navigation, cited from stored turns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from small_memory import ask, said

from mcp_memory.domain.requests import NewFact
from mcp_memory.language.iso import parse


def fact(head: str, relation: str, tail: str, since: str, until: str | None = None) -> NewFact:
    return NewFact(head, relation, tail, parse(since)[0], parse(until)[0] if until else None)


HOMES = (fact("Ann", "lives in", "Paris", "2010-01-01"), fact("Ann", "lives in", "London", "2015-01-01"))


@pytest.mark.anyio
async def test_a_value_at_a_time_is_answered_from_facts_and_cited_verbatim() -> None:
    found = await ask((), "Where did Ann live in 2012?", facts=HOMES)
    assert found.text == "Paris"
    assert not found.hedged
    shown = {item.id for item in found.recall.evidence}
    for citation in found.citations:
        assert citation.evidence_id in shown
        assert citation.source.quote in citation.source.turn.text


@pytest.mark.anyio
async def test_as_of_sets_the_present_of_a_question() -> None:
    assert (await ask((), "Where does Ann live?", facts=HOMES)).text == "London"
    assert (await ask((), "Where does Ann live?", facts=HOMES, as_of="2011-01-01")).text == "Paris"
    assert (await ask((), "Where did Ann live?", facts=HOMES, as_of="2005-01-01")).text is None


@pytest.mark.anyio
async def test_a_contested_value_is_explained_and_not_stated() -> None:
    facts = (fact("Dan", "lives in", "Rome", "2001-01-01"), fact("Dan", "lives in", "Turin", "2001-01-01"))
    found = await ask((), "Where does Dan live?", facts=facts)
    assert (found.text, found.confidence, found.citations) == (None, None, ())
    assert {one.quote for one in found.closest} == {
        f"Dan lives in {town} from 1 January 2001." for town in ("Rome", "Turin")
    }
    found = await ask(
        (), "What languages does Dan speak?", facts=(*facts, fact("Dan", "speaks", "Dutch", "2001-01-01"))
    )
    assert (found.text, found.recall.conflicts) == ("Dutch", ())


@pytest.mark.anyio
async def test_a_fact_with_a_source_cites_its_message() -> None:
    items = said("Ann: We packed the boxes, and since Monday I call Lyon my home.")
    moved = NewFact("Ann", "lives in", "Lyon", parse("2023-05-08")[0])
    found = await ask(items, "Where does Ann live?", facts=(moved,))
    assert found.text == "Lyon"


@pytest.mark.anyio
async def test_neither_of_two_values_is_stated_while_the_later_one_is_not_certain() -> None:
    moved, question = replace(fact("Ann", "lives in", "Rome", "2020-01-01"), confidence=0.8), "Where does Ann live?"
    assert (await ask((), question, facts=HOMES)).text is not None
    assert (await ask((), question, facts=(*HOMES, moved))).text is None


@pytest.mark.anyio
async def test_a_caller_joins_a_speaker_with_a_name() -> None:
    also = (NewFact("user", "also_known_as", "Torvi"),)
    found = await ask(said("user: I live in Braksund."), "Where does Torvi live?", read=True, facts=also)
    assert found.text == "Braksund"


@pytest.mark.anyio
async def test_a_home_is_not_stated_after_the_day_for_which_a_move_was_announced() -> None:
    talk = said("Ann: I live in Salo.", "Ann: I'm moving to Turku in June.")
    later = await ask(talk, "Where does Ann live?", read=True)
    before = await ask(talk, "Where does Ann live?", as_of="2023-05-20", read=True)
    assert (later.text, before.text) == (None, "Salo")


@pytest.mark.anyio
async def test_a_request_to_be_told_is_no_question_about_the_first_person() -> None:
    talk = said("Torvi: The ferry to Nesby leaves at noon.", "Ketil: I live in Nesby.")
    found = await ask(talk, "Can you tell me when the ferry leaves?", read=True)
    assert not any("first person" in warning for warning in found.recall.warnings)
