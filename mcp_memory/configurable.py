"""Declare settings: dataclass fields that the configuration file and the environment can set.

A room declares its settings as one frozen dataclass in ``<room>/settings.py``; a field made by `key` can be set in the
section of the room, any other is a constant that only code changes. ``mcp_memory/settings.py`` reads these declarations
to load a file and to write ``config.example.toml``.

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
    """

    comment: str
    least: int = 1


def key(default: T, comment: str, least: int = 1) -> T:
    """Return a dataclass field that the section of its room sets; a number to ``least`` or more."""
    made: Any = field(default=default, metadata={"declared": Declared(comment, least)})
    return made  # type: ignore[no-any-return]  # as `dataclasses.field` is typed: by its default
