"""What recurs, arrives, is cancelled, is paid, and who is away."""

import pytest
from reading import SAID_AT, facts, intervals, read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I had lunch on Mondays.", []),
        ("The idea came this morning.", []),
        ("Tom's off.", []),
        ("I get about 9 a month.", []),
        ("My last day is 22 August.", ["Maria's last day scheduled_for 22 August"]),
        ("I start on 22 August.", ["Maria starts_on 22 August"]),
        ("I can't eat oysters.", ["not Maria eats oysters"]),
        ("I can't eat that many oysters.", []),
        ("I bought a red 2011 Fiat Panda.", ["Maria bought red 2011 Fiat Panda"]),
        ("My boss left on Friday.", []),
        ("I've started to eat fish again.", ["Maria eats fish"]),
        ("I ate fish again.", []),
        ("I took in an old dog called Ajax.", ["Maria has_pet Ajax"]),
        ("I live in Leeds tho", ["Maria lives_in Leeds"]),
        ("been vegan since March", ["Maria is_a vegan"]),
        ("still work at Tessel", ["Maria works_at Tessel"]),
        ("still on losartan", ["Maria takes losartan"]),
        ("Allergic to walnuts.", ["Maria allergic_to walnuts"]),
        ("Interested in the flat!", []),
        ("I stopped taking ramipril in March.", ["not Maria takes ramipril"]),
        ("I ordered six on Friday.", []),
        ("CI has moved to Woodpecker.", ["CI uses Woodpecker"]),
    ],
)
def test_what_happens_to_things_and_people(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("From September on I work for Tessel.", ["Tessel 2023-09-01 …"]),
        ("From Monday I work for Tessel.", ["Tessel 2023-05-15 …"]),
        ("I work for Tessel from Monday to Friday.", ["Tessel 2023-05-08 …"]),
    ],
)
def test_from_when_it_holds(text: str, expected: list[str]) -> None:
    assert intervals(text) == expected


def test_a_document_without_a_date_that_says_until_today_tells_of_no_later_day() -> None:
    (fact,) = read("Ann Berg works at Tessel until today.", title="Notes", dated=False)
    assert fact.until == SAID_AT


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Brenda went out on Friday.", []),
        ("I'm off to bed.", []),
        ("I start as a baker on 7 July.", ["Maria starts_on 7 July", "Maria works_as baker"]),
        ("My aunt has moved in with Otto in Faro.", ["Maria's aunt lives_with Otto", "Maria's aunt lives_in Faro"]),
        ("I moved out into a cottage in Corwen.", ["Maria lives_in Corwen"]),
        ("The exam was moved, it is now on 5 June.", ["exam scheduled_for 5 June"]),
        ("It is now 5 June.", []),
        ("I work for a puppet maker.", ["Maria works_at puppet maker"]),
        ("That works for either.", []),
        ("I'm ill, so a sitter called Becky will come. She starts next week.", ["Becky starts_on week of 15 May 2023"]),
        ("A friend called Ida lives in Faro.", ["Ida lives_in Faro"]),
        ("A man called Tom yesterday.", []),
        ("Pia's wedding is on 28 June.", ["Pia's wedding scheduled_for 28 June"]),
        ("I laughed at Ida's party. She turns 16 on 18 October.", ["Ida born_on 18 October"]),
        ("I've a dog called Ajax.", ["Maria has_pet Ajax"]),
        ("I've a feeling it's late.", []),
        ("The ramipril goes up to 5 mg from tomorrow.", ["Maria takes 5 mg of ramipril"]),
        ("I'm half Danish.", ["Maria nationality Danish"]),
        ("I can't do lactose.", ["not Maria eats lactose"]),
        ("I can't do Friday.", []),
        ("I eat again.", []),
        ("The wedding is in June.", ["wedding scheduled_for June"]),
        ("I'm shift lead now.", ["Maria works_as shift lead"]),
        ("The light is off.", []),
        ("The release moves to 6 June.", ["release scheduled_for 6 June"]),
        ("Tom's in Rust.", []),
    ],
)
def test_what_comes_out_stays_or_is_gone_at_work(text: str, expected: list[str]) -> None:
    assert facts(text) == expected
