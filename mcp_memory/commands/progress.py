"""How far a long command is: a bar on standard error, only where that is a terminal."""

from __future__ import annotations

import sys
import time

WIDTH = 24
"""Characters of the bar."""
BETWEEN_S = 0.1
"""Seconds between two drawings."""


class ProgressBar:
    """A bar that is drawn over itself; it draws nothing where standard error is no terminal.

    Args:
        unit: what is counted, in the plural.
    """

    def __init__(self, unit: str = "records") -> None:
        self._unit = unit
        self._live = sys.stderr.isatty()
        self._began = self._last = time.monotonic()
        self._open = False
        self._width = 0

    async def show(self, done: float, total: float, what: str) -> None:
        """Report progress, see `ports.Progress`."""
        moment = time.monotonic()
        if not self._live or moment - self._last < BETWEEN_S or not total:
            return
        self._last = moment
        filled = round(WIDTH * min(done / total, 1))
        bar = "#" * filled + "-" * (WIDTH - filled)
        line = f"{what} [{bar}] {done:,.0f} of {total:,.0f} {self._unit}{self._left(done, total)}"
        sys.stderr.write(f"\r{line:<{self._width}}")  # blanks over what was longer; not every console has sequences
        self._width = len(line)
        sys.stderr.flush()
        self._open = True

    def end(self) -> None:
        """Leave the line."""
        if self._open:
            sys.stderr.write("\n")
            self._open = False

    def _left(self, done: float, total: float) -> str:
        """Return the time that is left, once some of it has passed."""
        passed = time.monotonic() - self._began
        if passed < 2 or not done:
            return ""
        minutes, seconds = divmod(round(passed * (total - done) / done), 60)
        return f", {minutes}:{seconds:02d} left"
