"""``mcp-memory show`` and ``mcp-memory list``: what one name means, and the newest of what a space holds.

A name is an id, a session, an entity, a message or a space. The contents are those of the resources
(``server/resources``), so ``--json`` prints what a client reads; of an id that is all there is.
"""

from __future__ import annotations

import argparse
import unicodedata
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from mcp_memory.commands.arguments import READINGS
from mcp_memory.commands.looking import known_space, open_look
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
from mcp_memory.domain.facts import Version
from mcp_memory.errors import InvalidInput
from mcp_memory.server.resources import facts, points, sessions
from mcp_memory.server.resources.uris import read_in_thread
from mcp_memory.server.tools.arguments import shown
from mcp_memory.server.tools.replies import quantity
from mcp_memory.server.tools.status import space_counts
from mcp_memory.settings import Settings
from mcp_memory.visible import one_line

if TYPE_CHECKING:
    from mcp_memory.ports import Stored
    from mcp_memory.view.space import Space
    from mcp_memory.view.view import View

_LINES: dict[str, Callable[[Terminal, Row], None]] = {
    "facts": fact_line,
    "points": point_line,
    "sessions": session_line,
}


async def list_(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Print the newest facts, memory points or sessions of a space.

    Raises:
        InvalidInput: there is no such space.
    """
    stored, what, name = await open_look(settings), options.what, options.space or MEANT_SPACE.get()
    try:
        async with stored.store.reading() as view:
            rows, total = newest(known_space(view, name), what, options.limit)
    finally:
        await stored.aclose()
    if options.json:
        terminal.json({"space": name, what: rows, "total": total})
        return
    for row in rows:
        _LINES[what](terminal, row)
    if not rows:
        terminal.line(f"There are no {what} in space {name}.")
    more_line(terminal, len(rows), total, what.removesuffix("s"))


def newest(space: Space, what: str, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of the newest facts, points or sessions, newest first, and how many there are in all."""
    if what == "facts":
        versions = sorted(space.facts.all(suspected=True), key=_recorded_at, reverse=True)
        return [facts.fact_row(space, version) for version in versions[:limit]], len(versions)
    if what == "points":
        active = space.hypergraph.active()[::-1]
        return [points.point_row(space, point) for point in active[:limit]], len(active)
    names = list(reversed(space.sessions))
    return [sessions.session_row(space, name) for name in names[:limit]], len(names)


def _recorded_at(version: Version) -> tuple[int, str]:
    return max(assertion.recorded_at for assertion in version.assertions), version.id


async def show(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Print what a name means; without one the sessions of a space, or all spaces.

    Raises:
        InvalidInput: there is no such space, or nothing of that name in it.
    """
    stored = await open_look(settings)
    space, reading = options.space or MEANT_SPACE.get(), options.reading
    try:
        async with stored.store.reading() as view:  # an error here if the store cannot be read
            if options.name is None:
                name, reading = space, "spaces" if options.space is None else "space"
                if reading == "space":
                    known_space(view, space)
            else:
                name, reading = _meaning(view, known_space(view, space), options.name, reading, terminal)
        content = await _READ[reading](stored, name, space, options.limit)
    finally:
        await stored.aclose()
    if options.json or reading not in _PRINT:
        terminal.json(content)
    else:
        _PRINT[reading](terminal, content, options.limit)


def _meaning(view: View, space: Space, name: str, reading: str | None, terminal: Terminal) -> tuple[str, str]:
    """Return a name as it is spelt in a space, and what it means there.

    Raises:
        InvalidInput: nothing is called so.
    """
    means = list(_meanings(view, space, name))
    near = [] if means else near_names(name, _names_in(view, space))
    if near and folded(near[0]) == folded(name):  # typed without accents, or in another case
        name = near[0]
        means = list(_meanings(view, space, name))
    if reading is None and means:
        reading, *others = means
        for other in others:
            terminal.note(f"{shown(name)} is also the name of {_A[other]}: add --as {other} to see that.")
    if reading is None or reading not in means:
        what = "anything" if reading is None else _A[reading]
        problem = f"space {shown(space.name)} does not know {what} called {shown(name)}"
        remedy = "`mcp-memory list sessions` and `mcp-memory search` find names, `mcp-memory show` all spaces."
        if near:
            remedy = f"Did you mean {' or '.join(map(shown, near))}? {remedy}"
        raise InvalidInput("NAME", problem, remedy)
    return name, reading


_A = {"id": "a record", "session": "a session", "entity": "an entity", "message": "a message or document",
      "space": "a space"}  # fmt: skip


def _meanings(view: View, space: Space, name: str) -> Iterator[str]:
    """Yield what a name can mean, in the order of `READINGS`."""
    kind = name.partition("_")[0]
    found = {
        "id": (kind == "f" and space.facts.version(name) is not None)
        or (kind == "h" and space.hypergraph.get(name) is not None)
        or (kind == "s" and space.sentence(name) is not None)
        or (kind == "g" and space.segment_row(name) >= 0)
        or (kind == "ep" and bool(space.beliefs.lessons(name)))
        or name in space.turns,
        "session": name in space.sessions,
        "entity": space.facts.resolve(name) is not None
        or bool(space.hypergraph.incident(space.facts, [space.facts.key(name)])),
        "message": any(turn.ref == name for turn in space.turns.values()),
        "space": name in view.spaces or name == space.name,
    }
    return (reading for reading in READINGS if found[reading])


def _names_in(view: View, space: Space) -> Iterator[str]:
    """Yield every name that `show` knows in a space, with repetitions; the newest sessions first."""
    yield from reversed(space.sessions)
    for key in space.facts.entities():
        yield from space.facts.names(key)
    for point in space.hypergraph.active():
        yield from point.entities
    yield from space.speakers
    yield from (turn.ref for turn in space.turns.values())
    yield from view.spaces


def folded(name: str) -> str:
    """Return a name without accents, case and what is between its words."""
    letters = unicodedata.normalize("NFKD", name).casefold()
    return " ".join("".join(c if c.isalnum() else " " for c in letters if not unicodedata.combining(c)).split())


def near_names(name: str, names: Iterable[str], most: int = 3) -> list[str]:
    """Return the names that are spelt most like another, the nearest first; none if nothing is near.

    A name is near that has all words of the other, or is spelt alike in at least seven letters of ten.
    """
    known: dict[str, str] = {}
    sought = folded(name)
    for one in names:
        known.setdefault(folded(one), one)
    words = set(sought.split())
    whole = [one for one in known if words and (words <= set(one.split()) or set() < set(one.split()) <= words)]
    found = [*([sought] if sought in known else ()), *whole, *get_close_matches(sought, known, most, 0.7)]
    return [known[one] for one in dict.fromkeys(one for one in found if one)][:most]


async def _spaces(stored: Stored, _name: str, _space: str, limit: int) -> dict[str, Any]:
    rows = [space_counts(space) for space in (await stored.status()).spaces]
    return {"spaces": rows[:limit], "total": len(rows)}


async def _space(stored: Stored, name: str, _space: str, limit: int) -> dict[str, Any]:
    async with stored.store.reading() as view:
        rows, total = newest(view.space(name), "sessions", limit)
    return {"type": "space", "space": name, "sessions": rows, "total": total}


async def _session(stored: Stored, name: str, space: str, limit: int) -> dict[str, Any]:
    async with stored.store.reading() as view:
        turns = [view.space(space).turns[turn] for turn in view.space(space).sessions[name]]
    rows = list(map(sessions.turn_row, turns[:limit]))
    return {"type": "session", "space": space, "session": name, "turns": rows, "total": len(turns)}


async def _message(stored: Stored, name: str, space: str, limit: int) -> dict[str, Any]:
    """The messages and documents with a caller's id or an id of ours, in all sessions, with all revisions."""
    async with stored.store.reading() as view:
        turns = [turn for turn in view.space(space).turns.values() if name in (turn.ref, turn.id)]
    rows = [sessions.turn_row(turn) | {"session": turn.session} for turn in turns[:limit]]
    return {"type": "message", "space": space, "turns": rows, "total": len(turns)}


async def _entity(stored: Stored, name: str, space: str, limit: int) -> dict[str, Any]:
    values = {"space": space, "name": name}
    content = await read_in_thread(stored, values, facts.entity)
    rows: list[dict[str, Any]] = []
    total = int("facts" in content)  # else only memory points name it
    while len(rows) < min(limit, total):
        page = await read_in_thread(stored, values | {"cursor": str(len(rows))}, facts.timeline)
        rows, total = [*rows, *page["versions"]], page["total"]
        if not page["versions"]:
            break
    return {"type": "entity"} | content | {"timeline": rows[:limit], "versions": total}


_BY_ID: Mapping[str, tuple[str, Callable[[Space, Mapping[str, str]], dict[str, Any]]]] = {
    "f": ("fact", facts.fact),
    "h": ("point", points.point),
    "s": ("sentence", sessions.sentence),
    "ep": ("episode", sessions.episode),
}
"""By the beginning of an id, what it names, and the resource that reads it."""


async def _id(stored: Stored, name: str, space: str, limit: int) -> dict[str, Any]:
    kind, read = _BY_ID.get(name.partition("_")[0], ("", None))
    if read is not None:
        return {"type": kind} | await read_in_thread(stored, {"space": space, "id": name}, read)
    async with stored.store.reading() as view:
        known = view.space(space)
        if (row := known.segment_row(name)) >= 0:
            turn, text = known.segment_turn[row], known.text(known.segments[row])
            source = {field: value for field, value in sessions.turn_row(turn).items() if field != "text"}
            found = {"type": "segment", "id": name, "space": space, "text": text}
            return found | {"source": source | {"session": turn.session}}
    return await _message(stored, name, space, limit)


_READ: Mapping[str, Callable[[Stored, str, str, int], Awaitable[dict[str, Any]]]] = {
    "spaces": _spaces,
    "space": _space,
    "session": _session,
    "message": _message,
    "entity": _entity,
    "id": _id,
}


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
