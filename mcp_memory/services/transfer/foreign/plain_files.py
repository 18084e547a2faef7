"""Plain files: folders of Markdown and text, as programs for notes keep them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from mcp_memory.bounds import RECORD_BYTES, BrokenText, parse_yaml
from mcp_memory.domain.requests import NewItem
from mcp_memory.domain.times import Millis
from mcp_memory.services.transfer.foreign.reading import (
    BadRecord,
    FileRecord,
    Found,
    LeftOut,
    SkippedRecord,
    moment_in,
    moment_of,
    short_name,
    text_in,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile

_FRONT = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|$)", re.DOTALL)
_HEADING = re.compile(r"^#[ \t]+(\S.*)$", re.MULTILINE)
_DAY = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)(?!\d)")


def read_text(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each text of a folder as a document, in a session of that folder; name the first of what is not read."""
    for file in files:
        try:
            text = _text_of(file)
        except BadRecord as problem:
            yield SkippedRecord(file.name, str(problem))
            continue
        try:
            fields, body = _parts(text)
        except BrokenText:
            fields, body = {}, text
            yield LeftOut("block", "of front matter that is no YAML, kept in the text", place=file.name)
        try:
            stated = moment_in(fields, "modified", "updated", "date", "created", "created_at")
        except BadRecord:  # or a template that was never filled in: "{{date}}"
            stated = None
            yield LeftOut("date", "in front matter that cannot be read; the file's own counts", place=file.name)
        if not body.strip():
            yield LeftOut("file", "without text", place=file.name)
            continue
        heading = _HEADING.search(body)
        title = text_in(fields, "title") or (heading[1].rstrip().rstrip("#").rstrip() if heading else "") or file.stem
        item = NewItem(
            body.strip(),
            ref=short_name("notes", f"{file.folder}/{file.name}"),
            title=short_name(title),
            said_at=_time_of(file) if stated is None else stated,
        )
        yield FileRecord(file.name, short_name("notes", file.folder), "document", (item,))


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
    """Return the fields of a note's front matter, and the rest; without fields it stays in the text.

    Raises:
        BrokenText: it is no YAML.
    """
    found = _FRONT.match(text)
    if found is None:
        return {}, text
    fields = parse_yaml(found[1])
    return (fields, text[found.end() :]) if isinstance(fields, dict) else ({}, text)


def _time_of(file: SourceFile) -> Millis | None:
    """Return the day in a file's name, else the file's own time."""
    with suppress(BadRecord):
        if day := _DAY.search(file.stem):
            return moment_of(day[1])
    return file.modified
