"""A small soak test: random calls of every tool over a real server, a kill half way, all invariants at the end."""

from pathlib import Path

from soak.random_calls import soak


def test_random_calls_and_a_kill_violate_no_invariant(tmp_path: Path) -> None:
    found = soak(tmp_path / "store", calls=60, seed=7)
    assert found.wrong == []
    assert found.done["killed"] == 1
    assert {"memory_write", "memory_reconstruct", "memory_answer", "memory_evolve", "memory_explore"} <= set(found.done)
    assert found.acknowledged
    assert found.quotes


def test_an_unreliable_claude_violates_no_invariant(tmp_path: Path) -> None:
    found = soak(tmp_path / "store", calls=30, seed=3, claude=True)
    assert found.wrong == []
    assert found.done["killed"] == 1
    assert {mood.split()[0] for mood in found.asked} >= {"question", "answer", "reading"}
