"""Declare settings: dataclass fields that the configuration file and the environment can set.

A room declares its settings as one frozen dataclass in ``<room>/settings.py``. A field made by `key` can be set in the
section of the room, a field made by `switch` in the section ``[switches]``; any other field is a constant that only
code changes. ``mcp_memory/settings.py`` reads these declarations to load a file and to write ``config.example.toml``.

This module is imported before the server's first reply, so it uses the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers that a setting may have; the lower end belongs to it, the upper end only if stated."""

    low: float
    high: float = inf
    includes_low: bool = True
    includes_high: bool = False

    def __contains__(self, value: float) -> bool:
        above = value >= self.low if self.includes_low else value > self.low
        return above and (value <= self.high if self.includes_high else value < self.high)

    def __str__(self) -> str:
        lower = f"{self.low:g} or more" if self.includes_low else f"above {self.low:g}"
        if self.high == inf:
            return lower
        return f"{lower} and {'at most' if self.includes_high else 'below'} {self.high:g}"


NOT_NEGATIVE = Range(0)
POSITIVE = Range(0, includes_low=False)


@dataclass(frozen=True, slots=True)
class Declared:
    """How a field can be set.

    Attributes:
        comment: one line for the example file.
        range: allowed numbers; None allows whole numbers from 1 on, and any other number that is not negative.
        switch: the field's key in ``[switches]``; None for a key of the room's own section.
    """

    comment: str
    range: Range | None = None
    switch: str | None = None


def key(default: T, comment: str, range: Range | None = None) -> T:  # noqa: A002
    """Return a dataclass field that the section of its room sets."""
    return _field(default, Declared(comment, range))


def switch(name: str, default: bool, comment: str) -> bool:
    """Return a dataclass field that the section ``[switches]`` sets by this name, to turn a mechanism on or off."""
    return _field(default, Declared(comment, switch=name))


def _field(default: T, declared: Declared) -> T:
    made: Any = field(default=default, metadata={"declared": declared})
    return made  # type: ignore[no-any-return]  # as `dataclasses.field` is typed: by its default
