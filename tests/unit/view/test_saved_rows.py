"""Saved values come back as they were, whatever they are, and others join them."""

from __future__ import annotations

import pickle
from array import array
from collections import defaultdict
from dataclasses import replace
from random import Random

import pytest
from batches import asserted, turn

from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.turns import Turn
from mcp_memory.view import saved_rows
from mcp_memory.view.saved_rows import SavedDict, SavedLists, SavedRows

ODD = "\ud800 é 字 \0"


def turns() -> list[Turn]:
    plain = [turn(f"m{number}", place=number) for number in range(9)]
    huge = replace(turn("huge"), said_at=2**70, speaker=None, role=None, title="", revision=2**40)
    return [*plain, replace(turn("odd"), text=ODD, original=("said", None)), replace(turn("empty"), text=""), huge]


def assertions() -> list[Assertion]:
    made = [asserted(turn(f"m{number}"), number) for number in range(9)]
    return [*made, replace(made[0], id="x", precision="day", kind="plan", original=(ODD, "b"), since=-(2**80))]


def types(value: object) -> list[type]:
    return [type(getattr(value, name)) for name in value.__slots__]  # type: ignore[attr-defined]


@pytest.mark.parametrize("rows", [turns(), assertions(), turns()[:1], []])
def test_each_field_comes_back_equal_and_of_its_type(rows: list[Turn] | list[Assertion]) -> None:
    kind = type(rows[0]) if rows else Turn
    back = pickle.loads(pickle.dumps(SavedRows.of(kind, rows)))
    assert list(back) == [back[row] for row in range(len(rows))] == rows
    assert list(map(types, back)) == list(map(types, rows))


def test_rows_join_saved_ones_and_are_saved_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_rows, "MADE", 2)
    rows = turns()
    back = SavedRows.of(Turn, rows[:5])
    for more in (rows[5:8], rows[8:]):
        for one in more:
            back.append(one)
        back = SavedRows.of(Turn, back)
    assert len(back) == len(rows)
    assert [back[-1], *back[2:7], back[0]] == [rows[-1], *rows[2:7], rows[0]]
    assert list(back) == rows
    for row in (len(rows), -len(rows) - 1):
        with pytest.raises(IndexError):
            back[row]


def saved(value: dict[str, list[int]]) -> SavedDict[str, list[int]]:
    back: SavedDict[str, list[int]] = pickle.loads(pickle.dumps(SavedDict.of(value, list)))
    return back


@pytest.mark.parametrize("seed", range(4))
def test_a_saved_dict_does_what_a_dict_does_however_often_it_is_saved(seed: int) -> None:
    rng = Random(seed)
    keys = [f"{ODD}{number}" for number in range(300)]
    plain: defaultdict[str, list[int]] = defaultdict(list, {key: [number] for number, key in enumerate(keys[:200])})
    back = saved(plain)
    for step in range(400):
        key = rng.choice(keys)
        for one in (plain, back):
            match step % 6:
                case 0:
                    one[key].append(step)
                case 1:
                    one[key] = [step]
                case 2:
                    one.setdefault(key, []).append(step)
                case 3 if step % 4 == 3:
                    one.pop(key, None)
        assert (key in back, back.get(key), len(back)) == (key in plain, plain.get(key), len(plain))
        if step % 90 == 89:
            back = saved(back)
    assert list(back.items()) == list(plain.items())
    assert list(saved(back).items()) == list(plain.items())


class _Made:
    def __reduce__(self) -> tuple[object, ...]:
        return print, ("it ran",)


def test_an_entry_that_somebody_made_runs_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(pickle.UnpicklingError, match="print"):
        SavedDict({"a": _Made()})["a"]
    assert not capsys.readouterr().out


def test_saved_lists_grow_and_are_saved_again() -> None:
    lists = [array("q", range(number)) for number in (3, 0, 5)]
    back = SavedLists("q", lists)
    for _ in range(3):
        back[1].append(7)
        back.append(array("q", [1]))
        back = SavedLists("q", pickle.loads(pickle.dumps(SavedLists("q", back))))
    expected = [[0, 1, 2], [7, 7, 7], [0, 1, 2, 3, 4], [1], [1], [1]]
    assert [one.tolist() for one in back] == [one.tolist() for one in back[:]] == expected
    assert back[-4].tolist() == [0, 1, 2, 3, 4]
    for number in (6, -7):
        with pytest.raises(IndexError):
            back[number]
