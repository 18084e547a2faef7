"""A small share of the rounds: whatever was made of a thing, in whatever words and wherever it lies, goes with it."""

from pathlib import Path

import anyio
from soak.forget_everywhere import rounds


def test_nothing_of_a_forgotten_thing_is_found_anywhere_and_nothing_else_goes(tmp_path: Path) -> None:
    found = anyio.run(rounds, tmp_path.resolve(), 8, 3)
    assert (found.left, found.unseen, found.lost) == ({}, [], [])
