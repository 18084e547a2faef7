"""The two events between which a question asks for the time."""

import pytest

from mcp_memory.language.constraints import events_between


@pytest.mark.parametrize(
    ("question", "events"),
    [
        ("How many days between when I sowed beans and when I picked them?", ("I sowed beans", "I picked them")),
        ("How many weeks lie between my test and the start of the course?", ("my test", "the start of the course")),
        ("How many days between buying oats and hay and the end of it?", ("buying oats and hay", "the end of it")),
        ("How many weeks passed between Ann adopting Rex and Bella?", ("Ann adopting Rex", "Ann adopting Bella")),
        ("How long after I moved to Lima did I buy the car?", ("I moved to Lima", "I buy the car")),
        ("How many days before the trip did I buy the tent?", ("I buy the tent", "the trip")),
        ("How long did it take me to learn Dutch after moving?", ("moving", "learn Dutch")),
    ],
)  # fmt: skip
def test_events_of_a_question_in_their_order(question, events):
    assert events_between(question) == events


@pytest.mark.parametrize(
    "question",
    ["How long have they been married?", "What is the difference between oats and hay?", "", "When did I go?"],
)
def test_other_questions_name_none(question):
    assert events_between(question) is None
