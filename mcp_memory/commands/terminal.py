"""What the commands print: stored text that cannot act on a terminal, with colours where they can be seen, or JSON.

A stored text may hold control characters: a terminal would obey them, clear the screen or change what is typed next.
So characters that control a terminal, or the direction of text, are always written as escapes, in JSON as well.

How far a long command is stands as a bar on standard error, only where that is a terminal.

Rows of resources are printed as lines of text for people (`fact_line`, `session_line`, …).
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language import iso
from mcp_memory.server.tools.replies import in_parentheses, quantity, validity
from mcp_memory.visible import each_text, escaped, is_invisible, one_line, with_masks

Style = Literal["bold", "dim", "name", "good", "bad"]
_STYLES: dict[Style, str] = {"bold": "1", "dim": "2", "name": "36", "good": "32", "bad": "31"}
_SUSPECT = re.compile("[^\n -~]")
"""Everything but line feeds and printable ASCII: only these characters are looked up."""


class Terminal:
    """Where a command prints.

    Args:
        colours: whether to print colours; None for only where standard output is a terminal and ``NO_COLOR`` is not
            set (https://no-color.org).
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

    def tell_of_secrets(self, *, kept: bool) -> None:
        """Say whether an exported file holds secrets."""
        if kept:
            self.line("The file holds everything in plain text, secrets too.")
        else:
            self.line("Secrets in it are masked; --with-secrets exports them too.")

    def note(self, text: str) -> None:
        """Print a remark that is no part of the result, on standard error."""
        sys.stderr.write(escaped(one_line(text)) + "\n")


def _json_escape(found: re.Match[str]) -> str:
    return json.dumps(found[0])[1:-1] if is_invisible(found[0]) else found[0]


WIDTH = 24
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
        filled = round(WIDTH * min(done / total, 1))
        bar = "#" * filled + "-" * (WIDTH - filled)
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


Row = Mapping[str, Any]


def session_line(terminal: Terminal, row: Row) -> None:
    """Print a session: its title and its name, how much it holds, and from when to when."""
    first, last = _day(row.get("first")), _day(row.get("last"))
    days = first if first == last else " to ".join(day for day in (first, last) if day)
    title, held = one_line(row.get("title", "")), quantity(row["turns"], "item")
    terminal.line((title, "bold"), (one_line(row["id"]), "name"), held, (days, "dim"))


def turn_lines(terminal: Terminal, row: Row) -> None:
    """Print a message or document: who and when, then the text, indented."""
    if row["kind"] == "document":
        who = row.get("title") or row["id"]
    else:
        who = row.get("speaker") or row.get("role") or row["kind"]
    when = row.get("time") or f"written {row['written']}"
    revision = f"revision {row['revision']}" if row.get("revision") else ""
    session = f"session {row['session']}" if "session" in row else ""
    marks = ", ".join(mark for mark in (when, revision, session, row["id"]) if mark)
    terminal.line((one_line(who), "bold"), (f"({one_line(marks)})", "dim"))
    for line in row["text"].splitlines() or [""]:
        terminal.line(f"    {line}".rstrip())


def fact_line(terminal: Terminal, row: Row, indent: str = "") -> None:
    """Print a fact: its words, when it holds, how sure it is, and its id."""
    when = validity(_moment(row, "valid_from"), _moment(row, "valid_to"), row["kind"], row.get("precision"))
    doubt = f"unconfirmed, confidence {row['confidence']:.2f}" if row.get("suspected") else ""
    terminal.line(f"{indent}{one_line(row['text'])}{in_parentheses(when, doubt)}", (row["id"], "dim"))


def quote_lines(terminal: Terminal, sources: Sequence[Row]) -> None:
    """Print where something was said, in which words."""
    for source in sources:
        parts = (source.get("time"), source.get("speaker"), f"session {source['session']}", source["id"])
        place = ", ".join(one_line(part) for part in parts if part)
        terminal.line((f"    [{place}]", "dim"), f"“{one_line(source['quote'])}”")


def point_line(terminal: Terminal, row: Row) -> None:
    """Print a memory point: its description, what it joins, and its id."""
    goal = f"goal: {one_line(row['goal'])}" if row.get("goal") else ""
    terminal.line(one_line(row["text"]), (row["id"], "dim"))
    terminal.line((f"    joins {', '.join(map(one_line, row['entities']))}{in_parentheses(goal)}", "dim"))


def more_line(terminal: Terminal, shown: int, total: int, noun: str) -> None:
    """Print how many there are, if not all of them were shown."""
    if shown < total:
        terminal.line((f"… {shown:,} of {quantity(total, noun)}; --limit {total} shows all", "dim"))


def _day(time: str | None) -> str:
    return (time or "")[:10]


def _moment(row: Row, name: str) -> Millis:
    """Return a time of a row; an end that is left out is open."""
    time = row.get(name)
    return iso.parse(time)[0] if time else BEGINNING if name == "valid_from" else FOREVER
