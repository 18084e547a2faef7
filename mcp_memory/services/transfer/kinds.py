"""The kinds of files that can be imported, and how they are told apart: by their content, not by their names."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import Final

from mcp_memory.bounds import parse_json
from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.foreign import chats, memories, plain_files
from mcp_memory.services.transfer.foreign.json_files import json_values, shape_of
from mcp_memory.services.transfer.foreign.reading import Found, LeftOut, SkippedRecord, not_utf8
from mcp_memory.services.transfer.foreign.sources import NOTES, SourceFile
from mcp_memory.services.transfer.own import FORMAT, read_own

RECORDS_LOOKED_AT = 100
"""Records of a file of no known kind that are looked at for what is wrong with them."""
_JSON = (".json", ".jsonl")

Read = Callable[[Sequence[SourceFile]], Iterator[Found]]
_KINDS: Final[Mapping[str, tuple[Read, tuple[str, ...]]]] = {
    "chatgpt": (chats.read_chatgpt, _JSON),
    "claude": (chats.read_claude, _JSON),
    "official": (memories.read_official, _JSON),
    "mem0": (memories.read_mem0, _JSON),
    "text": (plain_files.read_text, NOTES),
    "mcp-memory": (read_own, _JSON),
}
"""The reader of each kind, and the ends of its files' names. Of several kinds in a folder the first is read."""


def _read(kind: str, files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield the records of the files of a kind, and name or count the others."""
    read, suffixes = _KINDS[kind]
    yield from (SkippedRecord(file.name, file.unread) for file in files if file.unread)
    files = [file for file in files if not file.unread]
    kinds = [kind] if len(files) == 1 else [found for found, _ in _kinds_of(files)]  # one that alone is asked for is it
    if kind not in kinds:  # only the person knows what they are
        kinds = [kind if file.suffix in suffixes else found for file, found in zip(files, kinds, strict=True)]
    for file, found in zip(files, kinds, strict=True):
        if found != kind:
            yield LeftOut("file", f"of another kind ({found})" if found else "of no known kind", place=file.name)
    yield from read([file for file, found in zip(files, kinds, strict=True) if found == kind])


READERS: Final[Mapping[str, Read]] = {kind: partial(_read, kind) for kind in _KINDS}


def recognise(files: Sequence[SourceFile]) -> str:
    """Return the kind of some files, one of `READERS`.

    Raises:
        InvalidInput: it cannot be told.
    """
    kinds = _kinds_of([file for file in files if not file.unread])
    if not kinds:
        raise InvalidInput("", "there is no file to import", "Name a file, a folder or a zip archive with an export.")
    names = {kind for kind, _ in kinds}
    if found := next((kind for kind in READERS if kind in names), ""):
        return found
    if problem := next((problem for _, problem in kinds if problem is not None), None):
        raise problem
    what = files[0].name if len(files) == 1 else "the folder"
    remedy = f"Known are: {', '.join(READERS)}; if it is one of these, say --from KIND."
    raise InvalidInput("", f"{what} is no export that is known", remedy)


def _kinds_of(files: Sequence[SourceFile]) -> list[tuple[str, InvalidInput | None]]:
    """Return the kind of each file, "" for none that is known, and what is wrong with it."""
    found: list[tuple[str, InvalidInput | None]] = []
    for file in files:
        try:
            known = len(files) == 1 or file.suffix in _JSON
            found.append(("text" if file.suffix in NOTES else _kind_of(file) if known else "", None))
        except InvalidInput as problem:
            found.append(("", problem))
    return found


def _kind_of(file: SourceFile) -> str:
    """Return the kind of a file that is no note.

    Raises:
        InvalidInput: it is empty, or no JSON, though it begins so.
    """
    with file.open() as stream:
        head = stream.read(1 << 16).removeprefix(codecs.BOM_UTF8)
    if not head:
        raise InvalidInput("", f"{file.name} is empty", "Export or download it again.")
    if head[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        raise not_utf8(file.name)
    if head.lstrip()[:1] in (b"{", b"["):
        shape = shape_of(file)
        if kind := _of_names(shape.names) or _of_line(head):
            return kind
        for _, record in islice(json_values(file), RECORDS_LOOKED_AT):  # it raises the error with the line
            if record.problem:
                raise InvalidInput(
                    "", f"{record.place} {record.problem}", "Export or copy it again. Nothing was stored."
                )
    return ""


def _of_line(head: bytes) -> str:
    """Return the kind of JSON lines by the first that tells; the very first may be broken."""
    for line in head.splitlines()[:20]:
        try:
            value = parse_json(line.decode())
        except ValueError:
            continue
        if isinstance(value, dict):
            if value.get("format") == FORMAT:
                return "mcp-memory"
            if any(value.get(name) in ("entity", "relation") for name in ("type", "_type")):
                return "official"
            if kind := _of_names(frozenset(value)):
                return kind
    return ""


def _of_names(names: frozenset[str]) -> str:
    """Return the kind of a JSON file by the names in it."""
    if "mapping" in names:
        return "chatgpt"
    if names & {"chat_messages", *chats.PROJECT, *chats.MEMORIES}:
        return "claude"
    if names & {"entityType", "observations", "relationType"} or {"entities", "relations"} <= names:
        return "official"
    is_memory = "memory" in names and names & {"id", "user_id", "agent_id", "run_id"}
    return "mem0" if is_memory or names & {"results", "memories"} else ""
