"""Plain files: folders of Markdown and text, as programs for notes keep them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress

from mcp_memory.bounds import RECORD_BYTES
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

_FRONT = re.compile(r"---[ \t]*\n(\w.*?)\n---[ \t]*(?:\n|$)", re.DOTALL)
_LINE = re.compile(r"\w[^:]*:.*|[ \t#-].*|")
"""A line of front matter: a field, or what belongs to the field above."""
_FIELD = re.compile(
    r"^(title|modified|updated|date|created|created_at)[ \t]{0,9}:[ \t]{1,50}"
    r"([^\s\[{&*!|>#].{0,300}?)(?:[ \t]{1,50}#.*|[ \t]{0,50})$",
    re.MULTILINE,
)
"""A field that is read, with its value on the same line."""
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
        fields, body = _parts(text)
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


def _parts(text: str) -> tuple[Mapping[str, str], str]:
    """Return what a note's front matter says of its title and times, and the rest; what is none stays in the text.

    Front matter is YAML, and programs for notes write a field on each line of it, so it is read line by line.
    """
    found = _FRONT.match(text)
    if found is None or not all(map(_LINE.fullmatch, found[1].split("\n"))):
        return {}, text
    return {name: value.strip("\"'") for name, value in _FIELD.findall(found[1])}, text[found.end() :]


def _time_of(file: SourceFile) -> Millis | None:
    """Return the day in a file's name, else the file's own time."""
    with suppress(BadRecord):
        if day := _DAY.search(file.stem):
            return moment_of(day[1])
    return file.modified
