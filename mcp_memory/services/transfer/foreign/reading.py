"""What readers of foreign files share: their records, texts, names and times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from typing import Any, TypeVar

from mcp_memory.domain.ids import digest
from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import Kind
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.services.transfer.foreign.sources import SourceFile

NAME_CHARS = 256
"""Characters of an id or a session; a longer one is shortened to its beginning and a digest."""
ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
"""Encodings that cannot be read, by the mark at the beginning of a file."""
_NUMBER_BITS = 256
"""Most bits of a number that names something."""
_MILLISECONDS = 100_000_000_000
"""A number of time that is larger counts milliseconds, a smaller one seconds: the year 5138, or March 1973."""
_CALENDAR = range(-62_135_596_800_000, 253_402_300_800_000)


class BadRecord(Exception):
    """A record that cannot be imported; the text says why."""


@dataclass(frozen=True, slots=True)
class SkippedRecord:
    """A record that is left out.

    Attributes:
        place: file, record and line.
        problem: in words.
    """

    place: str
    problem: str


@dataclass(frozen=True, slots=True)
class ForeignRecord:
    """A record of another program, as a write takes it.

    Attributes:
        place: file, record and line, for messages.
        session: where it goes.
        kind: the kind of the items; ``statement`` if there are only facts.
        items: messages or documents, each with its id.
        facts: the facts that it states.
    """

    place: str
    session: str
    kind: Kind
    items: tuple[NewItem, ...] = ()
    facts: tuple[NewFact, ...] = ()


@dataclass(frozen=True, slots=True)
class LeftOut:
    """What a file holds beside its records, and what is therefore not stored.

    Attributes:
        place: the file, and where in it.
        what: in the singular: "relation".
        why: in words, behind it.
        count: how many they are.
    """

    place: str
    what: str
    why: str
    count: int = 1


Found = ForeignRecord | SkippedRecord | LeftOut


def text_of_file(file: SourceFile, most: int) -> str:
    """Return the text of a file in UTF-8, of at most some bytes; line ends are line feeds.

    Raises:
        BadRecord: it is longer, or not UTF-8.
    """
    with file.open() as stream:
        content = stream.read(most + 1)
    if len(content) > most:
        raise BadRecord(f"is longer than {most:,} bytes; raise limits.document_bytes, or split it")
    if name := ENCODINGS.get(content[:2]):
        raise BadRecord(f"is {name}; save it as UTF-8")
    try:
        text = content.removeprefix(b"\xef\xbb\xbf").decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadRecord(f"is not UTF-8 (line {line}, byte {error.start}); save it as UTF-8") from None
    return text.replace("\r\n", "\n")


def not_utf8(file: SourceFile, line: int) -> InvalidInput:
    """Return the error for a file in another encoding."""
    return InvalidInput(f"{file.name}, line {line}", "is not UTF-8", "Save the file as UTF-8. Nothing was stored.")


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
    """Return a time: ISO-8601, seconds or milliseconds since 1970, that of an e-mail, or 31.12.2024.

    Raises:
        BadRecord: it is none of these.
    """
    moment = _moment(value)
    if moment is None or moment not in _CALENDAR:
        shown = repr(value)[:40] if isinstance(value, (str, float)) else f"a value of type {type(value).__name__}"
        raise BadRecord(f"has a time that cannot be read, {shown}; write it as 2024-03-01T14:30:00Z")
    return moment


def _moment(value: object) -> Millis | None:
    if isinstance(value, datetime):
        return int((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp() * 1000)
    if isinstance(value, date):
        return int(datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp() * 1000)
    if type(value) in (int, float):
        assert isinstance(value, (int, float))
        if abs(value) < 1e17:  # neither NaN nor infinity is
            return round(value if abs(value) >= _MILLISECONDS else value * 1000)
        return None
    if not isinstance(value, str):
        return None
    text = value.strip()
    try:
        return iso.parse(text)[0]
    except ValueError:
        pass
    try:
        return _moment(float(text)) if text[:1].isdecimal() and text.isascii() else _moment(parsedate_to_datetime(text))
    except ValueError:
        pass
    for form in ("%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S", "%Y/%m/%d", "%Y/%m/%d %H:%M", "%Y/%m/%d %H:%M:%S"):
        try:
            return _moment(datetime.strptime(text, form).replace(tzinfo=UTC))
        except ValueError:
            continue
    return None


def short_name(*parts: str) -> str:
    """Return an id or a session of some parts, joined by colons, in at most `NAME_CHARS` characters on one line."""
    name = " ".join(":".join(parts).split())
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 21]}~{digest(name)}"


def size(record: ForeignRecord | WriteRequest) -> int:
    """Return how many items and facts there are."""
    return len(record.items) + len(record.facts)


PartsT = TypeVar("PartsT", ForeignRecord, WriteRequest)


def parts_of(whole: PartsT) -> list[PartsT]:
    """Return a record or a request as one for each item with the facts of it, and one for each other fact."""
    own = {item.ref: tuple(fact for fact in whole.facts if fact.source == item.ref) for item in whole.items}
    parts = [replace(whole, items=(item,), facts=own[item.ref]) for item in whole.items]
    others = [fact for fact in whole.facts if fact.source is None or fact.source not in own]
    return parts + [replace(whole, kind="statement", items=(), facts=(fact,)) for fact in others]
