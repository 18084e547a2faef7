"""Spaces that nobody has written to: an empty result says so, since a name written otherwise looks just like one."""

from __future__ import annotations

from mcp_memory.view.view import View

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
    return (f"There is no space {name!r} yet; known: {', '.join(known[:NAMED])}{more}.",)
