"""A small soak: random calls of every tool over a real server, a kill on the way, and every invariant at the end."""

from pathlib import Path

from soak.random_calls import soak


def test_random_calls_and_a_kill_break_no_promise(tmp_path: Path) -> None:
    found = soak(tmp_path / "store", calls=60, seed=7)
    assert found.wrong == []
    assert found.done["killed"] == 1
    assert {"memory_write", "memory_reconstruct", "memory_answer", "memory_evolve", "memory_explore"} <= set(found.done)
    assert found.said
    assert found.quotes


def test_nor_does_a_claude_in_any_mood(tmp_path: Path) -> None:
    found = soak(tmp_path / "store", calls=30, seed=3, claude=True)
    assert found.wrong == []
    assert found.done["killed"] == 1
    assert {mood.split()[0] for mood in found.asked} >= {"question", "answer", "reading"}
