"""Where facts know what is asked they lead, through the services: facts are read by rules out of plain messages."""

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


async def told(items: Sequence[NewItem], question: str) -> AnswerResult:
    return await ask(items, question, read=True)


@pytest.mark.anyio
@pytest.mark.parametrize("question", ["Where does Ines live?", "Where does Ines live now?", "Which city is Ines in?"])
async def test_a_text_does_not_overrule_the_denial_of_what_it_says(question: str) -> None:
    found = await told(LEFT, question)
    assert found.text is None or (found.text == "not any more: Braga until 10 August 2015" and found.hedged)
    if found.text:
        assert "I no longer live in Braga" in {citation.source.quote for citation in found.citations}


@pytest.mark.anyio
async def test_what_was_denied_still_held_before() -> None:
    assert (await told(LEFT, "Where did Ines live in July 2015?")).text == "Braga"
    assert (await ask(LEFT, "Where does Ines live?", as_of="2015-07-01", read=True)).text == "Braga"
    assert (await ask(LEFT, "Where does Ines live?", as_of="2014-07-01", read=True)).text is None


@pytest.mark.anyio
async def test_a_denial_of_what_nobody_claimed_is_no_support_for_it() -> None:
    assert (await told(said("Ines: I don't live in Braga."), "Where does Ines live?")).text is None


@pytest.mark.anyio
async def test_of_many_values_one_that_is_over_is_not_said_from_its_text() -> None:
    assert (await told(LIKED, "What does Ines like?")).text is None
    tea_and_more = [*LIKED, *said("Ines: I like strong coffee.", at="2019-01-01")]
    found = await told(tea_and_more, "What does Ines like?")
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
async def test_a_time_that_follows_from_what_was_said_is_hedged_and_not_that_of_another_event(
    question: str, expected: str
) -> None:
    found = await told(MOVED, question)
    assert (found.text, found.hedged) == (expected, True)


@pytest.mark.anyio
@pytest.mark.parametrize("question", ["When did Ines leave Porto?", "When did Ines stop living in Porto?"])
async def test_what_goes_on_has_no_end_to_tell(question: str) -> None:
    assert (await told(MOVED, question)).text is None


@pytest.mark.anyio
async def test_a_stated_time_is_said_without_a_hedge_and_of_two_moves_one_with_it() -> None:
    found = await told(MOVED, "When did Ines move to Lisbon?")
    assert (found.text, found.hedged) == ("March 2015", False)
    assert (await told(MOVED, "When did Ines move?")).hedged


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
async def test_of_values_in_a_row_each_question_gets_its_own(question: str, expected: str | None) -> None:
    assert (await told(JOBS, question)).text == expected


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
async def test_kin_is_told_from_either_end_and_never_as_mine(question: str, expected: str | None) -> None:
    assert (await told(KIN, question)).text == expected


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
async def test_of_a_family_nobody_gets_the_kin_of_another(question: str, expected: str) -> None:
    family = said("Tomas: Ana is my daughter and Leo is my son.", "Tomas: My mother is Eva.")
    assert (await told(family, question)).text == expected


@pytest.mark.anyio
async def test_what_a_later_text_knows_is_not_lost_to_what_is_no_more() -> None:
    later = [*LEFT, *said("Ines: My new home in Coimbra is great.", at="2016-08-10")]
    assert (await told(later, "Where is Ines's home?")).text == "Coimbra"
    earlier = [*said("Ines: My old home in Coimbra was great.", at="2015-01-10"), *LEFT]
    found = await told(earlier, "Where is Ines's home?")
    assert found.text is None or "Coimbra" not in found.text


@pytest.mark.anyio
async def test_a_place_that_facts_know_is_nobody() -> None:
    found = await told(said("Tomas: My brother Rui lives in Faro."), "Who is Rui's brother?")
    assert (found.text, found.hedged) == ("Tomas", True)


@pytest.mark.anyio
async def test_a_question_for_guesses_gets_what_is_known_and_what_is_suspected() -> None:
    found = await told(MAYBE, "Where might Ines live now?")
    assert (found.text, found.hedged) == ("Porto, or perhaps Braga", True)
    found = await told(MAYBE, "Where does Ines live?")
    assert (found.text, found.hedged) == ("Porto", False)


@pytest.mark.anyio
async def test_a_text_that_only_supposes_is_said_with_a_hedge() -> None:
    found = await told(said("Ines: I might live in Braga now."), "Where does Ines live?")
    assert found.text is None or found.hedged


@pytest.mark.anyio
async def test_texts_still_tell_what_facts_have_missed() -> None:
    items = said(
        "Ines: I like tea.",
        "Ines: The dentist on Mill Street gave me a blue toothbrush.",
        "@ 2019-01-01",
        "Ines: I visited Rome in May.",
    )
    found = await told(items, "Who gave Ines a toothbrush?")
    assert found.text is not None
    assert "dentist" in found.text.lower() or "Mill Street" in found.text
    assert (await told(items, "When did Ines visit Rome?")).text == "May 2018"


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
def test_a_length_is_never_more_than_it_was(since: str, until: str, expected: str) -> None:
    assert duration_text(parse(since)[0], parse(until)[0]) == expected
