"""The log of a store as the lines of an export, or as a folder of Markdown for people and for git.

The lines are in the order of recording. In the folder each session is a file, each document, and of each space the
facts and the memory points. The files depend on content alone, and what is new is appended, so a repository of them
shows what changed. They are for reading; beside them lies the export, ``memory.jsonl``, which holds all and is what an
import of the folder reads.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import blake2b

from mcp_memory.domain.batch import Batch
from mcp_memory.domain.facts import CERTAIN, Version
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.language import iso
from mcp_memory.services.transfer.records import FORMAT, VERSION, Value, record_of, space_of, stamp, to_line
from mcp_memory.services.transfer.renaming import Leaving
from mcp_memory.view.space import Space
from mcp_memory.view.view import View
from mcp_memory.visible import as_name, one_line, without_hidden


def export_lines(
    log: Sequence[Batch], spaces: Collection[str] | None, *, view: View | None = None, program: str, now: Millis
) -> Iterator[tuple[str, bytes]]:
    """Yield what each line of an export holds, and the line.

    Args:
        log: the log of the store, without vectors (`storage.commits.read_log`).
        spaces: the spaces to export; None for all.
        view: the view of the store; None for lines that stay in it, with its own ids.
        program: name and version of this program.
        now: the moment of the export.
    """
    turns = {turn.id: turn for batch in log for turn in batch.turns}
    values = [value for batch in log for value in values_of(batch) if spaces is None or space_of(value) in spaces]
    names = sorted({space_of(value) for value in values})
    header = {"format": FORMAT, "version": VERSION, "program": program, "exported": stamp(now), "spaces": names}
    yield "header", to_line(header)
    count = 0
    leaving = {name: Leaving(view.space(name)) for name in names} if view is not None else {}
    for value in values:
        record = record_of(value, turns, leaving.get(space_of(value)))
        if record is not None:
            yield str(record["record"]), to_line(record)
            count += 1
    yield "end", to_line({"record": "end", "records": count})


def values_of(batch: Batch) -> Iterator[Value]:
    """Yield what one commit recorded; an import keeps this order of sorts within a commit."""
    yield from batch.turns
    yield from batch.assertions
    yield from batch.lessons
    yield from batch.points
    yield from batch.aliases
    yield from batch.questions
    yield from batch.jobs


WHOLE = "memory.jsonl"
"""The export in such a folder."""
SPACES = "spaces"
_NAME_CHARS = 60


def markdown_files(view: View, spaces: Collection[str] | None) -> Iterator[tuple[str, str]]:
    """Yield path and text of each Markdown file.

    Args:
        view: the view of the store.
        spaces: those to show; None for all.
    """
    chosen = sorted(name for name in view.spaces if spaces is None or name in spaces)
    rows = [f"- [{_line(name)}]({SPACES}/{file_name(name)}/facts.md)" for name in chosen]
    yield "index.md", "# Memory\n\n" + "\n".join([*rows, "", f"`mcp-memory import` reads `{WHOLE}`.", ""])
    for name in chosen:
        folder = f"{SPACES}/{file_name(name)}"
        for path, text in _space_files(view.space(name)):
            yield f"{folder}/{path}", text


_DEVICE = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)", re.IGNORECASE)
"""Names that Windows gives to devices, with any ending: no file can be called so there."""


def file_name(name: str) -> str:
    """Return a file's name for a name, the same for the same, and another for another."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip("-.")[:_NAME_CHARS]
    if _DEVICE.match(plain):
        plain = f"_{plain}"
    if plain == name and plain.casefold() == plain:
        return plain
    return f"{plain}-{blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=4).hexdigest()}".lstrip("-")


def _space_files(space: Space) -> Iterator[tuple[str, str]]:
    leaving = Leaving(space)
    for session, ids in space.sessions.items():
        talk = [turn for name in ids if (turn := space.turns[name]).kind != "document"]
        if talk:
            front = {"space": space.name, "session": session, "messages": len(talk), "first": _moment(talk[0].time)}
            text = "\n".join(_message(turn, leaving.ref(turn)) for turn in talk)
            yield f"sessions/{file_name(session)}.md", f"{_front(front)}\n# {_line(session)}\n\n{text}"
    for turn in space.turns.values():
        if turn.kind == "document" and space.current(turn.session, turn.ref) is turn:
            ref = leaving.ref(turn)
            front = {"space": space.name, "session": turn.session, "id": ref, "title": turn.title or None}
            front |= {"time": _moment(turn.time), "revision": turn.revision or None}
            yield f"documents/{file_name(turn.session)}/{file_name(ref)}.md", f"{_front(front)}\n{turn.text}\n"
    facts = [f"- {_line(one.text)}{_when(one)}{_doubt(one)}\n" for one in space.facts.all()]
    yield "facts.md", f"{_front({'space': space.name, 'facts': len(facts)})}\n# Facts\n\n" + "".join(facts)
    points = [f"- {_line(one.description)} ({_line(', '.join(one.entities))})\n" for one in space.hypergraph.active()]
    if points:
        head = _front({"space": space.name, "points": len(points)})
        yield "points.md", f"{head}\n# Memory points\n\n" + "".join(points)


def _message(turn: Turn, ref: str) -> str:
    who = turn.speaker or turn.role or turn.kind
    said = "\n".join(f"> {line}".rstrip() for line in turn.text.splitlines())  # ends whatever it begins
    name = re.sub("-(?=-)", "- ", one_line(without_hidden(ref)))
    return f"## {_line(as_name(who))}, {_moment(turn.time)}\n\n{said}\n\n<!-- {name} -->\n"


def _when(version: Version) -> str:
    """Return when a fact holds, in words: a plan is none yet, and of what nobody dated only the telling is known."""
    since = "" if version.since <= BEGINNING else f" from {_moment(version.since)}"
    until = "" if version.until >= FOREVER else f" until {_moment(version.until)}"
    if version.precision == "before" and until and version.since != version.until:
        until = f" {'on or ' if version.kind == 'event' else ''}before {_moment(version.until)}"
        since = ""
    return f" (planned{since}{until})" if version.kind == "planned" else f"{since}{until}"


def _doubt(version: Version) -> str:
    return " (uncertain)" if version.confidence < CERTAIN else ""


def _front(fields: Mapping[str, object]) -> str:
    """Return front matter; a text in JSON's quotes is one of YAML, too."""
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in fields.items() if value is not None]
    return "\n".join(["---", *lines, "---", ""])


def _line(text: str) -> str:
    """Return a text as a line of ours has it: what would be HTML in it is text."""
    return re.sub(r"<(?=[A-Za-z/!?])", r"\\<", " ".join(without_hidden(text).split()))


def _moment(at: Millis) -> str:
    return iso.show(at) or str(at)
