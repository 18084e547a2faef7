"""What readers of foreign files share: their records, texts, names and times."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from mcp_memory.domain.ids import digest
from mcp_memory.domain.requests import NewFact, NewItem
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Kind
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.services.transfer.foreign.sources import SourceFile

NAME_CHARS = 256
"""Characters of an id or a session; a longer one is shortened to its beginning and a digest."""
PIECE_BYTES = 1 << 16
"""Bytes that are read at once, as a file may be one line of gigabytes."""
_NUMBER_BITS = 256
"""Most bits of a number that names something."""
_MILLISECONDS = 100_000_000_000
"""A number of time that is larger counts milliseconds, a smaller one seconds: the year 5138, or March 1973."""
_CALENDAR = range(-62_135_596_800_000, 253_402_300_800_000)


class BadRecord(Exception):
    """A record that cannot be imported; the text says why."""


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """A record, or a file, that should be imported and cannot be: file, record and line, and the problem in words."""

    place: str
    problem: str


@dataclass(frozen=True, slots=True)
class FileRecord:
    """A record of a file, as a write takes it.

    Attributes:
        place: file, record and line, for messages.
        kind: the kind of the items; ``statement`` if there are only facts.
        items: messages or documents, each with its id.
        space: its space in an export of this program; None in a file of another one.
    """

    place: str
    session: str
    kind: Kind
    items: tuple[NewItem, ...] = ()
    facts: tuple[NewFact, ...] = ()
    space: str | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a file holds beside its records, and what is therefore not stored.

    Attributes:
        what: in the singular: "relation".
        why: in words, behind it.
        count: how many they are.
        place: the file where it stands, for what its owner may want to mend.
    """

    what: str
    why: str
    count: int = 1
    place: str = ""


Found = FileRecord | SkippedRecord | LeftOut


def lines_of(file: SourceFile, most: int) -> Iterator[tuple[int, str | None]]:
    """Yield the lines of a file with their ends and numbers; None in place of one of more than so many bytes.

    Raises:
        InvalidInput: the file is not UTF-8; with the line.
    """
    number = 0
    with file.open() as stream:
        while line := stream.readline(most + 1):
            number += 1
            is_long = len(line) > most
            while is_long and not line.endswith(b"\n") and (piece := stream.readline(PIECE_BYTES)):
                line = piece
            try:
                text = "" if is_long else line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").decode()
            except UnicodeDecodeError:
                raise not_utf8(f"{file.name}, line {number}") from None
            yield number, None if is_long else text


def not_utf8(place: str) -> InvalidInput:
    """Return the error for a file in another encoding."""
    return InvalidInput("", f"{place} is not UTF-8", "Save the file as UTF-8. Nothing was stored.")


def text_in(fields: Mapping[str, Any], *names: str) -> str | None:
    """Return the first text that is not empty among some fields; a number counts as text."""
    for name in names:
        value = fields.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if type(value) is int and value.bit_length() <= _NUMBER_BITS:
            return str(value)
    return None


def needed(fields: Mapping[str, Any], *names: str) -> str:
    """Return the first text that is not empty among some fields, of which there has to be one."""
    if (text := text_in(fields, *names)) is None:
        raise BadRecord(f"has no text in {' or '.join(map(repr, names))}")
    return text


TEXTS = ("text", "content", "contents", "observation", "observations", "value", "values", "item", "items", "memory")
"""Names of what a record says; what stands under another name is read with that name before it."""


def said_in(value: object, label: str = "") -> Iterator[str]:
    """Yield every text in a value, whatever its form.

    A name that says more than that it is text stays before it: ``{"city": "Porto"}`` says "city: Porto".
    """
    if isinstance(value, dict):
        for name, one in value.items():
            yield from said_in(one, label if name in TEXTS else f"{label}{name}: ")
    elif isinstance(value, list):
        for one in value:
            yield from said_in(one, label)
    elif value is not None and str(value).strip():
        yield f"{label}{str(value).strip()}"


def object_in(fields: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return an object of a record; an empty one where there is none."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def objects_in(fields: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the objects of a list; of a missing one, none."""
    value = fields.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def moment_in(fields: Mapping[str, Any], *names: str) -> Millis | None:
    """Return the time in the first of some fields that has one; None if all are empty.

    Raises:
        BadRecord: it cannot be read.
    """
    value = next((value for name in names if (value := fields.get(name)) not in (None, "")), None)
    return None if value is None else moment_of(value)


def moment_of(value: object) -> Millis:
    """Return a time: ISO-8601, or seconds or milliseconds since 1970.

    Raises:
        BadRecord: it is none of these.
    """
    moment = _moment(value)
    if moment is None or moment not in _CALENDAR:
        shown = repr(value)[:40] if isinstance(value, (str, float)) else f"a value of type {type(value).__name__}"
        raise BadRecord(f"has a time that cannot be read, {shown}; write it as 2024-03-01T14:30:00Z")
    return moment


def _moment(value: object) -> Millis | None:
    if isinstance(value, str):
        return _written_moment(value.strip())
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e17:  # NaN is not, either
        return None
    return round(value if abs(value) >= _MILLISECONDS else value * 1000)


def _written_moment(text: str) -> Millis | None:
    with suppress(ValueError):
        return iso.parse(text)[0]
    with suppress(ValueError):
        return _moment(float(text)) if text[:1].isdecimal() and text.isascii() else None
    return None


def short_name(*parts: str) -> str:
    """Return an id or a session of some parts, joined by colons, in at most `NAME_CHARS` characters on one line."""
    name = " ".join(":".join(parts).split())
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 21]}~{digest(name)}"


def relation_of(words: object) -> str:
    """Return a relation in words that can name one: "works at" as ``works_at``."""
    return re.sub(r"\W+", "_", words if isinstance(words, str) else "").strip("_").lower() or "related_to"
