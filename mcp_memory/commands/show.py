"""``mcp-memory show`` and ``mcp-memory list``: what one name means, and the newest of what a space holds.

A name is an id, a session, an entity, a message or a space. The contents are those of the resources
(``server/resources``), so ``--json`` prints what a client reads.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Literal

from mcp_memory.commands.arguments import READINGS
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
from mcp_memory.server.resources.facts import fact_row
from mcp_memory.server.resources.points import point_row
from mcp_memory.server.resources.sessions import session_row
from mcp_memory.server.resources.uris import read_in_thread
from mcp_memory.server.tools.arguments import shown
from mcp_memory.server.tools.replies import quantity
from mcp_memory.server.tools.status import space_counts
from mcp_memory.visible import one_line

if TYPE_CHECKING:
    from mcp_memory.domain.turns import Turn
    from mcp_memory.ports import Stored
    from mcp_memory.view.space import Space
    from mcp_memory.view.view import View

Listed = Literal["facts", "points", "sessions"]
_LINES: dict[str, Callable[[Terminal, Row], None]] = {
    "facts": fact_line,
    "points": point_line,
    "sessions": session_line,
}


async def listing(memory: Stored, terminal: Terminal, what: Listed, space: str, limit: int, *, as_json: bool) -> None:
    """Print facts, memory points or sessions of a space.

    Args:
        memory: opened.
        terminal: the terminal to print to.
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


_READERS: dict[str, tuple[str, Callable[[Space, Mapping[str, str]], dict[str, Any]]]] = {
    "f_": ("fact", facts.fact),
    "h_": ("point", points.point),
    "s_": ("sentence", sessions.sentence),
    "ep_": ("episode", sessions.episode),
}
"""By the beginning of an id, what it names, and the resource that reads it."""


async def show_spaces(memory: Stored, terminal: Terminal, limit: int, *, as_json: bool) -> None:
    """Print every space and how much it holds; the arguments are those of `show`."""
    async with memory.store.reading():
        pass  # raises an error if the store cannot be read; the counts alone would be empty
    rows = [space_counts(space).model_dump() for space in (await memory.status()).spaces]
    if as_json:
        terminal.json({"spaces": rows[:limit], "total": len(rows)})
        return
    for row in rows[:limit]:
        came = f"{quantity(row['messages'], 'message')}, {quantity(row['documents'], 'document')}"
        read = f"{quantity(row['entities'], 'entity')} in facts, {quantity(row['points'], 'memory point')}"
        terminal.line((row["space"], "name"), f"{came} in {quantity(row['sessions'], 'session')};", read)
    if not rows:
        terminal.line("Nothing is stored yet.")
    more_line(terminal, min(limit, len(rows)), len(rows), "space")


async def show(
    memory: Stored, terminal: Terminal, name: str, reading: str | None, space: str, limit: int, *, as_json: bool
) -> None:
    """Print what a name means.

    Args:
        memory: opened.
        terminal: the terminal to print to.
        name: a session, entity, id, or space.
        reading: what it means, one of `READINGS`; None to find out.
        space: the name of the space to look into.
        limit: how many messages, sessions or facts at most.
        as_json: whether to print JSON.

    Raises:
        InvalidInput: there is no such space, or nothing of that name in it.
    """
    async with memory.store.reading() as view:
        means = list(_meanings(view, known_space(view, space), name))
        near = [] if means else near_names(name, _names_in(view, known_space(view, space)))
        if near and folded(near[0]) == folded(name):  # typed without accents, or in another case
            name = near[0]
            means = list(_meanings(view, known_space(view, space), name))
    if reading is None and means:
        reading, *others = means
        for other in others:
            terminal.note(f"{shown(name)} is also the name of {_A[other]}: add --as {other} to see that.")
    if reading not in means or reading is None:
        what = "anything" if reading is None else _A[reading]
        problem = f"space {shown(space)} does not know {what} called {shown(name)}"
        remedy = "`mcp-memory list sessions` and `mcp-memory search` find names, `mcp-memory show` all spaces."
        if near:
            remedy = f"Did you mean {' or '.join(map(shown, near))}? {remedy}"
        raise InvalidInput("NAME", problem, remedy)
    await _SHOW[reading](memory, terminal, name, space, limit, as_json)


_A = {"id": "a record", "session": "a session", "entity": "an entity", "message": "a message or document",
      "space": "a space"}  # fmt: skip


def _meanings(view: View, space: Space, name: str) -> Iterator[str]:
    """Yield what a name can mean, in the order of `READINGS`."""
    found = {
        "id": _is_id(space, name),
        "session": name in space.sessions,
        "entity": space.facts.resolve(name) is not None
        or bool(space.hypergraph.incident(space.facts, [space.facts.key(name)])),
        "message": bool(_turns_called(space, name)),
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
    alike = get_close_matches(sought, known, most, 0.7)
    found = [*([sought] if sought in known else ()), *whole, *alike]
    return [known[one] for one in dict.fromkeys(one for one in found if one)][:most]


def _is_id(space: Space, name: str) -> bool:
    match name.partition("_")[0]:
        case "f":
            return space.facts.version(name) is not None
        case "h":
            return space.hypergraph.get(name) is not None
        case "s":
            return space.sentence(name) is not None
        case "g":
            return space.segment_row(name) >= 0
        case "ep":
            return bool(space.beliefs.lessons(name))
        case "t":
            return name in space.turns
    return False


def _turns_called(space: Space, ref: str) -> list[Turn]:
    """Return the messages and documents with a caller's id, in all sessions, with all revisions."""
    return [turn for turn in space.turns.values() if turn.ref == ref]


async def _show_space(memory: Stored, terminal: Terminal, name: str, _space: str, limit: int, as_json: bool) -> None:
    async with memory.store.reading() as view:
        rows, total = newest(known_space(view, name), "sessions", limit)
    if as_json:
        terminal.json({"type": "space", "space": name, "sessions": rows, "total": total})
        return
    terminal.line((f"Space {name}, {quantity(total, 'session')}", "bold"))
    for row in rows:
        session_line(terminal, row)
    more_line(terminal, len(rows), total, "session")


async def _show_session(memory: Stored, terminal: Terminal, name: str, space: str, limit: int, as_json: bool) -> None:
    async with memory.store.reading() as view:
        known = view.space(space)
        order = known.sessions[name]
        rows = [sessions.turn_row(known.turns[turn]) for turn in order[:limit]]
    if as_json:
        terminal.json({"type": "session", "space": space, "session": name, "turns": rows, "total": len(order)})
        return
    terminal.line((f"Session {one_line(name)}, {quantity(len(order), 'item')}", "bold"))
    for row in rows:
        turn_lines(terminal, row)
    more_line(terminal, len(rows), len(order), "item")


async def _show_message(memory: Stored, terminal: Terminal, name: str, space: str, limit: int, as_json: bool) -> None:
    async with memory.store.reading() as view:
        turns = _turns_called(view.space(space), name)
    _print_turns(terminal, turns, space, limit, as_json)


def _print_turns(terminal: Terminal, turns: list[Turn], space: str, limit: int, as_json: bool) -> None:
    rows = [sessions.turn_row(turn) | {"session": turn.session} for turn in turns[:limit]]
    if as_json:
        terminal.json({"type": "message", "space": space, "turns": rows, "total": len(turns)})
        return
    for row in rows:
        terminal.line((f"Session {one_line(row['session'])}", "bold"))
        turn_lines(terminal, row)
    more_line(terminal, len(rows), len(turns), "item")


async def _show_entity(memory: Stored, terminal: Terminal, name: str, space: str, limit: int, as_json: bool) -> None:
    content = await read_in_thread(memory, {"space": space, "name": name}, facts.entity)
    rows: list[dict[str, Any]] = []
    total = 0
    if "facts" in content:  # else only memory points name it
        total = 1
        while len(rows) < min(limit, total):
            values = {"space": space, "name": name, "cursor": str(len(rows))}
            page = await read_in_thread(memory, values, facts.timeline)
            rows, total = [*rows, *page["versions"]], page["total"]
            if not page["versions"]:
                break
    rows = rows[:limit]
    if as_json:
        terminal.json({"type": "entity"} | content | {"timeline": rows, "versions": total})
        return
    other = [one_line(one) for one in content.get("names", ()) if one != content["name"]]
    called = f"also called {', '.join(other)}" if other else ""
    about = ", ".join(part for part in (content.get("kind"), called, content.get("state")) if part)
    terminal.line((one_line(content["name"]), "bold"), (about, "dim"))
    now = [row for group in content.get("facts", {}).values() for row in group if row["status"] == "active"]
    if now:
        terminal.line(("Facts that hold", "bold"))
        for row in now[:limit]:
            fact_line(terminal, row, "  ")
    if rows:
        terminal.line(("Timeline", "bold"))
        for row in rows:
            fact_line(terminal, row, "  ")
            quote_lines(terminal, row["sources"][:1])
        more_line(terminal, len(rows), total, "version")
    for row in content.get("points", ()):
        point_line(terminal, row)


async def _show_id(memory: Stored, terminal: Terminal, name: str, space: str, limit: int, as_json: bool) -> None:
    content: dict[str, Any]
    kind, read = next((entry for start, entry in _READERS.items() if name.startswith(start)), ("", None))
    if read is None:
        async with memory.store.reading() as view:
            known = view.space(space)
            row = known.segment_row(name)
            turn, text = (known.segment_turn[row], known.text(known.segments[row])) if row >= 0 else (None, "")
            turn = turn or known.turns[name]
        if row < 0:
            _print_turns(terminal, [turn], space, limit, as_json)
            return
        source = {field: value for field, value in sessions.turn_row(turn).items() if field != "text"}
        kind, content = "segment", {"id": name, "space": space, "text": text}
        content["source"] = source | {"session": turn.session}
    else:
        content = await read_in_thread(memory, {"space": space, "id": name}, read)
    if as_json:
        terminal.json({"type": kind} | content)
        return
    _PRINT[kind](terminal, content)


def _print_piece(terminal: Terminal, content: Row) -> None:
    source = content["source"]
    terminal.line((f"Session {one_line(source['session'])}", "bold"))
    turn_lines(terminal, source | {"text": content["text"]})
    learnt = content.get("learnt", {})
    if learnt.get("supported") or learnt.get("unsupported"):
        helped = f"helped {learnt['supported']} and did not help {learnt['unsupported']} times"
        terminal.line((f"    {helped} (doubt {learnt['task_doubt']:.2f})", "dim"))


def _print_fact(terminal: Terminal, content: Row) -> None:
    fact_line(terminal, content)
    for title, name in (("Stated by", "assertions"), ("Ended by", "ended_by")):
        if content[name]:
            terminal.line((title, "bold"))
            for row in content[name]:
                terminal.line(f"  {one_line(row['text'])}", (f"{row['extractor']}, {row['recorded']}", "dim"))
                quote_lines(terminal, [row["source"]])


def _print_point(terminal: Terminal, content: Row) -> None:
    point_line(terminal, content)
    if content.get("merged_into"):
        terminal.line(("Merged into", "bold"), (content["merged_into"]["id"], "dim"))
    rests = [*content["sentences"], *content["facts"]]
    if rests:
        terminal.line(("Rests on", "bold"))
        for row in rests:
            terminal.line(f"  {one_line(row['text'])}", (row["id"], "dim"))
    if len(content["history"]) > 1:
        terminal.line(("Revisions", "bold"))
        for row in content["history"]:
            terminal.line(f"  {row['revision']}. {one_line(row['text'])}", (row["recorded"], "dim"))


def _print_episode(terminal: Terminal, content: Row) -> None:
    terminal.line((one_line(content["query"]), "bold"), (f"{content['asked']}, {content['id']}", "dim"))
    if content.get("answer"):
        terminal.line("Answer:", one_line(content["answer"]))
    for number, row in enumerate(content["evidence"], 1):
        terminal.line(f"  {number}. {one_line(row['text'])}", (row["id"], "dim"))
    for lesson in content["lessons"]:
        labels = [label["label"] for label in lesson["labels"]]
        counts = f"{labels.count(1)} supported, {labels.count(0)} did not, {labels.count(-1)} misled"
        terminal.line(f"Judged by {lesson['source']}, {lesson['recorded']}: {counts}")


_SHOW = {
    "id": _show_id,
    "session": _show_session,
    "entity": _show_entity,
    "message": _show_message,
    "space": _show_space,
}
_PRINT = dict.fromkeys(("segment", "sentence"), _print_piece) | {
    "fact": _print_fact,
    "point": _print_point,
    "episode": _print_episode,
}
