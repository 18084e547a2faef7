"""``mcp-memory show`` and ``mcp-memory list``: what one name means, and the newest of what a space holds.

A name is an id, a session, an entity, a message or a space. The contents are those of the resources
(``server/resources``), so ``--json`` prints what a client reads; of an id that is all there is.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from contextlib import aclosing
from difflib import get_close_matches
from itertools import chain
from typing import TYPE_CHECKING, Any

from mcp_memory.commands.arguments import READINGS
from mcp_memory.commands.looking import known_space
from mcp_memory.commands.terminal import (
    Row,
    Terminal,
    fact_line,
    more_line,
    point_line,
    quote_lines,
    session_line,
    turn_lines,
)
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.errors import InvalidInput
from mcp_memory.server.resources import facts, points, sessions
from mcp_memory.server.tools.arguments import shown
from mcp_memory.server.tools.replies import json_of, quantity
from mcp_memory.server.tools.status import space_counts
from mcp_memory.settings import Settings
from mcp_memory.visible import one_line
from mcp_memory.wiring import new_memory

if TYPE_CHECKING:
    from mcp_memory.domain.turns import Turn
    from mcp_memory.view.space import Space
    from mcp_memory.view.view import View

_LINES: Mapping[str, Callable[[Terminal, Row], None]] = {
    "facts": fact_line,
    "points": point_line,
    "sessions": session_line,
}


async def list_(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Print the newest facts, memory points or sessions of a space.

    Raises:
        InvalidInput: there is no such space.
    """
    what, name = options.what, options.space or MEANT_SPACE.get()
    async with aclosing(new_memory(settings)) as memory, memory.store.reading() as view:
        rows, total = newest(known_space(view, name), what, options.limit)
    if options.json:
        terminal.json({"space": name, what: json_of(rows), "total": total})
        return
    for row in rows:
        _LINES[what](terminal, json_of(row))
    if not rows:
        terminal.line(f"There are no {what} in space {name}.")
    more_line(terminal, len(rows), total, what.removesuffix("s"))


def newest(space: Space, what: str, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of the newest facts, points or sessions, newest first, and how many there are in all."""
    if what == "facts":
        recorded = {one.id: max(row.recorded_at for row in one.assertions) for one in space.facts.all(suspected=True)}
        versions = sorted(space.facts.all(suspected=True), key=lambda one: (recorded[one.id], one.id), reverse=True)
        return [facts.fact_row(space, version) for version in versions[:limit]], len(versions)
    if what == "points":
        active = space.hypergraph.active()[::-1]
        return [points.point_row(space, point) for point in active[:limit]], len(active)
    names = list(reversed(space.sessions))
    return [sessions.session_row(space, name) for name in names[:limit]], len(names)


async def show(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Print what a name means; without one the sessions of a space, or all spaces.

    Raises:
        InvalidInput: there is no such space, or nothing of that name in it.
    """
    async with aclosing(new_memory(settings)) as memory:
        if options.name is None and options.space is None:
            rows = [space_counts(space) for space in (await memory.status()).spaces]
            content: dict[str, Any] = {"spaces": rows[: options.limit], "total": len(rows)}
        async with memory.store.reading() as view:  # an error here if the store cannot be read
            space = known_space(view, options.space or MEANT_SPACE.get())
            if options.name is not None:
                content = _named(view, space, options.name, options.reading, options.limit)
            elif options.space is not None:
                content = _space_of(view, space, options.space, options.limit) or {}
    content = json_of(content)
    reading = content.get("type", "spaces")
    if options.json or reading not in _PRINT:
        terminal.json(content)
    else:
        _PRINT[reading](terminal, content, options.limit)


def _named(view: View, space: Space, name: str, reading: str | None, limit: int) -> dict[str, Any]:
    """Return what a name means in a space, the first of its meanings unless one is asked for.

    Raises:
        InvalidInput: nothing is called so.
    """
    for one in READINGS if reading is None else (reading,):
        if (content := _READ[one](view, space, name, limit)) is not None:
            return content
    names = chain(space.sessions, map(space.facts.name, space.facts.entities()), view.spaces)
    near = get_close_matches(name, list(names), 3, 0.7)
    remedy = "`mcp-memory list sessions` and `mcp-memory search` find names, `mcp-memory show` all spaces."
    if near:
        remedy = f"Did you mean {' or '.join(map(shown, near))}? {remedy}"
    what = "anything" if reading is None else _A[reading]
    raise InvalidInput("NAME", f"space {shown(space.name)} does not know {what} called {shown(name)}", remedy)


_A = {"id": "a record", "session": "a session", "entity": "an entity", "message": "a message or document",
      "space": "a space"}  # fmt: skip
_BY_ID: Mapping[str, tuple[str, Callable[[Space, Mapping[str, str]], dict[str, Any]]]] = {
    "f": ("fact", facts.fact),
    "h": ("point", points.point),
    "s": ("sentence", sessions.sentence),
    "ep": ("episode", sessions.episode),
}
"""By the beginning of an id, what it names, and the resource that reads it."""


def _of_id(_view: View, space: Space, name: str, limit: int) -> dict[str, Any] | None:
    kind, read = _BY_ID.get(name.partition("_")[0], ("", None))
    if read is not None:
        try:
            return {"type": kind} | read(space, {"space": space.name, "id": name})
        except InvalidInput:
            return None
    if (row := space.segment_row(name)) >= 0:
        turn, text = space.segment_turn[row], space.text(space.segments[row])
        source = {field: value for field, value in sessions.turn_row(turn).items() if field != "text"}
        found = {"type": "segment", "id": name, "space": space.name, "text": text}
        return found | {"source": source | {"session": turn.session}}
    return _turns(space, [space.turns[name]], limit) if name in space.turns else None


def _of_session(_view: View, space: Space, name: str, limit: int) -> dict[str, Any] | None:
    if name not in space.sessions:
        return None
    turns = [space.turns[turn] for turn in space.sessions[name]]
    rows = list(map(sessions.turn_row, turns[:limit]))
    return {"type": "session", "space": space.name, "session": name, "turns": rows, "total": len(turns)}


def _of_entity(_view: View, space: Space, name: str, limit: int) -> dict[str, Any] | None:
    values = {"space": space.name, "name": name}
    known = space.facts.resolve(name) is not None
    if not known and not space.hypergraph.incident(space.facts, [space.facts.key(name)]):
        return None
    rows, total = list[dict[str, Any]](), int(known)  # else only memory points name it
    while len(rows) < min(limit, total):
        page = facts.timeline(space, values | {"cursor": str(len(rows))})
        rows, total = [*rows, *page["versions"]], page["total"]
    return {"type": "entity"} | facts.entity(space, values) | {"timeline": rows[:limit], "versions": total}


def _of_message(_view: View, space: Space, name: str, limit: int) -> dict[str, Any] | None:
    """Return the messages and documents with a caller's id, in all sessions, with all revisions."""
    turns = [turn for turn in space.turns.values() if turn.ref == name]
    return _turns(space, turns, limit) if turns else None


def _turns(space: Space, turns: list[Turn], limit: int) -> dict[str, Any]:
    rows = [sessions.turn_row(turn) | {"session": turn.session} for turn in turns[:limit]]
    return {"type": "message", "space": space.name, "turns": rows, "total": len(turns)}


def _space_of(view: View, space: Space, name: str, limit: int) -> dict[str, Any] | None:
    if name not in view.spaces and name != space.name:
        return None
    rows, total = newest(view.space(name), "sessions", limit)
    return {"type": "space", "space": name, "sessions": rows, "total": total}


_READ: Mapping[str, Callable[[View, Space, str, int], dict[str, Any] | None]] = {
    "id": _of_id,
    "session": _of_session,
    "entity": _of_entity,
    "message": _of_message,
    "space": _space_of,
}
"""What reads a name in each of its meanings; None where it means nothing so."""


def _print_spaces(terminal: Terminal, content: Row, _limit: int) -> None:
    for row in content["spaces"]:
        came = f"{quantity(row['messages'], 'message')}, {quantity(row['documents'], 'document')}"
        read = f"{quantity(row['entities'], 'entity')} in facts, {quantity(row['points'], 'memory point')}"
        terminal.line((row["space"], "name"), f"{came} in {quantity(row['sessions'], 'session')};", read)
    if not content["spaces"]:
        terminal.line("Nothing is stored yet.")
    more_line(terminal, len(content["spaces"]), content["total"], "space")


def _print_space(terminal: Terminal, content: Row, _limit: int) -> None:
    terminal.line((f"Space {content['space']}, {quantity(content['total'], 'session')}", "bold"))
    for row in content["sessions"]:
        session_line(terminal, row)
    more_line(terminal, len(content["sessions"]), content["total"], "session")


def _print_turns(terminal: Terminal, content: Row, _limit: int) -> None:
    if "session" in content:
        terminal.line((f"Session {one_line(content['session'])}, {quantity(content['total'], 'item')}", "bold"))
    for row in content["turns"]:
        if "session" in row:
            terminal.line((f"Session {one_line(row['session'])}", "bold"))
        turn_lines(terminal, row)
    more_line(terminal, len(content["turns"]), content["total"], "item")


def _print_entity(terminal: Terminal, content: Row, limit: int) -> None:
    other = [one_line(one) for one in content.get("names", ()) if one != content["name"]]
    called = f"also called {', '.join(other)}" if other else ""
    about = ", ".join(part for part in (content.get("kind"), called, content.get("state")) if part)
    terminal.line((one_line(content["name"]), "bold"), (about, "dim"))
    now = [row for group in content.get("facts", {}).values() for row in group if row["status"] == "active"]
    if now:
        terminal.line(("Facts that hold", "bold"))
        for row in now[:limit]:
            fact_line(terminal, row, "  ")
    if rows := content["timeline"]:
        terminal.line(("Timeline", "bold"))
        for row in rows:
            fact_line(terminal, row, "  ")
            quote_lines(terminal, row["sources"][:1])
        more_line(terminal, len(rows), content["versions"], "version")
    for row in content.get("points", ()):
        point_line(terminal, row)


_PRINT: Mapping[str, Callable[[Terminal, Row, int], None]] = {
    "spaces": _print_spaces,
    "space": _print_space,
    "session": _print_turns,
    "message": _print_turns,
    "entity": _print_entity,
}
