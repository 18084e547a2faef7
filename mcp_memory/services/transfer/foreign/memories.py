"""Memories of other servers: the official memory server, and mem0.

A memory of mem0 and an observation of the official server is a gist and nobody's words, so it becomes a document. The
official server keeps no times.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from mcp_memory.domain.ids import UNKEYED, digest
from mcp_memory.domain.requests import NewFact, NewItem
from mcp_memory.services.transfer.foreign.json_files import JsonRecord, json_values, readable
from mcp_memory.services.transfer.foreign.reading import (
    BadRecord,
    FileRecord,
    Found,
    LeftOut,
    moment_in,
    needed,
    objects_in,
    relation_of,
    said_in,
    short_name,
    text_in,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile

OFFICIAL = "official"


def read_official(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield entities and relations of ``memory.jsonl``, or of one object that lists them.

    Of an entity that stands twice all observations are one document. What a record is, it says by its fields, since
    programs that write this format name its type in several ways.
    """
    for file in files:
        observed: dict[str, tuple[str, list[str]]] = {}
        facts: list[FileRecord] = []
        yield from readable(json_values(file, "entities", "relations"), partial(_official, observed, facts))
        for name, (place, texts) in observed.items():
            item = NewItem("\n".join(dict.fromkeys(texts)), ref=short_name(OFFICIAL, name), title=short_name(name))
            yield FileRecord(place, OFFICIAL, "document", (item,) if texts else ())
        yield from facts


def _official(
    observed: dict[str, tuple[str, list[str]]], facts: list[FileRecord], section: str, record: JsonRecord
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
        yield from readable(json_values(file, "results", "memories", "relations"), _mem0)


def _mem0(section: str, record: JsonRecord) -> Iterator[Found]:
    if section == "relations":
        return _relation(record.place, record.fields())
    return _memory(record.place, record.fields()) if section in ("", "results", "memories") else iter(())


def _memory(place: str, fields: Mapping[str, Any]) -> Iterator[Found]:
    text = needed(fields, "memory", "text", "content")
    if fields.get("event") == "DELETE" or fields.get("is_deleted") is True:
        yield LeftOut("memory", "that was deleted")
        return
    who = text_in(fields, "user_id", "agent_id", "run_id") or "mem0"
    item = NewItem(
        text,
        ref=short_name("mem0", text_in(fields, "id") or UNKEYED + digest(who, text)),
        title=short_name(who),
        said_at=moment_in(fields, "updated_at", "created_at"),
    )
    yield FileRecord(place, short_name("mem0", who), "document", (item,))
    for relation in objects_in(fields, "relations"):
        yield from _relation(place, relation)


def _relation(place: str, value: Mapping[str, Any]) -> Iterator[Found]:
    """Yield a relation of mem0's graph as a fact."""
    ends = text_in(value, "source"), text_in(value, "target", "destination")
    if not all(ends):
        yield LeftOut("relation", "without a name at both ends")
        return
    head, tail = ((end or "").removeprefix("user_id:").strip("_ ").replace("_", " ") for end in ends)
    fact = NewFact(head, relation_of(text_in(value, "relationship", "relation")), tail)
    yield _stated(place, short_name("mem0", text_in(value, "user_id") or "graph"), fact)


def _stated(place: str, session: str, fact: NewFact) -> FileRecord:
    return FileRecord(place, session, "statement", facts=(fact,))
