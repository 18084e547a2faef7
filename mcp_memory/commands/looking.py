"""Find the space that a command looks into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.errors import InvalidInput

if TYPE_CHECKING:
    from mcp_memory.view.space import Space
    from mcp_memory.view.view import View


def known_space(view: View, name: str) -> Space:
    """Return a space; the default space exists before anything was written to it.

    Raises:
        InvalidInput: nothing was ever written to it.
    """
    if name not in view.spaces and name != MEANT_SPACE.get():
        there = f"There are: {', '.join(sorted(view.spaces))}." if view.spaces else "Nothing is stored yet."
        raise InvalidInput("--space", f"nothing was ever written to a space {name[:60]!r}", there)
    return view.space(name)
