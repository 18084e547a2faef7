"""The entity index: both directions of eq. 1, extended as segments arrive."""

import numpy as np

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.turns import Segment, Sentence, Turn
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.space import Space

NAMES = {"One.": ["Ann Lee", "the Ann Lee", "Bob"], "Two.": ["Bob"], "Three.": ["!", ""]}


def space():
    """A document of three sentences in two segments that share the second."""
    made = Space("x")
    turn = Turn("t", "x", "s", "1", "document", "One. Two. Three.", None, None, None, 0, 0, 0, 0)
    segments = [Segment("g0", "x", "t", 0, 0, 9, 0, 1), Segment("g1", "x", "t", 1, 5, 16, 1, 2)]
    spans = ((0, 4), (5, 9), (10, 16))
    sentences = [Sentence(f"s{n}", "x", "t", n, *spans[n], ()) for n in range(3)]
    made.add(Batch((turn,), tuple(segments), tuple(sentences)))
    return made


def test_later_segments_are_added_and_nothing_is_read_again():
    whole, parts = EntityIndex(lambda _, s: NAMES[s]), EntityIndex(lambda _, s: NAMES[s])
    given = space()
    whole.add_segments(given, 0)
    segments = given.segments
    given.segments = segments[:1]
    parts.add_segments(given, 0)
    given.segments = segments
    parts.add_segments(given, 1)
    assert len(whole) == len(parts)
    for number in range(len(whole)):
        assert whole.key(number) == parts.key(number)
        assert np.array_equal(whole.sentences(number), parts.sentences(number))
