"""Checking whole columns leaves out exactly the rows that checking one by one would."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from batches import asserted, derive, turn

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import WHOLE
from mcp_memory.domain.turns import Turn
from mcp_memory.storage.rows import LOGGED, assertions_in_order, batch_of, row_faults, rows_of
from mcp_memory.storage.schema import RowKind, with_tx

Known = Callable[[str, str], Turn | None]


def no_turn(_space: str, _turn: str) -> None:
    return None


def damaged(seed: int) -> Batch:
    """Return a batch in random order, in which a third of the pieces have a fault."""
    dice = np.random.default_rng(seed)
    rows = derive([turn(f"r{n}", ("left", "right")[n % 2], n) for n in range(12)])
    wrong: list[dict[str, Any]] = [
        {"start": -1}, {"end": 10_000}, {"start": 9, "end": 8}, {"index": -2}, {"index": None}, {"start": None},
        {"end": None}, {"turn_id": "t_nobody"}, {"space": "elsewhere"}, {"space": "left"}, {"space": "right"},
    ]  # fmt: skip

    def damage(pieces: Any, more: list[dict[str, Any]]) -> tuple[Any, ...]:
        choices = [*wrong, *more]
        out = [replace(one, **choices[dice.integers(len(choices))]) if dice.random() < 1 / 3 else one for one in pieces]
        return tuple(out[place] for place in dice.permutation(len(out)))

    vectors = rows.sentence_vectors.copy()
    for place, factor in enumerate((0, np.nan, np.inf, 1e30, 1.02, 1.0099, 0.98)):
        vectors[2 * place] *= np.float32(factor)
    return replace(
        rows,
        segments=damage(rows.segments, [{"first": -1}, {"first": 2, "last": 1}, {"last": None}]),
        sentences=damage(rows.sentences, []),
        sentence_vectors=vectors,
    )


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the single check multiplies infinite numbers
def test_exactly_the_rows_with_faults_are_left_out_and_the_others_come_in_order(seed: int) -> None:
    rows = damaged(seed)
    turns = {one.id: one for one in rows.turns}
    rank = {name: place for place, name in enumerate(turns)}
    known = {name: (turn.space, len(turn.text)) for name, turn in turns.items()}
    tables: list[tuple[RowKind, Any, Any]] = [
        ("segments", rows.segments, rows.segment_vectors),
        ("sentences", rows.sentences, rows.sentence_vectors),
    ]
    kept = [
        (piece, vector)
        for kind, pieces, vectors in tables
        for piece, vector in zip(pieces, vectors, strict=True)
        if not list(row_faults(kind, piece, known.get(piece.turn_id), vector))
    ]
    kept.sort(key=lambda entry: (type(entry[0]).__name__, rank[entry[0].turn_id], entry[0].index))
    numbers = [1] * len(rows.segments), [1] * len(rows.sentences)
    read = batch_of(
        rows.turns,
        rows_of("segments", rows.segments, numbers[0], None, rows.segment_vectors),
        rows_of("sentences", rows.sentences, numbers[1], None, rows.sentence_vectors),
        no_turn,
    )
    assert [*read.segments, *read.sentences] == [piece for piece, _ in kept]
    assert np.array_equal(np.concatenate([read.segment_vectors, read.sentence_vectors]), [vec for _, vec in kept])


_SINCE_7 = ("kind", "precision")  # older rows lack them
WRONG: list[dict[str, Any]] = [
    {"start": -1}, {"start": 9, "end": 8}, {"end": 10_000}, {"sentence": WHOLE - 1}, {"confidence": 0.0},
    {"confidence": 1.0001}, {"confidence": -0.5}, {"confidence": float("nan")}, {"intent": "GOSSIP"}, {"intent": ""},
    {"extractor": "nobody"}, {"extractor": "caller"}, {"extractor": "anthropic"}, {"since": 5, "until": 5},
    {"since": 6, "until": 5}, {"turn_id": "t_nobody"}, {"space": "elsewhere"}, {"space": "left"}, {"space": "right"},
    {"kind": "gossip"}, {"precision": "hour"},
    *({f.name: None} for f in fields(asserted(turn("a"))) if f.name not in _SINCE_7),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(20))
def test_exactly_the_assertions_with_faults_are_left_out_and_the_others_come_in_the_order_of_recording(
    seed: int,
) -> None:
    """In both tables, in any order."""
    dice = np.random.default_rng(seed)
    turns = {one.id: one for one in (turn(f"r{n}", ("left", "right")[n % 2], n) for n in range(6))}
    right = [
        asserted(one, place, ("caller", "embedded", "anthropic")[place % 3], sentence=place % 3 - 1)
        for one in turns.values()
        for place in range(6)
    ]
    rows = [(replace(one, **dice.choice(WRONG)) if dice.random() < 1 / 3 else one) for one in right]
    txs = sorted(dice.integers(1, 5, len(rows)).tolist())
    places = [place - txs.index(tx) for place, tx in enumerate(txs)]
    logged = [one.extractor in LOGGED for one in right]

    def table(of_log: bool) -> Any:
        chosen = [n for n in dice.permutation(len(rows)).tolist() if logged[n] is of_log]
        return rows_of("facts", [rows[n] for n in chosen], [txs[n] for n in chosen], [places[n] for n in chosen])

    def faults(n: int) -> list[str]:
        one = turns.get(rows[n].turn_id)
        return list(
            row_faults("facts" if logged[n] else "assertions", rows[n], (one.space, len(one.text)) if one else None)
        )

    read = assertions_in_order(table(True), table(False), lambda _space, name: turns.get(name))
    assert [row.value for row in read] == [row for n, row in enumerate(rows) if not faults(n)]
    assert any(map(faults, range(len(rows))))


def test_at_the_same_place_derived_assertions_come_before_logged_ones() -> None:
    """A rebuild may give a place that an assertion of the caller has; the order is the same at every reading."""
    one = turn("a")
    rows = [rows_of("facts", [asserted(one, 0, extractor)], [1]) for extractor in ("caller", "embedded")]
    assert [row.value.extractor for row in assertions_in_order(*rows, lambda *_: one)] == ["embedded", "caller"]
    assert assertions_in_order(None, None, no_turn) == []


def test_filling_in_the_number_of_a_commit_changes_nothing_else() -> None:
    rows = derive([turn("a"), turn("b")])
    zeros = rows_of("sentences", rows.sentences, [0] * 4, None, rows.sentence_vectors)
    assert with_tx(zeros, 7).equals(rows_of("sentences", rows.sentences, [7] * 4, None, rows.sentence_vectors))
