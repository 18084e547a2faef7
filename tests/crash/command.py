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


def run(kill_rounds: Callable[..., Outcome], description: str | None, **more: int) -> None:
    """Run as many rounds as the arguments say, print the damage, and exit with 1 if there is any.

    Args:
        kill_rounds: takes the place of a store, ``rounds`` and ``seed``.
        description: for ``--help``.
        more: options with their defaults that it takes besides.
    """
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    for name, default in more.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = vars(parser.parse_args())
    with tempfile.TemporaryDirectory() as folder:
        damage = kill_rounds(Path(folder) / "store", **options)
    sys.stdout.write(f"{options}: {damage}\n")
    sys.exit(not damage.none)
