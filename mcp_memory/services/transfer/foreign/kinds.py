"""The kinds of files that can be imported, and how they are told apart: by their content, not by their names."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.foreign import chats, memories, plain_files
from mcp_memory.services.transfer.foreign.reading import ENCODINGS, Found, json_records
from mcp_memory.services.transfer.foreign.sources import SourceFile, keys_of
from mcp_memory.services.transfer.format import FORMAT

OWN: Final = "mcp-memory"

Read = Callable[[Sequence[SourceFile]], Iterator[Found]]
READERS: Final[Mapping[str, Read]] = {
    "chatgpt": chats.read_chatgpt,
    "claude": chats.read_claude,
    "official": memories.read_official,
    "mem0": memories.read_mem0,
    "zep": memories.read_zep,
    "basic-memory": plain_files.read_basic_memory,
    "text": plain_files.read_text,
    "csv": plain_files.read_csv,
}
"""The reader of each kind."""


def recognise(files: Sequence[SourceFile]) -> str:
    """Return the kind of some files: `OWN` or one of `READERS`.

    Raises:
        InvalidInput: it cannot be told.
    """
    if not files:
        raise InvalidInput("FILE", "there is no file in it", "Name a file, a folder or a zip archive with an export.")
    if len(files) == 1:
        found = _of_file(files[0])
    else:
        chats_of = [file for file in files if chats.CONVERSATIONS.fullmatch(file.name)]
        others = [file for file in files if file.suffix in (".json", ".jsonl", ".csv")]
        texts = [file for file in files if file.suffix in plain_files.SUFFIXES]
        one = (chats_of or [file for file in others if chats.PROJECTS.fullmatch(file.name)])[:1]
        if not one and (len(others) == 1 or (others and not texts)):
            one = others[:1]
        found = _of_file(one[0]) if one else ""
        if not found and texts:
            found = "basic-memory" if plain_files.is_basic_memory(texts) else "text"
    if not found:
        problem = f"{files[0].name if len(files) == 1 else 'the folder'} is no export that is known"
        remedy = f"Known are: {', '.join((OWN, *READERS))}; if it is one of these, say --from KIND."
        raise InvalidInput("FILE", problem, remedy)
    return found


def _of_file(file: SourceFile) -> str:
    with file.open() as stream:
        head = stream.read(1 << 16).removeprefix(b"\xef\xbb\xbf")
    if not head:
        raise InvalidInput(file.name, "is empty", "Export or download it again.")
    if name := ENCODINGS.get(head[:2]):
        raise InvalidInput(file.name, f"is {name}", "Save the file as UTF-8. Nothing was stored.")
    begin = head.lstrip()[:1]
    if begin == b"{" and (kind := _of_line(head)):
        return kind
    if begin in (b"{", b"["):
        shape = keys_of(file)
        kind = _of_keys(shape.root or shape.first, whole=bool(shape.root))
        if not kind and shape.broken:
            for _ in json_records(file, "item"):
                pass  # it raises the error with the line
        return kind
    if file.suffix in plain_files.SUFFIXES:
        return "basic-memory" if plain_files.is_basic_memory([file]) else "text"
    return "csv" if file.suffix in (".csv", ".tsv") or _has_columns(head) else ""


def _of_line(head: bytes) -> str:
    """Return the kind of JSON lines by the first that is an object."""
    for line in head.splitlines()[:20]:
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            if value.get("format") == FORMAT:
                return OWN
            if value.get("type") in ("entity", "relation"):
                return "official"
    return ""


def _of_keys(keys: frozenset[str], *, whole: bool) -> str:
    """Return the kind of a JSON file by the names in it; ``whole`` if the file is one object."""
    if "mapping" in keys:
        return "chatgpt"
    if "chat_messages" in keys or {"prompt_template", "docs"} & keys:
        return "claude"
    if whole:
        return "zep" if {"episodes", "edges"} & keys else "mem0" if {"results", "memories"} & keys else ""
    if "memory" in keys and "id" in keys:
        return "mem0"
    graph = {"source_node_uuid", "source_description", "role_type", "valid_at", "group_id"}
    return "zep" if "uuid" in keys and graph & keys else ""


def _has_columns(head: bytes) -> bool:
    first = head.decode("utf-8", "replace").splitlines()[:1]
    return any(
        {"text", "speaker"} <= plain_files.columns_of(next(csv.reader(first, delimiter=char), [])).keys()
        for char in ",;\t|"
    )
