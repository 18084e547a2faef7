"""What no row knows is an event with its whole phrase, or nothing."""

import pytest
from reading import facts, read


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("My sister doesn't eat fish.", "not Maria's sister eats fish"),
        ("The doctor swapped me to losartan.", "Maria takes losartan"),
        ("Still driving the school van.", "Maria drives school van"),
    ],
)
def test_what_no_row_knows_is_an_event_with_its_whole_phrase(text: str, fact: str) -> None:
    assert fact in facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "I would rent a houseboat.",
        "They gave me a hug.",
        "They'd have given me the job.",
        "I don't eat enough.",
        "You don't eat pork.",
        "I took a deep breath.",
        "I reached my limits.",
        "I rented it.",
        "I didn't pass the test.",
        "I was painting the fence.",
        "I met loads of people.",
        "They repaired the bridge.",
        "He built boats all his life.",
        "It made me think of the old days.",
        "I cooked it again.",
    ],
)
def test_a_claim_without_a_meaning_of_its_own_is_left_out(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We're going to plant a hedge.", []),
        ("If it stays dry I'll plant the hedge on Saturday.", []),
        ("I might plant the hedge on Saturday.", []),
        ("I plant the hedge on Saturdays.", []),
        ("I'm cleaning the boat shed before the regatta on 3 June.", []),
    ],
)
def test_a_deed_announced_with_its_date_is_planned(text: str, expected: list[str]) -> None:
    assert [f"{fact.tail} {fact.kind}" for fact in read(text) if fact.relation == "did"] == expected


@pytest.mark.parametrize(
    "text", ["We've got the flat!", "She has the van today.", "We have a cottage called Elm Barn."]
)
def test_what_somebody_has_for_a_while_is_not_their_own(text: str) -> None:
    assert facts(text) == []


def test_the_statement_behind_remember_that_is_read() -> None:
    assert facts("Remember that my dentist is Dr. Quell.") == ["Maria dentist Dr. Quell"]
    assert facts("Don't forget that Olga is allergic to latex.") == ["Olga allergic_to latex"]


def test_a_participle_describes_the_phrase_before_it() -> None:
    found = facts("Orvall Lines is a ferry company based in Port Sund, founded in 1931.", title="Orvall Lines")
    assert {"Orvall Lines located_in Port Sund", "Orvall Lines founded_on 1931"} <= {*found}


def test_the_brackets_behind_a_name_give_birth_date_and_place() -> None:
    found = facts("Edda Lorn (born 2 May 1950 in Karst) is a painter.", title="Edda Lorn")
    assert {"Edda Lorn born_on 2 May 1950", "Edda Lorn born_in Karst"} <= {*found}


def test_his_wife_beside_a_name_is_the_wife_of_that_person() -> None:
    assert "Jost Brahm married_to Ada" in facts("The mill was built by Jost Brahm and his wife Ada.", title="Old Mill")
