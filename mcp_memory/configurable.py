"""Declare settings: dataclass fields that the configuration file and the environment can set.

A room declares its settings as one frozen dataclass in ``<room>/settings.py``. A field made by `key` can be set in the
section of the room, a field made by `switch` in the section ``[switches]``; any other field is a constant that only
code changes. ``mcp_memory/settings.py`` reads these declarations to load a file and to write ``config.example.toml``.

This module is imported before the server's first reply, so it uses the standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Declared:
    """How a field can be set.

    Attributes:
        comment: one line for the example file.
        least: the smallest number that is allowed.
        switch: the field's key in ``[switches]``; None for a key of the room's own section.
    """

    comment: str
    least: int = 1
    switch: str | None = None


def key(default: T, comment: str, least: int = 1) -> T:
    """Return a dataclass field that the section of its room sets; a number to ``least`` or more."""
    return _field(default, Declared(comment, least))


def switch(name: str, default: bool, comment: str) -> bool:
    """Return a dataclass field that the section ``[switches]`` sets by this name, to turn a mechanism on or off."""
    return _field(default, Declared(comment, switch=name))


def _field(default: T, declared: Declared) -> T:
    made: Any = field(default=default, metadata={"declared": declared})
    return made  # type: ignore[no-any-return]  # as `dataclasses.field` is typed: by its default
