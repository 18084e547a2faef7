"""What the commands print: stored text that cannot act on a terminal, with colours where they can be seen, or JSON.

A stored text may hold control characters: a terminal would obey them, clear the screen or change what is typed next.
So characters that control a terminal, or the direction of text, are always written as escapes, in JSON as well.

How far a long command is stands as a bar on standard error, only where that is a terminal.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Mapping
from typing import Literal

from mcp_memory.visible import each_text, escaped, is_invisible, one_line, with_masks

Style = Literal["bold", "dim", "name", "good", "bad"]
_STYLES: dict[Style, str] = {"bold": "1", "dim": "2", "name": "36", "good": "32", "bad": "31"}
_SUSPECT = re.compile("[^\n -~]")
"""Everything but line feeds and printable ASCII: only these characters are looked up."""


class Terminal:
    """Where a command prints.

    With ``colours`` None, where standard output is a terminal and ``NO_COLOR`` is not set (https://no-color.org).
    """

    def __init__(self, colours: bool | None = None) -> None:
        seen = sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        if sys.platform == "win32":  # its older console prints the sequences themselves
            seen = seen and any(os.environ.get(name) for name in ("WT_SESSION", "TERM", "ANSICON", "ConEmuANSI"))
        self._colours = seen if colours is None else colours

    def paint(self, text: str, style: Style) -> str:
        """Return a text, escaped, in a style where colours are on."""
        plain = escaped(text)
        return f"\x1b[{_STYLES[style]}m{plain}\x1b[0m" if self._colours and plain else plain

    def line(self, *parts: str | tuple[str, Style]) -> None:
        """Print a line of parts, each plain or with a style, separated by spaces; empty parts are left out."""
        painted = (escaped(part) if isinstance(part, str) else self.paint(*part) for part in parts)
        sys.stdout.write(" ".join(part for part in painted if part) + "\n")

    def json(self, content: Mapping[str, object]) -> None:
        """Print an object as JSON."""
        unicode = (sys.stdout.encoding or "").replace("-", "").lower() == "utf8"
        text = json.dumps(each_text(content, with_masks), ensure_ascii=not unicode, indent=1)
        sys.stdout.write(_SUSPECT.sub(_json_escape, text) + "\n")

    def note(self, text: str) -> None:
        """Print a remark that is no part of the result, on standard error."""
        sys.stderr.write(escaped(one_line(text)) + "\n")


def _json_escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if is_invisible(found[0]) else found[0]


BAR_CHARS = 24
"""Characters of the bar."""
BETWEEN_S = 0.1
"""Seconds between two drawings."""


class ProgressBar:
    """A bar that is drawn over itself; it draws nothing where standard error is no terminal."""

    def __init__(self, unit: str = "records") -> None:
        self._unit = unit
        self._live = sys.stderr.isatty()
        self._last = time.monotonic()
        self._width = 0

    async def show(self, done: float, total: float, what: str) -> None:
        """Report progress, see `ports.Progress`."""
        moment = time.monotonic()
        if not self._live or moment - self._last < BETWEEN_S or not total:
            return
        self._last = moment
        filled = round(BAR_CHARS * min(done / total, 1))
        bar = "#" * filled + "-" * (BAR_CHARS - filled)
        line = f"{escaped(one_line(what))} [{bar}] {done:,.0f} of {total:,.0f} {self._unit}"
        sys.stderr.write(f"\r{line:<{self._width}}")  # blanks over what was longer; not every console has sequences
        self._width = len(line)
        sys.stderr.flush()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the line."""
        if self._width:
            sys.stderr.write("\n")
