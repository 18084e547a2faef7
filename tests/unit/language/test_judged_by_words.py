"""What questions and sentences are, judged by their words alone: which of them have a property, and which do not."""

from collections.abc import Callable

import pytest
from mcp_memory.language.plans import asks_ahead, called_off, open_plan, standing_day

from mcp_memory.language.questions import asks_for_several, looks_back, wants_guesses

TABLE: dict[Callable[[str], bool], tuple[tuple[str, ...], tuple[str, ...]]] = {
    asks_ahead: (
        ("What is coming up?", "What do I have planned?", "What's next for Runa and Odo?", "What are my plans?",
         "What do I still have to do?", "Which upcoming appointments do I have?"),
        ("What did Ann have planned?", "What is the next step of the recipe?", "What have I come up with?",
         "What are Ann's plans for the shop?"),
    ),
    open_plan: (
        ("We're going to repaint the kitchen some time in spring.", "I still have to renew my passport.",
         "Next I'll look for a flat.", "The hedge needs cutting.", "I haven't answered Nadja's letter yet.",
         "Ann hopes to walk to Santiago.", "We've been meaning to visit the aqueduct.", "I'd like to learn to weld.",
         "Got to get my hearing checked.", "I might take up chess when I retire."),
        ("I renewed my passport.", "We were going to repaint it.", "I'm not going to repaint it.",
         "Are you going to repaint it?", "I have to say it was nice.", "If I want to, I can.", "I live in Riga."),
    ),
    standing_day: (
        ("I do yoga on Mondays.", "Choir is every other Tuesday.", "The cleaner comes twice a month."),
        ("I meet Ola on Monday.", "I no longer do yoga on Mondays."),
    ),
    called_off: (
        ("The concert was called off.", "The interview isn't happening.", "There is no choir, it's cancelled."),
        ("I bought the bike.",),
    ),
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


def test_what_is_off_for_one_week_is_not_off_for_good() -> None:
    assert not called_off("There is no choir this week, it's cancelled.", for_good=True)
