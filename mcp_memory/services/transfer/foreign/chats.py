"""Chats: the exports of ChatGPT and of Claude.

ChatGPT keeps a chat as a tree, in which an edited message begins a new branch; only the branch that ends in
``current_node`` is what the person saw last, so only that one is imported. Since 2026 the export comes in parts,
``conversations-000.json`` and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_memory.domain.requests import NewItem
from mcp_memory.domain.times import Millis
from mcp_memory.services.transfer.foreign.reading import (
    BadRecord,
    ForeignRecord,
    Found,
    JsonRecord,
    SkippedRecord,
    json_records,
    moment_in,
    needed,
    objects_in,
    short_name,
    text_in,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile

CONVERSATIONS = re.compile(r"(?:.*/)?conversations(?:-\d+)?\.json")
PROJECTS = re.compile(r"(?:.*/)?(?:projects\.json|projects/[^/]+\.json)")


def read_chatgpt(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each chat of an export of ChatGPT: what people and the assistant wrote, without tools and thoughts."""
    for file in _chat_files(files):
        for record in json_records(file, prefix_of(file)):
            try:
                yield from _chatgpt_chat(record)
            except BadRecord as problem:
                yield SkippedRecord(record.place, str(problem))


def read_claude(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each chat of an export of Claude, what was attached to it, and the documents of projects."""
    projects = [file for file in files if PROJECTS.fullmatch(file.name)]
    for file in [*_chat_files([file for file in files if file not in projects]), *projects]:
        for record in json_records(file, prefix_of(file)):
            try:
                fields = record.fields()
                yield from (_claude_chat if "chat_messages" in fields else _claude_project)(record.place, fields)
            except BadRecord as problem:
                yield SkippedRecord(record.place, str(problem))


def prefix_of(file: SourceFile) -> str:
    """Return the place of a JSON file's records: in its array, or the file itself if it is one object."""
    with file.open() as stream:
        return "item" if stream.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"[" else ""


def _chat_files(files: Sequence[SourceFile]) -> Sequence[SourceFile]:
    """Return the files with chats: a single file, or those of the usual names."""
    return files if len(files) == 1 else [file for file in files if CONVERSATIONS.fullmatch(file.name)]


def _chatgpt_chat(record: JsonRecord) -> Iterator[Found]:
    chat = record.fields()
    nodes = chat.get("mapping")
    if not isinstance(nodes, dict):
        raise BadRecord("has no messages in 'mapping'")
    session = short_name("chatgpt", needed(chat, "conversation_id", "id", "title"))
    began, items = moment_in(chat, "create_time"), []
    for name, node in _branch(nodes, chat.get("current_node")):
        said = node.get("message")
        if not isinstance(said, dict):
            continue
        try:
            item = _chatgpt_message(name, said, began)
        except BadRecord as problem:
            yield SkippedRecord(f"{record.place}, message {name[:40]}", str(problem))
            continue
        if item is not None:
            items.append(item)
    yield ForeignRecord(record.place, session, "message", tuple(items))
    yield from _titled(record.place, session, text_in(chat, "title"), began)


def _titled(place: str, session: str, title: str | None, began: Millis | None) -> Iterator[ForeignRecord]:
    """Yield the title of a chat as a line of its own, so that the chat is found by it; a later title replaces it."""
    if title and title.strip().casefold() not in ("new chat", "untitled"):
        item = NewItem(
            f"Title of this chat: {title.strip()}", ref="title", title=short_name(title.strip()), said_at=began
        )
        yield ForeignRecord(place, session, "document", (item,))


def _branch(nodes: Mapping[str, Any], current: object) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the nodes from the root to the current one; without a current one, to the last leaf."""
    here = current if isinstance(current, str) and current in nodes else None
    if here is None:
        leaves = [name for name, node in nodes.items() if isinstance(node, dict) and not node.get("children")]
        here = leaves[-1] if leaves else None
    path: list[tuple[str, Mapping[str, Any]]] = []
    seen: set[str] = set()
    while isinstance(here, str) and here not in seen and isinstance(node := nodes.get(here), dict):
        seen.add(here)
        path.append((here, node))
        here = node.get("parent")
    return path[::-1]


def _chatgpt_message(name: str, said: Mapping[str, Any], began: Millis | None) -> NewItem | None:
    """Return a message, or None if it is none that people see: of a tool, to a tool, a thought, or hidden."""
    author, content, about = (_object(said, part) for part in ("author", "content", "metadata"))
    role = author.get("role")
    if role not in ("user", "assistant") or about.get("is_visually_hidden_from_conversation"):
        return None
    if said.get("recipient") not in (None, "all") or content.get("content_type") not in ("text", "multimodal_text"):
        return None
    parts = content.get("parts")
    texts, pictures = [], 0
    for part in parts if isinstance(parts, list) else []:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and (text := text_in(part, "text")):  # what was dictated
            texts.append(text)
        elif isinstance(part, dict):
            pictures += part.get("content_type") == "image_asset_pointer"
    names = [text_in(file, "name") or "file" for file in objects_in(about, "attachments")]
    texts += [f"[attached: {file}]" for file in names or ["image"] * pictures]
    text = "\n".join(part for part in texts if part.strip()).strip()
    if not text:
        return None
    when = moment_in(said, "create_time")
    return NewItem(
        text,
        ref=short_name("chatgpt", text_in(said, "id") or name),
        speaker="ChatGPT" if role == "assistant" else None,
        role=str(role),
        said_at=began if when is None else when,
    )


def _claude_chat(place: str, chat: Mapping[str, Any]) -> Iterator[Found]:
    session = short_name("claude", needed(chat, "uuid"))
    began, items, attached = moment_in(chat, "created_at"), [], []
    for number, said in enumerate(objects_in(chat, "chat_messages"), start=1):
        try:
            name = needed(said, "uuid")
            when = moment_in(said, "created_at")
            when = began if when is None else when
            texts = [text_in(part, "text") or "" for part in objects_in(said, "content") if part.get("type") == "text"]
            text = "\n".join(filter(None, texts)) or text_in(said, "text") or ""
            files = objects_in(said, "attachments")
            for place_of, file in enumerate(files):
                if content := text_in(file, "extracted_content"):
                    ref = short_name("claude", f"{name}#{place_of}")
                    title = short_name(text_in(file, "file_name") or "attachment")
                    attached.append(NewItem(content, ref=ref, title=title, said_at=when))
            files += objects_in(said, "files")
            shown = dict.fromkeys(text_in(file, "file_name") or "attachment" for file in files)
            text = "\n".join([text.strip(), *(f"[attached: {one}]" for one in shown)]).strip()
        except BadRecord as problem:
            yield SkippedRecord(f"{place}, message {number}", str(problem))
            continue
        if text:
            ref = short_name("claude", name)
            if said.get("sender") == "human":
                items.append(NewItem(text, ref=ref, role="user", said_at=when))
            else:
                items.append(NewItem(text, ref=ref, speaker="Claude", role="assistant", said_at=when))
    yield ForeignRecord(place, session, "message", tuple(items))
    yield ForeignRecord(place, session, "document", tuple(attached))
    yield from _titled(place, session, text_in(chat, "name"), began)


def _claude_project(place: str, project: Mapping[str, Any]) -> Iterator[Found]:
    session, items = short_name("claude-project", needed(project, "uuid")), []
    began = moment_in(project, "created_at")
    if told := text_in(project, "prompt_template"):
        title = short_name(f"Instructions of the project {text_in(project, 'name') or ''}".strip())
        ref = short_name("claude", needed(project, "uuid"), "instructions")
        items.append(NewItem(told, ref=ref, title=title, said_at=began))
    for document in objects_in(project, "docs"):
        if text := text_in(document, "content"):
            named, when = text_in(document, "filename"), moment_in(document, "created_at")
            ref = short_name("claude", needed(document, "uuid"))
            titled = short_name(named) if named else None
            items.append(NewItem(text, ref=ref, title=titled, said_at=began if when is None else when))
    yield ForeignRecord(place, session, "document", tuple(items))


def _object(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = fields.get(name)
    return value if isinstance(value, dict) else {}
