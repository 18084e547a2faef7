"""Plain files: folders of Markdown and text, and those of basic-memory, whose lines also state relations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from mcp_memory.bounds import RECORD_BYTES, BrokenText, parse_yaml
from mcp_memory.domain.requests import NewFact, NewItem
from mcp_memory.domain.times import Millis
from mcp_memory.services.transfer.foreign.reading import (
    BadRecord,
    FileRecord,
    Found,
    SkippedRecord,
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
        yield FileRecord(file.name, program, "document", (item,), facts)


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
