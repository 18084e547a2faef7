"""Whether a question wants an assistant's words, and whom "you" and "I" mean in it."""

import pytest

from mcp_memory.domain.turns import Speakers, Turn
from mcp_memory.language.questions import understand


def speakers() -> Speakers:
    found = Speakers()
    for name, role in (("Kestrel", "assistant"), ("user", "user")):
        found.add(Turn(f"t_{name}", "x", "s", name, "message", "Hi.", name, role, None, 0, 0, 0, 0))
    return found


@pytest.mark.parametrize(
    "question",
    [
        "What did you suggest for my garden?",
        "Which book have you recommended to me?",
        "How did you recommend that I pack my bag?",
        "What was your advice about my loan?",
        "Show me your last draft again.",
        "What did the assistant say about my essay?",
        "Which of the recipes you gave me has lentils?",
    ],
)
def test_a_question_for_an_assistants_words_names_the_assistant(question: str) -> None:
    assert understand(question, speakers()).speakers == ("Kestrel",)


@pytest.mark.parametrize(
    "question",
    [
        "What did I tell you about my garden?",
        "Can you tell me where I parked?",
        "How would you plan my week?",
        "Could you look up which loan I took?",
        "Have I shown you my essay?",
    ],
)
def test_a_question_to_the_assistant_about_oneself_names_the_user(question: str) -> None:
    assert understand(question, speakers()).speakers == ("user",)


@pytest.mark.parametrize("question", ["Can you explain how bread rises?", "Would you sort these by price?"])
def test_a_request_names_nobody(question: str) -> None:
    assert understand(question, speakers()).speakers == ()
