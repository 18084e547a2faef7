"""Run rounds of kills from the command line."""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class Outcome(Protocol):
    """The damage that the rounds caused."""

    @property
    def none(self) -> bool:
        """Whether there is no damage."""


def run(kill_rounds: Callable[[Path, int, int], Outcome], description: str | None) -> None:
    """Run as many rounds as the arguments say, print the damage, and exit with 1 if there is any."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        damage = kill_rounds(Path(folder) / "store", options.rounds, options.seed)
    sys.stdout.write(f"{options.rounds} rounds: {damage}\n")
    sys.exit(not damage.none)
