"""Notes: folders of Markdown and text, and those of basic-memory, whose lines also state relations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mcp_memory.domain.requests import NewFact, NewItem
from mcp_memory.domain.times import Millis
from mcp_memory.services.transfer.foreign.memories import relation_of
from mcp_memory.services.transfer.foreign.reading import (
    BadRecord,
    ForeignRecord,
    Found,
    SkippedRecord,
    moment_in,
    moment_of,
    short_name,
    text_in,
    text_of_file,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile

SUFFIXES = (".md", ".markdown", ".txt")
FILE_BYTES = 256 << 20
"""Most bytes of one text; the limit of documents is below it."""
_FRONT = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|$)", re.DOTALL)
_HEADING = re.compile(r"^#\s+(.+?)\s*#*\s*$", re.MULTILINE)
_RELATION = re.compile(r"^\s*[-*] (?:[\"'](.+?)[\"']|([^\[\]\n]*?)) ?\[\[([^\]\n]+)\]\]", re.MULTILINE)
_OBSERVATION = re.compile(r"^\s*[-*] \[[^\]\n ][^\]\n]*\] \S", re.MULTILINE)
_DAY = re.compile(r"(?<!\d)(\d{4}-\d\d-\d\d)(?!\d)")


def read_text(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each text of a folder as a document, in a session of its folder."""
    for file in _texts(files):
        try:
            fields, body = _parts(text_of_file(file, FILE_BYTES))
            if body.strip():
                item = _document(file, "notes", file.name, fields, body)
                yield ForeignRecord(file.name, "notes", "document", (item,))
        except BadRecord as problem:
            yield SkippedRecord(file.name, str(problem))


def read_basic_memory(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each note of basic-memory as a document, with its relations as facts that the note states."""
    for file in _texts(files):
        try:
            fields, body = _parts(text_of_file(file, FILE_BYTES))
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
    for file in _texts(files)[:20]:
        with file.open() as stream:
            text = stream.read(1 << 16).decode("utf-8", "replace").replace("\r\n", "\n")
        fields, body = _parts(text)
        found.append("permalink" in fields or bool(_OBSERVATION.search(body) and fields))
    return sum(found) * 2 > len(found)


def _texts(files: Sequence[SourceFile]) -> list[SourceFile]:
    return list(files) if len(files) == 1 else [file for file in files if file.suffix in SUFFIXES]


def _parts(text: str) -> tuple[Mapping[str, Any], str]:
    """Return the fields of a note's front matter, and the rest; front matter that is no YAML stays in the text."""
    import yaml

    found = _FRONT.match(text)
    if found is None:
        return {}, text
    try:
        fields = yaml.safe_load(found[1])
    except (yaml.YAMLError, ValueError):  # ValueError: a date that is none
        return {}, text
    return (fields, text[found.end() :]) if isinstance(fields, dict) else ({}, text)


def _document(file: SourceFile, program: str, name: str, fields: Mapping[str, Any], body: str) -> NewItem:
    heading = _HEADING.search(body)
    title = text_in(fields, "title") or (heading[1] if heading else file.stem)
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
