"""Pieces by row, whether they are objects or packed."""

from random import Random

import numpy as np
import pytest

from mcp_memory.domain.times import StatedTime
from mcp_memory.domain.turns import Sentence, sentence_id
from mcp_memory.view import pieces as view_pieces
from mcp_memory.view.pieces import NONE, Pieces, TurnNumbers

STATED = StatedTime(1, 5, 0, 86_400_000, "day", relative=True)


def _sentences(rng: Random, number: int) -> list[Sentence]:
    turns = [f"t_{rng.randrange(number // 3)}" for _ in range(number)]
    return [
        Sentence(sentence_id(name, at, "x"), "home", name, at, at, at + 3, (STATED,) * rng.choice((0, 0, 1, 2)))
        for at, name in enumerate(turns)
    ]


@pytest.mark.parametrize("seed", range(5))
def test_packed_pieces_come_back_as_they_were(monkeypatch, seed):
    rng = Random(seed)
    told = _sentences(rng, 60)
    kept: Pieces[Sentence] = Pieces(Sentence, "home", TurnNumbers())
    for one in told:
        kept.append(one)
    monkeypatch.setattr(view_pieces, "CHUNK", 8)
    monkeypatch.setattr(view_pieces, "KEPT", 16)
    packed: Pieces[Sentence] = Pieces(Sentence, "home", TurnNumbers())
    rows = [packed.append(one) for one in told]
    assert rows == list(range(60))
    assert packed._chunks
    assert list(packed) == list(kept) == told
    assert [packed[np.int64(row)] for row in rows] == told
    assert packed[-1] == told[-1]
    assert packed[-60] == told[0]
    assert packed[3:50:7] == told[3:50:7]
    ids = [one.id for one in told]
    rng.shuffle(ids)
    assert packed.rows([*ids, "s_unknown", "s_" + "0" * 20]).tolist() == [*map(packed.row, ids), NONE, NONE]
    assert [told[packed.row(name)].id for name in ids] == ids
    for name in {one.turn_id for one in told} | {"t_unknown"}:
        assert list(packed.of_turn(name)) == [row for row in rows if told[row].turn_id == name]
