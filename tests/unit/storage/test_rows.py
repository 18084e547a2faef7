"""Rows become values in the order of recording, whatever order a table has them in."""

import numpy as np
import pytest
from batches import derive, turn

from mcp_memory.domain.batch import Batch
from mcp_memory.storage.rows import rows_of, with_pieces


@pytest.mark.parametrize("seed", range(5))
def test_pieces_come_by_turn_and_place_and_those_of_no_turn_are_left_out(seed):
    """A line of the log may be lost, and with it the text of pieces that are still in their tables."""
    dice = np.random.default_rng(seed)
    rows = derive([turn(f"r{n}", ("left", "right")[n % 2], n) for n in range(12)])
    earlier, lost, *turns = rows.turns
    kept = {one.id for one in (earlier, *turns)}

    def table(kind, pieces, vectors):
        order = dice.permutation(len(pieces)).tolist()
        return rows_of(kind, [pieces[place] for place in order], [1] * len(order), None, vectors[order])

    read = with_pieces(
        Batch(tuple(turns)),
        table("segments", rows.segments, rows.segment_vectors),
        table("sentences", rows.sentences, rows.sentence_vectors),
        lambda _space, name: earlier if name == earlier.id else None,
    )
    assert lost.id not in kept
    for pieces, vectors, found, their in (
        (rows.segments, rows.segment_vectors, read.segments, read.segment_vectors),
        (rows.sentences, rows.sentence_vectors, read.sentences, read.sentence_vectors),
    ):
        there = [place for place, piece in enumerate(pieces) if piece.turn_id in kept]
        assert list(found) == [pieces[place] for place in there]
        assert np.array_equal(their, vectors[there])
