"""What was said, as resources: spaces, sessions with their turns, sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from mcp_memory.domain.status import SpaceStatus
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.server import records
from mcp_memory.server.learnt import state
from mcp_memory.server.paging import SESSION, SESSIONS, SPACES_PAGED, Values, following, page, space_of, told
from mcp_memory.server.status_reply import space_counts

if TYPE_CHECKING:
    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space

PAGE_CHARS = 200_000
"""Characters of text after which a page of turns ends; a longer turn has one to itself."""


async def spaces(memory: Memory, values: Values) -> dict[str, Any]:
    """Every space and how much it holds."""
    state = await memory.status()
    rows = [space_counts(space).model_dump() for space in state.spaces]
    start, end = page(values, len(rows))
    return {"spaces": rows[start:end], "total": len(rows)} | following(SPACES_PAGED, {}, end, len(rows))


async def status(memory: Memory, values: Values) -> dict[str, Any]:
    """How much a space holds, and whether the memory is well."""
    async with memory.store.reading() as view:
        name = space_of(view, values).name
    state = await memory.status()
    counts = next((space for space in state.spaces if space.name == name), SpaceStatus(name, 0, 0, 0, 0, 0))
    health = {"embedder": state.embedder, "engine": state.engine, "healthy": state.healthy}
    return space_counts(counts).model_dump() | health


async def sessions(memory: Memory, values: Values) -> dict[str, Any]:
    """The sessions of a space, in order of arrival."""
    async with memory.store.reading() as view:
        space = space_of(view, values)
        start, end = page(values, len(space.sessions))
        rows = [_session_row(space, session) for session in islice(space.sessions, start, end)]
        rest = following(SESSIONS, {"space": space.name}, end, len(space.sessions))
        return {"space": space.name, "sessions": rows, "total": len(space.sessions)} | rest


async def session(memory: Memory, values: Values) -> dict[str, Any]:
    """The messages and documents of one session, in order and word for word."""
    async with memory.store.reading() as view:
        space = space_of(view, values)
        order = space.sessions.get(values["id"])
        if order is None:
            raise InvalidInput("id", f"space {space.name!r} has no session {values['id']!r}", f"See {_uri(space)}.")
        start, end = page(values, len(order))
        turns = [space.turns[turn] for turn in order[start:end]]
        turns = turns[: _fitting(turns)]
        rest = following(SESSION, {"space": space.name, "id": values["id"]}, start + len(turns), len(order))
        rows = [_turn_row(turn) for turn in turns]
        return {"space": space.name, "session": values["id"], "turns": rows, "total": len(order)} | rest


async def sentence(memory: Memory, values: Values) -> dict[str, Any]:
    """One sentence, the times it states, where it stands, and what was learnt of it."""
    async with memory.store.reading() as view:
        space = space_of(view, values)
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
        return told(
            {
                "id": sentence.id,
                "space": space.name,
                "text": space.text(sentence),
                "times": [told(time) for time in times],
                "source": source,
                "learnt": state(space, sentence),
            }
        )


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
    return told(
        {"id": session, "uri": uri, "turns": len(turns), "first": records.time_of(first), "last": records.time_of(last)}
    )


def _turn_row(turn: Turn) -> dict[str, Any]:
    return told(
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
