"""What a client can read without a tool: the guide, and the memory as it lies there, space by space.

Every resource is a row of ``TEMPLATES`` (or the guide, which is a text). The memory's own are JSON; long ones come in
pages, each of which names the next by its URI. Values in a URI are percent-encoded, so any session id can stand there.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from mcp.shared.uri_template import UriTemplate
from mcp_types import Completion, Resource, ResourceTemplate

from mcp_memory.domain.status import SpaceStatus
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.server.render import space_counts, time_of

if TYPE_CHECKING:
    from mcp_memory.view.space import Space
    from mcp_memory.view.view import View
    from mcp_memory.wiring import Memory

GUIDE = "memory://guide"
SPACES = "memory://spaces"
DEFAULT_SPACE = "default"
"""The one space that is there before anything was written to it."""
PAGE = 100
"""Entries on a page."""
PAGE_CHARS = 200_000
"""Characters of text after which a page of turns ends; a longer turn has one to itself."""
COMPLETIONS = 100
"""As many as the protocol lets through."""

Values = Mapping[str, str]
Read = Callable[["Memory", Values], Awaitable[dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class Template:
    """A family of resources.

    Attributes:
        uri: with its parameters.
        name: short.
        description: what is in it.
        read: returns the content for values of the parameters; it raises `InvalidInput` where there is none.
    """

    uri: UriTemplate
    name: str
    description: str
    read: Read


async def _spaces(memory: Memory, values: Values) -> dict[str, Any]:
    state = await memory.status()
    rows = [space_counts(space).model_dump() for space in state.spaces]
    start, end = _page(values, len(rows))
    return {"spaces": rows[start:end], "total": len(rows)} | _next(SPACES_PAGED, {}, end, len(rows))


async def _status(memory: Memory, values: Values) -> dict[str, Any]:
    async with memory.store.reading() as view:
        name = _space(view, values).name
    state = await memory.status()
    counts = next((space for space in state.spaces if space.name == name), SpaceStatus(name, 0, 0, 0, 0, 0))
    health = {"embedder": state.embedder, "engine": state.engine, "healthy": state.healthy}
    return space_counts(counts).model_dump() | health


async def _sessions(memory: Memory, values: Values) -> dict[str, Any]:
    async with memory.store.reading() as view:
        space = _space(view, values)
        start, end = _page(values, len(space.sessions))
        rows = [_session_row(space, session) for session in islice(space.sessions, start, end)]
        rest = _next(SESSIONS, {"space": space.name}, end, len(space.sessions))
        return {"space": space.name, "sessions": rows, "total": len(space.sessions)} | rest


async def _session(memory: Memory, values: Values) -> dict[str, Any]:
    async with memory.store.reading() as view:
        space = _space(view, values)
        order = space.sessions.get(values["id"])
        if order is None:
            raise InvalidInput("id", f"space {space.name!r} has no session {values['id']!r}", f"See {_uri(space)}.")
        start, end = _page(values, len(order))
        turns = [space.turns[turn] for turn in order[start:end]]
        turns = turns[: _fitting(turns)]
        rest = _next(SESSION, {"space": space.name, "id": values["id"]}, start + len(turns), len(order))
        rows = [_turn_row(turn) for turn in turns]
        return {"space": space.name, "session": values["id"], "turns": rows, "total": len(order)} | rest


async def _sentence(memory: Memory, values: Values) -> dict[str, Any]:
    async with memory.store.reading() as view:
        space = _space(view, values)
        sentence = space.sentence(values["id"])
        if sentence is None:
            remedy = "Sentences are named by evidence of kind sentence, s_ and 20 hexadecimal digits."
            raise InvalidInput("id", f"space {space.name!r} has no sentence {values['id']!r}", remedy)
        turn = space.turns[sentence.turn_id]
        times = [
            {
                "text": turn.text[time.start : time.end],
                "since": iso.show(time.since),
                "until": iso.show(time.until),
                "grain": time.grain,
                "relative": time.relative,
            }
            for time in sentence.times
        ]
        source = {k: v for k, v in _turn_row(turn).items() if k != "text"} | {
            "session": turn.session,
            "start": sentence.start,
            "end": sentence.end,
            "superseded": space.current(turn.session, turn.ref) is not turn,
        }
        return _told(
            {
                "id": sentence.id,
                "space": space.name,
                "text": space.text(sentence),
                "times": [_told(time) for time in times],
                "source": source,
            }
        )


SPACES_PAGED = UriTemplate.parse(SPACES + "{?cursor}")
STATUS = UriTemplate.parse("memory://{space}/status")
SESSIONS = UriTemplate.parse("memory://{space}/sessions{?cursor}")
SESSION = UriTemplate.parse("memory://{space}/sessions/{id}{?cursor}")
SENTENCE = UriTemplate.parse("memory://{space}/sentences/{id}")

TEMPLATES = (
    Template(SPACES_PAGED, "spaces", "Every space and how much it holds.", _spaces),
    Template(STATUS, "status", "How much a space holds, and whether the memory is well.", _status),
    Template(SESSIONS, "sessions", "The sessions of a space, in order of arrival.", _sessions),
    Template(SESSION, "session", "A session's messages and documents, in order and word for word.", _session),
    Template(SENTENCE, "sentence", "A sentence, the times it states, and where it stands.", _sentence),
)


def listed() -> list[Resource]:
    """Return the resources that have no parameters."""
    spaces = TEMPLATES[0]
    return [
        Resource(
            uri=GUIDE, name="guide", title="Guide", description="How to use this memory.", mime_type="text/markdown"
        ),
        Resource(
            uri=SPACES,
            name=spaces.name,
            title="Spaces",
            description=spaces.description,
            mime_type="application/json",
        ),
    ]


def templates() -> list[ResourceTemplate]:
    """Return the resources that have parameters."""
    return [
        ResourceTemplate(
            uri_template=str(template.uri),
            name=template.name,
            title=template.name.capitalize(),
            description=template.description,
            mime_type="application/json",
        )
        for template in TEMPLATES
        if template.uri is not SPACES_PAGED
    ]


def found(uri: str) -> tuple[Read, Values]:
    """Return what reads a resource, and the values in its URI.

    Raises:
        InvalidInput: no resource has such a URI.
    """
    for template in TEMPLATES:
        values = template.uri.match(uri)
        if values is not None:
            return template.read, {name: value for name, value in values.items() if isinstance(value, str)}
    known = ", ".join([GUIDE, SPACES, *(str(template.uri) for template in TEMPLATES[1:])])
    raise InvalidInput("uri", f"there is no resource {uri[:200]!r}", f"There are: {known}.")


async def read(memory: Memory, reader: Read, values: Values) -> str:
    """Return a resource as JSON text.

    Raises:
        InvalidInput: what the values name is not there.
    """
    return json.dumps(await reader(memory, values), ensure_ascii=False, indent=1)


async def complete(memory: Memory, uri_template: str, argument: str, typed: str, values: Values) -> Completion:
    """Return the values of a template's parameter that begin with what was typed, whatever its case."""
    async with memory.store.reading() as view:
        space = view.space(values.get("space", DEFAULT_SPACE))
        options: Iterable[str] = ()
        if argument == "space":
            options = sorted(view.spaces)
        elif argument == "id" and uri_template == str(SESSION):
            options = space.sessions
        elif argument == "id" and uri_template == str(SENTENCE):
            options = (sentence.id for sentence in space.sentences)
        fitting = [option for option in options if option.casefold().startswith(typed.casefold())]
    return Completion(values=fitting[:COMPLETIONS], total=len(fitting), has_more=len(fitting) > COMPLETIONS)


def _space(view: View, values: Values) -> Space:
    name = values["space"]
    if name not in view.spaces and name != DEFAULT_SPACE:
        raise InvalidInput("space", f"nothing was ever written to a space {name!r}", f"{SPACES} lists those there are.")
    return view.space(name)


def _page(values: Values, total: int) -> tuple[int, int]:
    """Return the first entry of the page that is asked for, and the first after it."""
    cursor = values.get("cursor", "0")
    if not (cursor.isascii() and cursor.isdigit() and len(cursor) < 12 and int(cursor) <= total):
        raise InvalidInput("cursor", f"{cursor[:60]!r} names no page", "Follow `next` of the page before.")
    return int(cursor), min(int(cursor) + PAGE, total)


def _next(template: UriTemplate, values: Values, end: int, total: int) -> dict[str, str]:
    return {"next": template.expand({**values, "cursor": str(end)})} if end < total else {}


def _fitting(turns: Sequence[Turn]) -> int:
    """Return how many turns from the first go on one page."""
    room = PAGE_CHARS
    for number, turn in enumerate(turns):
        room -= len(turn.text)
        if room < 0:
            return max(number, 1)
    return len(turns)


def _session_row(space: Space, session: str) -> dict[str, Any]:
    turns = space.sessions[session]
    first, last = space.turns[turns[0]], space.turns[turns[-1]]
    uri = _uri(space, session)
    return _told({"id": session, "uri": uri, "turns": len(turns), "first": time_of(first), "last": time_of(last)})


def _turn_row(turn: Turn) -> dict[str, Any]:
    return _told(
        {
            "id": turn.ref,
            "kind": turn.kind,
            "speaker": turn.speaker,
            "role": turn.role,
            "title": turn.title,
            "time": None if turn.said_at is None else iso.show(turn.said_at),
            "written": iso.show(turn.written_at),
            "revision": turn.revision or None,
            "text": turn.text,
        }
    )


def _uri(space: Space, session: str | None = None) -> str:
    if session is None:
        return SESSIONS.expand({"space": space.name})
    return SESSION.expand({"space": space.name, "id": session})


def _told(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if value is not None}
