"""Plain files: folders of Markdown and text, those of basic-memory, whose lines also state relations, and CSV tables.

A table has one message a row.
"""

from __future__ import annotations

import codecs
import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

from mcp_memory.bounds import RECORD_BYTES, BrokenText, parse_yaml
from mcp_memory.domain.ids import digest
from mcp_memory.domain.requests import NewFact, NewItem
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import derived_ref
from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.foreign.memories import relation_of
from mcp_memory.services.transfer.foreign.reading import (
    ENCODINGS,
    BadRecord,
    ForeignRecord,
    Found,
    SkippedRecord,
    moment_in,
    moment_of,
    not_utf8,
    short_name,
    text_in,
    text_of_file,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile

SUFFIXES = (".md", ".markdown", ".txt")
_FRONT = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|$)", re.DOTALL)
_HEADING = re.compile(r"^#[ \t]+(\S.*)$", re.MULTILINE)
_RELATION = re.compile(r"^[ \t]*[-*] (?:[\"'](.+?)[\"']|([^\[\]\n]*?)) ?\[\[([^\]\n]+)\]\]", re.MULTILINE)
_OBSERVATION = re.compile(r"^[ \t]*[-*] \[[^\]\n ][^\]\n]*\] \S", re.MULTILINE)
_DAY = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)(?!\d)")


def read_text(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each text of a folder as a document, in a session of its folder."""
    for file in files:
        try:
            fields, body = _parts(text_of_file(file, RECORD_BYTES))
            if body.strip():
                item = _document(file, "notes", file.name, fields, body)
                yield ForeignRecord(file.name, "notes", "document", (item,))
        except BadRecord as problem:
            yield SkippedRecord(file.name, str(problem))


def read_basic_memory(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each note of basic-memory as a document, with its relations as facts that the note states."""
    for file in files:
        try:
            fields, body = _parts(text_of_file(file, RECORD_BYTES))
            if not body.strip():
                continue
            item = _document(file, "basic-memory", text_in(fields, "permalink") or file.name, fields, body)
            facts = tuple(
                NewFact(item.title or file.stem, relation_of(quoted or words), _target(target), source=item.ref)
                for quoted, words, target in _RELATION.findall(body)
                if _target(target)
            )
            yield ForeignRecord(file.name, "basic-memory", "document", (item,), facts)
        except BadRecord as problem:
            yield SkippedRecord(file.name, str(problem))


def is_basic_memory(files: Sequence[SourceFile]) -> bool:
    """Return whether notes are those of basic-memory: most of the first have its permalink or its observations."""
    found = []
    for file in files[:20]:
        with file.open() as stream:
            text = stream.read(1 << 16).decode("utf-8", "replace").replace("\r\n", "\n")
        fields, body = _parts(text)
        found.append("permalink" in fields or bool(_OBSERVATION.search(body) and fields))
    return sum(found) * 2 > len(found)


def _parts(text: str) -> tuple[Mapping[str, Any], str]:
    """Return the fields of a note's front matter, and the rest; front matter that is no YAML stays in the text."""
    found = _FRONT.match(text)
    if found is None:
        return {}, text
    try:
        fields = parse_yaml(found[1])
    except BrokenText:
        return {}, text
    return (fields, text[found.end() :]) if isinstance(fields, dict) else ({}, text)


def _document(file: SourceFile, program: str, name: str, fields: Mapping[str, Any], body: str) -> NewItem:
    heading = _HEADING.search(body)
    title = text_in(fields, "title") or (heading[1].rstrip().rstrip("#").rstrip() if heading else "") or file.stem
    return NewItem(body.strip(), ref=short_name(program, name), title=short_name(title), said_at=_time(file, fields))


def _time(file: SourceFile, fields: Mapping[str, Any]) -> Millis | None:
    """Return the time of a note: that in its front matter, else the day in its name, else its file's own."""
    try:
        when = moment_in(fields, "modified", "updated", "date", "created", "created_at")
    except BadRecord:  # a template that was never filled in: "{{date}}"
        when = None
    if when is None and (day := _DAY.search(file.stem)):
        try:
            when = moment_of(day[1])
        except BadRecord:
            when = None
    return file.modified if when is None else when


def _target(link: str) -> str:
    """Return what a link names: of ``folder/Note|shown`` the note."""
    return short_name(link.split("|")[0].split("#")[0].rsplit("/", 1)[-1].strip())


COLUMNS = {
    "text": ("text", "message", "content", "body", "msg"),
    "speaker": ("speaker", "author", "sender", "from", "name", "user", "username"),
    "role": ("role",),
    "time": ("time", "date", "timestamp", "datetime", "created_at", "sent_at", "created"),
    "session": ("session", "conversation", "channel", "thread", "chat", "conversation_id", "thread_id", "room"),
    "id": ("id", "message_id", "uuid"),
}
"""What the columns may be called, in any case."""
ROW_BYTES = 16 << 20
"""Most bytes of a row, and of a field; the limit of messages is below it."""
LOOKED_AT = 1_000
"""Columns at the beginning of a table whose names are looked at."""


def read_csv(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each row as a message, or as a document if it names nobody who says it; it has to have a column of text.

    A row without id gets one from its content. Without a time as well, the equal rows before it count: two are two.

    Raises:
        InvalidInput: a file has no header with a column of text, is not UTF-8, ends within quotes, or has a line or a
            field over `ROW_BYTES`.
    """
    for file in files:
        yield from _rows(file)


def columns_of(header: Sequence[str]) -> dict[str, int]:
    """Return the place of each column that has a known name."""
    names = [name.strip().strip("\ufeff").casefold().replace(" ", "_") for name in header[:LOOKED_AT]]
    found: dict[str, int] = {}
    for column, options in COLUMNS.items():
        place = next((names.index(option) for option in options if option in names), None)
        if place is not None:
            found[column] = place
    return found


def _rows(file: SourceFile) -> Iterator[Found]:
    csv.field_size_limit(ROW_BYTES)
    with file.open() as stream:
        first = 1
        reader = csv.reader(_lines(file, stream), delimiter=_delimiter(file), strict=True)
        try:
            columns = columns_of(next(reader, []))
            if "text" not in columns:
                problem = "its first line names no column of text"
                remedy = f"Name one {', '.join(map(repr, COLUMNS['text'][:4]))} or so. Nothing was stored."
                raise InvalidInput(file.name, problem, remedy)
            equal: Counter[str] = Counter()
            first = reader.line_num + 1
            for row in reader:
                place, first = f"{file.name}, line {first}", reader.line_num + 1
                try:
                    if any(cell.strip() for cell in row):
                        yield _message(place, file, row, columns, equal)
                except BadRecord as problem:
                    yield SkippedRecord(place, str(problem))
        except csv.Error as error:
            cut = "the file was cut short: it ends within quotes" if "unexpected end" in str(error) else str(error)
            raise InvalidInput(f"{file.name}, line {first}", cut, "Export it again. Nothing was stored.") from None


def _lines(file: SourceFile, stream: IO[bytes]) -> Iterator[str]:
    """Yield the lines of a table with their ends."""
    for number, line in enumerate(iter(lambda: stream.readline(ROW_BYTES + 1), b""), 1):
        if name := ENCODINGS.get(line[:2] if number == 1 else b""):
            raise InvalidInput(file.name, f"is {name}", "Save the file as UTF-8. Nothing was stored.")
        if len(line) > ROW_BYTES:
            problem = f"is longer than {ROW_BYTES:,} bytes"
            raise InvalidInput(f"{file.name}, line {number}", problem, "Export it again. Nothing was stored.")
        try:
            text = line.removeprefix(codecs.BOM_UTF8 if number == 1 else b"").decode()
        except UnicodeDecodeError:
            raise not_utf8(file, number) from None
        yield from io.StringIO(text, newline="")  # a carriage return alone ends a line, too


def _delimiter(file: SourceFile) -> str:
    """Return what separates the names in the first line."""
    with file.open() as stream:
        first = stream.readline(1 << 16).decode("utf-8", "replace")
    return max(
        ",;\t|", key=lambda char: len(columns_of(next(csv.reader(io.StringIO(first, newline=""), delimiter=char), [])))
    )


def _message(
    place: str, file: SourceFile, row: Sequence[str], columns: Mapping[str, int], equal: Counter[str]
) -> ForeignRecord:
    cells = {name: row[at].strip() for name, at in columns.items() if at < len(row) and row[at].strip()}
    if "text" not in cells:
        raise BadRecord("has no text")
    when = moment_in(cells, "time")
    speaker, role = cells.get("speaker"), cells.get("role")
    session = short_name("csv", cells.get("session") or file.stem)
    if "id" in cells:
        ref = short_name("csv", cells["id"])
    else:
        parts = (speaker, role, None if when is None else str(when), None, cells["text"])
        nth = 0
        if when is None:
            key = digest(session, derived_ref(*parts, nth=0))
            nth = equal[key]
            equal[key] += 1
        ref = f"csv:{derived_ref(*parts, nth=nth)}"
    if speaker or role:
        item = NewItem(cells["text"], ref=ref, speaker=speaker, role=role, said_at=when)
        return ForeignRecord(place, session, "message", (item,))
    return ForeignRecord(place, session, "document", (NewItem(cells["text"], ref=ref, said_at=when),))  # of nobody
