"""Our own exports: the texts and stated facts of a store as lines of JSON in UTF-8, and back (``docs/MANUAL.md``).

An export holds what people and callers said: each text in its newest wording, then the facts that callers stated by it.
The first line names format and version, the last one says how many records stand between them, so that a file that was
cut short is noticed. Every line is checked, as somebody may have changed the file by hand; the first that is wrong is
named, and the file is refused as a whole.

An older program also exported what it had learnt, facts that Claude had read, and former wordings of documents. Of its
file the rest is read, and what is left out is counted.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from mcp_memory.bounds import parse_json
from mcp_memory.codec import Count, Misread, Share, read
from mcp_memory.domain.access import SPACE_NAME
from mcp_memory.domain.facts import Assertion, Intent
from mcp_memory.domain.ids import Ids
from mcp_memory.domain.relations import relations
from mcp_memory.domain.requests import NewFact, NewItem, WriteRequest
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Kind, Minutes, Turn, derived_ref
from mcp_memory.errors import InvalidInput
from mcp_memory.language import iso
from mcp_memory.services.transfer.foreign.reading import BadRecord, FileRecord, Found, LeftOut, lines_of, moment_in
from mcp_memory.services.transfer.foreign.sources import SourceFile
from mcp_memory.services.write import statement_ref
from mcp_memory.view.space import Space, View
from mcp_memory.visible import with_masks

FORMAT = "mcp-memory export"
VERSION = 1
LINE_BYTES = 256 << 20
"""Most bytes of one line: more than any text that a store takes."""
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_TEXTS: tuple[Kind, ...] = get_args(Kind)
_LEARNT = ("lesson", "point", "alias", "question", "reading")

Fields = Mapping[str, Any]
Place = tuple[str, str, str]
"""Space, session and id of a text."""


def export_lines(view: View, spaces: Iterable[str], *, program: str, now: Millis) -> Iterator[tuple[str, bytes]]:
    """Yield what each line of an export holds, and the line."""
    names = sorted(spaces)
    header = {"format": FORMAT, "version": VERSION, "program": program, "exported": iso.show(now), "spaces": names}
    yield "header", _line(header)
    count = 0
    for name in names:
        for record in _exported(view.space(name)):
            yield str(record["record"]), _line(record)
            count += 1
    yield "end", _line({"record": "end", "records": count})


def read_own(files: Sequence[SourceFile]) -> Iterator[Found]:
    """Yield each text with the facts that callers stated by it, and what is left out.

    Raises:
        InvalidInput: a file was cut short or is of another version, or a line is wrong; nothing of it may be stored.
    """
    for file in files:
        yield from _found_in(file)


def _found_in(file: SourceFile) -> list[Found]:
    """Return what a file holds; only its end shows that it is whole, and which wording of a text is the newest."""
    left: list[Found] = []
    texts: dict[Place, FileRecord] = {}
    revisions: dict[Place, int] = {}
    facts: dict[Place, list[NewFact]] = {}  # of the newest wording
    for line, fields in _records(file):
        kind = fields["record"]
        try:
            by_caller = kind == "fact" and fields.get("by", "caller") == "caller"  # the others Claude has read
            if kind not in _TEXTS and not by_caller:
                left.append(LeftOut(kind, "that was learnt; a backup has it"))
                continue
            place, revision = _place(fields), _value(fields, "revision", Count, 0)
            space, session, ref = place
            newest = revisions.get(place, -1)
            if kind in _TEXTS:
                item = _item(kind, ref, fields)
                if revision <= newest:
                    raise BadRecord(f"repeats the id {ref[:80]!r} of a line before it")
                if former := texts.pop(place, None):
                    left.append(LeftOut(former.kind, "in a former wording; a backup has it"))
                texts[place] = FileRecord(f"{file.name}, line {line}", session, kind, (item,), space=space)
                revisions[place], facts[place] = revision, []
            elif revision > newest:
                raise BadRecord(f"names {ref[:80]!r}, a text that no line before it holds")
            elif (fact := _fact(ref, fields)) and revision == newest:
                facts[place].append(fact)
        except BadRecord as problem:
            raise _refusal(file, line, str(problem), _MEND) from None
    return [*left, *(replace(record, facts=tuple(facts[place])) for place, record in texts.items())]


class IdsMadeHere:
    """Gives texts of an export ids of this store where another one made theirs, each with its own key.

    So whoever writes without ids, and repeats a call after the memory has moved, still stores nothing twice.
    """

    def __init__(self, ids: Ids) -> None:
        self._ids = ids
        self._equal: Counter[tuple[object, ...]] = Counter()  # texts of one session that say the same

    def named(self, part: WriteRequest) -> WriteRequest:
        """Return a text with its facts under its id here; texts of one session are given in their order."""
        (item,) = part.items
        prefix = self._ids.foreign_prefix(item.ref or "")
        if prefix is None:
            return part
        if part.kind == "statement" and part.facts:
            made = statement_ref(part.facts[0], item.text)
        else:
            said = item.speaker, item.role, None if item.said_at is None else str(item.said_at), item.title, item.text
            place = part.space, part.session, *said
            made = derived_ref(*said, nth=self._equal[place])
            self._equal[place] += 1
        ref = prefix + made
        facts = tuple(replace(fact, source=ref) for fact in part.facts)
        return replace(part, items=(replace(item, ref=ref),), facts=facts)


def as_new_here(part: WriteRequest, space: Space) -> WriteRequest | None:
    """Return a text of an export with those of its facts that its space does not know, as far as masks show.

    None stands for a document that has a newer wording here.
    """
    (item,) = part.items
    revisions = space.revisions(part.session, space.ids.ref(item.ref or ""))
    if any(item.text in (one.said, with_masks(one.text)) for one in revisions[:-1]):
        return None
    stated = space.facts.assertions_in(revisions[-1].id) if revisions else []
    masked = {(with_masks(one.head), one.relation, with_masks(one.tail)) for one in stated if one.original}
    new = (fact for fact in part.facts if (fact.head, relations().name(fact.relation), fact.tail) not in masked)
    return replace(part, facts=tuple(new))


def _exported(space: Space) -> Iterator[Mapping[str, object]]:
    """Yield each text of a space in its newest wording, and then the facts that callers stated by it."""
    stated: dict[str, list[Assertion]] = defaultdict(list)
    for fact in space.facts.rows:
        if fact.extractor == "caller":
            stated[fact.turn_id].append(fact)
    for turn in space.turns.values():
        if space.is_newest(turn):
            place = {"space": space.name, "session": turn.session, "id": turn.ref}
            yield {"record": turn.kind, **place, **_text_fields(turn)}
            for fact in stated[turn.id]:
                yield {"record": "fact", **place, **_fact_fields(fact)}


def _text_fields(turn: Turn) -> dict[str, object]:
    return {
        "speaker": turn.speaker,
        "role": turn.role,
        "title": turn.title,
        "time": None if turn.said_at is None else iso.show(turn.said_at),
        "offset": turn.offset or None,
        "written": iso.show(turn.written_at),
        "text": turn.text,
    }


def _fact_fields(fact: Assertion) -> dict[str, object]:
    return {
        "by": fact.extractor,
        "head": fact.head,
        "relation": fact.relation,
        "tail": fact.tail,
        "negated": fact.negated or None,
        "since": None if fact.since == BEGINNING else iso.show(fact.since),
        "until": None if fact.until == FOREVER else iso.show(fact.until),
        "stated": fact.stated or None,
        "confidence": fact.confidence,
        "intent": fact.intent,
        "recorded": iso.show(fact.recorded_at),
    }


def _line(record: Mapping[str, object]) -> bytes:
    """Return a record as a line; values that are None are left out."""
    kept = {name: value for name, value in record.items() if value is not None}
    return with_masks(_ENCODER.encode(kept)).encode() + b"\n"


def _records(file: SourceFile) -> Iterator[tuple[int, Fields]]:
    """Yield the number and the fields of each line between the first and the last.

    Raises:
        InvalidInput: the first is not that of an export, the last does not count the others, or one is no record.
    """
    number, fields = 0, dict[str, Any]()
    for number, line in lines_of(file, LINE_BYTES):
        try:
            before, fields = fields, _fields(line)
        except BadRecord as error:
            raise _refusal(file, number, str(error), _MEND) from None
        if number == 1 and (fields.get("format"), fields.get("version")) != (FORMAT, VERSION):
            problem = f"names no {FORMAT} of version {VERSION}, which this program reads"
            raise _refusal(file, 1, problem, "Import it with the mcp-memory that wrote it.")
        if number > 2:
            if before.get("record") not in (*_TEXTS, "fact", *_LEARNT):
                problem = f"is no record that this program knows: {str(before.get('record'))[:40]!r}"
                raise _refusal(file, number - 1, problem, "Import it with a newer mcp-memory.")
            yield number - 1, before
    if (fields.get("record"), fields.get("records")) != ("end", number - 2):
        problem = "does not count the records before it: the file was cut short or changed"
        raise _refusal(file, number, problem, "Copy or export it again, or correct the number in its last line.")


def _fields(line: str | None) -> dict[str, Any]:
    if line is None:
        raise BadRecord(f"is longer than {LINE_BYTES:,} bytes")
    try:
        fields = parse_json(line)
    except ValueError as error:
        raise BadRecord(f"is no JSON: {error}") from None
    if not isinstance(fields, dict):
        raise BadRecord("is no JSON object")
    return fields


_MEND = "Export again, or mend the line."


def _refusal(file: SourceFile, line: int, problem: str, remedy: str) -> InvalidInput:
    return InvalidInput("", f"{file.name}, line {line} {problem}", f"{remedy} Nothing was stored.")


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
