"""One value checked at the rim: a text, a name, a time. Each refusal names the argument, the problem and the remedy."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from mcp_memory.config import Limits
from mcp_memory.domain.query import Window
from mcp_memory.domain.times import FOREVER, Millis
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso

_SPACE = re.compile(r"\w[\w.@-]{0,63}")


def number(items: Sequence[object], argument: str, most: int, setting: str | None) -> None:
    """Check that a list has at least one item and not too many.

    Args:
        items: the list.
        argument: its name.
        most: so many are allowed.
        setting: that can raise it; None where none can.
    """
    if not items:
        raise InvalidInput(argument, "is empty", "Give at least one.")
    if len(items) > most:
        problem = f"{len(items):,} items are more than the {most:,}" + (
            f" of {setting}" if setting else " there may be"
        )
        raise InvalidInput(argument, problem, "Split them over several calls.")


def text(argument: str, given: str, most: int, setting: str | None, remedy: str = "Give the words themselves.") -> str:
    """Return a text as it is: not empty, valid Unicode, and of at most so many bytes."""
    if not given.strip():
        raise InvalidInput(argument, "is empty", remedy)
    size = _size(argument, given)
    if size > most:
        problem = f"{size:,} bytes are more than the {most:,}" + (f" of {setting}" if setting else " there may be")
        raise InvalidInput(argument, problem, "Split it into shorter ones." if setting else "Ask more briefly.")
    return given


NameT = TypeVar("NameT", str, str | None)


def name(argument: str, given: NameT, limits: Limits) -> NameT:
    """Return an id, session, speaker, role, title or entity as it is, or None for none."""
    if given is None:
        return given
    if not given.strip():
        raise InvalidInput(argument, "is empty", "Give a name, or leave it out.")
    _size(argument, given)
    if len(given) > limits.name_chars:
        problem = f"{len(given):,} characters are more than the {limits.name_chars:,} of limits.name_chars"
        raise InvalidInput(argument, problem, "Give a shorter one.")
    return given


def space(given: str) -> str:
    """Return the name of a space as it is."""
    if not _SPACE.fullmatch(given):
        remedy = 'Give 1 to 64 letters, digits, "_", ".", "@" or "-" that begin with a letter, a digit or "_".'
        raise InvalidInput("space", f"{shown(given)} is not the name of a space", remedy)
    return given


def start(argument: str, given: str | None) -> Millis | None:
    """Return the first instant of a date or time, or None for none."""
    return None if given is None else _instants(argument, given)[0]


def moment(argument: str, given: str | None) -> Millis | None:
    """Return the instant whose facts a time means, or None for none: of a date its last, so that the day counts."""
    return None if given is None else _instants(argument, given)[1] - 1


def window(since: str | None, until: str | None) -> Window:
    """Return the times from ``since`` on and before ``until``; where that is a date, with all of that day."""
    first = _instants("since", since)[0] if since is not None else -FOREVER
    last = _instants("until", until)[1] if until is not None else FOREVER
    if first >= last:
        raise InvalidInput("since", f"{shown(since)} is not before until, {shown(until)}", "Swap them.")
    return Window(first, last)


def shown(value: object, most: int = 60) -> str:
    """Return a value as it may stand in a message: short, on one line, whatever it is."""
    if isinstance(value, int) and abs(value) >= 10**most:  # Python refuses to write out thousands of digits
        return "a number of that size"
    if isinstance(value, (list, dict)):
        return "a list" if isinstance(value, list) else "an object"
    words = ascii(value) if isinstance(value, str) and not value.isprintable() else repr(value)
    return words if len(words) <= most else words[: most - 1] + "…"


def _instants(argument: str, given: str) -> tuple[Millis, Millis]:
    try:
        return iso.parse(given)
    except ValueError:
        remedy = "Write a date as 2023-05-08 (of a year or month its first), or with a time as 2023-05-08T14:30:00Z."
        raise InvalidInput(argument, f"{shown(given)} is not an ISO-8601 date or date-time", remedy) from None


def _size(argument: str, text: str) -> int:
    """Return the size of a text in bytes of UTF-8, if it is one that can be kept."""
    if "\x00" in text:
        raise InvalidInput(argument, "holds a null byte (U+0000)", "Take it out.")
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        problem = f"is not valid Unicode: half of a surrogate pair at character {error.start}"
        raise InvalidInput(argument, problem, "Send the whole character.") from None
