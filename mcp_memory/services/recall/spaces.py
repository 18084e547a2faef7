"""Which space is meant: of one that nobody has written to a result says so, and further steps name their own.

An unknown space is an empty one, and a name written otherwise looks just like one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.domain.evidence import Suggestion
from mcp_memory.view.space import Space
from mcp_memory.view.view import View

DEFAULT = "default"
"""The space that is meant where none is named."""
NAMED = 5
"""Spaces that are named, those with most in them."""


def unknown(view: View, name: str) -> tuple[str, ...]:
    """Return a warning where there is no space of that name, with those that there are; none where there is one."""
    if name in view.spaces:
        return ()
    if not view.spaces:
        return ("Nothing is stored yet, in any space.",)
    known = sorted(view.spaces, key=lambda one: (-len(view.spaces[one].turns), one))
    more = f" and {len(known) - NAMED} more" if len(known) > NAMED else ""
    return (f"There is no space {name!r} yet; known: {', '.join(known[:NAMED])}{more}. Name the one you mean.",)


def within(space: Space, steps: Sequence[Suggestion]) -> tuple[Suggestion, ...]:
    """Return steps with the space in which they are to be taken, where that has to be named."""
    if space.name == DEFAULT:
        return tuple(steps)
    return tuple(replace(step, args={**step.args, "space": space.name}) for step in steps)
