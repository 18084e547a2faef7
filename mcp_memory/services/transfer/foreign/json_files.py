"""Read JSON files of any size in a stream, with the line of each record: one object, an array, or JSON lines.

The shape of a JSON file is which names stand at its beginning. It tells what a file is, and where its records are.

A file is cut into its records before any is parsed: only brackets and quotes are looked at for that, so no record can
cost more than its bytes, and one that is over a bound, or no JSON, costs no other. (A streaming parser written in C
crashed on a number of 5,000 digits, and held the names of all that lies around a value for each value.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

from mcp_memory.bounds import DEEPEST, RECORD_BYTES, OverBounds, parse_json
from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.foreign.reading import NAME_CHARS, PIECE, BadRecord, begin, not_utf8
from mcp_memory.services.transfer.foreign.sources import SourceFile

LOOKED_AT = 1 << 20
"""Bytes at the beginning of a JSON file that are looked at."""
_TOO_LONG = f"is longer than {RECORD_BYTES:,} bytes"
_SPACE = re.compile(rb"[ \t\r\n]*+")
_PLAIN = re.compile(rb'[^ \t\r\n,\[\]{}":]*+')
_REST_OF_TEXT = re.compile(rb'(?:[^"\\]|\\.)*+', re.DOTALL)
_FLAT = re.compile(
    rb'(?:[^"\[\]{}]++|"(?:[^"\\]|\\.)*+"|\[[^"\[\]{}]*+\]|\{[^"\[\]{}]*+\})*+', re.DOTALL
)  # of a value, what holds no value that holds others
_NAME = re.compile(rb'("(?:[^"\\]|\\.)*+")(\s*:)?|([\[{])|([\]}])', re.DOTALL)


@dataclass(frozen=True, slots=True)
class JsonKeys:
    """The names at the beginning of a JSON file.

    Attributes:
        root: those of the object that the file is, or of its first line; empty if it is an array.
        first: those of the first object in the file's array.
        array: whether it is an array.
        lines: whether it is JSON lines: its first line is a value, and more follows.
    """

    root: frozenset[str] = frozenset()
    first: frozenset[str] = frozenset()
    array: bool = False
    lines: bool = False


def keys_of(file: SourceFile) -> JsonKeys:
    """Return the names at the beginning of a JSON file; of a file that is none, those that look like names."""
    with file.open() as stream:
        head = stream.read(LOOKED_AT).removeprefix(b"\xef\xbb\xbf").lstrip()
    array = head[:1] == b"["
    names, level, depth = set[str](), 1 + array, 0
    for found in _NAME.finditer(head):
        if found[3]:
            depth += 1
        elif found[4]:
            depth -= 1
            if depth < level:
                break
        elif found[2] and depth == level:
            names.add(_name(found[1]))
    first, _, rest = head.partition(b"\n")
    lines = not array and bool(rest.strip()) and _is_json(first)
    keys, none = frozenset(names), frozenset[str]()
    return JsonKeys(none if array else keys, keys if array else none, array, lines)


def _name(text: bytes) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return ""


def _is_json(text: bytes) -> bool:
    try:
        parse_json(text.decode())
    except OverBounds:
        return True
    except ValueError:
        return False
    return True


@dataclass(frozen=True, slots=True)
class JsonRecord:
    """A value of a JSON file.

    Attributes:
        place: where it stands, for messages.
        value: the value.
        problem: why it was not read, and the value is None; else empty.
    """

    place: str
    value: Any
    problem: str = ""

    def fields(self) -> Mapping[str, Any]:
        """Return the value, which has to be an object."""
        if not isinstance(self.value, dict):
            raise BadRecord(self.problem or "is no JSON object")
        return self.value


class _Cutter:
    """Cuts a JSON file into values, none of which is held or parsed if it is over a bound.

    Args:
        file: for messages.
        stream: the file from its beginning.
    """

    def __init__(self, file: SourceFile, stream: IO[bytes]) -> None:
        self._file, self._stream = file, stream
        self._held, self._at = begin(stream, file), 0
        self._line, self._counted = 1, 0

    @property
    def line(self) -> int:
        """The line of the next byte, from 1."""
        self._line += self._held.count(b"\n", self._counted, self._at)
        self._counted = self._at
        return self._line

    def _more(self) -> bool:
        """Drop what was read and hold more of the file; return whether there is more."""
        self._line, piece = self.line, self._stream.read(PIECE)
        self._held, self._at, self._counted = self._held[self._at :] + piece, 0, 0
        return bool(piece)

    def peek(self) -> bytes:
        """Return the next byte that is no white space, without taking it; empty at the end."""
        while True:
            found = _SPACE.match(self._held, self._at)
            self._at = found.end() if found else self._at
            if self._at < len(self._held):
                return self._held[self._at : self._at + 1]
            if not self._more():
                return b""

    def take(self, *marks: bytes) -> bytes:
        """Take the next byte, which has to be one of some."""
        if (found := self.peek()) not in marks:
            raise self._broken(f"{b' or '.join(marks).decode()} is missing")
        self._at += 1
        return found

    def value(self) -> bytes | None:
        """Take the next value, whose brackets need only be as many on either side; None for one that is too long."""
        if (first := self.peek()) not in (b'"', b"[", b"{"):
            return self._plain()
        parts, size, depth, in_text = list[bytes](), 0, int(first != b'"'), first == b'"'
        at = self._at + 1
        while True:
            at, depth, in_text = self._skim(at, depth, in_text=in_text)
            size += at - self._at
            if size <= RECORD_BYTES:
                parts.append(self._held[self._at : at])
            self._at = at
            if not (depth or in_text):
                return b"".join(parts) if size <= RECORD_BYTES else None
            if not self._more():
                raise self._broken("it ends too early")
            at = 0

    def _skim(self, at: int, depth: int, *, in_text: bool) -> tuple[int, int, bool]:
        """Return how far what is held goes on with a value, how many brackets are open there, and whether a text is."""
        held = self._held
        while True:
            if in_text:
                found = _REST_OF_TEXT.match(held, at)
                at = found.end() if found else at
                if held[at : at + 1] != b'"':
                    return at, depth, True
                at, in_text = at + 1, False
            elif depth > DEEPEST and b'"' not in held and (ends := sum(held.count(one, at) for one in b"]}")) < depth:
                return len(held), depth + sum(held.count(one, at) for one in b"[{") - ends, False
            if not depth:
                return at, 0, False
            found = _FLAT.match(held, at)
            at = found.end() if found else at
            sign = held[at : at + 1]
            if not sign:
                return at, depth, False
            at, in_text = at + 1, sign == b'"'
            depth += 0 if in_text else 1 if sign in b"[{" else -1

    def _plain(self) -> bytes:
        """Take a number or a word; one that no more is held of than a piece is none."""
        found = _PLAIN.match(self._held, self._at)
        if found and found.end() == len(self._held) and self._more():
            found = _PLAIN.match(self._held, self._at)
        if not found or not found[0] or (found.end() == len(self._held) and len(found[0]) >= PIECE):
            raise self._broken("a value is missing")
        self._at = found.end()
        return found[0]

    def record(self, name: str) -> JsonRecord:
        """Take the next value as a record of a name."""
        self.peek()
        line = self.line
        text, place = self.value(), f"{self._file.name}, {name} (line {line})"
        if text is None:
            return JsonRecord(place, None, _TOO_LONG)
        try:
            return JsonRecord(place, parse_json(text.decode()))
        except UnicodeDecodeError as error:
            before = text[: error.start]
            raise not_utf8(self._file, line + before.count(b"\n"), len(before) - before.rfind(b"\n") - 1) from None
        except OverBounds as error:
            return JsonRecord(place, None, str(error))
        except json.JSONDecodeError as error:
            return JsonRecord(
                f"{self._file.name}, {name} (line {line + error.lineno - 1})", None, f"is no JSON ({error.msg})"
            )

    def items(self, name: str) -> Iterator[JsonRecord]:
        """Take a list, and yield its values as records of a name."""
        self.take(b"[")
        if self.peek() == b"]":
            self.take(b"]")
            return
        number = 0
        while True:
            number += 1
            yield self.record(f"{name} {number}")
            if self.take(b",", b"]") == b"]":
                return

    def members(self) -> Iterator[tuple[str, JsonRecord]]:
        """Take an object, and yield what it holds with the names there: each value of a list, and other values."""
        self.take(b"{")
        if self.peek() == b"}":
            self.take(b"}")
            return
        while True:
            name = _name(self.value() or b"") if self.peek() == b'"' else ""
            self.take(b":")
            if self.peek() == b"[":
                yield from ((name, record) for record in self.items(name[:NAME_CHARS]))
            else:
                yield name, self.record(f"{name[:NAME_CHARS]} 1")
            if self.take(b",", b"}") == b"}":
                return

    def _broken(self, problem: str) -> InvalidInput:
        problem = f"is no JSON ({problem})" if self.peek() else "the file was cut short"
        return InvalidInput(
            f"{self._file.name}, line {self.line}", problem, "Export or copy it again. Nothing was stored."
        )


def json_parts(file: SourceFile, *, whole: bool = False) -> Iterator[tuple[str, JsonRecord]]:
    """Yield the records of a JSON file with the name of their list in it, else "".

    They are the values of an array, or what an object holds: each value of a list, and other values; or, ``whole``, the
    one value that the file is.

    Raises:
        InvalidInput: the file is no JSON in UTF-8 around its records, or it was cut short; with the line.
    """
    with file.open() as stream:
        cutter = _Cutter(file, stream)
        first = cutter.peek()
        if first == b"{" and not whole:
            yield from cutter.members()
        elif first == b"[" and not whole:
            yield from (("", record) for record in cutter.items("record"))
        elif first:
            yield "", cutter.record("record 1")
        if cutter.peek():
            cutter.take(b"the end of the file")


def json_values(file: SourceFile, *lists: str) -> Iterator[tuple[str, JsonRecord]]:
    """Yield the records of a JSON file in any of its forms, with the name of their list in it, else "".

    It may be one object that holds lists, one of ``lists`` among them, an array, one record, or JSON lines.
    """
    shape = keys_of(file)
    if shape.lines:
        yield from (("", record) for record in json_lines(file))
    else:
        yield from json_parts(file, whole=not shape.array and not shape.root & set(lists))


def json_lines(file: SourceFile) -> Iterator[JsonRecord]:
    """Yield the values of a file of JSON lines; a line that is no JSON, or over a bound, has a problem.

    Raises:
        InvalidInput: the file is not UTF-8, or its last line is cut short.
    """
    number, cut = 0, ""
    with file.open() as stream:
        line = begin(stream, file, RECORD_BYTES + 1)
        while line:
            number += 1
            place = f"{file.name}, line {number}"
            if cut:
                yield JsonRecord(f"{file.name}, line {number - 1}", None, cut)
                cut = ""
            if len(line) > RECORD_BYTES:
                while not line.endswith(b"\n") and (piece := stream.readline(PIECE)):
                    line = piece
                yield JsonRecord(place, None, _TOO_LONG)
            elif line.strip():
                try:
                    yield JsonRecord(place, parse_json(line.decode()))
                except UnicodeDecodeError as error:
                    raise not_utf8(file, number, error.start) from None
                except OverBounds as error:
                    yield JsonRecord(place, None, str(error))
                except ValueError as error:
                    cut = f"is no JSON ({error})"
            line = stream.readline(RECORD_BYTES + 1)
    if cut:
        problem = f"the file was cut short ({cut})"
        raise InvalidInput(f"{file.name}, line {number}", problem, "Export or copy it again. Nothing was stored.")
