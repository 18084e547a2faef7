"""Facts precede texts where they know the answer, through the services: rules extract them from plain messages."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from small_memory import ask, said

from mcp_memory.domain.evidence import AnswerResult
from mcp_memory.domain.requests import NewItem
from mcp_memory.language.iso import parse
from mcp_memory.rules.answers.values import duration_text

LEFT = said("Ines: I live in Braga now.", "@ 2015-08-10", "Ines: I no longer live in Braga.", at="2015-06-01")
MOVED = said("Ines: I moved to Lisbon in March.", "@ 2019-10-02", "Ines: I live in Porto now.", at="2015-08-01")
JOBS = said(
    "Ines: I work for Acme.",
    "@ 2018-03-01",
    "Ines: I work for Beta now.",
    "@ 2020-03-01",
    "Ines: I work at Gamma now.",
    at="2015-08-01",
)
MAYBE = said("Ines: I live in Porto now.", "@ 2016-01-02", "Ines: I might live in Braga now.", at="2015-08-01")
KIN = said("Tomas: Clara is my sister.", at="2019-10-02")
LIKED = said("Ines: I like tea.", "@ 2018-03-01", "Ines: I no longer like tea.", at="2015-08-01")


async def ask_after_reading(items: Sequence[NewItem], question: str) -> AnswerResult:
    return await ask(items, question, read=True)


@pytest.mark.anyio
@pytest.mark.parametrize("question", ["Where does Ines live?", "Where does Ines live now?", "Which city is Ines in?"])
async def test_a_text_does_not_overrule_its_denial(question: str) -> None:
    found = await ask_after_reading(LEFT, question)
    assert found.text is None or (found.text == "not any more: Braga until 10 August 2015" and found.hedged)
    if found.text:
        assert "I no longer live in Braga" in {citation.source.quote for citation in found.citations}


@pytest.mark.anyio
async def test_a_denied_value_still_held_before_the_denial() -> None:
    assert (await ask_after_reading(LEFT, "Where did Ines live in July 2015?")).text == "Braga"
    assert (await ask(LEFT, "Where does Ines live?", as_of="2015-07-01", read=True)).text == "Braga"
    assert (await ask(LEFT, "Where does Ines live?", as_of="2014-07-01", read=True)).text is None


@pytest.mark.anyio
async def test_denying_an_unstated_value_does_not_support_it() -> None:
    assert (await ask_after_reading(said("Ines: I don't live in Braga."), "Where does Ines live?")).text is None


@pytest.mark.anyio
async def test_an_ended_value_of_many_is_not_answered_from_its_text() -> None:
    assert (await ask_after_reading(LIKED, "What does Ines like?")).text is None
    tea_and_more = [*LIKED, *said("Ines: I like strong coffee.", at="2019-01-01")]
    found = await ask_after_reading(tea_and_more, "What does Ines like?")
    assert found.text is not None
    assert "coffee" in found.text
    assert "tea" not in found.text


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did Ines move to Porto?", "by 2 October 2019"),
        ("When did Ines leave Lisbon?", "by 2 October 2019"),
        ("When did Ines move away from Lisbon?", "by 2 October 2019"),
        ("When did Ines live in Lisbon?", "March 2015 to 2 October 2019"),
        ("How long did Ines live in Lisbon?", "4 and a half years (March 2015 to 2 October 2019)"),
    ],
)
async def test_a_derived_time_is_hedged_and_belongs_to_the_right_event(question: str, expected: str) -> None:
    found = await ask_after_reading(MOVED, question)
    assert (found.text, found.hedged) == (expected, True)


@pytest.mark.anyio
@pytest.mark.parametrize("question", ["When did Ines leave Porto?", "When did Ines stop living in Porto?"])
async def test_a_continuing_state_has_no_end(question: str) -> None:
    assert (await ask_after_reading(MOVED, question)).text is None


@pytest.mark.anyio
async def test_a_stated_time_has_no_hedge_but_one_of_two_moves_has() -> None:
    found = await ask_after_reading(MOVED, "When did Ines move to Lisbon?")
    assert (found.text, found.hedged) == ("March 2015", False)
    assert (await ask_after_reading(MOVED, "When did Ines move?")).hedged


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who did Ines work for before Beta?", "Acme"),
        ("Who does Ines work for?", "Gamma"),
        ("Who did Ines work for in 2019?", "Beta"),
        ("Does Ines still work for Acme?", "No, until 1 March 2018"),
        ("When did Ines leave Acme?", "by 1 March 2018"),
        ("Who did Ines work for before Acme?", None),
    ],
)
async def test_each_question_gets_its_own_value_of_a_sequence(question: str, expected: str | None) -> None:
    assert (await ask_after_reading(JOBS, question)).text == expected


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is Clara's brother?", "Tomas"),
        ("Who is Clara's sibling?", "Tomas"),
        ("Who is Tomas's sister?", "Clara"),
        ("Who is Tomas's brother?", None),  # his only sibling is a sister
        ("Who is Clara's mother?", None),
        ("Who is Clara?", "Tomas's sister"),
    ],
)
async def test_kinship_is_answered_from_both_ends_and_never_as_mine(question: str, expected: str | None) -> None:
    assert (await ask_after_reading(KIN, question)).text == expected


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Who is Ana's father?", "Tomas"),
        ("Who is Eva's son?", "Tomas"),
        ("Who is Tomas's daughter?", "Ana"),
        ("Who is Tomas's mother?", "Eva"),
    ],
)
async def test_nobody_in_a_family_gets_the_relatives_of_another(question: str, expected: str) -> None:
    family = said("Tomas: Ana is my daughter and Leo is my son.", "Tomas: My mother is Eva.")
    assert (await ask_after_reading(family, question)).text == expected


@pytest.mark.anyio
async def test_a_later_text_is_used_where_the_known_value_has_ended() -> None:
    later = [*LEFT, *said("Ines: My new home in Coimbra is great.", at="2016-08-10")]
    assert (await ask_after_reading(later, "Where is Ines's home?")).text == "Coimbra"
    earlier = [*said("Ines: My old home in Coimbra was great.", at="2015-01-10"), *LEFT]
    found = await ask_after_reading(earlier, "Where is Ines's home?")
    assert found.text is None or "Coimbra" not in found.text


@pytest.mark.anyio
async def test_a_known_place_never_answers_who() -> None:
    found = await ask_after_reading(said("Tomas: My brother Rui lives in Faro."), "Who is Rui's brother?")
    assert (found.text, found.hedged) == ("Tomas", True)


@pytest.mark.anyio
async def test_a_query_for_uncertain_facts_gets_reliable_and_suspected_values() -> None:
    found = await ask_after_reading(MAYBE, "Where might Ines live now?")
    assert (found.text, found.hedged) == ("Porto, or perhaps Braga", True)
    found = await ask_after_reading(MAYBE, "Where does Ines live?")
    assert (found.text, found.hedged) == ("Porto", False)


@pytest.mark.anyio
async def test_a_supposition_is_answered_with_a_hedge() -> None:
    found = await ask_after_reading(said("Ines: I might live in Braga now."), "Where does Ines live?")
    assert found.text is None or found.hedged


@pytest.mark.anyio
async def test_texts_answer_what_facts_have_missed() -> None:
    items = said(
        "Ines: I like tea.",
        "Ines: The dentist on Mill Street gave me a blue toothbrush.",
        "@ 2019-01-01",
        "Ines: I visited Rome in May.",
    )
    found = await ask_after_reading(items, "Who gave Ines a toothbrush?")
    assert found.text is not None
    assert "dentist" in found.text.lower() or "Mill Street" in found.text
    assert (await ask_after_reading(items, "When did Ines visit Rome?")).text == "May 2018"


@pytest.mark.parametrize(
    ("since", "until", "expected"),
    [
        ("2015-03-01", "2019-10-02", "4 and a half years"),
        ("2015-03-01", "2019-08-31", "4 years"),
        ("2013-01-01", "2015-01-01", "2 years"),
        ("2013-01-01", "2014-12-31", "23 months"),
        ("2013-01-01", "2014-01-01", "1 year"),
        ("2013-01-15", "2013-03-14", "8 weeks"),
        ("2013-01-15", "2013-02-15", "1 month"),
        ("2013-01-15", "2013-01-17", "2 days"),
        ("2013-01-15", "2013-01-15", "1 day"),
    ],
)
def test_a_duration_is_never_overstated(since: str, until: str, expected: str) -> None:
    assert duration_text(parse(since)[0], parse(until)[0]) == expected
