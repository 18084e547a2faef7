"""Memories of other servers: the official memory server, mem0, and Zep or Graphiti.

A memory of mem0 and an observation of the official server is a gist and nobody's words, so it becomes a document. The
official server keeps no times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from mcp_memory.domain.ids import UNKEYED, digest
from mcp_memory.domain.requests import NewFact, NewItem
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import USERS
from mcp_memory.language import iso
from mcp_memory.services.transfer.foreign.json_files import JsonRecord, each, json_values, keys_of
from mcp_memory.services.transfer.foreign.reading import (
    BadRecord,
    ForeignRecord,
    Found,
    LeftOut,
    is_time,
    moment_in,
    moment_of,
    needed,
    said_in,
    short_name,
    text_in,
    unread,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile

OFFICIAL = "official"
_OF_ENTITIES = (
    *("observations", "contents", "observation", "content"),
    *("type", "_type", "id", "name", "entityName", "entity", "entityType", "entity_type"),
)
"""Fields that are read of relations and of entities, in the names that programs give them."""
_SAID = re.compile(r"([^:\n]{1,60}?)(?:\((\w+)\))?\s*: (\S.*)", re.DOTALL)
"""A line of a Graphiti message: ``Ines(user): I moved.``"""


def read_official(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield entities and relations of ``memory.jsonl``, or of one object that lists them.

    Of an entity that stands twice all observations are one document, but for those with a time: these are one by one.
    What a record is, it says by its fields, since programs that write this format name its type in several ways.
    """
    for file in files:
        entities: dict[str, _Entity] = {}
        facts: list[ForeignRecord] = []
        yield from each(json_values(file, "entities", "relations"), partial(_official, file, entities, facts))
        for name, entity in entities.items():
            items = []
            for when, texts in entity.said.items():
                ref = short_name(OFFICIAL, name, *([] if when is None else [iso.show(when) or ""]))
                items.append(NewItem("\n".join(dict.fromkeys(texts)), ref=ref, title=short_name(name), said_at=when))
            yield ForeignRecord(entity.place, OFFICIAL, "document", tuple(items))
        yield from facts


@dataclass(slots=True)
class _Entity:
    """What was observed of an entity by its time, None for no time; the place is that of its first record."""

    place: str
    said: dict[Millis | None, list[str]] = field(default_factory=dict)


def _official(
    file: SourceFile, entities: dict[str, _Entity], facts: list[ForeignRecord], section: str, record: JsonRecord
) -> Iterator[LeftOut]:
    """Add what a record observes to its entity, and the facts that it states; yield what is not read of it."""
    if section and not isinstance(record.value, dict) and not record.problem:
        yield from unread(file.name, {section: record.value}, "the file", "type", "version")
        return
    fields, place = record.fields(), record.place
    ends = [text_in(fields, *names) for names in (("from", "source"), ("to", "target"))]
    if all(ends) and "observations" not in fields:
        names = ("relationType", "relation_type", "relation", "label")
        fact = NewFact(ends[0] or "", relation_of(text_in(fields, *names)), ends[1] or "")
        facts.append(_stated(place, OFFICIAL, fact))
        yield from unread(place, fields, "relations", "type", "_type", "id", "from", "source", "to", "target", *names)
        return
    name, told = text_in(fields, "name", "entityName", "entity"), _OF_ENTITIES[:4]
    what = text_in(fields, "entityType", "entity_type")
    if name is None or not (what or fields.keys() & set(told) or "entity" in (fields.get("type"), fields.get("_type"))):
        raise BadRecord("is neither an entity nor a relation")
    entity = entities.setdefault(name, _Entity(place))
    observed = {key: one for key, one in fields.items() if key in told or is_time(key)}
    for text, time in said_in(observed) if observed.keys() & set(told) else ():
        when = None
        try:
            when = None if time is None else moment_of(time)
        except BadRecord as problem:
            yield LeftOut(place, "time", f"of an observation, which {problem}")
        entity.said.setdefault(when, []).append(f"{name}: {text}")
    facts += [_stated(place, OFFICIAL, NewFact(name, "is_a", what))] if what else []
    yield from unread(place, fields, "entities", *_OF_ENTITIES)


def read_mem0(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each memory of mem0, in a session of its user, and the relations of its graph as facts."""
    for file in files:
        yield from each(json_values(file, "results", "memories", "relations"), partial(_mem0, file))


def _mem0(file: SourceFile, section: str, record: JsonRecord) -> Iterator[Found]:
    if record.problem:
        raise BadRecord(record.problem)
    if section == "relations":
        return _graph(record.place, record.value)
    if section in ("", "results", "memories"):
        return _memory(record.place, record.fields())
    return unread(file.name, {section: record.value}, "the file", "next", "previous", "count")


def _memory(place: str, fields: Mapping[str, Any]) -> Iterator[Found]:
    text = needed(fields, "memory", "text", "content")
    if fields.get("event") == "DELETE" or fields.get("is_deleted") is True:
        yield LeftOut(place, "memory", "that was deleted")
        return
    who = text_in(fields, "user_id", "agent_id", "run_id") or "mem0"
    item = NewItem(
        text,
        ref=short_name("mem0", text_in(fields, "id") or UNKEYED + digest(who, text)),
        title=short_name(who),
        said_at=moment_in(fields, "updated_at", "created_at"),
    )
    yield ForeignRecord(place, short_name("mem0", who), "document", (item,))
    yield from unread(
        place, fields, "memories", "memory", "text", "content", "id", "user_id", "agent_id", "run_id", "app_id",
        "actor_id", "role", "hash", "score", "event", "is_deleted", "relations",
    )  # fmt: skip
    yield from _graph(place, fields.get("relations"))


def _graph(place: str, value: object) -> Iterator[Found]:
    """Yield the relations in a value, however deep; those that a name there calls deleted are left out."""
    if isinstance(value, list):
        for one in value:
            yield from _graph(place, one)
    elif isinstance(value, dict) and "source" in value:
        ends = [text_in(value, *names) for names in (("source",), ("target", "destination"))]
        if not all(ends):
            yield LeftOut(place, "relation", "without a name at both ends")
            return
        names = [(end or "").removeprefix("user_id:").strip("_ ").replace("_", " ") for end in ends]
        fact = NewFact(names[0], relation_of(text_in(value, "relationship", "relation")), names[1])
        yield _stated(place, short_name("mem0", text_in(value, "user_id") or "graph"), fact)
    elif isinstance(value, dict):
        for name, one in value.items():
            if name.startswith("deleted"):
                yield LeftOut(place, "relation", "that was deleted", len(one) if isinstance(one, list) else 1)
            else:
                yield from _graph(place, one)
    elif value is not None:
        yield LeftOut(place, "relation", "that is no object")


def read_zep(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield episodes, then edges as facts with the times of their validity; names come from the nodes."""
    names: dict[str, str] = {}
    sessions: dict[str, str] = {}
    for file in files:
        for name in sorted(keys_of(file).root - {"nodes", "episodes", "edges"}):
            yield LeftOut(file.name, "field", f"{name!r} of the file")
    yield from each(_records(files, "nodes"), partial(_node, names))
    yield from each(_records(files, "episodes"), partial(_episode, sessions))
    yield from each(_records(files, "edges"), lambda _, record: [_edge(record.place, record.fields(), names, sessions)])


def _records(files: Sequence[SourceFile], name: str) -> Iterator[tuple[str, JsonRecord]]:
    """Yield the records of a sort; what a list has that is alone in its file is told by its first record."""
    for file in files:
        first = keys_of(file).first
        alone = "edges" if "source_node_uuid" in first else "episodes" if "content" in first else "nodes"
        for section, record in json_values(file, "nodes", "episodes", "edges"):
            if name == (section or alone):
                yield name, record


def _node(names: dict[str, str], _: str, record: JsonRecord) -> Iterator[ForeignRecord]:
    fields = record.fields()
    key, name = needed(fields, "uuid"), needed(fields, "name")
    names[key] = name
    if about := text_in(fields, "summary"):
        when = moment_in(fields, "created_at")
        item = NewItem(about, ref=short_name("zep", key), title=short_name(name), said_at=when)
        yield ForeignRecord(record.place, short_name("zep", "graph"), "document", (item,))


def _episode(sessions: dict[str, str], _: str, record: JsonRecord) -> Iterator[ForeignRecord]:
    place, fields = record.place, record.fields()
    name, text = needed(fields, "uuid"), needed(fields, "content")
    session = short_name("zep", text_in(fields, "session_id", "thread_id", "group_id") or "graph")
    when = moment_in(fields, "valid_at", "created_at")
    ref, sessions[name] = short_name("zep", name), session
    who, role = text_in(fields, "role"), text_in(fields, "role_type")
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = [found.groups() for line in lines if (found := _SAID.fullmatch(line))]
    labelled = who is None and len(said) == len(lines)
    if labelled and len(lines) > 1:  # whoever wrote the first line may have pasted the others
        labelled = not any(name.strip().casefold() in USERS for name, *_ in said)
        said = [(name, part if part == "assistant" else None, words) for name, part, words in said]
    if fields.get("source") in ("text", "json") or not (who or role or labelled):
        title = text_in(fields, "name", "source_description")
        item = NewItem(text, ref=ref, title=short_name(title) if title else None, said_at=when)
        yield ForeignRecord(place, session, "document", (item,))
        return
    if not labelled:
        said = [(who, role, text)]
    items = [
        NewItem(words, ref=ref if number == 0 else short_name("zep", f"{name}#{number}"),
                speaker=(speaker or "").strip() or None, role=part, said_at=when)
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
    if source:
        return _stated(place, sessions[source], fact)
    session = short_name("zep", text_in(fields, "group_id") or "graph")
    if (words := text_in(fields, "fact")) is None:
        return _stated(place, session, fact)
    ref = short_name("zep", text_in(fields, "uuid") or UNKEYED + digest(words))
    item = NewItem(words, ref=ref, title=short_name(ends[0]), said_at=moment_in(fields, "valid_at", "created_at"))
    return ForeignRecord(place, session, "document", (item,), (replace(fact, source=ref),))


def _stated(place: str, session: str, fact: NewFact) -> ForeignRecord:
    return ForeignRecord(place, session, "statement", facts=(fact,))


def relation_of(words: object) -> str:
    """Return a relation in words that can name one: "works at" as ``works_at``."""
    return re.sub(r"\W+", "_", words if isinstance(words, str) else "").strip("_").lower() or "related_to"
