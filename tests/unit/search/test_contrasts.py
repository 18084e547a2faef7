"""Statements of a person that perhaps contradict or replace each other."""

import pytest
from small_space import message, read

from mcp_memory.domain.query import Query
from mcp_memory.language.questions import understand
from mcp_memory.search.contrasts import contrast_in_words, find_contrasts
from mcp_memory.view.space import Space

FILLER = [
    "The weather at the harbour was grey all week.",
    "We ate soup and looked at old maps.",
    "My sister sent a parcel with books about birds.",
    "The ferry to the island was late again.",
]


def told(*lines: str, speaker: str = "user") -> Space:
    said = [message(f"{at:02}", speaker, line, at=at * 86_400_000) for at, line in enumerate((*lines, *FILLER))]
    return read(*said)


def contrasts(space: Space, question: str, **arguments: object) -> list[tuple[str, str, str]]:
    query: Query = understand(question, space.speakers, None)
    found = find_contrasts(space, query, range(len(space.segments)))
    return [(one.kind, one.one.quote, one.other.quote) for one in found]


@pytest.mark.parametrize(
    ("denial", "deed", "question"),
    [
        (
            "I've never repaired a kayak hull, so where do I start?",
            "I finished early: I repaired the hull of my kayak with resin.",
            "Have I ever repaired a kayak?",
        ),
        (
            "Can you explain splicing? I haven't spliced any rope before, and I like pictures.",
            "I've spliced 6 pieces of rope this weekend.",
            "Have I spliced a rope?",
        ),
        (
            "I'd like a tide table, which I have never printed for the harbour.",
            "I printed the tide table for the harbour on Sunday.",
            "Did I print the tide table?",
        ),
    ],
)
def test_a_denial_is_set_beside_what_tells_of_the_same_as_done(denial: str, deed: str, question: str):
    for lines in ((denial, deed), (deed, denial)):  # whichever was said first
        [(kind, one, other)] = contrasts(told(*lines), question)
        assert kind == "denied"
        assert "never" in one or "haven't" in one
        assert one in denial
        assert other.strip() in deed


@pytest.mark.parametrize(
    "deed",
    [
        "I'm trying to repair the hull of my kayak, how much resin do I need?",
        "I want to have my kayak hull repaired in May.",
        "I've never repaired the hull of a kayak or a canoe.",
        "I repaired the garden fence.",
    ],
)
def test_plans_other_things_and_the_same_denial_again_contradict_no_denial(deed: str):
    space = told("I've never repaired a kayak hull, so where do I start?", deed)
    assert contrasts(space, "Have I ever repaired a kayak?") == []


def test_a_deed_of_somebody_else_contradicts_no_denial():
    said = [
        message("1", "Ann", "I've never repaired a kayak hull."),
        message("2", "Bea", "I repaired the hull of my kayak with resin.", at=9),
        *(message(f"f{at}", "Ann", line, at=20 + at) for at, line in enumerate(FILLER)),
    ]
    assert contrasts(read(*said), "Has Ann repaired a kayak hull?") == []


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        (
            "Seedling survival in the greenhouse was 65% after the frost.",
            "Seedling survival in the greenhouse has recently improved to 78%.",
            "What is the seedling survival in the greenhouse?",
        ),
        (
            "The archive holds 150 letters, all scanned.",
            "The number of letters in the archive has now reached 165.",
            "How many letters does the archive hold?",
        ),
        (
            "The deadline for the mural sketch is April 1.",
            "Please note the new deadline of April 5 for the mural sketch.",
            "When is the deadline for the mural sketch?",
        ),
        (
            "I keep my recipes in Tabula and like it.",
            "Last night I switched from Tabula to Quarto for my recipes.",
            "Where do I keep my recipes?",
        ),
    ],
)
def test_an_earlier_value_is_set_beside_the_later_one_that_perhaps_replaces_it(earlier: str, later: str, question: str):
    [(kind, one, other)] = contrasts(told(earlier, later), question)
    assert kind == "changed"
    assert one.strip() in earlier
    assert other.strip() in later
    assert contrasts(told(later, earlier), question) == []  # what was said before replaces nothing


@pytest.mark.parametrize(
    "later",
    [
        "Seedling survival in the greenhouse is at 65% now.",  # the same
        "Seedling survival in the greenhouse should now reach at least 90%.",  # a goal
        "Attendance at the choir has recently improved to 78%.",  # of something else
        "Seedling survival in the greenhouse improved from 40% to 78% in Oslo.",  # of another series
        "We run greenhouse version 78 now.",
    ],
)
def test_the_same_value_goals_and_values_of_other_things_replace_nothing(later: str):
    space = told("Seedling survival in the greenhouse was 65% after the frost.", later)
    assert contrasts(space, "What is the seedling survival in the greenhouse?") == []


def test_what_a_question_does_not_ask_about_is_not_set_side_by_side():
    space = told("I've never repaired a kayak hull.", "I repaired the hull of my kayak with resin.")
    assert contrasts(space, "What did my sister send?") == []


def test_code_denies_and_changes_nothing():
    code = "Look at this:\n```python\n# I've never repaired a kayak hull\n```\nThat is all."
    space = told(code, "I repaired the hull of my kayak with resin.")
    assert contrasts(space, "Have I ever repaired a kayak?") == []


def test_both_statements_are_worded_with_speaker_and_day():
    space = told("I've never repaired a kayak hull.", "I repaired the hull of my kayak with resin.")
    query = understand("Have I ever repaired a kayak?", space.speakers, None)
    [found] = find_contrasts(space, query, range(len(space.segments)))
    assert contrast_in_words(found) == (
        "perhaps contradictory: “I've never repaired a kayak hull” (user, Thu 1 Jan 1970); "
        "but “I repaired the hull of my kayak with resin.” (user, Fri 2 Jan 1970)"
    )


@pytest.mark.parametrize(
    ("lines", "question", "old", "new"),
    [
        (
            ("The login tokens last 12 hours.", "Make it 14 days, but with a button for admins."),
            "How long do login tokens last?",
            "The login tokens last 12 hours.",
            "Make it 14 days, but with a button for admins",
        ),
        (
            (
                "The wedding is on 6 May in Oulu.",
                "Pick me up for the wedding?",
                "They've moved it. It's 20 May now.",
            ),
            "When is Ada's wedding?",
            "The wedding is on 6 May in Oulu.",
            "It's 20 May now",
        ),
        (
            ("The upload limit is 20 MB.", "20 MB is six pictures.", "Raised it to 35."),
            "What is the upload limit?",
            "The upload limit is 20 MB.",
            "Raised it to 35",
        ),
        *(
            (
                ("The wedding is on 6 May in Oulu.", line),
                "When is Ada's wedding?",
                "The wedding is on 6 May in Oulu.",
                line,
            )
            for line in ("Ok ok, the 20th", "They rang. Saturday the 20th instead", "Ugh, they moved us to the 13th")
        ),
        *(
            (
                ("The login tokens last 12 hours.", line),
                "How long do login tokens last?",
                "The login tokens last 12 hours.",
                line,
            )
            for line in ("ok, 24 then", "36 it is", "We've decided to go for 48", "Fine. 20 from July")
        ),
    ],
)
def test_a_value_that_it_is_given_later_is_set_beside_the_old_one(
    lines: tuple[str, ...], question: str, old: str, new: str
) -> None:
    assert contrasts(told(*lines), question) == [("changed", old, new)]


@pytest.mark.parametrize(
    "line",
    [
        "Make it 14 days?",
        "Make it 12 hours then.",
        "I made it to the top in 40 minutes.",
        "Put it in the oven at 5.",
        "ok, 12 then",
        "24 people logged in at once",
        "+1",
        "Is it 24?",
        "In the market at 8, it decided itself",
    ],
)
def test_a_question_the_same_value_or_another_it_changes_nothing(line: str) -> None:
    lines = ("The login tokens last 12 hours.", line)
    assert contrasts(told(*lines), "How long do login tokens last?") == []


@pytest.mark.parametrize(
    ("line", "told_anew"),
    [
        ("they gave us two more weeks", True),
        ("turns out it's a week later, phew", True),
        ("The funeral moved by a week.", False),
        ("Stayed two more weeks in Turku", False),
        ("Can it be a week later?", False),
    ],
)
def test_a_day_is_moved_by_words_that_name_nothing_else(line: str, told_anew: bool) -> None:
    lines = ("The wedding is on 6 May in Oulu.", line)
    assert bool(contrasts(told(*lines), "When is Ada's wedding?")) == told_anew


def test_a_no_with_a_value_is_another_value_though_it_replies() -> None:
    lines = ("The login tokens last 12 hours.", "Still 12 hours?", "no, 24 since July")
    assert len(contrasts(told(*lines), "How long do login tokens last?")) == 1


def test_a_value_alone_that_replies_to_a_question_changes_nothing() -> None:
    lines = ("The login tokens last 12 hours.", "And how many admins are there?", "24")
    assert contrasts(told(*lines), "How long do login tokens last?") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My mother is 43.", "Make it 2,000 by June."),
        ("My mother came home on Saturday.", "They made it 60 less, so I start on 2 May."),
        ("My mother left on the 19th.", "Make it 14 days."),
        ("My mother has version 1.2.3 of it.", "Make it 400 then."),
    ],
)
def test_a_number_gives_no_day_anew_and_none_of_another_size(old: str, new: str) -> None:
    assert contrasts(told(old, new), "What did my mother do?") == []


def test_of_a_long_text_without_sentences_a_new_value_is_quoted_in_part() -> None:
    lines = ("The login tokens last 12 hours.", "Make it 14 days, " + "and so on, " * 5_000)
    [(_, _, new)] = contrasts(told(*lines), "How long do login tokens last?")
    assert new.startswith("Make it 14 days")
    assert len(new) < 200
