"""Bounds of what is parsed of other programs: so deep, so large, of so many values.

A parser takes many times what a text takes, and a stack as deep as the text is nested: five million empty lists are a
line of 15 MB and a gigabyte of objects, and what is nested deeply ends in code that walks it later. So a text is
measured before it is parsed, or while it is, and what is over a bound is refused in words (`OverBounds`, or what
`parse_toml` raises for any text that is none).
"""

from __future__ import annotations

import json
import re
import tomllib
from itertools import islice
from typing import Any, NoReturn

MOST_LEVELS = 100
"""Lists and objects in each other; exports of chats have about ten."""
MOST_VALUES = 250_000
"""Most values of one call, or of one argument that came as JSON text. 1,000 messages with all fields have 9,000."""
RECORD_VALUES = 1_000_000
"""Most values of one record of a file: a chat with 10,000 messages has 600,000."""
RECORD_BYTES = 32 << 20
"""Most bytes of one record of a file, or of one text; the limits of messages and documents are below it."""
SLOW_CHARS = 1 << 16
"""Most characters of TOML, which take up to two seconds."""
SETTINGS_BYTES = 8 << 20
"""Most bytes of a file of settings, of this program or of another one."""

_TEXT = r'"(?:[^"\\]|\\.)*+"?'  # one without an end reaches to the end, so that nothing is read twice
_SEPARATOR = re.compile(rf"{_TEXT}|([,\[{{])", re.DOTALL)
_FLAT = re.compile(rf"(?:[^\"\[\]{{}}]++|{_TEXT}|\[[^\"\[\]{{}}]*+\]|\{{[^\"\[\]{{}}]*+\}})*+", re.DOTALL)
_DEEP_KEY = re.compile(rf"(?<![\w\"'-])(?:[\w\"'-]++[ \t]*+\.[ \t]*+){{{MOST_LEVELS}}}")


class OverBounds(ValueError):
    """A text that is not parsed, since it is over a bound; the text says which."""


def too_many_values(text: str, most: int = MOST_VALUES) -> bool:
    """Return whether a JSON text has more than so many values; commas and brackets in its strings do not count."""
    if sum(map(text.count, ",[{")) <= most:  # nearly always, and a hundred times as fast
        return False
    separators = (match for match in _SEPARATOR.finditer(text) if match.lastindex)
    return next(islice(separators, most, None), None) is not None


def is_too_deep(text: str, most: int = MOST_LEVELS) -> bool:
    """Return whether lists and objects of a JSON text lie deeper in each other; brackets in strings do not count."""
    if text.count("[") + text.count("{") <= most:
        return False
    depth = at = 0
    while found := _FLAT.match(text, at):  # what holds no value that holds others lies one deeper at most
        at = found.end() + 1
        if at > len(text):
            break
        depth += 1 if text[at - 1] in "[{" else -1
        if depth > most:
            return True
    return False


def check_bounds(text: str, values: int = RECORD_VALUES) -> None:
    """Refuse a JSON text with more values than allowed, or with lists and objects too deep in each other.

    Raises:
        OverBounds: it is over one of these bounds.
    """
    if too_many_values(text, values):  # first, as it looks at no more than so many
        raise OverBounds(f"has more than {values:,} values")
    if is_too_deep(text):
        raise OverBounds(f"is nested more than {MOST_LEVELS} deep")


def parse_json(text: str, *, values: int = RECORD_VALUES) -> Any:
    """Return the value of a JSON text.

    Raises:
        ValueError: it is no JSON, or over a bound (`OverBounds`); NaN, infinity, and numbers of thousands of digits
            are no JSON.
    """
    check_bounds(text, values)
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise OverBounds("holds a number of thousands of digits") from error


def _no_number(name: str) -> NoReturn:
    raise json.JSONDecodeError(f"{name} is no number", name, 0)


class BrokenText(ValueError):
    """A text that is not what it should be, or over a bound.

    Attributes:
        line: from 1.
        problem: in words.
    """

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a TOML text.

    Raises:
        BrokenText: it is no TOML, or over a bound.
    """
    if len(text) > SLOW_CHARS:
        raise BrokenText(1, f"is longer than {SLOW_CHARS:,} characters")
    if found := _DEEP_KEY.search(text):
        raise BrokenText(text.count("\n", 0, found.start()) + 1, f"is nested more than {MOST_LEVELS} deep")
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        words = str(error)
        line = words.rsplit("line ", 1)[-1].split(",")[0]
        raise BrokenText(int(line) if line.isdigit() else text.count("\n") + 1, words.split(" (at")[0]) from None
    except (ValueError, RecursionError) as error:
        problem = "is nested too deeply" if isinstance(error, RecursionError) else f"holds no such value ({error})"
        raise BrokenText(1, problem) from None
