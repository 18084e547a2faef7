"""Dates of things; everything is said on Monday 8 May 2023."""

import pytest
from reading import read

from mcp_memory.language import iso


def dates(text: str) -> list[str]:
    """Return the dates of things that a message states."""
    names = {"scheduled_for", "due_on", "starts_on", "ends_on"}
    return [
        f"{fact.head} {fact.relation} {fact.tail} | {(iso.show(fact.since) or '')[:10]} {fact.kind}"
        for fact in read(text)
        if fact.relation in names
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My eye test is on 8 July.", "Maria's eye test scheduled_for 8 July | 2023-07-08 planned"),
        ("Nele's recital is this Friday.", "Nele's recital scheduled_for 12 May 2023 | 2023-05-12 planned"),
        ("The invoice is due on Friday.", "invoice due_on 12 May 2023 | 2023-05-12 planned"),
        ("The essay is due 3 June.", "essay due_on 3 June | 2023-06-03 planned"),
        ("The baby is due on 3 June.", "baby due_on 3 June | 2023-06-03 planned"),
        ("My sister's wedding is on 3 June.", "Maria's sister's wedding scheduled_for 3 June | 2023-06-03 planned"),
        ("Our pottery course starts on 3 July.", "Maria's pottery course starts_on 3 July | 2023-07-03 planned"),
        ("My lease ends on 30 June.", "Maria's lease ends_on 30 June | 2023-06-30 planned"),
        ("My interview's the 17th.", "Maria's interview scheduled_for 17 May 2023 | 2023-05-17 planned"),
        ("My viva is the 2nd of June.", "Maria's viva scheduled_for 2nd of June | 2023-06-02 planned"),
        ("The interview was moved to the 17th.", "interview scheduled_for 17 May 2023 | 2023-05-17 planned"),
        ("The launch moves to 12 June.", "launch scheduled_for 12 June | 2023-06-12 planned"),
        ("We moved the launch to the 17th.", "launch scheduled_for 17 May 2023 | 2023-05-17 planned"),
        ("The viewing has been rescheduled to 12 June.", "viewing scheduled_for 12 June | 2023-06-12 planned"),
        ("I have a call with the bank tomorrow.", "Maria's call scheduled_for 9 May 2023 | 2023-05-09 planned"),
        ("The home visit is June 19.", "home visit scheduled_for June 19 | 2023-06-19 planned"),
        ("My physio is tomorrow at 8.", "Maria's physio scheduled_for 9 May 2023 at 8:00 | 2023-05-09 planned"),
        (
            "Next week I have a board meeting.",
            "Maria's board meeting scheduled_for week of 15 May 2023 | 2023-05-15 planned",
        ),
        ("The sprint ends April 28.", "sprint ends_on April 28 | 2023-04-28 event"),
        ("The meeting was on Friday.", "meeting scheduled_for 5 May 2023 | 2023-05-05 event"),
    ],
)
def test_a_date_is_a_fact_of_the_thing(text: str, expected: str) -> None:
    assert dates(text) == [expected]


@pytest.mark.parametrize(
    "text",
    [
        "Nele is in Verona on Friday.",
        "The meeting isn't on Friday.",
        "It is on 3 June.",
        "My sister starts on 3 June.",
        "My sister starts on 3 May",
        "Is the meeting on Friday?",
        "If the meeting is on Friday, I can't come.",
    ],
)
def test_what_is_no_date_of_a_thing_gives_none(text: str) -> None:
    assert dates(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My appointment moved from the 18th to the 25th.", "Maria's appointment scheduled_for 25 May 2023"),
        ("The deadline was extended to 30 June.", "deadline scheduled_for 30 June"),
        ("She wants the leaflet finished by 15 June.", "leaflet due_on 15 June"),
    ],
)
def test_a_moved_date_is_still_to_come(text: str, expected: str) -> None:
    assert [line.split(" | ")[0] for line in dates(text)] == [expected]
    assert all(line.endswith("planned") for line in dates(text))
