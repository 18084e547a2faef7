"""The kinds of files that can be imported, and how they are told apart: by their content, not by their names."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Final

from mcp_memory.bounds import parse_json
from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.foreign import chats, memories, plain_files
from mcp_memory.services.transfer.foreign.json_files import json_values, keys_of
from mcp_memory.services.transfer.foreign.reading import ENCODINGS, Found, LeftOut
from mcp_memory.services.transfer.foreign.sources import SourceFile
from mcp_memory.services.transfer.records import FORMAT

OWN: Final = "mcp-memory"
LOOKED_AT = 100
"""Records of a file of no known kind that are looked at for what is wrong with them."""

Read = Callable[[Sequence[SourceFile]], Iterator[Found]]
_READ: Final[Mapping[str, Read]] = {
    "chatgpt": chats.read_chatgpt,
    "claude": chats.read_claude,
    "official": memories.read_official,
    "mem0": memories.read_mem0,
    "zep": memories.read_zep,
    "basic-memory": plain_files.read_basic_memory,
    "text": plain_files.read_text,
    "csv": plain_files.read_csv,
}


def _read(kind: str, files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield the records of the files of a kind, and name the others; a file that alone is asked for is of it."""
    for file in files:
        if file.unread:
            yield LeftOut(file.name, "file", f"that {file.unread}")
    files = [file for file in files if not file.unread]
    kinds = [kind] if len(files) == 1 else _kinds_of(files)
    if kind not in kinds:  # only the person knows what they are
        suffixes = {"csv": (".csv", ".tsv"), "text": plain_files.SUFFIXES, "basic-memory": plain_files.SUFFIXES}
        wanted = suffixes.get(kind, (".json", ".jsonl"))
        kinds = [kind if file.suffix in wanted else found for file, found in zip(files, kinds, strict=True)]
    for file, found in zip(files, kinds, strict=True):
        if found != kind:
            yield LeftOut(file.name, "file", f"of another kind ({found})" if found in READERS else "of no known kind")
    yield from _READ[kind]([file for file, found in zip(files, kinds, strict=True) if found == kind])


READERS: Final[Mapping[str, Read]] = {kind: partial(_read, kind) for kind in _READ}
"""The reader of each kind; where several files differ in kind, this is the order in which one is chosen."""


def recognise(files: Sequence[SourceFile]) -> str:
    """Return the kind of some files: `OWN` or one of `READERS`.

    Raises:
        InvalidInput: it cannot be told.
    """
    files = [file for file in files if not file.unread]
    if not files:
        raise InvalidInput("FILE", "there is no file in it", "Name a file, a folder or a zip archive with an export.")
    if len(files) == 1:
        kinds = [_of_file(files[0])]
    else:
        kinds = _kinds_of(files)
        if kinds.count("csv") < len(kinds) - kinds.count("") - kinds.count("csv"):  # a table among notes
            kinds = [kind for kind in kinds if kind != "csv"]
    found = next((kind for kind in (*READERS, OWN) if kind in kinds), "")
    if not found:
        for file in files if len(files) > 1 else ():
            _of_file(file)  # it may say what is wrong with one
        problem = f"{files[0].name if len(files) == 1 else 'the folder'} is no export that is known"
        remedy = f"Known are: {', '.join((OWN, *READERS))}; if it is one of these, say --from KIND."
        if any(b".zip" in _head(file) for file in files if file.suffix == ".json"):
            remedy = f"It names archives: download them into one folder, and import that. {remedy}"
        raise InvalidInput("FILE", problem, remedy)
    return found


def _kinds_of(files: Sequence[SourceFile]) -> list[str]:
    """Return the kind of each of several files, "" for none that is known; notes are all of one kind."""
    texts = [file for file in files if file.suffix in plain_files.SUFFIXES]
    of_texts = "basic-memory" if texts and plain_files.is_basic_memory(texts) else "text"
    found = []
    for file in files:
        try:
            known = file.suffix in (".json", ".jsonl", ".csv", ".tsv")
            found.append(of_texts if file in texts else _of_file(file) if known else "")
        except InvalidInput:
            found.append("")
    return found


def _head(file: SourceFile) -> bytes:
    with file.open() as stream:
        return stream.read(1 << 16).removeprefix(b"\xef\xbb\xbf")


def _of_file(file: SourceFile) -> str:
    head = _head(file)
    if not head:
        raise InvalidInput(file.name, "is empty", "Export or download it again.")
    if name := ENCODINGS.get(head[:2]):
        raise InvalidInput(file.name, f"is {name}", "Save the file as UTF-8. Nothing was stored.")
    if head.lstrip()[:1] in (b"{", b"["):
        shape = keys_of(file)
        if kind := _of_keys(shape.root or shape.first, whole=bool(shape.root)) or _of_line(head):
            return kind
        for _, record in islice(json_values(file), LOOKED_AT):  # it raises the error with the line
            if record.problem:
                raise InvalidInput(record.place, record.problem, "Export or copy it again. Nothing was stored.")
        return ""
    if file.suffix in plain_files.SUFFIXES:
        return "basic-memory" if plain_files.is_basic_memory([file]) else "text"
    return "csv" if file.suffix in (".csv", ".tsv") or _has_columns(head) else ""


def _of_line(head: bytes) -> str:
    """Return the kind of JSON lines by the first that tells; the very first may be broken."""
    for line in head.splitlines()[:20]:
        try:
            value = parse_json(line.decode())
        except ValueError:
            continue
        if not isinstance(value, dict):
            continue
        if value.get("format") == FORMAT:
            return OWN
        if any(value.get(name) in ("entity", "relation") for name in ("type", "_type")):
            return "official"
        if kind := _of_keys(frozenset(value), whole=False):
            return kind
    return ""


def _of_keys(keys: frozenset[str], *, whole: bool) -> str:
    """Return the kind of a JSON file by the names in it; ``whole`` if the file is one object, or lines of them."""
    if "mapping" in keys:
        return "chatgpt"
    if keys & {"chat_messages", *chats.PROJECT, *chats.MEMORIES}:
        return "claude"
    if "source_node_uuid" in keys:
        return "zep"
    if keys & {"entityType", "observations", "relationType"} or {"entities", "relations"} <= keys:
        return "official"
    if "memory" in keys and keys & {"id", "user_id", "agent_id", "run_id"}:
        return "mem0"
    if whole:
        return "zep" if {"episodes", "edges"} & keys else "mem0" if {"results", "memories"} & keys else ""
    graph = {"source_description", "role_type", "valid_at", "group_id"}
    return "zep" if "uuid" in keys and graph & keys else ""


def _has_columns(head: bytes) -> bool:
    first = head.decode("utf-8", "replace").splitlines()[:1]
    return any(
        {"text", "speaker"} <= plain_files.columns_of(next(csv.reader(first, delimiter=char), [])).keys()
        for char in ",;\t|"
    )
