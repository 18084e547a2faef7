"""Rows become values in the order of recording, whatever order a table has them in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from batches import asserted, derive, turn

from mcp_memory.domain.language_model import Job
from mcp_memory.storage.rows import LOGGED, assertions_in_order, batch_of, latest, rows_of, stored_rows
from mcp_memory.storage.schema import with_tx


@pytest.mark.parametrize("seed", range(5))
def test_pieces_come_by_turn_and_place_and_those_of_no_turn_are_left_out(seed: int) -> None:
    """A line of the log may be lost, and with it the text of pieces that are still in their tables."""
    dice = np.random.default_rng(seed)
    rows = derive([turn(f"r{n}", ("left", "right")[n % 2], n) for n in range(12)])
    earlier, lost, *turns = rows.turns
    kept = {one.id for one in (earlier, *turns)}

    def table(kind: Any, pieces: Any, vectors: Any) -> Any:
        order = dice.permutation(len(pieces)).tolist()
        return rows_of(kind, [pieces[place] for place in order], [1] * len(order), None, vectors[order])

    read = batch_of(
        turns,
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


@pytest.mark.parametrize("seed", range(5))
def test_assertions_come_in_the_order_of_recording(seed: int) -> None:
    """From both tables, in any order; at the same place, derived ones come before those of the log."""
    dice = np.random.default_rng(seed)
    turns = {one.id: one for one in (turn(f"r{n}", "left", n) for n in range(6))}
    every = [
        asserted(one, place, ("embedded", "caller", "anthropic")[place % 3])
        for one in turns.values()
        for place in range(6)
    ]
    numbers = [(1 + row // 8, row % 8) for row in range(len(every))]

    def table(of_log: bool) -> Any:
        chosen = [n for n in dice.permutation(len(every)).tolist() if (every[n].extractor in LOGGED) is of_log]
        return rows_of("facts", [every[n] for n in chosen], *zip(*(numbers[n] for n in chosen), strict=True))

    assert [
        row.value for row in assertions_in_order(table(True), table(False), lambda _, name: turns.get(name))
    ] == every
    assert assertions_in_order(table(True), table(False), lambda *_: None) == []
    same = [rows_of("facts", [asserted(next(iter(turns.values())), 0, one)], [1]) for one in ("caller", "embedded")]
    assert [row.value.extractor for row in assertions_in_order(*same, lambda *_: True)] == ["embedded", "caller"]


@pytest.mark.parametrize("seed", range(5))
def test_the_last_job_of_each_text_counts_in_any_order_of_the_rows(seed: int) -> None:
    dice = np.random.default_rng(seed)
    said = [Job("default", f"t_{dice.integers(4)}", "waiting", int(dice.integers(5)), 0, 0, "", 1) for _ in range(12)]
    txs, order = sorted(dice.integers(1, 5, len(said)).tolist()), dice.permutation(len(said)).tolist()
    rows = rows_of("jobs", [said[n] for n in order], [txs[n] for n in order], order)
    last = {job.turn_id: job for job in said}
    assert {row.value.turn_id: row.value for row in latest(stored_rows("jobs", rows), "turn_id")} == last
    assert stored_rows("jobs", None) == []


def test_filling_in_the_number_of_a_commit_changes_nothing_else() -> None:
    rows = derive([turn("a"), turn("b")])
    zeros = rows_of("sentences", rows.sentences, [0] * 4, None, rows.sentence_vectors)
    assert with_tx(zeros, 7).equals(rows_of("sentences", rows.sentences, [7] * 4, None, rows.sentence_vectors))
