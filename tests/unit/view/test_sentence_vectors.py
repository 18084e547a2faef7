"""Sentences of short texts have vectors of their own, those of long texts the vector of their segment."""

import numpy as np
import pytest

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.ids import digest
from mcp_memory.domain.turns import LONG_CHARS, Segment, Sentence, Turn
from mcp_memory.view.space import View

RUNS = ((0, 2), (2, 4), (5, 5))
"""The segments of six sentences; the first two share one."""


def turn(ref, length):
    text = "word " * (length // 5) + "w" * (length % 5)
    name = "t_" + digest("default", "talk", ref)
    return Turn(name, "default", "talk", ref, "message", text, None, None, None, None, 1, 0, 0)


def pieces(one, seed):
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((len(RUNS) + 6, 8)).astype(np.float32)
    segments = tuple(
        Segment(f"g_{one.id}{number}", "default", one.id, number, 5 * first, 5 * last + 4, first, last)
        for number, (first, last) in enumerate(RUNS)
    )
    sentences = tuple(Sentence(f"s_{one.id}{n}", "default", one.id, n, 5 * n, 5 * n + 4, ()) for n in range(6))
    return Batch((one,), segments, sentences, vectors[:3], vectors[3:])


@pytest.mark.parametrize("first", [LONG_CHARS, LONG_CHARS + 1])
def test_only_in_a_long_text_do_sentences_share_the_vector_of_the_first_segment_that_holds_them(first):
    """Whatever the store holds for them: an older program made vectors of their own."""
    view = View()
    batches = [
        pieces(turn(str(number), length), number) for number, length in enumerate((first, 40, 2 * LONG_CHARS, 30))
    ]
    expected = []
    for number, batch in enumerate(batches):
        view.add(batch, number + 1)
        long = len(batch.turns[0].text) > LONG_CHARS
        expected.append(batch.segment_vectors[[0, 0, 0, 1, 1, 2]] if long else batch.sentence_vectors)
    held = view.space("default").sentence_vectors
    rows = np.random.default_rng(0).permutation(len(held))
    np.testing.assert_array_equal(held.take(rows), np.concatenate(expected)[rows])
    np.testing.assert_array_equal(held[6], expected[1][0])
