"""Saved values come back as they were, whatever they are, and others join them."""

import pickle
from dataclasses import replace

import pytest
from batches import asserted, turn

from mcp_memory.domain.turns import Turn
from mcp_memory.view.saved_rows import SavedRows

ODD = "\ud800 é 字 \0"


def turns():
    plain = [turn(f"m{number}", place=number) for number in range(9)]
    huge = replace(turn("huge"), said_at=2**70, speaker=None, role=None, title="", revision=2**40)
    return [*plain, replace(turn("odd"), text=ODD, original=("said", None)), replace(turn("empty"), text=""), huge]


def assertions():
    made = [asserted(turn(f"m{number}"), number) for number in range(9)]
    return [*made, replace(made[0], id="x", precision="day", kind="plan", original=(ODD, "b"), since=-(2**80))]


def types(value):
    return [type(getattr(value, name)) for name in value.__slots__]


@pytest.mark.parametrize("rows", [turns(), assertions(), turns()[:1], []])
def test_each_field_comes_back_equal_and_of_its_type(rows):
    kind = type(rows[0]) if rows else Turn
    back = pickle.loads(pickle.dumps(SavedRows.of(kind, rows)))
    assert list(back) == [back[row] for row in range(len(rows))] == rows
    assert list(map(types, back)) == list(map(types, rows))
