"""What people tell each other about their days: deeds, ages, relatives, medicines, dates."""

import pytest
from reading import facts, intervals


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I sprained my wrist on those stairs.", ["Maria did sprained their wrist"]),
        ("Ines broke her arm on Sunday.", ["Ines did broke her arm"]),
        ("I met her brother on Sunday.", []),
        ("Olga lost her first tooth this morning.", ["Olga did lost her first tooth"]),
        ("I hurt my back in the garden yesterday.", ["Maria did hurt their back in the garden"]),
        ("Ruben tore a muscle at training.", ["Ruben did tore a muscle at training"]),
        ("I sold out at the end of May.", []),
        ("We gave up the greenhouse at the end of May.", ["Maria did gave up the greenhouse"]),
        ("Dad had a heart attack at 61.", ["Maria's dad did had a heart attack"]),
        ("I started the new job on Monday.", ["Maria did started the new job"]),
        ("I spent two hours on that.", []),
    ],
)
def test_deeds(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I joined Mrs Oduya's Tuesday class.", ["Maria attended Mrs Oduya's Tuesday class"]),
        ("I've joined the Quay Herons, the choir.", ["Maria member_of Quay Herons", "Quay Herons is_a choir"]),
        ("Rent is due. She's 4.", []),
    ],
)  # fmt: skip
def test_groups_and_their_days(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


def test_a_list_ends_before_a_clause_with_an_insertion() -> None:
    text = "Ivo played for Lowick Rangers and the new one, Marsh Town, trains at night."
    assert facts(text) == ["Ivo plays_for Lowick Rangers"]


def test_age_beside_a_name_is_that_of_the_speaker() -> None:
    assert "user age 58" in facts("I'm Henrike, 58, I live in Turku.", speaker="user")


def test_a_class_on_tuesdays_has_no_date() -> None:
    assert intervals("I joined the Tuesday class.") == ["Tuesday class 2023-05-08 2023-05-09"]
