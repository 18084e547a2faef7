"""Whether the evidence covers the query, and if not, what is missing, in words that can be searched for."""

import pytest
from unit.reconstruct.talk_space import new_space, say

from mcp_memory.domain.evidence import Coverage
from mcp_memory.language.questions import understand
from mcp_memory.reconstruct.loop import uncovered_share
from mcp_memory.search.coverage import assess

COVERED = Coverage(0.8, True)


def assessed(question, line, covered=COVERED, kind="message", roots=()):
    return assess(say(new_space(), line, kind=kind), understand(question, ()), [0], covered, roots)


def test_evidence_that_covers_the_query_and_has_the_right_type_suffices():
    assert assessed("How many cats has Bob?", "Bob: I have three cats.").whole
    assert assessed("How many cats has Bob?", "Bob: I have three cats.").reason == ""


@pytest.mark.parametrize(
    ("question", "line", "need"),
    [
        ("How many cats has Bob?", "Bob: I have many cats.", "need a number for Bob"),
        ("Who has cats?", "Cats: They purr and sleep.", "need a name for Bob"),
        ("When did the cats come?", "Pets: The cats came.", "need a date for Bob"),
    ],
)
def test_evidence_without_the_right_type_does_not_suffice(question, line, need):
    found = assessed(question, line, kind="document", roots=("Bob",))
    assert (found.whole, found.reason) == (False, need)


def test_the_reason_names_what_nothing_covers():
    found = assessed("Where is the harp?", "Bob: At home.", Coverage(0.3, False, ("harp",)))
    assert (found.score, found.missing, found.reason) == (0.3, ("harp",), "missing: harp")


def test_a_message_has_the_day_on_which_it_was_said():
    assert assessed("When did the cats come?", "Bob: The cats came.").whole


def test_the_uncovered_share_counts_content_words_without_names():
    question = understand("Which discovery ends the journey of Bob?", ())
    assert uncovered_share(question, ("discovery", "ends", "journey", "Bob")) == 1.0
    assert uncovered_share(question, ("discovery",)) == pytest.approx(1 / 3)
    assert uncovered_share(understand("Bob?", ()), ("Bob",)) == 0.0
