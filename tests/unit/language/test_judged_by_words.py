"""What questions and sentences are, judged by their words alone: which of them have a property, and which do not."""

from collections.abc import Callable

import pytest

from mcp_memory.language.questions import asks_for_several, looks_back, wants_guesses

TABLE: dict[Callable[[str], bool], tuple[tuple[str, ...], tuple[str, ...]]] = {
    asks_for_several: (
        ("What instruments does Ines play?", "Which of her friends did Tomas meet?", "On which islands did they land?",
         "What has Ines painted?", "How often does Tomas swim?", "What do both of them like?"),
        ("What instrument does Ines play?", "Which bus does Tomas take?", "What news did she bring?",
         "What is the focus of Tomas's thesis?", "aquarium opening times", ""),
    ),
    looks_back: (
        ("Where did Ann live?", "WHERE WAS ANN?", "What car has Ann owned?", "Have you ever been to Rome?",
         "Who used  to be her boss?"),
        ("Where does Ann live?", "Does Ann have any children?", "Does Ann have two red hens?", "Has Ann a wooden boat?",
         ""),
    ),
    wants_guesses: (
        ("Where might Ann live?", "Make a guess: where is Ann?", "Who is RUMOURED to leave?", "Who may have told her?"),
        ("Where may Ann live?", "Where did she go in May?", "Who is a guest?"),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("judge", "text", "holds"),
    [(judge, text, holds) for judge, (yes, no) in TABLE.items() for texts, holds in ((yes, True), (no, False))
     for text in texts],
)  # fmt: skip
def test_a_text_has_the_property_or_not(judge: Callable[[str], bool], text: str, holds: bool) -> None:
    assert judge(text) is holds
