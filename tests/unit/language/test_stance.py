"""Whether a question is about the past, and whether it accepts guesses."""

import pytest

from mcp_memory.language.questions import looks_back, wants_guesses


@pytest.mark.parametrize(
    ("question", "back"),
    [
        ("Where did Ann live?", True),
        ("WHERE WAS ANN?", True),
        ("Where does Ann live?", False),
        ("What car has Ann owned?", True),
        ("Where has she ever worked?", True),
        ("Have you ever been to Rome?", True),
        ("Who used  to be her boss?", True),
        ("Does Ann have any children?", False),
        ("Does Ann have two red hens?", False),
        ("Has Ann a wooden boat?", False),
        ("", False),
    ],
)
def test_the_verbs_of_a_question_decide_whether_it_is_about_the_past(question: str, back: bool) -> None:
    assert looks_back(question) is back


@pytest.mark.parametrize(
    ("question", "guesses"),
    [
        ("Where might Ann live?", True),
        ("Make a guess: where is Ann?", True),
        ("Who is RUMOURED to leave?", True),
        ("Where may Ann live?", False),
        ("Who may have told her?", True),
        ("Where did she go in May?", False),
        ("Who is a guest?", False),
    ],
)
def test_some_words_accept_guesses(question: str, guesses: bool) -> None:
    assert wants_guesses(question) is guesses
