"""The tail of a fact keeps the phrase that belongs to it, and nothing that only the talk around it explains."""

import pytest
from reading import facts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I took part in a rally for nurses' pay.", "Maria did took part in a rally for nurses' pay"),
        ("I had an interview for a pottery apprenticeship.", "Maria did had an interview for a pottery apprenticeship"),
        ("I joined a workshop on soldering with Ann.", "Maria did joined a workshop on soldering with Ann"),
        ("I baked a cake for my niece.", "Maria made cake for their niece"),
        ("I made a quilt with blue stars.", "Maria made quilt with blue stars"),
        ("I visited a shelter for stray cats.", "Maria did visited a shelter for stray cats"),
        ("I love hunting new colours for my shop.", "Maria likes hunting new colours for their shop"),
    ],
)
def test_a_tail_keeps_its_complement(text: str, expected: str) -> None:
    assert expected in facts(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I went to a party for two hours.", "Maria attended party"),
        ("I went to a concert with Ann.", "Maria did went to a concert with Ann"),
        ("I baked a cake for it.", "Maria made cake"),
        ("I baked a cake for this thing.", "Maria made cake"),
        ("I made a quilt with Ann.", "Maria made quilt"),
        ("I baked a cake for her niece.", "Maria made cake"),
        ("I like bread for breakfast.", "Maria likes bread"),
    ],
)
def test_what_means_nothing_by_itself_is_left_out(text: str, expected: str) -> None:
    assert expected in facts(text)


@pytest.mark.parametrize(
    "text",
    [
        "I'm using the following code:",
        "I use the correct format.",
        "I've been using combinations to count the hands.",
        "I've been using step-by-step examples.",
        "I plan my week and study groups.",
        "I may have found a job at Orbix.",
        "I love the moss and stone theme.",
    ],
)
def test_scraps_are_no_facts(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize("text", ["I'm using Vim.", "I use `pandas`.", "I use a fountain pen."])
def test_tools_are_used(text: str) -> None:
    assert [fact.split()[1] for fact in facts(text)] == ["uses"]


def test_an_age_before_an_occupation_is_a_fact_of_its_own() -> None:
    assert facts("I'm a 44-year-old nurse.") == ["Maria works_as nurse", "Maria age 44"]
