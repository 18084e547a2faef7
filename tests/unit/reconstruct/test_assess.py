"""Whether candidates cover a query and have the kind of answer that it asks for, and what of it they do not cover."""

import pytest
from unit.reconstruct.talk_space import new_space, say

from mcp_memory.language.questions import understand
from mcp_memory.reconstruct.loop import uncovered_share
from mcp_memory.search.coverage import has_kind_of_answer


@pytest.mark.parametrize(
    ("question", "line", "kind", "has"),
    [
        ("How many cats has Bob?", "Bob: I have three cats.", "message", True),
        ("How many cats has Bob?", "Bob: I have many cats.", "document", False),
        ("Who has cats?", "Cats: They purr and sleep.", "document", False),
        ("When did the cats come?", "Pets: The cats came.", "document", False),
        ("When did the cats come?", "Bob: The cats came.", "message", True),
    ],
)
def test_evidence_has_the_kind_of_answer_that_is_asked_for_or_not(question, line, kind, has):
    assert has_kind_of_answer(say(new_space(), line, kind=kind), understand(question, ()), 0) == has


def test_the_uncovered_share_counts_content_words_without_names():
    question = understand("Which discovery ends the journey of Bob?", ())
    assert uncovered_share(question, ("discovery", "ends", "journey", "Bob")) == 1.0
    assert uncovered_share(question, ("discovery",)) == pytest.approx(1 / 3)
    assert uncovered_share(understand("Bob?", ()), ("Bob",)) == 0.0
