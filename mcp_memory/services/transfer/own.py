"""Read an export of this program (``exporting.py``): its texts, each with the facts that callers stated by it.

It comes from another store, or from an earlier time of this one, so it is fitted to what is here (`Fitting`).

An older program also exported what it had learnt, facts that Claude had read, and former wordings of documents. Of its
file the rest is read, and what is left out is counted.

Every line is checked, as somebody may have changed the file by hand; the first that is wrong is named, and the file is
refused as a whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from mcp_memory.bounds import parse_json
from mcp_memory.codec import Count, Misread, Share, read
from mcp_memory.domain.access import SPACE_NAME
from mcp_memory.domain.facts import Intent
from mcp_memory.domain.ids import REF_CHARS, store_of_ref
from mcp_memory.domain.relations import relations
from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.domain.turns import Kind, Minutes, derived_ref
from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.exporting import FORMAT, VERSION
from mcp_memory.services.transfer.foreign.reading import (
    BadRecord,
    FileRecord,
    Found,
    LeftOut,
    lines_of,
    moment_in,
)
from mcp_memory.services.transfer.foreign.sources import SourceFile
from mcp_memory.services.write import statement_ref
from mcp_memory.view.view import View
from mcp_memory.visible import with_masks

LINE_BYTES = 256 << 20
"""Most bytes of one line: more than any text that a store takes."""
_TEXTS: tuple[Kind, ...] = get_args(Kind)
_LEARNT = ("lesson", "point", "alias", "question", "reading")

Fields = Mapping[str, Any]
Place = tuple[str, str, str]
"""Space, session and id of a text."""


def read_own(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each text with the facts that callers stated by it, and what is left out.

    Raises:
        InvalidInput: a file was cut short or is of another version, or a line is wrong; nothing of it may be stored.
    """
    for file in files:
        newest, facts = _looked_through(file)
        for line, fields in _records(file):
            kind = fields["record"]
            if kind not in _TEXTS:
                if kind != "fact" or not _is_stated(fields):
                    yield LeftOut(kind, "that was learnt; a backup has it")
                continue
            place, revision = _place(fields), fields.get("revision", 0)
            if revision < newest[place]:
                yield LeftOut(kind, "in a former wording; a backup has it")
                continue
            space, session, ref = place
            stated = tuple(facts[place, revision])
            yield FileRecord(f"{file.name}, line {line}", session, kind, (_item(kind, ref, fields),), stated, space)


class Fitting:
    """Fits the texts of an export to a store, so that what is there already is not stored again.

    An id of a caller's stays. One that another store made of a text, with its own key, is made again with the key of
    this one: the same text has the same id then, as if it had been written here.
    """

    def __init__(self, view: View) -> None:
        self._view = view
        self._equal: Counter[tuple[object, ...]] = Counter()  # texts of one session that say the same

    def fitted(self, part: WriteRequest) -> WriteRequest | None:
        """Return a text with its facts as it is to be stored; None for a document that has a newer wording here."""
        part = self._named(part)
        (item,), space = part.items, self._view.space(part.space)
        revisions = space.revisions(part.session, self._view.ids.ref(item.ref or ""))
        if any(item.text in (one.said, with_masks(one.text)) for one in revisions[:-1]):
            return None
        stated = space.facts.assertions_in(revisions[-1].id) if revisions else []
        masked = {(with_masks(one.head), one.relation, with_masks(one.tail)) for one in stated if one.original}
        new = (fact for fact in part.facts if (fact.head, relations().name(fact.relation), fact.tail) not in masked)
        return replace(part, facts=tuple(new))

    def _named(self, part: WriteRequest) -> WriteRequest:
        """Return a text with the ref that this store makes of it, if another store has made its ref."""
        (item,) = part.items
        if store_of_ref(item.ref or "") in (None, self._view.ids.mark):
            return part
        said = item.speaker, item.role, None if item.said_at is None else str(item.said_at), item.title, item.text
        if part.kind == "statement" and part.facts:
            made = statement_ref(part.facts[0], item.text)
        else:
            place = part.space, part.session, *said
            made = derived_ref(*said, nth=self._equal[place])
            self._equal[place] += 1
        ref = f"{(item.ref or '')[:-REF_CHARS]}{made}"
        facts = tuple(replace(fact, source=ref) for fact in part.facts)
        return replace(part, items=(replace(item, ref=ref),), facts=facts)


def _looked_through(file: SourceFile) -> tuple[dict[Place, int], dict[tuple[Place, int], list[NewFact]]]:
    """Return the newest revision of each text, and the facts that were stated by each revision; check all lines."""
    newest: dict[Place, int] = {}
    facts: dict[tuple[Place, int], list[NewFact]] = defaultdict(list)
    for line, fields in _records(file):
        kind = fields["record"]
        try:
            if kind in _TEXTS:
                place, revision = _place(fields), _value(fields, "revision", Count, 0)
                _item(kind, place[2], fields)
                if revision <= newest.get(place, -1):
                    raise BadRecord(f"repeats the id {place[2][:80]!r} of a line before it")
                newest[place] = revision
            elif kind == "fact" and _is_stated(fields):
                place, revision = _place(fields), _value(fields, "revision", Count, 0)
                if revision > newest.get(place, -1):
                    raise BadRecord(f"names {place[2][:80]!r}, a text that no line before it holds")
                facts[place, revision].append(_fact(place[2], fields))
        except BadRecord as problem:
            raise _refusal(line, str(problem), "Export again, or mend the line.") from None
    return newest, facts


def _records(file: SourceFile) -> Iterator[tuple[int, Fields]]:
    """Yield the number and the fields of each line between the first and the last.

    Raises:
        InvalidInput: the first is not that of an export, the last does not count the others, or one is no record.
    """
    number, fields = 0, dict[str, Any]()
    for number, line in lines_of(file, LINE_BYTES):
        before, fields = fields, _fields(number, line)
        if number == 1 and (fields.get("format"), fields.get("version")) != (FORMAT, VERSION):
            problem = f"names no {FORMAT} of version {VERSION}, which this program reads"
            raise _refusal(1, problem, "Import it with the mcp-memory that wrote it.")
        if number > 2:
            if before.get("record") not in (*_TEXTS, "fact", *_LEARNT):
                problem = f"is no record that this program knows: {str(before.get('record'))[:40]!r}"
                raise _refusal(number - 1, problem, "Import it with a newer mcp-memory.")
            yield number - 1, before
    if (fields.get("record"), fields.get("records")) != ("end", number - 2):
        problem = "does not count the records before it: the file was cut short or changed"
        raise _refusal(number, problem, "Copy or export it again, or correct the number in its last line.")


def _fields(number: int, line: str | None) -> dict[str, Any]:
    if line is None:
        raise _refusal(number, f"is longer than {LINE_BYTES:,} bytes", "Export it again.")
    try:
        fields = parse_json(line)
    except ValueError as error:
        raise _refusal(number, f"is no JSON: {error}", "Export it again, or mend the line.") from None
    if not isinstance(fields, dict):
        raise _refusal(number, "is no JSON object", "Export it again, or mend the line.")
    return fields


def _refusal(line: int, problem: str, remedy: str) -> InvalidInput:
    return InvalidInput(f"FILE, line {line}", problem, f"{remedy} Nothing was stored.")


def _is_stated(fact: Fields) -> bool:
    """Return whether a caller has stated a fact; Claude has read the others."""
    return bool(fact.get("by", "caller") == "caller")


def _place(fields: Fields) -> Place:
    space = _value(fields, "space", str)
    if not SPACE_NAME.fullmatch(space):
        raise BadRecord(f"names a space {space[:80]!r}")
    return space, _value(fields, "session", str), _value(fields, "id", str)


def _item(kind: Kind, ref: str, fields: Fields) -> NewItem:
    return NewItem(
        _value(fields, "text", str),
        ref,
        _value(fields, "speaker", str | None),
        _value(fields, "role", str | None),
        _value(fields, "title", str | None),
        moment_in(fields, "time"),
        _value(fields, "offset", Minutes, 0),
        kind,
        moment_in(fields, "written"),
    )


def _fact(source: str, fields: Fields) -> NewFact:
    """Return a fact as its caller stated it; a time that the caller did not state is that of the text."""
    since, until = moment_in(fields, "since"), moment_in(fields, "until")
    fact = NewFact(
        _value(fields, "head", str),
        _value(fields, "relation", str),
        _value(fields, "tail", str),
        since if _value(fields, "stated", bool, False) else None,
        until,
        _value(fields, "confidence", Share),
        _value(fields, "intent", Intent),
        source,
        _value(fields, "negated", bool, False),
        undated=since is None,
        recorded_at=moment_in(fields, "recorded"),
    )
    if not (fact.head.strip() and fact.relation.strip() and fact.tail.strip()):
        raise BadRecord("has an empty head, relation or tail")
    if since is not None and until is not None and since >= until:
        raise BadRecord("ends before it begins")
    return fact


def _value(fields: Fields, name: str, hint: Any, default: Any = None) -> Any:
    """Return the value of a field, which was checked; one that is missing has the default.

    Raises:
        BadRecord: it is not of the type.
    """
    try:
        return read(hint, fields.get(name, default))
    except Misread as error:
        options = f", which is none of {', '.join(map(str, error.options))}" if error.options else ""
        raise BadRecord(f"has {error} in {name!r}{options}") from None
