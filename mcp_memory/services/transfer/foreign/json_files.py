"""Read JSON files of any size as a stream of records, each with its line.

A file is one object, an array, an object that holds lists, or JSON lines. Only one record is held at a time: a value is
parsed from what was read so far, and if it does not end there, more is read. A record over a bound, and a line that is
no JSON, costs no other; a file that is no JSON around its records, or ends too early, is refused as a whole.
"""

from __future__ import annotations

import codecs
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import IO, Any, Literal, NamedTuple

from mcp_memory.bounds import RECORD_BYTES, OverBounds, check_bounds, parse_json
from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.foreign.reading import (
    NAME_CHARS,
    PIECE_BYTES,
    BadRecord,
    Found,
    SkippedRecord,
    lines_of,
    not_utf8,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile

BYTES_LOOKED_AT = 1 << 20
"""Bytes at the beginning of a JSON file that are looked at."""
_SPACE = re.compile(r"[ \t\r\n]*")
_NAME = re.compile(rb'("(?:[^"\\]|\\.)*+")(\s*:)?|([\[{])|([\]}])', re.DOTALL)
_AGAIN = "Export or copy it again. Nothing was stored."
_DECODER = json.JSONDecoder(
    parse_int=lambda digits: int(digits) if len(digits) < NAME_CHARS else float(digits), parse_constant=lambda _: None
)


class Shape(NamedTuple):
    """What a JSON file looks like at its beginning.

    Attributes:
        form: one object, an array, or JSON lines: the first line is a value, and more follows.
        names: those in the object, in the first object of the array, or in the first line.
    """

    form: Literal["object", "array", "lines"]
    names: frozenset[str]


def shape_of(file: SourceFile) -> Shape:
    """Return what a JSON file looks like; of a file that is none, the names are what looks like names."""
    with file.open() as stream:
        head = stream.read(BYTES_LOOKED_AT).removeprefix(codecs.BOM_UTF8).lstrip()
    array = head[:1] == b"["
    names, level, depth = set[str](), 1 + array, 0
    for found in _NAME.finditer(head):
        depth += bool(found[3]) - bool(found[4])
        if found[4] and depth < level:
            break
        if found[2] and depth == level:
            names.add(found[1][1:-1].decode("utf-8", "replace"))
    if array:
        return Shape("array", frozenset(names))
    first, _, rest = head.partition(b"\n")
    try:
        lines = bool(rest.strip())
        parse_json(first.decode()) if lines else None
    except ValueError as error:
        lines = isinstance(error, OverBounds)
    return Shape("lines" if lines else "object", frozenset(names))


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A value of a JSON file, and where it stands; or None, and why it was not read."""

    place: str
    value: Any
    problem: str = ""

    def fields(self) -> Mapping[str, Any]:
        """Return the value, which has to be an object."""
        if not isinstance(self.value, dict):
            raise BadRecord(self.problem or "is no JSON object")
        return self.value


def json_values(file: SourceFile, *lists: str) -> Iterator[tuple[str, JsonRecord]]:
    """Yield the records of a JSON file in any of its forms, with the name of their list in it, else "".

    It may be one object that holds lists, one of ``lists`` among them, an array, one record, or JSON lines.

    Raises:
        InvalidInput: the file is no JSON in UTF-8 around its records, or it was cut short; with the line.
    """
    shape = shape_of(file)
    if shape.form == "lines":
        yield from (("", record) for record in _lines(file))
        return
    with file.open() as stream:
        text = _Text(file, stream)
        try:
            if shape.names & set(lists) and shape.form == "object":
                yield from text.members()
            elif shape.form == "array":
                yield from (("", record) for record in text.records("record"))
            elif text.peek():
                yield "", text.record("record 1")
            text.take("")
        except UnicodeDecodeError:
            raise not_utf8(file.name) from None


def readable(
    values: Iterable[tuple[str, JsonRecord]], read: Callable[[str, JsonRecord], Iterable[Found]]
) -> Iterator[Found]:
    """Yield what ``read`` makes of each record, given the name of its list, and name those that cannot be read."""
    for section, record in values:
        try:
            yield from read(section, record)
        except BadRecord as problem:
            yield SkippedRecord(record.place, str(problem))


def _lines(file: SourceFile) -> Iterator[JsonRecord]:
    """Yield the values of JSON lines; one that is no JSON, or over a bound, has a problem; the last is cut short."""
    number, broken = 0, ""
    for number, line in lines_of(file, RECORD_BYTES):
        if broken:
            yield JsonRecord(f"{file.name}, line {number - 1}", None, broken)
            broken = ""
        place = f"{file.name}, line {number}"
        try:
            if line is None:
                yield JsonRecord(place, None, f"is longer than {RECORD_BYTES:,} bytes")
            elif line.strip():
                yield JsonRecord(place, parse_json(line))
        except OverBounds as error:
            yield JsonRecord(place, None, str(error))
        except ValueError as error:
            broken = f"is no JSON ({error})"
    if broken:
        raise InvalidInput("", f"{file.name}, line {number} is cut short ({broken})", _AGAIN)


class _Text:
    """The text of a JSON file from the value on that is to be read next. A file in another encoding has none."""

    def __init__(self, file: SourceFile, stream: IO[bytes]) -> None:
        self._file = file
        self._stream = io.TextIOWrapper(stream, "utf-8-sig", newline="")
        self._held, self._at, self._line = "", 0, 1

    def _more(self) -> bool:
        """Drop what was taken and hold as much again as is left; return whether there was more."""
        piece = self._stream.read(max(PIECE_BYTES, len(self._held) - self._at))
        self._line += self._held.count("\n", 0, self._at)
        self._held, self._at = self._held[self._at :] + piece, 0
        return bool(piece)

    def peek(self) -> str:
        """Return the next character that is no white space, without taking it; empty at the end."""
        while True:
            found = _SPACE.match(self._held, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._held):
                return self._held[self._at]
            if not self._more():
                return ""

    def take(self, *marks: str) -> str:
        """Take the next character, which has to be one of some."""
        if (found := self.peek()) not in marks:
            raise self._broken(f"{' or '.join(marks) or 'its end'} is missing" if found else "", self._at)
        self._at += 1
        return found

    def take_value(self) -> Any:
        """Take the next value.

        Raises:
            OverBounds: it is over a bound, and was taken.
            InvalidInput: it is no JSON, or has no end.
        """
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._held, self._at)
            except json.JSONDecodeError as error:
                if len(self._held) - self._at > RECORD_BYTES:
                    raise self._broken(f"a value is longer than {RECORD_BYTES:,} bytes", self._at) from None
                wrong = error.pos - self._at
                if not self._more():
                    cut = wrong >= len(self._held.rstrip()) or error.msg.startswith("Unterminated")
                    raise self._broken("" if cut else error.msg, wrong) from None
            except RecursionError:
                raise self._broken("it is nested too deeply", self._at) from None
            else:
                if end < len(self._held) or self._held[end - 1] in '"]}' or not self._more():  # a number may go on
                    text, self._at = self._held[self._at : end], end
                    if len(text) > RECORD_BYTES:
                        raise OverBounds(f"is longer than {RECORD_BYTES:,} bytes")
                    check_bounds(text)
                    return value

    def record(self, name: str) -> JsonRecord:
        """Take the next value as a record of a name."""
        self.peek()
        place = f"{self._file.name}, {name} (line {self._line + self._held.count(chr(10), 0, self._at)})"
        try:
            return JsonRecord(place, self.take_value())
        except OverBounds as error:
            return JsonRecord(place, None, str(error))

    def _until(self, closing: str) -> Iterator[int]:
        """Take what stands between brackets: yield the number of each value, which is taken before the next."""
        self.take("[" if closing == "]" else "{")
        if self.peek() == closing:
            self.take(closing)
            return
        for number in count(1):
            yield number
            if self.take(",", closing) == closing:
                return

    def records(self, name: str) -> Iterator[JsonRecord]:
        """Take a list, and yield its values as records of a name."""
        return (self.record(f"{name} {number}") for number in self._until("]"))

    def members(self) -> Iterator[tuple[str, JsonRecord]]:
        """Take an object, and yield what it holds with the names there: each value of a list, and other values."""
        for _ in self._until("}"):
            name = str(self.take_value())[:NAME_CHARS]
            self.take(":")
            if self.peek() == "[":
                yield from ((name, record) for record in self.records(name))
            else:
                yield name, self.record(f"{name} 1")

    def _broken(self, problem: str, at: int) -> InvalidInput:
        place = f"{self._file.name}, line {self._line + self._held.count(chr(10), 0, at)}"
        return InvalidInput("", f"{place} is no JSON ({problem})" if problem else f"{place} is cut short", _AGAIN)
