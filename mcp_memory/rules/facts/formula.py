"""What the form of an opening tells, and the brackets that stand in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from mcp_memory.domain.times import StatedTime

_BORN = re.compile(r"\b(?:born|b\.|née|né)(?=[\s.])|†", re.IGNORECASE)
_MOST = 8


@dataclass(frozen=True, slots=True)
class Formula:
    """One fact, and the words that say it.

    Attributes:
        head: what it is about.
        relation: its name.
        tail: as written.
        start: first character of the words.
        end: first character after them.
        time: when it happened.
    """

    head: str
    relation: str
    tail: str
    start: int
    end: int
    time: StatedTime | None = None


@dataclass(frozen=True, slots=True)
class Bracket:
    """What stands in brackets.

    Attributes:
        start: first character inside.
        end: the closing bracket.
        born: whether it says that somebody was born.
    """

    start: int
    end: int
    born: bool


def brackets(text: str, start: int, end: int) -> list[Bracket]:
    """Return the outermost brackets between two places, the first few."""
    found: list[Bracket] = []
    deep = opened = 0
    for place in range(start, end):
        character = text[place]
        if character == "(":
            opened = opened if deep else place + 1
            deep += 1
        elif character == ")" and deep:
            deep -= 1
            if not deep:
                found.append(Bracket(opened, place, bool(_BORN.search(text, opened, place))))
                if len(found) == _MOST:
                    break
    return found


def masked(text: str, beside: Sequence[Bracket]) -> str:
    """Return a text of the same length with spaces for the brackets and what they hold."""
    parts, place = [], 0
    for bracket in beside:
        parts += [text[place : bracket.start - 1], " " * (bracket.end - bracket.start + 2)]
        place = bracket.end + 1
    return "".join([*parts, text[place:]])
