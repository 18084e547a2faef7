"""A fact is certain only where its message says nothing else."""

import pytest
from reading import read

from mcp_memory.domain.facts import CERTAIN, STABLE


def certain(text: str, **given: str) -> list[str]:
    return [
        f"{'not ' * one.negated}{one.head} {one.relation} {one.tail}"
        for one in read(text, **given)
        if one.confidence >= CERTAIN
    ]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("I live in Turku.", ["Maria lives_in Turku"]),
        ("I now live in Turku", ["Maria lives_in Turku"]),
        ("I moved to Turku in March 2021.", ["Maria lives_in Turku"]),
        ("I've worked at Orla Foods since 2019.", ["Maria works_at Orla Foods"]),
        ("My brother Jan is a plumber.", ["Maria sibling_of Jan", "Jan works_as plumber"]),
        ("I don't live in Turku anymore.", ["not Maria lives_in Turku"]),
        ("My mum lives in Turku.", ["Maria's mum lives_in Turku"]),
    ],
)
def test_what_is_said_plainly_and_alone_is_certain(text: str, facts: list[str]) -> None:
    assert sorted(certain(text)) == sorted(facts)


@pytest.mark.parametrize(
    "text",
    [
        # denied, doubted, reported, asked
        "It is a lie that I live in Turku.",
        "Nobody believes that I live in Turku.",
        "Neither my brother nor I work at Orla Foods.",
        "I am no plumber, nor do I live in Turku.",
        "Allegedly I live in Turku.",
        "Jan says I live in Turku.",
        "I live in Turku, or so they say.",
        "I live in Turku?",
        # played, ironic, dreamt, somebody's words
        "Sure, I live in a palace 🙄",
        "In this book I live in Turku.",
        "In my dream I lived in Turku.",
        "We play pirates and I live in a cave.",
        "Suppose I live in Turku.",
        "“I live in Turku” is the title of the song.",
        "I live in Turku. Just kidding.",
        "Let's play a game. I am a witch.",
        "Read this aloud. I live in Turku.",
        # another context, a condition, a time that is none of the fact
        "At the office I drink tea.",
        "I wear a suit at the office and pyjamas at home.",
        "On staging the session timeout is 15 minutes.",
        "In winter I live in Turku.",
        "I live in Turku in summer.",
        "If it rains I work at home.",
        "For letters I use Emacs.",
        "Before the crash I worked at Orla Foods.",
        "Without sleep I live in chaos.",
        "Living in Turku was hard.",
        # for a while
        "I work at Orla Foods for now.",
        "I work at Orla Foods this week.",
        "I work at Orla Foods until Friday.",
        "I work at Orla Foods for the summer.",
        "I have the flu right now.",
        # a value that is more than what was read
        "My blood pressure is 117/76.",
        "My 10k time is 48:12.",
        "The scale of the map is 1:25000.",
        "The freezer is at -18 °C.",
        "The printer is at 10.0.0.17 and the NAS at 10.0.0.18:5000.",
        "I was born in Paris, Texas.",
        "My address is 5 Mill Lane, Leeds.",
        # again and again
        "The choir meets on the second Friday of each month.",
        "Yoga is on Mondays except in August.",
        "Yoga is every other Monday.",
    ],
)
def test_beside_any_other_word_nothing_is_certain(text: str) -> None:
    assert certain(text) == []


def test_a_clause_without_a_subject_does_not_say_whose_fact_it_is() -> None:
    assert certain("Starting next Monday.") == []


def test_what_is_not_certain_stays_stable() -> None:
    told = read("At the office I live in Turku, as it were.")
    assert all(one.confidence <= STABLE for one in told)
    (lives,) = [one for one in read("I live in Turku. Ha.") if one.relation == "lives_in"]
    assert lives.confidence == STABLE


@pytest.mark.parametrize("text", ["My 10k time is 48:12.", "My blood pressure is 117/76.", "The door is 1.05 m wide."])
def test_no_part_of_a_number_is_a_value(text: str) -> None:
    assert not {one.tail for one in read(text)} & {"48", "12", "117", "76", "1", "05"}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("Jonna lives in Grau\u00adwald.", "Jonna lives_in Grauwald"),
        ("Hans\u2011Peter lives in Turku.", "Hans-Peter lives_in Turku"),
        ("Eva\u2010Lena works at the Kran\u00adken\u00adhaus.", "Eva-Lena works_at Krankenhaus"),
        ("Jo\u200bnna lives in Turku.", "Jonna lives_in Turku"),
    ],
)
def test_invisible_signs_and_typographic_hyphens_cut_no_name(text: str, fact: str) -> None:
    assert certain(text) == [fact]
    (one,) = read(text)
    assert text[one.start : one.end].endswith(text[-4:-1])


@pytest.mark.parametrize("speaker", ["Human", "user", "me", "User"])
def test_each_name_of_the_user_as_speaker_is_the_user(speaker: str) -> None:
    assert certain("I live in Turku.", speaker=speaker) == ["user lives_in Turku"]


def test_another_name_of_the_same_person_is_no_spouse() -> None:
    told = {(one.relation, one.tail) for one in read("Mira Falk married and is now Mira Stenson.")}
    assert told == {("also_known_as", "Mira Stenson")}


@pytest.mark.parametrize("text", ["The release is in Q2.", "The audit is in H1."])
def test_a_part_of_a_year_is_no_place(text: str) -> None:
    assert [one for one in read(text) if one.relation in ("located_in", "lives_in")] == []


def test_an_age_is_never_certain() -> None:
    assert not [fact for fact in certain("My nephew Ole is 6.") if " age " in fact]
