"""A small share of what the scripts of this folder try; each of them goes on for as long as one likes."""

import anyio
import pytest
from soak import forget_everywhere
from soak.random_calls import soak


@pytest.mark.parametrize(("calls", "seed", "claude"), [(60, 7, False), (30, 3, True)])
def test_random_calls_a_kill_and_an_unreliable_claude_violate_no_invariant(tmp_path, calls, seed, claude):
    found = soak(tmp_path / "store", calls=calls, seed=seed, claude=claude)
    assert found.wrong == []
    assert found.done["killed"] == 1
    assert found.acknowledged
    assert {"memory_write", "memory_reconstruct", "memory_answer"} <= set(found.done)
    assert not claude or {mood.split()[0] for mood in found.asked} >= {"question", "answer", "reading"}


def test_nothing_of_a_forgotten_thing_is_found_anywhere_and_nothing_else_goes(tmp_path):
    found = anyio.run(forget_everywhere.rounds, tmp_path.resolve(), 8, 3)
    assert (found.left, found.unseen, found.lost) == ({}, [], [])
