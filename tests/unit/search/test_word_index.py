"""BM25 by hand, and the counts of neighbours."""

import math
import random

import pytest
from small_space import batch, document, message, space_of

from mcp_memory.search.candidates import INDEXES
from mcp_memory.search.words import K1, B, WordIndex, embedded_text
from mcp_memory.view.view import View


def test_the_score_of_a_document_is_bm25() -> None:
    space = space_of(document("a", None, "apple apple pear"), document("b", None, "pear"), document("c", None, "plum"))
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 3 / (5 / 3)))
    assert space.index(WordIndex).score(space, ["appl"], talk=False).tolist() == pytest.approx([expected, 0, 0])


@pytest.mark.parametrize("seed", range(20))
def test_queries_while_turns_arrive_do_not_change_later_scores(seed: int) -> None:
    dice = random.Random(seed)
    turns = [
        (message if dice.random() < 0.7 else document)(
            str(n), None, " ".join(dice.choices(["plum", "pear", "fig"], k=4))
        )
        for n in range(12)
    ]
    once, stepwise = View(INDEXES), View(INDEXES)
    once.add(batch(turns), 12)
    for number, turn in enumerate(turns, 1):
        stepwise.add(batch([turn]), number)
        if dice.random() < 0.4:
            stepwise.space("x").index(WordIndex).score(stepwise.space("x"), ["plum"], talk=True)
    for talk in (True, False):
        found = [
            view.space("x").index(WordIndex).score(view.space("x"), ["plum"], talk=talk) for view in (once, stepwise)
        ]
        assert found[0].tolist() == found[1].tolist()


def test_counts_spread_over_two_turns_within_the_session() -> None:
    turns = [message(str(n), None, "plum" if n == 3 else f"other{n}") for n in range(7)]
    space = space_of(*turns, message("9", None, "elsewhere", session="t"))
    index = space.index(WordIndex)
    found = index.score(space, ["plum"], talk=True) > 0
    assert found.tolist() == [False, True, True, True, True, True, False, False]
    assert (index.score(space, ["plum"], talk=True, neighbours=False) > 0).sum() == 1


def test_the_nearer_turn_gets_a_greater_share() -> None:
    space = space_of(*(message(str(n), None, "plum" if n == 0 else "other") for n in range(3)))
    scores = space.index(WordIndex).score(space, ["plum"], talk=True)
    assert scores[0] > scores[1] > scores[2] > 0


def test_talk_and_documents_have_separate_statistics() -> None:
    talk = [message("m", None, "plum and pear")]
    alone, mixed = space_of(*talk), space_of(*talk, document("d", None, "plum plum plum"))
    scores = [space.index(WordIndex).score(space, ["plum"], talk=True)[0] for space in (alone, mixed)]
    assert scores[0] == scores[1] > 0


def test_a_word_that_the_query_repeats_counts_once() -> None:
    space = space_of(message("m", None, "plum"))
    index = space.index(WordIndex)
    once, twice = (index.score(space, asked, talk=True)[0] for asked in (["plum"], ["plum", "plum"]))
    assert once == twice


def test_the_speaker_the_day_and_the_title_are_indexed_as_words() -> None:
    space = space_of(message("m", "Ann", "Hello.", at=1_683_552_000_000), document("d", "Plums", "They are blue."))
    contains = space.index(WordIndex).contains
    assert [contains([0, 1], stem).tolist() for stem in ("ann", "2023", "plum")] == [[1, 0], [1, 0], [0, 1]]


def test_a_segment_is_found_by_the_headings_above_it() -> None:
    text = "# Boat\nThe hull is red.\n# Cart\nThe wheel is blue."
    space = space_of(message("1", None, text), width=text.index("# Cart") + 7)
    found = space.index(WordIndex).score(space, ["cart"], talk=True, neighbours=False)
    assert [space.text(one) for one in space.segments][1] == "The wheel is blue."
    assert (found > 0).tolist() == [True, True]
    assert space.index(WordIndex).score(space, ["boat"], talk=True, neighbours=False)[1] == 0


def test_the_embedded_text_has_the_title_of_a_document_once_and_its_headings() -> None:
    paper = document("a", "Boats", "# Boats\n## Hull\nRed.")
    assert embedded_text(paper, "Red.", ("Boats", "Hull")) == "Boats. Hull. Red."
    assert embedded_text(message("1", None, "Red."), "Red.", ("Boats", "Hull")) == "Boats > Hull. Red."
    assert embedded_text(message("1", "Ann", "Red."), "Red.") == "Ann: Red."
