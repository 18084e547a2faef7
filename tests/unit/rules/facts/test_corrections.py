"""Corrections inside a message: the old value is denied, the new one is stated."""

from time import process_time

import pytest
from reading import facts, intervals, read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My boss is Olga, not Viktor.", ["Maria has_boss Olga", "not Maria has_boss Viktor"]),
        ("I live in Turku, not in Vaasa.", ["Maria lives_in Turku", "not Maria lives_in Vaasa"]),
        ("Olga owns the bakery, not Viktor.", ["Olga owns bakery", "not Viktor owns bakery"]),
        ("My favourite colour is not red but teal.", ["not Maria favourite_colour red", "Maria favourite_colour teal"]),
        ("I use Kate now instead of Nano.", ["Maria uses Kate", "not Maria uses Nano"]),
        ("My favourite colour isn't red any more, it's teal now.",
         ["not Maria favourite_colour red", "Maria favourite_colour teal"]),
        ("I don't use Kate any more, it's Nano now.", ["not Maria uses Kate", "Maria uses Nano"]),
        ("I don't live in Vaasa any more, it's Turku since May.", ["not Maria lives_in Vaasa", "Maria lives_in Turku"]),
        ("I don't live in Vaasa any more! Since May it's Turku.", ["not Maria lives_in Vaasa", "Maria lives_in Turku"]),
        ("My boss is no longer Viktor, it's Olga.", ["not Maria has_boss Viktor", "Maria has_boss Olga"]),
        ("My boss is Viktor, sorry, I mean Olga.", ["not Maria has_boss Viktor", "Maria has_boss Olga"]),
        ("My aunt is a vet, sorry, a nurse.", ["not Maria's aunt works_as vet", "Maria's aunt works_as nurse"]),
        ("The limit is 5 MB, no, 10 MB.", ["not limit set_to 5 MB", "limit set_to 10 MB"]),
        ("I live in Vaasa, no, in Turku.", ["not Maria lives_in Vaasa", "Maria lives_in Turku"]),
        ("My aunt is a vet, wait, a nurse.", ["not Maria's aunt works_as vet", "Maria's aunt works_as nurse"]),
        ("I live in Vaasa, no wait, Turku.", ["not Maria lives_in Vaasa", "Maria lives_in Turku"]),
        ("We use Velox, correction: Redis.", ["not the project uses Velox", "the project uses Redis"]),
        ("My boss is Viktor. Oops, I meant Olga.", ["not Maria has_boss Viktor", "Maria has_boss Olga"]),
        ("I live in Vaasa. No wait, I meant in Turku. My aunt lives in Salo.",
         ["not Maria lives_in Vaasa", "Maria lives_in Turku", "Maria's aunt lives_in Salo"]),
    ],
)  # fmt: skip
def test_a_correction_denies_the_old_value_and_states_the_new_one(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


def test_a_denied_value_ends_by_a_change() -> None:
    assert [fact.change for fact in read("My boss is Olga, not Viktor.") if fact.negated] == [True]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I meant Olga.", []),
        ("I don't live in Vaasa any more, it's a long story.", ["not Maria lives_in Vaasa"]),
        ("I don't live in Vaasa any more, it's too cold.", ["not Maria lives_in Vaasa"]),
        ("No, Olga, not Viktor.", []),
        ("I like tea, not coffee.", ["Maria likes tea"]),
        ("I live in Turku, not that it matters.", ["Maria lives_in Turku"]),
        ("I live in Turku but Olga lives in Vaasa.", ["Maria lives_in Turku", "Olga lives_in Vaasa"]),
        ("I don't live in Turku, but Olga lives there.", ["not Maria lives_in Turku"]),
        ("I live in Turku. I meant to call you about the boat.", ["Maria lives_in Turku"]),
        ("I moved to Turku, not Vaasa.", ["Maria lives_in Turku"]),
        ("I was born in April.", ["Maria born_on April"]),
        ("I was born in April, no wait, May.", []),
        ("I live in Turku, sorry, Viktor.", ["Maria lives_in Turku"]),
    ],
)
def test_what_is_no_correction_denies_nothing(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


@pytest.mark.parametrize(
    "text",
    ["I work at Brightly, well, worked.", "I work at Brightly. Worked, I mean.", "I work at Brightly. Or worked."],
)
def test_a_tense_that_is_mended_tells_of_the_past(text: str) -> None:
    assert intervals(text) == ["Brightly … 2023-05-08"]


def test_the_mended_value_cites_its_own_sentence() -> None:
    text = "My boss is Viktor. Oops, I meant Olga."
    assert [(fact.sentence, text[fact.start : fact.end]) for fact in read(text)] == [
        (0, "My boss is Viktor"),
        (1, "Olga"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The meeting is on 17 May, not on 12 May.", ["17 May 2023-05-17 2023-05-18"]),
        ("The meeting is on 12 May, no wait, 17 May.", ["17 May 2023-05-17 2023-05-18"]),
        ("The meeting is not on 12 May but on 17 May.", ["17 May 2023-05-17 2023-05-18"]),
        ("I was born on 3 May 1980, sorry, 5 May 1980.", ["5 May 1980 1980-05-05 …"]),
    ],
)
def test_a_time_that_is_taken_back_does_not_count(text: str, expected: list[str]) -> None:
    assert intervals(text) == expected


@pytest.mark.parametrize(
    "piece",
    ["I live in Oslo, not Turku. ", "it isn't red, it's teal, ", "sorry, I mean ", ", not Olga", "on 3 May, no wait, "],
)
def test_repeated_corrections_take_linear_time(piece: str) -> None:
    start = process_time()
    read(piece * 500)
    assert process_time() - start < 6


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I take 10 mg since today.", ["Maria takes 10 mg"]),
        ("I take Velorin 20 mg in the morning.", ["Maria takes Velorin 20 mg"]),
        ("I take the bus.", []),
        ("I take two pills.", []),
    ],
)
def test_a_dose_is_read_with_or_without_its_medicine(text: str, expected: list[str]) -> None:
    assert facts(text) == expected


def test_what_moved_from_one_day_to_another_is_no_longer_on_the_first() -> None:
    text = "The meeting has been moved from 12 May to 17 May."
    assert facts(text) == ["meeting scheduled_for 17 May", "not meeting scheduled_for 12 May"]
