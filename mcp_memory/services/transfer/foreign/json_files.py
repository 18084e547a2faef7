"""Read JSON files of any size in a stream, with the line of each record: one object, an array, or JSON lines.

The shape of a JSON file is which names stand at its beginning. It tells what a file is, and where its records are.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.foreign.reading import LINE_BYTES, PIECE, BadRecord, SkippedRecord, begin, not_utf8
from mcp_memory.services.transfer.foreign.sources import SourceFile

LOOKED_AT = 1 << 20
"""Bytes at the beginning of a JSON file that are looked at."""


@dataclass(frozen=True, slots=True)
class JsonKeys:
    """The names at the beginning of a JSON file.

    Attributes:
        root: those of the object that the file is, or of its first line; empty if it is an array.
        first: those of the first object in the file's array.
        array: whether it is an array.
        lines: whether it is JSON lines: its first line is a value, and more follows.
        broken: whether it is no JSON.
    """

    root: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    array: bool = False
    lines: bool = False
    broken: bool = False


def keys_of(file: SourceFile) -> JsonKeys:
    """Return the names at the beginning of a JSON file; of a file that is none, none."""
    import ijson

    with file.open() as stream:
        head = stream.read(LOOKED_AT).removeprefix(b"\xef\xbb\xbf").lstrip()
    names: set[str] = set()
    array, level = head[:1] == b"[", "item" if head[:1] == b"[" else ""
    done = broken = False
    events: Any = ijson.sendable_list()
    parser = ijson.parse_coro(events, multiple_values=True)
    for start in range(0, len(head), 4096):
        try:
            parser.send(head[start : start + 4096])
        except ijson.JSONError:
            broken = True
        for prefix, event, value in events:
            if prefix == level and event == "map_key":
                names.add(value)
            done = done or (prefix == level and event == "end_map")
            if done:
                break
        if done or broken:
            break
        del events[:]
    first, _, rest = head.partition(b"\n")
    lines = not array and bool(rest.strip()) and _is_json(first)
    found = frozenset(names)
    none = frozenset[str]()
    return JsonKeys(none if array else found, found if array else none, array, lines, broken and not done)


def _is_json(text: bytes) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A value of a JSON file with its place, for messages."""

    place: str
    value: Any

    def fields(self) -> Mapping[str, Any]:
        """Return the value, which has to be an object."""
        if not isinstance(self.value, dict):
            raise BadRecord("is no JSON object")
        return self.value


def json_records(file: SourceFile, prefix: str) -> Iterator[JsonRecord]:
    """Yield the values of a JSON file at a prefix of ijson, such as ``item`` for those of an array.

    Raises:
        InvalidInput: the file is no JSON in UTF-8, or it was cut short; with the line.
    """
    import ijson

    found: Any = ijson.sendable_list()
    ended = 0
    values = _streamed(file, ijson.items_coro(found, prefix, use_float=True), found)
    for count, (line, value) in enumerate(values, start=1):
        yield JsonRecord(f"{file.name}, record {count} (line {ended + 1 if ended < line else line})", value)
        ended = line


def json_members(file: SourceFile) -> Iterator[tuple[str, JsonRecord]]:
    """Yield what a JSON file that is one object holds, with the name there: each value of a list, and other values.

    Raises:
        InvalidInput: the file is no JSON in UTF-8, or it was cut short; with the line.
    """
    import ijson

    found: Any = ijson.sendable_list()
    builder, name, counts = ijson.ObjectBuilder(), "", Counter[str]()
    level, whole = 0, 1  # how deep an event lies, and how deep a whole value: in a list it is one deeper
    for line, (_, event, value) in _streamed(file, ijson.parse_coro(found, use_float=True), found):
        level -= event in ("end_map", "end_array")
        if level == 1 and event == "map_key":
            name, whole = value, 1
        elif level == 1 and event == "start_array":
            whole = 2
        elif level > 1 or (level == 1 and not (event == "end_array" and whole == 2)):
            builder.event(event, value)
            if level == whole and event not in ("start_map", "start_array"):
                counts[name] += 1
                yield name, JsonRecord(f"{file.name}, {name} {counts[name]} (line {line})", builder.value)
                builder = ijson.ObjectBuilder()
        level += event in ("start_map", "start_array")


def _streamed(file: SourceFile, parser: Any, found: Any) -> Iterator[tuple[int, Any]]:
    """Yield what a parser of ijson makes of a file, with the line that it had come to."""
    import ijson

    line = 1
    with file.open() as stream:
        try:
            piece = begin(stream, file)
            while piece:
                parser.send(piece)
                for value in found:
                    yield line, value
                del found[:]
                line += piece.endswith(b"\n")
                piece = stream.readline(PIECE)
            parser.close()
        except ijson.JSONError as error:
            raise _broken(file, line, str(error), cut=not piece) from None


def json_values(file: SourceFile, *lists: str) -> Iterator[tuple[str, JsonRecord | SkippedRecord]]:
    """Yield the records of a JSON file in any of its forms, with the name of their list in it, else "".

    It may be one object that holds lists, one of ``lists`` among them, an array, one record, or JSON lines.
    """
    shape = keys_of(file)
    if shape.root & set(lists) and not shape.lines:
        yield from json_members(file)
    else:
        one_by_one = json_lines(file) if shape.lines else json_records(file, "item" if shape.array else "")
        yield from (("", record) for record in one_by_one)


def json_lines(file: SourceFile) -> Iterator[JsonRecord | SkippedRecord]:
    """Yield the values of a file of JSON lines; a line that is no JSON is skipped.

    Raises:
        InvalidInput: the file is not UTF-8, or its last line is cut short.
    """
    number, bad = 0, None
    with file.open() as stream:
        line = begin(stream, file, LINE_BYTES)
        while line:
            number += 1
            if bad is not None:
                yield bad
                bad = None
            if line.strip():
                place = f"{file.name}, line {number}"
                try:
                    yield JsonRecord(place, json.loads(line.decode()))
                except UnicodeDecodeError as error:
                    raise not_utf8(file, number, error.start) from None
                except (ValueError, RecursionError) as error:
                    bad = SkippedRecord(place, f"is no JSON ({error})")
            line = stream.readline(LINE_BYTES)
    if bad is not None:
        raise _broken(file, number, bad.problem, cut=True)


def _broken(file: SourceFile, line: int, reason: str, *, cut: bool) -> InvalidInput:
    words = " ".join(reason.splitlines()[0].split())[:200] if reason else "it ends too early"
    if "UTF8" in words:
        return InvalidInput(f"{file.name}, line {line}", "is not UTF-8", "Save the file as UTF-8. Nothing was stored.")
    problem = f"the file was cut short ({words})" if cut else f"is no JSON ({words})"
    return InvalidInput(f"{file.name}, line {line}", problem, "Export or copy it again. Nothing was stored.")
