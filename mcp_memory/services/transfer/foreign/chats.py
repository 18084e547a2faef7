"""Chats: the exports of ChatGPT and of Claude.

Both keep a chat as a tree, in which an edited message begins a new branch. Only the branch is imported that the person
saw last: the one that ends in ``current_node``, or in ``current_leaf_message_uuid``. What stands on others is counted,
like messages of tools and thoughts. Exports come in parts, ``conversations-000.json``, or archives of them.

An export of Claude also holds its memory of the person (``memories.json``) and the documents of projects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_memory.domain.requests import NewItem
from mcp_memory.domain.times import Millis
from mcp_memory.services.transfer.foreign.json_files import JsonRecord, json_values, readable
from mcp_memory.services.transfer.foreign.reading import (
    BadRecord,
    FileRecord,
    Found,
    LeftOut,
    SkippedRecord,
    moment_in,
    needed,
    object_in,
    objects_in,
    said_in,
    short_name,
    text_in,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile


def read_chatgpt(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each chat of an export of ChatGPT: what people and the assistant wrote, without tools and thoughts."""
    for file in files:
        yield from readable(json_values(file), lambda _, record: _chatgpt_chat(record))


def read_claude(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each chat of an export of Claude, what was attached to it, documents of projects, and what it remembers."""
    for file in files:
        yield from readable(json_values(file), _claude_record)


def _claude_record(_: str, record: JsonRecord) -> Iterator[Found]:
    fields = record.fields()
    if "chat_messages" in fields:
        return _claude_chat(record.place, fields)
    if fields.keys() & MEMORIES:
        return _claude_memory(record.place, fields)
    if fields.keys() & PROJECT:
        return _claude_project(record.place, fields)
    raise BadRecord("is neither a chat, a project nor a memory")


ROOT = "40008"
"""What is left of the parent of a first message, 00000000-0000-4000-8000-000000000000, without its outer zeros."""
MEMORIES, PROJECT = {"conversations_memory", "project_memories"}, {"prompt_template", "docs"}
"""Fields by which what Claude remembers, and a project, are known."""


def _chatgpt_chat(record: JsonRecord) -> Iterator[Found]:
    chat = record.fields()
    nodes = chat.get("mapping")
    if not isinstance(nodes, dict):
        raise BadRecord("has no messages in 'mapping'")
    session = short_name("chatgpt", needed(chat, "conversation_id", "id", "title"))
    began, items, unseen = moment_in(chat, "create_time"), [], 0
    branch = _branch(nodes, chat.get("current_node"))
    for name, node in branch:
        said = object_in(node, "message")
        try:
            item = _chatgpt_message(name, said, began)
        except BadRecord as problem:
            yield SkippedRecord(f"{record.place}, message {name[:40]}", str(problem))
            continue
        if item is not None:
            items.append(item)
        else:
            unseen += object_in(said, "author").get("role") != "system" and bool(object_in(said, "content"))
    on_branch = {name for name, _ in branch}
    others = sum(name not in on_branch and isinstance(nodes[name], dict) and bool(object_in(nodes[name], "message"))
                 for name in nodes)  # fmt: skip
    yield FileRecord(record.place, session, "message", tuple(items))
    yield from _titled(record.place, session, text_in(chat, "title"), began)
    yield from _not_shown(unseen, others)


def _not_shown(unseen: int, abandoned: int) -> Iterator[LeftOut]:
    yield LeftOut("message", "of tools, thoughts, or hidden", unseen)
    yield LeftOut("message", "on branches that were abandoned", abandoned)


def _titled(place: str, session: str, title: str | None, began: Millis | None) -> Iterator[FileRecord]:
    """Yield the title of a chat as a line of its own, so that the chat is found by it; a later title replaces it."""
    if title and title.strip().casefold() not in ("new chat", "untitled"):
        item = NewItem(
            f"Title of this chat: {title.strip()}", ref="title", title=short_name(title.strip()), said_at=began
        )
        yield FileRecord(place, session, "document", (item,))


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
    author, content, about = (object_in(said, part) for part in ("author", "content", "metadata"))
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
    began, items, attached = moment_in(chat, "created_at"), [], list[NewItem]()
    messages, unseen = objects_in(chat, "chat_messages"), 0
    branch = _claude_branch(messages, text_in(chat, "current_leaf_message_uuid"))
    for number in branch:
        said = messages[number]
        try:
            name = needed(said, "uuid")
            when = moment_in(said, "created_at")
            when = began if when is None else when
            text, documents = _claude_message(name, said, when)
        except BadRecord as problem:
            yield SkippedRecord(f"{place}, message {number + 1}", str(problem))
            continue
        attached += documents
        unseen += not text
        if text and said.get("sender") == "human":
            items.append(NewItem(text, ref=short_name("claude", name), role="user", said_at=when))
        elif text:
            ref = short_name("claude", name)
            items.append(NewItem(text, ref=ref, speaker="Claude", role="assistant", said_at=when))
    yield FileRecord(place, session, "message", tuple(items))
    yield FileRecord(place, session, "document", tuple(attached))
    yield from _titled(place, session, text_in(chat, "name"), began)
    yield from _not_shown(unseen, len(messages) - len(branch))


def _claude_branch(messages: Sequence[Mapping[str, Any]], leaf: str | None) -> list[int]:
    """Return the places of the messages that lead to a leaf; where none is named, to the latest.

    A message that names no parent follows the one before it, as in exports without branches.
    """
    places = {text_in(said, "uuid"): number for number, said in enumerate(messages)}
    parents = []
    for number, said in enumerate(messages):
        parent = text_in(said, "parent_message_uuid")
        is_root = parent is not None and parent.replace("-", "").strip("0") in ("", ROOT)
        parents.append(-1 if is_root else places.get(parent, number - 1) if parent else number - 1)
    leaves = [number for number in range(len(messages)) if number not in parents]
    latest = max(leaves, key=lambda number: (str(messages[number].get("created_at") or ""), number), default=-1)
    path, here = dict[int, None](), places.get(leaf, latest) if leaf else latest
    while here >= 0 and here not in path:
        path[here] = None
        here = parents[here]
    return [*path][::-1]


def _claude_message(name: str, said: Mapping[str, Any], when: Millis | None) -> tuple[str, list[NewItem]]:
    """Return what a message says, with the names of its files, and what was attached to it."""
    texts = [text_in(part, "text") or "" for part in objects_in(said, "content") if part.get("type") == "text"]
    text = "\n".join(filter(None, texts)) or text_in(said, "text") or ""
    files, attached = objects_in(said, "attachments"), []
    for place_of, file in enumerate(files):
        if content := text_in(file, "extracted_content"):
            ref = short_name("claude", f"{name}#{place_of}")
            title = short_name(text_in(file, "file_name") or "attachment")
            attached.append(NewItem(content, ref=ref, title=title, said_at=when))
    files += objects_in(said, "files")
    shown = dict.fromkeys(text_in(file, "file_name") or "attachment" for file in files)
    return "\n".join([text.strip(), *(f"[attached: {one}]" for one in shown)]).strip(), attached


def _claude_memory(place: str, fields: Mapping[str, Any]) -> Iterator[Found]:
    """Yield what Claude remembers of a person, and of each project."""
    account = text_in(fields, "account_uuid") or "memory"
    when = moment_in(fields, "updated_at", "created_at")
    parts = [("What Claude remembers", account, fields.get("conversations_memory"))]
    projects = fields.get("project_memories")
    named: Mapping[str, Any] = projects if isinstance(projects, dict) else {"": projects}
    parts += [(f"What Claude remembers of project {name}", f"{account}:{name}", value) for name, value in named.items()]
    items = [
        NewItem(text, ref=short_name("claude", "memory", ref), title=short_name(title), said_at=when)
        for title, ref, value in parts
        if (text := "\n".join(said_in(value)))
    ]
    yield FileRecord(place, short_name("claude", "memory"), "document", tuple(items))


def _claude_project(place: str, project: Mapping[str, Any]) -> Iterator[Found]:
    uuid, name, began = needed(project, "uuid"), text_in(project, "name") or "", moment_in(project, "created_at")
    items = []
    for field, what, ref in (
        ("prompt_template", "Instructions", "instructions"),
        ("description", "Description", "about"),
    ):
        if told := text_in(project, field):
            title = short_name(f"{what} of the project {name}".strip())
            items.append(NewItem(told, ref=short_name("claude", uuid, ref), title=title, said_at=began))
    for document in objects_in(project, "docs"):
        if text := text_in(document, "content"):
            named, when = text_in(document, "filename"), moment_in(document, "created_at")
            ref, titled = short_name("claude", needed(document, "uuid")), short_name(named) if named else None
            items.append(NewItem(text, ref=ref, title=titled, said_at=began if when is None else when))
        else:
            yield LeftOut("document", "of a project, without its text")
    yield FileRecord(place, short_name("claude-project", uuid), "document", tuple(items))
