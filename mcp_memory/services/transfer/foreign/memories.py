"""Memories of other servers: the official memory server, mem0, and Zep or Graphiti.

A memory of mem0 and an observation of the official server is a gist and nobody's words, so it becomes a document. The
official server keeps no times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_memory.domain.requests import NewFact, NewItem
from mcp_memory.services.transfer.foreign.reading import (
    BadRecord,
    ForeignRecord,
    Found,
    SkippedRecord,
    json_lines,
    json_records,
    moment_in,
    needed,
    short_name,
    text_in,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile, keys_of

OFFICIAL = "official"
_SAID = re.compile(r"([^:\n]{1,60}?)(?:\((\w+)\))?\s*: (\S.*)", re.DOTALL)
"""A line of a Graphiti message: ``Ines(user): I moved.``"""


def read_official(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield entities and relations of ``memory.jsonl``; of an entity that stands twice, all observations."""
    for file in files:
        if len(files) > 1 and file.suffix not in (".jsonl", ".json"):
            continue
        entities: dict[str, tuple[str, list[str]]] = {}
        facts: list[ForeignRecord] = []
        for record in json_lines(file):
            if isinstance(record, SkippedRecord):
                yield record
                continue
            try:
                fields = record.fields()
                if fields.get("type") == "entity":
                    name = needed(fields, "name")
                    _, known = entities.setdefault(name, (record.place, []))
                    known += [f"{name}: {text}" for text in _texts(fields.get("observations"))]
                    if what := text_in(fields, "entityType"):
                        facts.append(_stated(record.place, OFFICIAL, NewFact(name, "is_a", what)))
                elif fields.get("type") == "relation":
                    relation = relation_of(fields.get("relationType"))
                    fact = NewFact(needed(fields, "from"), relation, needed(fields, "to"))
                    facts.append(_stated(record.place, OFFICIAL, fact))
                else:
                    raise BadRecord("is neither an entity nor a relation")
            except BadRecord as problem:
                yield SkippedRecord(record.place, str(problem))
        for name, (place, observations) in entities.items():
            if text := "\n".join(dict.fromkeys(observations)):
                item = NewItem(text, ref=short_name(OFFICIAL, name), title=short_name(name))
                yield ForeignRecord(place, OFFICIAL, "document", (item,))
        yield from facts


def read_mem0(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each memory of mem0, in a session of its user."""
    for file in files:
        if len(files) > 1 and file.suffix != ".json":
            continue
        for record in json_records(file, _place_of_memories(file)):
            try:
                fields = record.fields()
                who = text_in(fields, "user_id", "agent_id", "run_id") or "mem0"
                item = NewItem(
                    needed(fields, "memory", "text"),
                    ref=short_name("mem0", needed(fields, "id")),
                    title=short_name(who),
                    said_at=moment_in(fields, "updated_at", "created_at"),
                )
                yield ForeignRecord(record.place, short_name("mem0", who), "document", (item,))
            except BadRecord as problem:
                yield SkippedRecord(record.place, str(problem))


def _place_of_memories(file: SourceFile) -> str:
    shape = keys_of(file)
    if not shape.root:
        return "item"
    return next((f"{name}.item" for name in ("results", "memories") if name in shape.root), "results.item")


def read_zep(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield episodes, then edges as facts with the times of their validity; names come from the nodes."""
    names: dict[str, str] = {}
    sessions: dict[str, str] = {}
    for file, section in _sections(files, "nodes"):
        for record in json_records(file, section):
            if isinstance(record.value, dict) and (key := text_in(record.value, "uuid")):
                names[key] = text_in(record.value, "name") or ""
    for file, section in _sections(files, "episodes"):
        for record in json_records(file, section):
            try:
                for found in _episode(record.place, record.fields()):
                    if found.items:
                        sessions[needed(record.fields(), "uuid")] = found.session
                    yield found
            except BadRecord as problem:
                yield SkippedRecord(record.place, str(problem))
    for file, section in _sections(files, "edges"):
        for record in json_records(file, section):
            try:
                yield _edge(record.place, record.fields(), names, sessions)
            except BadRecord as problem:
                yield SkippedRecord(record.place, str(problem))


def _sections(files: Sequence[SourceFile], name: str) -> Iterator[tuple[SourceFile, str]]:
    for file in files:
        if len(files) > 1 and file.suffix != ".json":
            continue
        shape = keys_of(file)
        if shape.root:
            yield file, f"{name}.item"
        elif _sort(shape.first) == name:
            yield file, "item"


def _sort(keys: frozenset[str]) -> str:
    if "source_node_uuid" in keys:
        return "edges"
    return "episodes" if "content" in keys else "nodes"


def _episode(place: str, fields: Mapping[str, Any]) -> Iterator[ForeignRecord]:
    name, text = needed(fields, "uuid"), needed(fields, "content")
    session = short_name("zep", text_in(fields, "session_id", "thread_id", "group_id") or "graph")
    when = moment_in(fields, "valid_at", "created_at")
    ref = short_name("zep", name)
    if fields.get("source") in ("text", "json"):
        title = text_in(fields, "name", "source_description")
        item = NewItem(text, ref=ref, title=short_name(title) if title else None, said_at=when)
        yield ForeignRecord(place, session, "document", (item,))
        return
    who, role = text_in(fields, "role"), text_in(fields, "role_type")
    lines = [found for line in text.splitlines() if (found := _SAID.fullmatch(line.strip()))]
    if who is None and lines and len(lines) == sum(bool(line.strip()) for line in text.splitlines()):
        said = [(found[1].strip(), found[2], found[3]) for found in lines]
    else:
        said = [(who, role, text)]
    items = [
        NewItem(words, ref=ref if number == 0 else short_name("zep", f"{name}#{number}"),
                speaker=speaker or None, role=part, said_at=when)
        for number, (speaker, part, words) in enumerate(said)
    ]  # fmt: skip
    yield ForeignRecord(place, session, "message", tuple(items))


def _edge(place: str, fields: Mapping[str, Any], names: Mapping[str, str], sessions: Mapping[str, str]) -> Found:
    ends = []
    for end in ("source", "target"):
        name = text_in(fields, f"{end}_node_name") or names.get(text_in(fields, f"{end}_node_uuid") or "")
        if not name:
            raise BadRecord(f"names no {end} that is among the nodes")
        ends.append(name)
    known = fields.get("episodes")
    source = next((one for one in known if isinstance(one, str) and one in sessions), None) if known else None
    since, until = moment_in(fields, "valid_at"), moment_in(fields, "invalid_at")
    if since is not None and until is not None and until <= since:
        raise BadRecord("ends before it begins (invalid_at is not after valid_at)")
    fact = NewFact(
        ends[0],
        relation_of(fields.get("name")),
        ends[1],
        valid_from=since,
        valid_to=until,
        source=short_name("zep", source) if source else None,
    )
    session = sessions[source] if source else short_name("zep", text_in(fields, "group_id") or "graph")
    return _stated(place, session, fact)


def _stated(place: str, session: str, fact: NewFact) -> ForeignRecord:
    return ForeignRecord(place, session, "statement", facts=(fact,))


def relation_of(words: object) -> str:
    """Return a relation in words that can name one: "works at" as ``works_at``."""
    return re.sub(r"\W+", "_", words if isinstance(words, str) else "").strip("_").lower() or "related_to"


def _texts(values: object) -> list[str]:
    return [text for text in values if isinstance(text, str) and text.strip()] if isinstance(values, list) else []
