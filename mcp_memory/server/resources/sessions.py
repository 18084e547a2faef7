"""Resources that show spaces as they were written, and what was learnt: counts, sessions, sentences, episodes.

A sentence is shown with its belief, an episode with its trace and its judgements.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from mcp_memory.domain.access import CALLER, MEANT_SPACE
from mcp_memory.domain.status import COUNTED
from mcp_memory.domain.turns import Turn
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.server.resources.uris import Values, next_page, page, page_of, space_of, uri_of
from mcp_memory.server.tools.arguments import shown
from mcp_memory.server.tools.replies import row, turn_time

if TYPE_CHECKING:
    from mcp_memory.domain.episodes import Lesson, ShownEvidence
    from mcp_memory.domain.turns import Sentence
    from mcp_memory.memory import Memory
    from mcp_memory.view.space import Space

PAGE_CHARS = 200_000
"""Characters of text after which a page of turns ends; a longer turn has a page to itself."""


async def spaces(memory: Memory, values: Values) -> dict[str, Any]:
    """Every space that the caller may read and how much it holds, and the one of calls that name none."""
    caller = CALLER.get()
    held = (await memory.status()).spaces
    rows = [{"space": name, **counts} for name, counts in held.items() if caller.may(("read",), name)]
    start, end = page_of(values, len(rows))
    shown = {"default": MEANT_SPACE.get(), "spaces": rows[start:end], "total": len(rows)}
    return shown | next_page("spaces", {}, end, len(rows))


async def status(memory: Memory, values: Values) -> dict[str, Any]:
    """How much a space holds, and whether the memory is healthy."""
    async with memory.store.reading() as view:
        name = space_of(view, values["space"]).name
    status = await memory.status()
    health = {"embedder": status.embedder, "engine": status.engine, "healthy": status.healthy}
    return {"space": name, **status.spaces.get(name, dict.fromkeys(COUNTED, 0)), **health}


def sessions(space: Space, values: Values) -> dict[str, Any]:
    """The sessions of a space, in order of arrival."""
    names = list(space.sessions)
    return page("sessions", values, {"space": space.name}, names, lambda name: session_row(space, name))


def session(space: Space, values: Values) -> dict[str, Any]:
    """The messages and documents of one session, in order and verbatim."""
    order = space.sessions.get(values["id"])
    if order is None:
        problem = f"space {space.name!r} has no session {values['id']!r}"
        raise InvalidInput("id", problem, f"See {uri_of('sessions', {'space': space.name})}.")
    start, end = page_of(values, len(order))
    turns = [space.turns[turn] for turn in order[start:end]]
    turns = turns[: _turns_on_page(turns)]
    rest = next_page("session", {"space": space.name, "id": values["id"]}, start + len(turns), len(order))
    rows = [turn_row(turn) for turn in turns]
    return {"space": space.name, "session": values["id"], "turns": rows, "total": len(order)} | rest


def sentence(space: Space, values: Values) -> dict[str, Any]:
    """One sentence, the times it states, its place in the session, and what was learnt about it."""
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
            **row(time, "grain", "relative"),
        }
        for time in sentence.times
    ]
    source = {k: v for k, v in turn_row(turn).items() if k != "text"} | {
        "session": turn.session,
        "start": sentence.start,
        "end": sentence.end,
        "superseded": space.current(turn.session, turn.ref) is not turn,
    }
    return {
        "id": sentence.id,
        "space": space.name,
        "text": space.text(sentence),
        "times": times,
        "source": source,
        "learnt": belief_row(space, sentence),
    }


def _turns_on_page(turns: Sequence[Turn]) -> int:
    """Return how many turns from the first are on one page."""
    room = PAGE_CHARS
    for number, turn in enumerate(turns):
        room -= len(turn.text)
        if room < 0:
            return max(number, 1)
    return len(turns)


def session_row(space: Space, session: str) -> dict[str, Any]:
    """Return the row of a session in a list, with the times of its earliest and latest text, in whatever order."""
    turns = sorted((space.turns[turn] for turn in space.sessions[session]), key=lambda turn: turn.time)
    titled = space.current(session, "title")  # as an import stores the title of a chat
    return {
        "id": session,
        "title": titled.title if titled is not None and titled.kind == "document" else None,
        "uri": uri_of("session", {"space": space.name, "id": session}),
        "turns": len(turns),
        "first": turn_time(turns[0]),
        "last": turn_time(turns[-1]),
    }


def turn_row(turn: Turn) -> dict[str, Any]:
    """Return a message or document."""
    return {
        "id": turn.ref,
        **row(turn, "kind", "speaker", "role", "title"),
        "time": None if turn.said_at is None else iso.show(turn.said_at, turn.offset or 0),
        "written": iso.show(turn.written_at),
        "revision": turn.revision or None,
        "text": turn.text,
    }


def belief_row(space: Space, sentence: Sentence) -> dict[str, Any]:
    """Return what was learnt about a sentence; before any lesson its doubts are 1.

    ``nearness`` is the cosine between its task memory and its own vector: 1 at first, lower the more the memory has
    turned to the questions that it helped with. It is left out if the space has no vectors.
    """
    belief = space.beliefs.get(sentence.id)
    if belief is None:
        return {"task_doubt": 1.0, "time_doubt": 1.0, "supported": 0, "unsupported": 0}
    place, nearness = space.sentence_row(sentence.turn_id, sentence.index), None
    if space.sentence_vectors is not None and place >= 0:
        nearness = round(float(space.sentence_vectors[place] @ belief.task), 4)
    return {
        "task_doubt": round(belief.task_doubt, 6),
        "time_doubt": round(belief.time_doubt, 6),
        "nearness": nearness,
        **row(belief, "supported", "unsupported"),
    }


def episode(space: Space, values: Values) -> dict[str, Any]:
    """One episode that was learnt from: its question, its evidence, and each judge's labels."""
    lessons, episode = space.beliefs.lessons(values["id"]), space.beliefs.episode(values["id"])
    if episode is None:
        problem = f"nothing was learnt in space {space.name!r} from an episode {shown(values['id'])}"
        raise InvalidInput("id", problem, "An episode is kept once memory_answer or memory_evolve learns from it.")
    return {
        **row(episode, "id", "query", "time", "engine", "answer", "rounds"),
        "space": space.name,
        "asked": iso.show(episode.at),
        "evidence": list(map(_evidence_row, episode.shown)),
        "explored": list(map(_evidence_row, episode.explored)) or None,
        "cited": list(episode.cited),
        "activated": list(episode.activated),
        "roots": list(episode.roots),
        "paths": list(episode.paths),
        "stop_reason": episode.stop,
        "trace": [asdict(call) for call in episode.calls],
        "lessons": [_lesson_row(space, lesson) for lesson in lessons],
    }


def _evidence_row(item: ShownEvidence) -> dict[str, Any]:
    return row(item, "id", "text", "score") | {"via": list(item.via), "sentences": list(item.sentences)}


def _lesson_row(space: Space, lesson: Lesson) -> dict[str, Any]:
    labels = [
        {"sentence": name, "uri": uri_of("sentence", {"space": space.name, "id": name}), "label": label}
        for name, label in lesson.labels.items()
    ]
    return {"source": lesson.source, "recorded": iso.show(lesson.at), "labels": labels}
