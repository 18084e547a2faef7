"""Memories of other servers: the official memory server, mem0, and Zep or Graphiti.

A memory of mem0 and an observation of the official server is a gist and nobody's words, so it becomes a document. The
official server keeps no times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from mcp_memory.domain.ids import UNKEYED, digest
from mcp_memory.domain.requests import NewFact, NewItem
from mcp_memory.domain.turns import USERS
from mcp_memory.services.transfer.foreign.json_files import JsonRecord, each, json_values, keys_of
from mcp_memory.services.transfer.foreign.reading import (
    BadRecord,
    ForeignRecord,
    Found,
    LeftOut,
    moment_in,
    needed,
    objects_in,
    said_in,
    short_name,
    text_in,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile

OFFICIAL = "official"
_SAID = re.compile(r"([^:\n]{1,60}?)(?:\((\w+)\))?\s*: (\S.*)", re.DOTALL)
"""A line of a Graphiti message: ``Ines(user): I moved.``"""


def read_official(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield entities and relations of ``memory.jsonl``, or of one object that lists them.

    Of an entity that stands twice all observations are one document. What a record is, it says by its fields, since
    programs that write this format name its type in several ways.
    """
    for file in files:
        observed: dict[str, tuple[str, list[str]]] = {}
        facts: list[ForeignRecord] = []
        yield from each(json_values(file, "entities", "relations"), partial(_official, observed, facts))
        for name, (place, texts) in observed.items():
            item = NewItem("\n".join(dict.fromkeys(texts)), ref=short_name(OFFICIAL, name), title=short_name(name))
            yield ForeignRecord(place, OFFICIAL, "document", (item,) if texts else ())
        yield from facts


def _official(
    observed: dict[str, tuple[str, list[str]]], facts: list[ForeignRecord], section: str, record: JsonRecord
) -> Iterator[Found]:
    """Add what a record observes to its entity, by name with its first place, and the facts that it states."""
    if section not in ("", "entities", "relations"):
        return iter(())
    fields, place = record.fields(), record.place
    head, tail = text_in(fields, "from", "source"), text_in(fields, "to", "target")
    if head and tail and "observations" not in fields:
        relation = relation_of(text_in(fields, "relationType", "relation_type", "relation", "label"))
        facts.append(_stated(place, OFFICIAL, NewFact(head, relation, tail)))
        return iter(())
    name, what = text_in(fields, "name", "entityName", "entity"), text_in(fields, "entityType", "entity_type")
    told = [fields[one] for one in ("observations", "contents", "observation", "content") if one in fields]
    if name is None or not (what or told or "entity" in (fields.get("type"), fields.get("_type"))):
        raise BadRecord("is neither an entity nor a relation")
    observed.setdefault(name, (place, []))[1].extend(f"{name}: {text}" for text in said_in(told))
    facts += [_stated(place, OFFICIAL, NewFact(name, "is_a", what))] if what else []
    return iter(())


def read_mem0(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each memory of mem0, in a session of its user, and the relations of its graph as facts."""
    for file in files:
        yield from each(json_values(file, "results", "memories", "relations"), _mem0)


def _mem0(section: str, record: JsonRecord) -> Iterator[Found]:
    if section == "relations":
        return _relation(record.place, record.fields())
    return _memory(record.place, record.fields()) if section in ("", "results", "memories") else iter(())


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
    for relation in objects_in(fields, "relations"):
        yield from _relation(place, relation)


def _relation(place: str, value: Mapping[str, Any]) -> Iterator[Found]:
    """Yield a relation of mem0's graph as a fact."""
    ends = text_in(value, "source"), text_in(value, "target", "destination")
    if not all(ends):
        yield LeftOut(place, "relation", "without a name at both ends")
        return
    head, tail = ((end or "").removeprefix("user_id:").strip("_ ").replace("_", " ") for end in ends)
    fact = NewFact(head, relation_of(text_in(value, "relationship", "relation")), tail)
    yield _stated(place, short_name("mem0", text_in(value, "user_id") or "graph"), fact)


def read_zep(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield episodes, then edges as facts with the times of their validity; names come from the nodes."""
    names: dict[str, str] = {}
    sessions: dict[str, str] = {}
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
