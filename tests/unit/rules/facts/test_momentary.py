"""Deeds of a task at hand, told to an assistant, are not kept; neither are guesses and promises."""

import pytest
from reading import facts


@pytest.mark.parametrize(
    "text",
    [
        "I've computed the new angles to be 30 and 60.",
        "I solved 5 problems and got 4 right.",
        "I've tested the endpoint with a sample POST request.",
        "I've implemented caching for this case in my planner.",
        "I measured the diagonals.",
        "I've managed to return static HTML, but it is slow.",
    ],
)
def test_a_step_of_the_moment_is_no_fact(text: str) -> None:
    assert facts(text, speaker="user", partner="assistant") == []


@pytest.mark.parametrize(
    ("text", "deed"),
    [
        ("I've fixed the login bug in my plant app.", "fixed the login bug in their plant app"),
        ("I've written tests for `loadTrains()`.", "wrote tests for `loadTrains()`"),
        ("I've written tests for the `load()` function.", "wrote tests for the `load()` function"),
        ("I've configured my pipeline to use the latest Deno.", "configured their pipeline to use the latest Deno"),
        ("I've completed the station search feature.", "completed the station search feature"),
        ("I finished the essay.", "finished the essay"),
        ("I planted 12 trees.", "planted 12 trees"),
    ],
)  # fmt: skip
def test_what_means_the_same_tomorrow_is_kept(text: str, deed: str) -> None:
    assert f"user did {deed}" in facts(text, speaker="user", partner="assistant")


def test_between_people_a_definite_thing_is_kept() -> None:
    assert facts("I measured the diagonals.") == ["Maria did measured the diagonals"]


@pytest.mark.parametrize(
    "text",
    [
        "I think it's because I painted the wrong fence.",
        "Maybe it's because I planted the beans in April.",
        "I'll stay focused on my goal of winning the cup.",
        "I'll stay motivated and focused on my goal of winning the cup.",
    ],
)
def test_guesses_and_promises_are_no_deeds(text: str) -> None:
    assert facts(text) == []


@pytest.mark.parametrize(
    ("text", "deed"),
    [
        ("I recorded a tutorial to teach how to prune roses, btw.", "recorded a tutorial to teach how to prune roses"),
        ("I built a ramp to reach the attic.", "built a ramp to reach the attic"),
        ("I built a ramp to help my dad. It's been a wild ride.", "built a ramp to help their dad"),
        ("I built a ramp to reach it.", "built a ramp"),
        ("I built a ramp to use next week.", "built a ramp"),
        ("We went on a hike and ate cake.", "went on a hike"),
        ("I went for a walk on Sunday.", "went for a walk"),
    ],
)
def test_a_purpose_belongs_to_a_deed(text: str, deed: str) -> None:
    assert f"Maria did {deed}" in facts(text)
