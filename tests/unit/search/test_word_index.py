"""BM25 by hand, and the counts of neighbours."""

import math

import pytest
from small_space import document, message, space_of

from mcp_memory.search.words import K1, B, WordIndex


def test_the_score_of_a_document_is_bm25():
    space = space_of(document("a", None, "apple apple pear"), document("b", None, "pear"), document("c", None, "plum"))
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * (K1 + 1) / (2 + K1 * (1 - B + B * 3 / (5 / 3)))
    assert space.index(WordIndex).score(space, ["appl"], talk=False).tolist() == pytest.approx([expected, 0, 0])


def test_counts_spread_over_two_turns_within_the_session():
    turns = [message(str(n), None, "plum" if n == 3 else f"other{n}") for n in range(7)]
    space = space_of(*turns, message("9", None, "elsewhere", session="t"))
    index = space.index(WordIndex)
    found = index.score(space, ["plum"], talk=True) > 0
    assert found.tolist() == [False, True, True, True, True, True, False, False]
    assert (index.score(space, ["plum"], talk=True, neighbours=False) > 0).sum() == 1


def test_talk_and_documents_have_separate_statistics():
    talk = [message("m", None, "plum and pear")]
    alone, mixed = space_of(*talk), space_of(*talk, document("d", None, "plum plum plum"))
    scores = [space.index(WordIndex).score(space, ["plum"], talk=True)[0] for space in (alone, mixed)]
    assert scores[0] == scores[1] > 0


def test_a_segment_is_found_by_the_headings_above_it():
    text = "# Boat\nThe hull is red.\n# Cart\nThe wheel is blue."
    space = space_of(message("1", None, text), width=text.index("# Cart") + 7)
    found = space.index(WordIndex).score(space, ["cart"], talk=True, neighbours=False)
    assert [space.text(one) for one in space.segments][1] == "The wheel is blue."
    assert (found > 0).tolist() == [True, True]
    assert space.index(WordIndex).score(space, ["boat"], talk=True, neighbours=False)[1] == 0
