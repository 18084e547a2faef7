"""What a judge has been asked about for a goal, in this process: it is not asked the same twice.

What it took in stands in the points, for every process and for good. What it left out does not, and would be shown to
it each time that the goal is organised. This is kept nowhere else, so another process asks once more.
"""

from __future__ import annotations

from collections.abc import Iterable

MOST = 20_000
"""Names that are kept; the oldest go."""


class Considered:
    """What was considered for the goals of each space, by names."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._known: dict[tuple[str, str, str], None] = {}

    def add(self, space: str, goal: str, names: Iterable[str]) -> None:
        """Take note of what a judge has considered, once that is stored which came of it."""
        self._known |= dict.fromkeys((space, goal.casefold(), name) for name in names)
        while len(self._known) > self._most:
            self._known.pop(next(iter(self._known)))

    def all(self, space: str, goal: str, names: Iterable[str]) -> bool:
        """Return whether all of these were considered before."""
        return all((space, goal.casefold(), name) in self._known for name in names)
