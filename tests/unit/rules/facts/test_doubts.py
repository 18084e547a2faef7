"""Facts whose own words speak against them are left out."""

import pytest
from reading import facts


@pytest.mark.parametrize(
    "text",
    [
        "My cousin Lasse stuttered until he was 12.",
        "Everything's on RabbitMQ now.",
        "My cat Moppe wasn't twelve when it happened.",
    ],
)
def test_what_is_no_fact_of_today_is_left_out(text: str) -> None:
    assert not [fact for fact in facts(text) if " age " in fact or " uses " in fact]


def test_ages_are_read() -> None:
    assert "Lasse age 12" in facts("My cousin Lasse is 12.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm using tree diagrams to solve these.", []),
        ("We use the complement method to calculate it.", []),
        ("I'm using the `fetch` API to make requests.", []),
        ("I use a wheelchair.", ["Maria uses wheelchair"]),
        ("We use postgres and redis.", ["the project uses postgres", "the project uses redis"]),
        ("I prefer simple.", []),
        ("I'm working on a project with a deadline set for MVP completion by 5 April 2024.", []),
        ("I've been volunteering at a shelter.", ["Maria volunteers_at shelter"]),
    ],
)
def test_what_names_nothing_is_left_out(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The stairs, Olga carved oak, are lovely.", []),
        ("I left Nordwerk in May.", []),
        ("I ran out of flour.", []),
        ("queue: RabbitMQ -> SQS", []),
        ("I have a deadline of 1 June for the first sprint.", ["first sprint due_on 1 June"]),
    ],
)
def test_classes_that_readers_found_wrong(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


def test_an_animal_has_no_pets_and_a_lesson_of_life_is_no_subject() -> None:
    assert facts("Our dog had puppies on Sunday.") == ["Maria has_pet dog"]
    assert facts("He really taught us the importance of love and loyalty.") == []
