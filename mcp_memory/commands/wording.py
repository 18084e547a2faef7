"""Rows of resources as lines of text for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language import iso
from mcp_memory.server.tools.replies import in_parentheses, one_line, quantity, validity

Row = Mapping[str, Any]


def session_line(terminal: Terminal, row: Row) -> None:
    """Print a session: its name, how much it holds, and from when to when."""
    first, last = _day(row.get("first")), _day(row.get("last"))
    days = first if first == last else " to ".join(day for day in (first, last) if day)
    terminal.line((one_line(row["id"]), "name"), quantity(row["turns"], "item"), (days, "dim"))


def turn_lines(terminal: Terminal, row: Row) -> None:
    """Print a message or document: who and when, then the text, indented."""
    if row["kind"] == "document":
        who = row.get("title") or row["id"]
    else:
        who = row.get("speaker") or row.get("role") or row["kind"]
    when = row.get("time") or f"written {row['written']}"
    revision = f"revision {row['revision']}" if row.get("revision") else ""
    marks = ", ".join(mark for mark in (when, revision, row["id"]) if mark)
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
