"""``mcp-memory list``: facts, memory points or sessions of a space, the newest first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

from mcp_memory.commands.terminal import Terminal
from mcp_memory.commands.wording import Row, fact_line, more_line, point_line, session_line
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.domain.facts import Version
from mcp_memory.errors import InvalidInput
from mcp_memory.server.resources.facts import fact_row
from mcp_memory.server.resources.points import point_row
from mcp_memory.server.resources.sessions import session_row
from mcp_memory.server.tools.arguments import shown

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space
    from mcp_memory.view.view import View

Listed = Literal["facts", "points", "sessions"]
_LINES: dict[str, Callable[[Terminal, Row], None]] = {
    "facts": fact_line,
    "points": point_line,
    "sessions": session_line,
}


async def listing(memory: Memory, terminal: Terminal, what: Listed, space: str, limit: int, *, as_json: bool) -> None:
    """Print facts, memory points or sessions of a space.

    Args:
        memory: opened.
        terminal: to print to.
        what: to list.
        space: the name of the space.
        limit: how many at most.
        as_json: whether to print JSON.

    Raises:
        InvalidInput: there is no such space.
    """
    async with memory.store.reading() as view:
        rows, total = newest(known_space(view, space), what, limit)
    if as_json:
        terminal.json({"space": space, what: rows, "total": total})
        return
    for row in rows:
        _LINES[what](terminal, row)
    if not rows:
        terminal.line(f"There are no {what} in space {space}.")
    more_line(terminal, len(rows), total, what.removesuffix("s"))


def newest(space: Space, what: Listed, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of the newest facts, points or sessions, newest first, and how many there are in all."""
    if what == "facts":
        versions = sorted(space.facts.all(suspected=True), key=_recorded_at, reverse=True)
        return [fact_row(space, version) for version in versions[:limit]], len(versions)
    if what == "points":
        points = space.hypergraph.active()[::-1]
        return [point_row(space, point) for point in points[:limit]], len(points)
    names = list(reversed(space.sessions))
    return [session_row(space, name) for name in names[:limit]], len(names)


def known_space(view: View, name: str) -> Space:
    """Return a space; the default space exists before anything was written to it.

    Raises:
        InvalidInput: nothing was ever written to it.
    """
    if name not in view.spaces and name != MEANT_SPACE.get():
        there = f"There are: {', '.join(sorted(view.spaces))}." if view.spaces else "Nothing is stored yet."
        raise InvalidInput("--space", f"nothing was ever written to a space {shown(name)}", there)
    return view.space(name)


def _recorded_at(version: Version) -> tuple[int, str]:
    return max(assertion.recorded_at for assertion in version.assertions), version.id
