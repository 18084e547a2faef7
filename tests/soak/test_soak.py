"""A small share of what the script of this folder tries; it goes on for as long as one likes."""

from soak.random_calls import soak


def test_random_calls_and_a_kill_violate_no_invariant(tmp_path):
    found = soak(tmp_path / "store", calls=60, seed=7)
    assert found.wrong == []
    assert found.done["killed"] == 1
    assert found.acknowledged
    assert {"memory_write", "memory_reconstruct", "memory_answer"} <= set(found.done)
