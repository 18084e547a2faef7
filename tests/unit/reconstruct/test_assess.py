"""Is it enough, and if not, what is missing, in words that can be looked for."""

from dataclasses import dataclass

import pytest
from unit.reconstruct.talk_space import new_space, say

from mcp_memory.language.questions import understand
from mcp_memory.reconstruct.assess import assess, lost


@dataclass(frozen=True)
class Judged:
    """What the first look thinks of itself."""

    sufficiency: float = 0.8
    sufficient: bool = True
    missing: tuple[str, ...] = ()


def assessed(question, line, judged=None, kind="message", roots=()):
    return assess(say(new_space(), line, kind=kind), understand(question, ()), [0], judged or Judged(), roots)


def test_what_covers_the_question_and_has_the_type_that_it_asks_for_is_enough():
    assert assessed("How many cats has Bob?", "Bob: I have three cats.").sufficient
    assert assessed("How many cats has Bob?", "Bob: I have three cats.").reason == ""


@pytest.mark.parametrize(
    ("question", "line", "need"),
    [
        ("How many cats has Bob?", "Bob: I have many cats.", "need a number for Bob"),
        ("Who has cats?", "Cats: They purr and sleep.", "need a name for Bob"),
        ("When did the cats come?", "Pets: The cats came.", "need a date for Bob"),
    ],
)
def test_what_has_not_the_type_that_is_asked_for_is_not_enough(question, line, need):
    found = assessed(question, line, kind="document", roots=("Bob",))
    assert (found.sufficient, found.reason) == (False, need)


def test_the_reason_names_what_nothing_covers():
    found = assessed("Where is the harp?", "Bob: At home.", Judged(0.3, False, ("harp",)))
    assert (found.score, found.missing, found.reason) == (0.3, ("harp",), "missing: harp")


def test_a_message_has_the_day_on_which_it_was_said():
    assert assessed("When did the cats come?", "Bob: The cats came.").sufficient


def test_what_a_question_says_is_lost_as_far_as_nothing_covers_it_names_aside():
    question = understand("Which discovery ends the journey of Bob?", ())
    assert lost(question, ("discovery", "ends", "journey", "Bob")) == 1.0
    assert lost(question, ("discovery",)) == pytest.approx(1 / 3)
    assert lost(understand("Bob?", ()), ("Bob",)) == 0.0
