"""Exports of other programs, invented: their shapes, with what is easily read wrongly."""

import json
from pathlib import Path
from typing import Any

from mcp_memory.domain.requests import NewFact, NewItem
from mcp_memory.services.transfer.foreign.reading import FileRecord, Found, LeftOut, SkippedRecord
from mcp_memory.services.transfer.foreign.sources import source_files
from mcp_memory.services.transfer.kinds import READERS, recognise


def records_of(path: Path) -> tuple[str, list[Found]]:
    """Return the kind of what is at a path, and its records."""
    with source_files(path) as files:
        kind = recognise(files)
        return kind, list(READERS[kind](files))


def items(found: list[Found]) -> list[NewItem]:
    """Return the texts of records."""
    return [item for one in found if isinstance(one, FileRecord) for item in one.items]


def facts(found: list[Found]) -> list[NewFact]:
    """Return the facts of records."""
    return [fact for one in found if isinstance(one, FileRecord) for fact in one.facts]


def skipped(found: list[Found]) -> list[tuple[str, str]]:
    """Return the places of what is no record, with the problem."""
    return [(one.place, one.problem) for one in found if isinstance(one, SkippedRecord)]


def left_out(found: list[Found]) -> list[tuple[str, str, int]]:
    """Return what of records is not stored, why, and how often."""
    return [(one.what, one.why, one.count) for one in found if isinstance(one, LeftOut) and one.count]


def node(name: str, parent: str | None, role: str, text: str | None, **more: Any) -> dict[str, Any]:
    """Return a node of a chat of ChatGPT."""
    content = {"content_type": "text", "parts": [text]}
    message = {"id": name, "author": {"role": role}, "content": content, "create_time": 1_714_903_200.5} | more
    return {"id": name, "parent": parent, "children": [], "message": message if text is not None else None}


def chatgpt_chat(number: int = 0, turns: int = 1) -> dict[str, Any]:
    """Return a chat with an abandoned branch, a hidden message, a call of a tool, and a picture."""
    nodes = [
        node("root", None, "system", None),
        node("hidden", "root", "system", "You are helpful."),
        node("old", "hidden", "user", "I moved to Prto."),
        node("old-reply", "old", "assistant", "Where is Prto?"),
    ]
    parent = "hidden"
    for turn in range(turns):
        nodes += [
            node(f"u{turn}", parent, "user", f"I moved to Porto in March, note {number} {turn}."),
            node(f"t{turn}", f"u{turn}", "assistant", "search('Porto')", recipient="browser"),
            node(f"a{turn}", f"t{turn}", "assistant", f"Porto is lovely, {number} {turn}."),
        ]
        parent = f"a{turn}"
    picture = {
        "content_type": "multimodal_text",
        "parts": [{"content_type": "image_asset_pointer", "asset_pointer": "file-1"}, "This is my boat."],
    }
    nodes.append(node("p", parent, "user", "x", content=picture, metadata={"attachments": [{"name": "boat.jpg"}]}))
    for one in nodes:
        one["id"] = f"c{number}-{one['id']}"
        one["parent"] = f"c{number}-{one['parent']}" if one["parent"] else None
        if one["message"]:
            one["message"]["id"] = one["id"]
    mapping = {one["id"]: one for one in nodes}
    chat = {"title": "Moving", "create_time": 1_714_900_000.0, "mapping": mapping}
    return chat | {"current_node": f"c{number}-p", "conversation_id": f"chat-{number}"}


def claude_chat(number: int = 0) -> dict[str, Any]:
    """Return a chat of Claude with an attachment, a thought, and a file."""
    asked: dict[str, Any] = {"uuid": f"k{number}-1", "sender": "human", "text": "Read this."}
    asked |= {"content": [{"type": "text", "text": "Read this."}], "created_at": "2024-05-05T10:00:01Z"}
    asked["attachments"] = [{"file_name": "log.txt", "extracted_content": "The Curlew sailed at noon."}]
    asked["files"] = [{"file_name": "sails.png"}]
    told: dict[str, Any] = {"uuid": f"k{number}-2", "sender": "assistant", "text": "", "attachments": []}
    told["content"] = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "It sailed at noon."}]
    chat = {"uuid": f"k{number}", "name": "Boats", "created_at": "2024-05-05T10:00:00.123456Z"}
    return chat | {"chat_messages": [asked, told]}


def write_json(path: Path, value: object, **how: Any) -> Path:
    """Write a JSON file, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False, **how), encoding="utf-8")
    return path


OFFICIAL = [
    {"type": "entity", "name": "Ines", "entityType": "person", "observations": ["keeps octopuses", "lives in Porto"]},
    {"type": "entity", "name": "Aquarium", "entityType": "place", "observations": []},
    {"type": "relation", "from": "Ines", "to": "Aquarium", "relationType": "works at"},
]
MEM0 = {
    "results": [
        {"id": "1", "memory": "Likes ferns", "user_id": "ines", "created_at": "2024-05-05T10:00:00-07:00"},
        {"id": "2", "memory": "Has a boat", "user_id": "tomas", "updated_at": "2024-05-06T00:00:00Z"},
    ]
}
NOTE = """---
title: Brewing coffee
created: 2024-03-01
tags: [coffee, "morning: ritual"]
---
# Brewing coffee

- Pour over takes four minutes
"""
