"""Read worlds: invented talk, notes and documents with labels, in ``data/worlds``; see ``data/README.md``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mcp_memory.domain.requests import NewItem, WriteRequest
from mcp_memory.domain.turns import Role
from mcp_memory.language import iso

DATA = Path(__file__).parent / "data"
NOTHING = ("unanswerable", "wrong-person")
"""Kinds of questions whose records tempt, but do not answer."""

World = dict[str, Any]


def read_worlds(folders: Sequence[Path]) -> list[World]:
    """Return the worlds of folders, in the order of their names."""
    return [json.loads(path.read_text("utf-8")) for folder in folders for path in sorted(folder.glob("w*.json"))]


def is_kept(world: str) -> bool:
    """Return whether a world, by its id, is of the third that chooses and never trains."""
    return sum(world.encode()) % 3 == 0


def requests(world: World) -> Iterator[WriteRequest]:
    """Yield the calls that write a world into a space of its name, a session each."""
    sessions: dict[tuple[str, str], list[NewItem]] = {}
    for record in world["records"]:
        document = record["role"] == "document"
        role: Role | None = record["role"] if record["role"] in ("user", "assistant") else None
        said_at = iso.parse(record["time"])[0]
        item = NewItem(record["text"], ref=record["id"], said_at=said_at)
        if document:
            item = NewItem(record["text"], ref=record["id"], said_at=said_at, title=record.get("title") or record["id"])
        else:
            item = NewItem(record["text"], ref=record["id"], said_at=said_at, speaker=record["speaker"], role=role)
        key = ("document", "documents") if document else ("message", record["session"])
        sessions.setdefault(key, []).append(item)
    for (kind, session), items in sessions.items():
        yield WriteRequest(world["id"], session, kind, tuple(items))  # type: ignore[arg-type]


def faults(world: World) -> list[str]:
    """Return what is wrong with the labels of a world: ids that it does not have, spans that are not in their text."""
    texts = {record["id"]: record["text"] for record in world["records"]}
    found = [] if len(texts) == len(world["records"]) else ["an id is there twice"]
    for record in world["records"]:
        spans = [(record["id"], fact["span"]) for fact in record.get("facts", ()) if fact.get("span")]
        found += [f"{name}: no {span!r}" for name, span in spans if span not in texts[name]]
        found += [f"{record['id']} changes {name}" for name in record.get("changes", ()) if name not in texts]
    for asked in world["questions"]:
        spans = [(span["id"], span["text"]) for span in asked.get("spans", ())]
        found += [f"{asked['q']}: no {span!r}" for name, span in spans if span not in texts.get(name, "")]
        found += [f"{asked['q']}: no {name}" for name in asked["gold"] if name not in texts]
        if not asked["gold"] and asked["kind"] not in ("unanswerable", "prompt"):
            found.append(f"{asked['q']}: no gold")
    return found
