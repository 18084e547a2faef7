"""A space keeps rows in the order of arrival, links neighbours in talk, and takes old revisions out of recall."""

import numpy as np
import pytest

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import WHOLE
from mcp_memory.domain.ids import digest
from mcp_memory.domain.turns import LONG_CHARS, Segment, Sentence, Turn
from mcp_memory.view.entities import EntityIndex
from mcp_memory.view.pieces import Pieces
from mcp_memory.view.space import NONE, Space, View


def turn(ref, session="talk", kind="message", revision=0, space="default"):
    name = f"t_{space}{session}{ref}{revision}"
    return Turn(name, space, session, ref, kind, "One. Two.", "Ann", None, None, None, 1, revision, 0)


def batch(*turns):
    segments = tuple(Segment(f"g_{t.id}", t.space, t.id, 0, 0, 9, 0, 1) for t in turns)
    spans = ((0, 4), (5, 9))
    sentences = tuple(Sentence(f"s_{t.id}{n}", t.space, t.id, n, *spans[n], ()) for t in turns for n in (0, 1))
    vectors = np.eye(2, dtype=np.float32)
    return Batch(turns, segments, sentences, vectors[[0] * len(segments)], vectors[[1] * len(sentences)])


def space_with(*turns):
    view = View()
    view.add(batch(*turns), 1)
    return view.space(turns[0].space)


def test_messages_of_one_session_are_neighbours_and_documents_are_not():
    space = space_with(turn("m1"), turn("d1", kind="document"), turn("x1", session="other"), turn("m2"))
    assert space.rows_before.tolist() == [NONE, NONE, NONE, 0]
    assert space.rows_after.tolist() == [3, NONE, NONE, NONE]


def test_a_document_written_again_leaves_recall_and_stays_in_history():
    old, new = turn("d1", kind="document"), turn("d1", kind="document", revision=1)
    space = space_with(old, turn("m1"), new)
    assert space.live.tolist() == [False, True, True]
    assert space.visible(np.arange(6)).tolist() == [False, False, True, True, True, True]
    assert space.current("talk", "d1") == new
    assert space.revisions("talk", "d1") == [old, new]
    assert space.sessions["talk"] == [new.id, turn("m1").id]


def document(*indices):
    """Return a space with a document of sentences of these indices, in segments of three with one in common."""
    told = turn("d1", kind="document")
    ends = [(first, first + 2) for first in range(0, max(indices), 2)]
    segments = tuple(
        Segment(f"g_{n}", told.space, told.id, n, 10 * first, 10 * last + 9, first, last)
        for n, (first, last) in enumerate(ends)
    )
    sentences = tuple(Sentence(f"s_{n}", told.space, told.id, n, 10 * n, 10 * n + 9, ()) for n in indices)
    vectors = np.eye(2, dtype=np.float32)
    view = View()
    view.add(Batch((told,), segments, sentences, vectors[[0] * len(segments)], vectors[[1] * len(sentences)]), 1)
    return view.space(told.space)


def told_in(space, rows):
    return [space.sentences[row].index for row in rows]


@pytest.mark.parametrize("indices", [[0, 1, 2, 3, 4, 5], [1, 2, 3, 4], [2, 4], [0, 2, 3, 5], [0, 1, 3, 4]])
def test_the_sentences_of_a_segment_are_found_also_where_a_bad_row_was_left_out(indices):
    space = document(*indices)
    left = [index for index in indices if 2 <= index <= 4]
    assert told_in(space, space.sentences_within(space.segments[1])) == left
    assert told_in(space, space.sentences.overlapping(space.segments[0].turn_id, 20, 49)) == left
    assert [index for index in range(6) if space.sentence_row(space.segments[0].turn_id, index) != NONE] == indices


def test_a_span_of_a_document_leads_to_the_sentences_and_segments_that_it_touches():
    space = document(*range(7))
    name = space.segments[0].turn_id
    assert told_in(space, space.sentences.overlapping(name, 28, 30)) == [2]
    assert told_in(space, space.sentences.overlapping(name, 28, 31)) == [2, 3]
    assert told_in(space, space.sentences.overlapping(name, 29, 30)) == []
    assert space.sentences.overlapping("t_unknown", 0, 99) == []
    assert [space.segments_with(name, index) for index in (0, 2, 3, 6, 7)] == [[0], [0, 1], [1], [2], []]
    assert space.segments_with(name, WHOLE) == range(3)


def test_a_long_document_is_not_read_whole_to_find_a_place_in_it(monkeypatch):
    """One of 8 MB has 100,000 sentences in 16,000 segments, and each of these is looked up when it is indexed."""
    space, read = document(*range(2001)), list[int]()
    name, look_up = space.segments[0].turn_id, Pieces.__getitem__
    monkeypatch.setattr(Pieces, "__getitem__", lambda pieces, row: read.append(row) or look_up(pieces, row))
    assert space.sentences_within(space.segments[500]) == [1000, 1001, 1002]
    assert space.segments_with(name, 1001) == [500]
    assert space.sentences.overlapping(name, 10_000, 10_020) == [1000, 1001]
    assert space.sentence_row(name, 2000) == 2000
    assert len(read) < 60


class Seen:
    """An index that records which rows were added to it."""

    def __init__(self):
        self.rows = []

    def add_segments(self, space, since):
        self.rows += range(since, len(space.segments))


def test_an_index_has_every_row_once_when_it_is_read_and_nothing_before():
    view = View([Seen])
    view.add(batch(turn("m1"), turn("m2")), 1)
    index = view.space("default").index(Seen)
    assert index.rows == [0, 1]
    view.add(batch(turn("m3")), 2)
    assert index.rows == [0, 1]
    view.extend_indexes()
    assert view.space("default").index(Seen).rows == [0, 1, 2]


RUNS = ((0, 2), (2, 4), (5, 5))
"""The segments of six sentences; the first two share one."""


def pieces(number, length):
    """Return the rows of a text of that length."""
    ref, text = str(number), "word " * (length // 5) + "w" * (length % 5)
    name = "t_" + digest("default", "talk", ref)
    one = Turn(name, "default", "talk", ref, "message", text, None, None, None, None, 1, 0, 0)
    rng = np.random.default_rng(number)
    vectors = rng.standard_normal((len(RUNS) + 6, 8)).astype(np.float32)
    segments = tuple(
        Segment(f"g_{one.id}{n}", "default", one.id, n, 5 * first, 5 * last + 4, first, last)
        for n, (first, last) in enumerate(RUNS)
    )
    sentences = tuple(Sentence(f"s_{one.id}{n}", "default", one.id, n, 5 * n, 5 * n + 4, ()) for n in range(6))
    return Batch((one,), segments, sentences, vectors[:3], vectors[3:])


@pytest.mark.parametrize("first", [LONG_CHARS, LONG_CHARS + 1])
def test_only_in_a_long_text_do_sentences_share_the_vector_of_the_first_segment_that_holds_them(first):
    """Whatever the store holds for them: an older program made vectors of their own."""
    view = View()
    batches = [pieces(number, length) for number, length in enumerate((first, 40, 2 * LONG_CHARS, 30))]
    expected = []
    for number, batch in enumerate(batches):
        view.add(batch, number + 1)
        long = len(batch.turns[0].text) > LONG_CHARS
        expected.append(batch.segment_vectors[[0, 0, 0, 1, 1, 2]] if long else batch.sentence_vectors)
    held = view.space("default").sentence_vectors
    rows = np.random.default_rng(0).permutation(len(held))
    np.testing.assert_array_equal(held.take(rows), np.concatenate(expected)[rows])
    np.testing.assert_array_equal(held[6], expected[1][0])


NAMES = {"One.": ["Ann Lee", "the Ann Lee", "Bob"], "Two.": ["Bob"], "Three.": ["!", ""]}


def of_three():
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
    given = of_three()
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
