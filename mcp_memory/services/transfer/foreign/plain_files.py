"""Plain files: folders of Markdown and text, those of basic-memory, whose lines also state relations, and CSV tables.

A table has one message a row.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from mcp_memory.bounds import RECORD_BYTES, BrokenText, parse_yaml
from mcp_memory.domain.ids import digest
from mcp_memory.domain.requests import NewFact, NewItem
from mcp_memory.domain.times import Millis
from mcp_memory.domain.turns import derived_ref
from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.foreign.reading import (
    BadRecord,
    ForeignRecord,
    Found,
    SkippedRecord,
    lines_of,
    moment_in,
    moment_of,
    relation_of,
    short_name,
    text_in,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile

_FRONT = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|$)", re.DOTALL)
_HEADING = re.compile(r"^#[ \t]+(\S.*)$", re.MULTILINE)
_RELATION = re.compile(r"^[ \t]*[-*] (?:[\"'](.+?)[\"']|([^\[\]\n]*?)) ?\[\[([^\]\n]+)\]\]", re.MULTILINE)
_OBSERVATION = re.compile(r"^[ \t]*[-*] \[[^\]\n ][^\]\n]*\] \S", re.MULTILINE)
_DAY = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)(?!\d)")


def read_text(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each text of a folder as a document, in the session "notes"."""
    return _notes(files, "notes")


def read_basic_memory(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each note of basic-memory as a document, with its relations as facts that the note states."""
    return _notes(files, "basic-memory")


def _notes(files: Sequence[SourceFile], program: str) -> Iterator[Found]:
    for file in files:
        try:
            fields, body = _parts(_text_of(file))
        except BadRecord as problem:
            yield SkippedRecord(file.name, str(problem))
            continue
        if not body.strip():
            continue
        name, links = file.name, list[tuple[str, str, str]]()
        if program == "basic-memory":
            name, links = text_in(fields, "permalink") or name, _RELATION.findall(body)
        item = _document(file, short_name(program, name), fields, body)
        facts = tuple(
            NewFact(item.title or file.stem, relation_of(quoted or words), target, source=item.ref)
            for quoted, words, link in links
            if (target := _target(link))
        )
        yield ForeignRecord(file.name, program, "document", (item,), facts)


def is_basic_memory(files: Sequence[SourceFile]) -> bool:
    """Return whether notes are those of basic-memory: most of the first have its permalink or its observations."""
    found = []
    for file in files[:20]:
        with file.open() as stream:
            text = stream.read(1 << 16).decode("utf-8", "replace").replace("\r\n", "\n")
        fields, body = _parts(text)
        found.append("permalink" in fields or bool(_OBSERVATION.search(body) and fields))
    return sum(found) * 2 > len(found)


def _text_of(file: SourceFile) -> str:
    """Return the text of a note; line ends are line feeds.

    Raises:
        BadRecord: it is too long, or not UTF-8.
    """
    with file.open() as stream:
        content = stream.read(RECORD_BYTES + 1)
    if len(content) > RECORD_BYTES:
        raise BadRecord(f"is longer than {RECORD_BYTES:,} bytes; split it")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise BadRecord(f"is not UTF-8 (line {line}); save it as UTF-8") from None


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


def _document(file: SourceFile, ref: str, fields: Mapping[str, Any], body: str) -> NewItem:
    heading = _HEADING.search(body)
    title = text_in(fields, "title") or (heading[1].rstrip().rstrip("#").rstrip() if heading else "") or file.stem
    return NewItem(body.strip(), ref=ref, title=short_name(title), said_at=_time(file, fields))


def _time(file: SourceFile, fields: Mapping[str, Any]) -> Millis | None:
    """Return the time of a note: that in its front matter, else the day in its name, else its file's own."""
    with suppress(BadRecord):  # a template that was never filled in: "{{date}}"
        when = moment_in(fields, "modified", "updated", "date", "created", "created_at")
        if when is not None:
            return when
    with suppress(BadRecord):
        if day := _DAY.search(file.stem):
            return moment_of(day[1])
    return file.modified


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
DELIMITERS = ",;\t|"
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
    places = {column: [names.index(one) for one in options if one in names] for column, options in COLUMNS.items()}
    return {column: found[0] for column, found in places.items() if found}


def _rows(file: SourceFile) -> Iterator[Found]:
    csv.field_size_limit(ROW_BYTES)
    first = 1
    reader = csv.reader(_lines(file), delimiter=_delimiter(file), strict=True)
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
            cells = {name: row[at].strip() for name, at in columns.items() if at < len(row) and row[at].strip()}
            try:
                if any(cell.strip() for cell in row):
                    yield _message(place, file, cells, equal)
            except BadRecord as problem:
                yield SkippedRecord(place, str(problem))
    except csv.Error as error:
        cut = "the file was cut short: it ends within quotes" if "unexpected end" in str(error) else str(error)
        raise InvalidInput(f"{file.name}, line {first}", cut, "Export it again. Nothing was stored.") from None


def _lines(file: SourceFile) -> Iterator[str]:
    """Yield the lines of a table with their ends."""
    for number, line in lines_of(file, ROW_BYTES):
        if line is None:
            problem = f"is longer than {ROW_BYTES:,} bytes"
            raise InvalidInput(f"{file.name}, line {number}", problem, "Export it again. Nothing was stored.")
        yield from io.StringIO(line, newline="")  # a carriage return alone ends a line, too


def _delimiter(file: SourceFile) -> str:
    """Return what separates the names in the first line."""
    with file.open() as stream:
        first = stream.readline(1 << 16).decode("utf-8", "replace").splitlines()[:1]
    return max(DELIMITERS, key=lambda mark: len(columns_of(next(csv.reader(first, delimiter=mark), []))))


def _message(place: str, file: SourceFile, cells: Mapping[str, str], equal: Counter[str]) -> ForeignRecord:
    if "text" not in cells:
        raise BadRecord("has no text")
    text, speaker, role, when = cells["text"], cells.get("speaker"), cells.get("role"), moment_in(cells, "time")
    session = short_name("csv", cells.get("session") or file.stem)
    if "id" in cells:
        ref = short_name("csv", cells["id"])
    else:
        said_at, nth = None if when is None else str(when), 0
        if when is None:
            key = digest(session, derived_ref(speaker, role, None, None, text, nth=0))
            nth = equal[key]
            equal[key] += 1
        ref = f"csv:{derived_ref(speaker, role, said_at, None, text, nth=nth)}"
    if speaker or role:
        item = NewItem(text, ref=ref, speaker=speaker, role=role, said_at=when)
        return ForeignRecord(place, session, "message", (item,))
    return ForeignRecord(place, session, "document", (NewItem(text, ref=ref, said_at=when),))  # of nobody
