"""``mcp-memory show``, ``list`` and ``search``: what one name means, the newest of a space, and a recall.

A name is an id, a session, an entity or the title of a document. The contents are those of the resources
(``server/resources``), so ``--json`` prints what a client reads; of most ids that is all there is.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import replace
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from mcp_memory.commands.terminal import Terminal
from mcp_memory.domain.access import MEANT_SPACE
from mcp_memory.domain.evidence import RecallResult
from mcp_memory.domain.query import Query
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.server.resources import facts, sessions
from mcp_memory.server.resources.uris import space_of
from mcp_memory.server.tools.arguments import read_arguments, shown
from mcp_memory.server.tools.dossier import HEADER
from mcp_memory.server.tools.recall import AnswerInput, recall_reply
from mcp_memory.server.tools.replies import in_parentheses, json_of, quantity, validity
from mcp_memory.settings import Settings
from mcp_memory.visible import as_name, one_line
from mcp_memory.wiring import new_memory

if TYPE_CHECKING:
    from mcp_memory.domain.turns import Turn
    from mcp_memory.view.space import Space

Row = Mapping[str, Any]
"""A row of a resource."""


async def list_(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Print the newest facts, memory points or sessions of a space.

    Raises:
        InvalidInput: there is no such space.
    """
    what, name = options.what, options.space or MEANT_SPACE.get()
    async with aclosing(new_memory(settings)) as memory, memory.store.reading() as view:
        rows, total = newest(space_of(view, name, "--space"), what, options.limit)
    if options.json:
        terminal.json({"space": name, what: json_of(rows), "total": total})
        return
    for row in rows:
        _LINES[what](terminal, json_of(row))
    if not rows:
        terminal.line(f"There are no {what} in space {name}.")
    _more_line(terminal, len(rows), total, what.removesuffix("s"))


def newest(space: Space, what: str, limit: int) -> tuple[list[dict[str, Any]], int]:
    """Return the rows of the newest facts, points or sessions, newest first, and how many there are in all."""
    if what == "facts":
        recorded = {one.id: max(row.recorded_at for row in one.assertions) for one in space.facts.all(suspected=True)}
        versions = sorted(space.facts.all(suspected=True), key=lambda one: (recorded[one.id], one.id), reverse=True)
        return [facts.fact_row(space, version) for version in versions[:limit]], len(versions)
    if what == "points":
        active = space.hypergraph.active()[::-1]
        return [facts.point_row(space, point) for point in active[:limit]], len(active)
    names = list(reversed(space.sessions))
    return [sessions.session_row(space, name) for name in names[:limit]], len(names)


async def show(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Print what a name means in a space: an id, else a session, else an entity, else a title.

    Raises:
        InvalidInput: there is no such space, or nothing of that name in it.
    """
    async with aclosing(new_memory(settings)) as memory, memory.store.reading() as view:
        space = space_of(view, options.space or MEANT_SPACE.get(), "--space")
        content = json_of(_named(space, options.name, options.limit))
    if options.json or content["type"] not in ("session", "texts", "entity"):
        terminal.json(content)
    elif content["type"] == "entity":
        _print_entity(terminal, content, options.limit)
    else:
        _print_turns(terminal, content)


def _named(space: Space, name: str, limit: int) -> dict[str, Any]:
    """Return what a name means in a space.

    Raises:
        InvalidInput: nothing is called so.
    """
    kind, read = _BY_ID.get(name.partition("_")[0], ("", None))
    if read is not None:
        with suppress(InvalidInput):
            return {"type": kind} | read(space, {"space": space.name, "id": name})
    if name in space.sessions:
        turns = [space.turns[turn] for turn in space.sessions[name]]
        rows = list(map(sessions.turn_row, turns[:limit]))
        return {"type": "session", "space": space.name, "session": name, "turns": rows, "total": len(turns)}
    if texts := [turn for turn in space.turns.values() if name in (turn.ref, turn.id)]:
        return _texts(space, texts, limit)
    known = space.facts.resolve(name) is not None  # else only memory points may name it
    if known or space.hypergraph.incident(space.facts, [space.facts.key(name)]):
        return _entity(space, name, limit if known else 0)
    if texts := [turn for turn in space.turns.values() if name == turn.title]:
        return _texts(space, texts, limit)
    near = get_close_matches(name, [*space.sessions, *map(space.facts.name, space.facts.entities())], 3, 0.7)
    remedy = "`mcp-memory list sessions` and `mcp-memory search` find names."
    if near:
        remedy = f"Did you mean {' or '.join(map(shown, near))}? {remedy}"
    raise InvalidInput("", f"space {shown(space.name)} does not know anything called {shown(name)}", remedy)


_BY_ID: Mapping[str, tuple[str, Callable[[Space, Mapping[str, str]], dict[str, Any]]]] = {
    "f": ("fact", facts.fact),
    "h": ("point", facts.point),
    "s": ("sentence", sessions.sentence),
    "ep": ("episode", sessions.episode),
}
"""By the beginning of an id, what it names, and the resource that reads it."""


def _texts(space: Space, texts: Sequence[Turn], limit: int) -> dict[str, Any]:
    """Return messages and documents, all revisions of each."""
    rows = [sessions.turn_row(turn) | {"session": turn.session} for turn in texts[:limit]]
    return {"type": "texts", "space": space.name, "turns": rows, "total": len(texts)}


def _entity(space: Space, name: str, limit: int) -> dict[str, Any]:
    """Return an entity with at most ``limit`` versions of its timeline, of which each page of the resource has some."""
    values = {"space": space.name, "name": name}
    rows, total = list[dict[str, Any]](), min(limit, 1)
    while len(rows) < min(limit, total):
        page = facts.timeline(space, values | {"cursor": str(len(rows))})
        rows, total = [*rows, *page["versions"]], page["total"]
    return {"type": "entity"} | facts.entity(space, values) | {"timeline": rows[:limit], "versions": total}


def _print_turns(terminal: Terminal, content: Row) -> None:
    if "session" in content:
        terminal.line((f"Session {one_line(content['session'])}, {quantity(content['total'], 'item')}", "bold"))
    for row in content["turns"]:
        _turn_lines(terminal, row)
    _more_line(terminal, len(content["turns"]), content["total"], "item")


def _print_entity(terminal: Terminal, content: Row, limit: int) -> None:
    other = [one_line(one) for one in content.get("names", ()) if one != content["name"]]
    called = f"also called {', '.join(other)}" if other else ""
    about = ", ".join(part for part in (content.get("kind"), called, content.get("state")) if part)
    terminal.line((one_line(content["name"]), "bold"), (about, "dim"))
    now = [row for group in content.get("facts", {}).values() for row in group if row["status"] == "active"]
    if now:
        terminal.line(("Facts that hold", "bold"))
        for row in now[:limit]:
            _fact_line(terminal, row, "  ")
    if rows := content["timeline"]:
        terminal.line(("Timeline", "bold"))
        for row in rows:
            _fact_line(terminal, row, "  ")
            _quote_lines(terminal, row["sources"][:1])
        _more_line(terminal, len(rows), content["versions"], "version")
    for row in content.get("points", ()):
        _point_line(terminal, row)


WHOLE_REPLY = 10_000_000
"""Tokens that no recall has: a terminal needs no budget."""


async def search(settings: Settings, options: argparse.Namespace, terminal: Terminal) -> None:
    """Print what a recall finds, or with ``--json`` the structured reply of ``memory_reconstruct``.

    Raises:
        InvalidInput: there is no such space, or the query is too long.
    """
    space = options.space or MEANT_SPACE.get()
    async with aclosing(new_memory(settings)) as memory:
        text = read_arguments(AnswerInput, {"question": " ".join(options.query)}, settings.limits).question
        async with memory.store.reading() as view:
            space_of(view, space, "--space")
        recall = await memory.reconstruct(Query(text, space, options.limit))
    if options.json:
        terminal.json({"space": space} | recall_reply(recall, WHOLE_REPLY).structured)
    else:
        _print_recall(terminal, recall)


def _print_recall(terminal: Terminal, recall: RecallResult) -> None:
    """Print the text of a recall, without what only a model needs, and the ids of what it shows."""
    reply = recall_reply(replace(recall, breadth="best", episode="", warnings=()), WHOLE_REPLY)
    for line in reply.text.split("\n"):
        if line != HEADER:
            terminal.line(line if line[:1].isdigit() or line.startswith(" ") else (line, "bold"))
    said = [(str(number), item.sources[0].turn) for number, item in enumerate(recall.evidence, 1) if item.sources]
    said += [("wish", wish.source.turn) for wish in recall.wishes]
    if said:
        ids = ", ".join(f"{number} {as_name(turn.ref)}" for number, turn in said)
        terminal.line((f"Their ids, which show and forget take: {ids}", "dim"))
    for warning in recall.warnings:
        terminal.note(f"Warning: {warning}")


def _session_line(terminal: Terminal, row: Row) -> None:
    """Print a session: its title and its name, how much it holds, and from when to when."""
    first, last = _day(row.get("first")), _day(row.get("last"))
    days = first if first == last else " to ".join(day for day in (first, last) if day)
    title, held = one_line(row.get("title", "")), quantity(row["turns"], "item")
    terminal.line((title, "bold"), (one_line(row["id"]), "name"), held, (days, "dim"))


def _turn_lines(terminal: Terminal, row: Row) -> None:
    """Print a message or document: who and when, then the text, indented."""
    if row["kind"] == "document":
        who = row.get("title") or row["id"]
    else:
        who = row.get("speaker") or row.get("role") or row["kind"]
    when = row.get("time") or f"written {row['written']}"
    revision = f"revision {row['revision']}" if row.get("revision") else ""
    session = f"session {row['session']}" if "session" in row else ""
    marks = ", ".join(mark for mark in (when, revision, session, row["id"]) if mark)
    terminal.line((one_line(who), "bold"), (f"({one_line(marks)})", "dim"))
    for line in row["text"].splitlines() or [""]:
        terminal.line(f"    {line}".rstrip())


def _fact_line(terminal: Terminal, row: Row, indent: str = "") -> None:
    """Print a fact: its words, when it holds, how sure it is, and its id."""
    when = validity(_moment(row, "valid_from"), _moment(row, "valid_to"), row["kind"], row.get("precision"))
    doubt = f"unconfirmed, confidence {row['confidence']:.2f}" if row.get("suspected") else ""
    terminal.line(f"{indent}{one_line(row['text'])}{in_parentheses(when, doubt)}", (row["id"], "dim"))


def _quote_lines(terminal: Terminal, sources: Sequence[Row]) -> None:
    """Print where something was said, in which words."""
    for source in sources:
        parts = (source.get("time"), source.get("speaker"), f"session {source['session']}", source["id"])
        place = ", ".join(one_line(part) for part in parts if part)
        terminal.line((f"    [{place}]", "dim"), f"“{one_line(source['quote'])}”")


def _point_line(terminal: Terminal, row: Row) -> None:
    """Print a memory point: its description, what it joins, and its id."""
    goal = f"goal: {one_line(row['goal'])}" if row.get("goal") else ""
    terminal.line(one_line(row["text"], " / "), (row["id"], "dim"))
    terminal.line((f"    joins {', '.join(map(one_line, row['entities']))}{in_parentheses(goal)}", "dim"))


def _more_line(terminal: Terminal, shown: int, total: int, noun: str) -> None:
    """Print how many there are, if not all of them were shown."""
    if shown < total:
        terminal.line((f"… {shown:,} of {quantity(total, noun)}; --limit {total} shows all", "dim"))


def _day(time: str | None) -> str:
    return (time or "")[:10]


def _moment(row: Row, name: str) -> Millis:
    """Return a time of a row; an end that is left out is open."""
    time = row.get(name)
    return iso.parse(time)[0] if time else BEGINNING if name == "valid_from" else FOREVER


_LINES: Mapping[str, Callable[[Terminal, Row], None]] = {
    "facts": _fact_line,
    "points": _point_line,
    "sessions": _session_line,
}
