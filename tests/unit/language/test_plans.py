"""What is still to come, by the words."""

import pytest

from mcp_memory.language.plans import asks_ahead, called_off, open_plan, standing_day


@pytest.mark.parametrize(
    "question",
    [
        "What is coming up?", "What's ahead for me?", "What do I have planned?", "What is on my calendar?",
        "What's next for Runa and Odo?", "What do I still have to do?", "Which upcoming appointments do I have?",
        "What are my plans?",
    ],
)  # fmt: skip
def test_a_question_for_nothing_but_what_is_still_to_come(question: str):
    assert asks_ahead(question)


@pytest.mark.parametrize(
    "question",
    [
        "What did Ann have planned?", "What is planned for the boat?", "What is the next step of the recipe?",
        "What are Ann's plans for the shop?", "What have I come up with?",
    ],
)  # fmt: skip
def test_a_question_of_the_past_or_with_a_matter_of_its_own_is_none(question: str):
    assert not asks_ahead(question)


@pytest.mark.parametrize(
    "sentence",
    [
        "We're going to repaint the kitchen some time in spring.", "I still have to renew my passport.",
        "Next I'll look for a flat.", "One of these days I have to sort out the cellar.", "The hedge needs cutting.",
        "I haven't answered Nadja's letter yet.", "My will still has to be written.", "Ann hopes to walk to Santiago.",
        "We've been meaning to visit the aqueduct.", "I'd like to learn to weld.",
        "Got to get my hearing checked.", "The gutters want clearing.", "I might take up chess when I retire.",
    ],
)  # fmt: skip
def test_a_plan_without_a_date(sentence: str):
    assert open_plan(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        "I renewed my passport.", "We were going to repaint it.", "I'm not going to repaint it.", "I don't need to go.",
        "Are you going to repaint it?", "I have to say it was nice.", "I want to know why it is slow.",
        "If I want to, I can.", "I should have bought it.", "I live in Riga.",
    ],
)  # fmt: skip
def test_what_is_no_plan(sentence: str):
    assert not open_plan(sentence)


def test_what_stands_on_every_week_and_what_was_called_off():
    for sentence in ("I do yoga on Mondays.", "Choir is every other Tuesday.", "The cleaner comes twice a month."):
        assert standing_day(sentence)
    assert not any(map(standing_day, ("I meet Ola on Monday.", "I no longer do yoga on Mondays.")))
    assert called_off("The concert was called off.")
    assert called_off("The interview isn't happening.")
    assert called_off("There is no choir this week, it's cancelled.")
    assert not called_off("There is no choir this week, it's cancelled.", for_good=True)
    assert not called_off("I bought the bike.")
