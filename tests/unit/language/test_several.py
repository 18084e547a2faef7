"""Questions that ask for several things."""

import pytest

from mcp_memory.language.questions import asks_for_several


@pytest.mark.parametrize(
    "question",
    [
        "What instruments does Ines play?",
        "Which of her friends did Tomas meet?",
        "What kinds of fish are in the tank?",
        "On which islands did they land?",
        "What has Ines painted?",
        "How many harbours are there?",
        "How often does Tomas swim?",
        "Who were her teachers?",
        "What do both of them like?",
    ],
)
def test_a_plural_a_perfect_and_words_for_many_ask_for_several_things(question: str) -> None:
    assert asks_for_several(question)


@pytest.mark.parametrize(
    "question",
    [
        "What instrument does Ines play?",
        "Which bus does Tomas take?",
        "What news did she bring?",
        "When did Ines move to Porto?",
        "What is the focus of Tomas's thesis?",
        "aquarium opening times",
        "",
    ],
)
def test_other_questions_ask_for_one(question: str) -> None:
    assert not asks_for_several(question)
