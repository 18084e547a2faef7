"""The export file (JSON lines in UTF-8, described in ``docs/MANUAL.md``): a value of the log as a line, and back.

The first line names format and version, the last one says how many records stand between them, so that a file that was
cut short is noticed. A value that an older program did not write gets its default; what this program does not know is
refused, since it would be lost silently.

A text is named by space, session, the caller's own id and its revision, as in the tools; facts and readings name it in
the same way. Ids that follow from the content (of texts, in ``domain/turns.py``) are not in the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, get_args

from mcp_memory.bounds import OverBounds, parse_json
from mcp_memory.codec import Misread, fields_of, read
from mcp_memory.domain.access import SPACE_NAME
from mcp_memory.domain.batch import KEEP, Masking, masked_assertion, masked_turn
from mcp_memory.domain.entities import Alias, entity_key
from mcp_memory.domain.episodes import Lesson, encode_trace
from mcp_memory.domain.facts import WHOLE, Assertion
from mcp_memory.domain.language_model import Job
from mcp_memory.domain.points import MIN_ENTITIES, Point
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Kind, PooledQuestion, Turn
from mcp_memory.errors import InvalidInput
from mcp_memory.services.transfer.renaming import Leaving, Renaming, replaced
from mcp_memory.visible import with_masks

FORMAT = "mcp-memory export"
VERSION = 1
LINE_BYTES = 256 << 20
"""Most bytes of one line: more than any text that a store takes."""
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CALENDAR = range(-62_135_596_800_000, 253_402_300_800_000)
"""The years 1 to 9999, in milliseconds since 1970."""


class BadLine(Exception):
    """A line that cannot be imported.

    Attributes:
        problem: in words.
        remedy: what to do about it.
    """

    def __init__(self, problem: str, remedy: str = "Export again, or take the line out.") -> None:
        super().__init__(problem)
        self.problem = problem
        self.remedy = remedy

    def at(self, line: int) -> InvalidInput:
        """Return the error to raise for a line, by its number from 1."""
        return InvalidInput(f"line {line}", self.problem, self.remedy)


def to_line(record: Mapping[str, object]) -> bytes:
    """Return a record as a line; values that are None are left out."""
    kept = {name: value for name, value in record.items() if value is not None}
    return with_masks(_ENCODER.encode(kept)).encode() + b"\n"


def stamp(moment: Millis) -> str | int | None:
    """Return a time as ISO-8601 in UTC to the millisecond; None for an open end, a number beyond the calendar."""
    if moment in (FOREVER, BEGINNING):
        return None
    try:
        when = _EPOCH + timedelta(milliseconds=moment)
    except OverflowError:
        return moment
    return when.isoformat(timespec="milliseconds" if moment % 1000 else "seconds").replace("+00:00", "Z")


_MOMENTS = frozenset(("time", "written", "since", "until", "said", "recorded", "asked", "exported"))
"""The fields of records that are times."""


@dataclass(frozen=True, slots=True)
class RecordField:
    """One field of a sort of record.

    Attributes:
        name: its name in a record.
        field: the name of the field of the value.
        hint: what it may hold.
        empty: what is left out of a record, and what a missing field means; ``MISSING`` where none may be missing.
        moment: whether it is a time.
    """

    name: str
    field: str
    hint: Any
    empty: Any
    moment: bool


def columns_of(kind: type, names: str, hints: Mapping[str, Any] | None = None, **empty: Any) -> tuple[RecordField, ...]:
    """Return the columns of the records of a dataclass.

    Args:
        kind: the dataclass.
        names: the fields in the order of a record, each as ``field`` or ``name=field``.
        hints: what a field of a record may hold, where that is less than what the dataclass may.
        empty: of a name in a record, what is left out.
    """
    known = {field.name: field for field in fields_of(kind)}
    columns = []
    for name, _, field in (entry.partition("=") for entry in names.split()):
        one = known[field or name]
        hint = (hints or {}).get(name, one.hint)
        missing = empty.get(name, None if one.optional else MISSING)
        columns.append(RecordField(name, one.name, hint, missing, name in _MOMENTS))
    return tuple(columns)


def record_fields(columns: Sequence[RecordField], value: object) -> dict[str, object]:
    """Return the fields of a record that holds a value."""
    record: dict[str, object] = {}
    for column in columns:
        held = getattr(value, column.field)
        if held is not None and held != column.empty:
            record[column.name] = stamp(held) if column.moment else held
    return record


class Fields(dict[str, Any]):
    """The fields of one line; each is taken once, and `finish` refuses what is left.

    Args:
        line: without its line feed.

    Raises:
        BadLine: it is no JSON object in UTF-8.
    """

    def __init__(self, line: bytes) -> None:
        try:
            record = parse_json(line.decode())
        except UnicodeDecodeError as error:
            raise BadLine(f"is not UTF-8 (byte {error.start})", "Save the file as UTF-8.") from None
        except OverBounds as error:
            raise BadLine(str(error)) from None
        except ValueError as error:
            raise BadLine(f"is no JSON ({error})") from None
        if not isinstance(record, dict):
            raise BadLine("is no JSON object")
        super().__init__(record)
        for name, value in record.items():
            _refuse_unstorable(name, value)

    def take(self, name: str, hint: Any, empty: Any = MISSING) -> Any:
        """Return the value of a field.

        Args:
            name: the name of the field.
            hint: its type, see `codec.read`.
            empty: the value of one that is missing.

        Raises:
            BadLine: it is missing, or none of this type.
        """
        if name not in self and empty is not MISSING:
            return empty
        value = self.pop(name, None)
        if name in _MOMENTS:
            return _moment(name, value, beyond=empty in (BEGINNING, FOREVER))
        try:
            return read(hint, value)
        except Misread as error:
            options = f", which is none of {', '.join(map(str, error.options))}" if error.options else ""
            raise BadLine(f"has {error} in {name!r}{options}") from None

    def take_all(self, columns: Sequence[RecordField]) -> dict[str, Any]:
        """Return what a record says of the fields of its value."""
        return {column.field: self.take(column.name, column.hint, column.empty) for column in columns}

    def finish(self) -> None:
        """Refuse fields that nothing has taken."""
        if self:
            names = ", ".join(repr(name[:40]) for name in list(self)[:3])
            raise BadLine(f"has fields that this program does not know: {names}", "Import it with a newer mcp-memory.")


def _moment(name: str, value: object, *, beyond: bool) -> Millis:
    """Return a time of the calendar, or a number ``beyond`` it."""
    if value is None:
        raise BadLine(f"has no time in {name!r}")
    if type(value) is int and (value in _CALENDAR or (beyond and abs(value) <= FOREVER)):
        return value
    if isinstance(value, str):
        try:
            when = datetime.fromisoformat(value)
        except ValueError:
            when = None
        moment = (when - _EPOCH) // timedelta(milliseconds=1) if when is not None and when.tzinfo else None
        if moment is not None and moment in _CALENDAR:  # `None in range` looks at every number
            return moment
    raise BadLine(f"has no time that can be read in {name!r}", "Write it as 2024-09-08T14:30:00Z.")


def _refuse_unstorable(name: str, value: object) -> None:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) if value else ""
    if "\x00" in text:
        raise BadLine(f"holds a null byte (U+0000) in {name!r}", "Take it out.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadLine(f"holds half of a surrogate pair in {name!r}", "Write the whole character.") from None


PlacedQuestion = tuple[str, PooledQuestion]
"""The space of a question, and the question."""
Value = Turn | Assertion | Lesson | Point | Alias | PlacedQuestion | Job
"""What a line holds."""
KINDS: tuple[Kind, ...] = get_args(Kind)
_OTHERS = ("fact", "reading", "lesson", "point", "alias", "question")
"""The sorts of records beside texts."""

# The fields of each sort of record, in their order: as they are called there, and in the value.
_PLACE = columns_of(Turn, "session id=ref revision", revision=0)
_TEXT = columns_of(Turn, "speaker role title time=said_at offset written=written_at text", offset=0)
_FACT = columns_of(
    Assertion,
    "fact=id by=extractor head relation tail negated since until stated kind precision confidence intent change"
    " sentence start end said=said_at recorded=recorded_at",
    {"by": Literal["caller", "anthropic"]},
    negated=False, since=BEGINNING, until=FOREVER, stated=False, change=False, sentence=WHOLE,
)  # fmt: skip
_READING = columns_of(
    Job, "state parts tries until recorded=at", {"state": Literal["waiting", "done", "failed"]}, until=0
)
_LESSON = columns_of(Lesson, "episode=episode_id query asked=asked_at by=source recorded=at labels")
_POINT = columns_of(
    Point,
    "point=id revision entities description goal=scope status parents merged_into sentences facts"
    " by=source recorded=at",
    revision=0, goal="", parents=(), sentences=(), facts=(),
)  # fmt: skip
_ALIAS = columns_of(Alias, "name alias reason by=source recorded=at")
_QUESTION = columns_of(PooledQuestion, "text segment=segment_id entities", entities=frozenset())


def space_of(value: Value) -> str:
    """Return the space of a value."""
    return value[0] if isinstance(value, tuple) else value.space


def record_of(value: Value, turns: Mapping[str, Turn], leaving: Leaving | None = None) -> dict[str, object] | None:
    """Return a value as a record; None if it belongs to a text that is not there.

    Args:
        value: the value of the log.
        turns: every text of the log, by its id.
        leaving: the ids of its space in the export; None for those of the store.
    """
    match value:
        case Turn():
            turn = _left(value, leaving)
            return {"record": turn.kind, **_place(turn), **record_fields(_TEXT, turn)}
        case Assertion() | Job():
            if (text := turns.get(value.turn_id)) is None:
                return None
            place = _place(_left(text, leaving))
            if isinstance(value, Job):
                if value.state == "leased":  # a lease means nothing elsewhere
                    value = replace(value, state="waiting", until=0)
                return {"record": "reading", **place, **record_fields(_READING, value)}
            spans = {"start": len(with_masks(text.text[: value.start])), "end": len(with_masks(text.text[: value.end]))}
            name = {} if leaving is None else {"fact": leaving.fact(value)}
            return {"record": "fact", **place, **record_fields(_FACT, value), **name, **spans}
        case Lesson():
            return {"record": "lesson", "space": value.space, **_lesson_fields(value, leaving)}
        case Point():
            point = value if leaving is None else leaving.point(value)
            return {"record": "point", "space": value.space, **record_fields(_POINT, point)}
        case Alias():
            return {"record": "alias", "space": value.space, **record_fields(_ALIAS, value)}
        case (space, question):
            segment = question.segment_id if leaving is None else leaving.id(question.segment_id)
            row = {"text": question.text, "segment": segment, "entities": sorted(question.entities)}
            return {"record": "question", "space": space, **row}


def _left(turn: Turn, leaving: Leaving | None) -> Turn:
    return turn if leaving is None else replace(turn, ref=leaving.ref(turn))


def _place(turn: Turn) -> dict[str, object]:
    return {"space": turn.space, **record_fields(_PLACE, turn)}


def _lesson_fields(lesson: Lesson, leaving: Leaving | None) -> dict[str, object]:
    record = record_fields(_LESSON, lesson) | {"trace": lesson.read_trace()}
    if leaving is None:
        return record
    return record | {name: replaced(record[name], leaving.id) for name in ("labels", "trace")}


@dataclass(frozen=True, slots=True)
class _Known:
    """What other records need of a text: its id in the store, its length, its line, and whether it stays readable."""

    id: str
    length: int
    line: int
    kept: bool


class Reader:
    """Reads the records of one file, in order.

    Args:
        renaming: where they go; it gets the ids of texts and of logged facts.
        masking: the masking of secrets in what is read; the log keeps them.
    """

    def __init__(self, renaming: Renaming, masking: Masking = KEEP) -> None:
        self._masking = masking
        self._renaming = renaming
        self._texts: dict[tuple[str, str, str, int], _Known] = {}
        self._lines: dict[tuple[object, ...], int] = {}

    def read(self, fields: Fields, line: int) -> Value:
        """Return the value of a line; ids in lessons, points and questions are still those of the file.

        Raises:
            BadLine: it is no record, repeats another one, or names a text that no line before it holds.
        """
        record = fields.take("record", Literal[(*KINDS, *_OTHERS)])
        space = fields.take("space", str)
        if not SPACE_NAME.fullmatch(space):
            raise BadLine(f"names a space {space[:80]!r}", "Give the name of a space.")
        into = self._renaming.space(space)
        value: Value
        match record:
            case "fact":
                value = self._fact(fields, space)
            case "reading":
                value = Job(into, self._text_of(fields, space).id, holder="", **fields.take_all(_READING))
            case "lesson":
                damaged = fields.pop("trace_text", None)  # of an older program
                trace = encode_trace(fields.take("trace", dict) if damaged is None else {})
                value = Lesson(space=into, trace=trace, **fields.take_all(_LESSON))
            case "point":
                value = self._point(fields, into)
            case "alias":
                value = Alias(into, **fields.take_all(_ALIAS))
            case "question":
                value = into, PooledQuestion(**fields.take_all(_QUESTION))
            case _:
                value = self._text(record, fields, space, line)
        fields.finish()
        key = _identity(value)
        if key in self._lines:
            raise BadLine(f"repeats line {self._lines[key]}", "Take one of them out.")
        self._lines[key] = line
        return value

    def _text(self, kind: Any, fields: Fields, space: str, line: int) -> Turn:
        into = self._renaming.space(space)
        turn = Turn("", into, kind=kind, place=0, **fields.take_all(_PLACE), **fields.take_all(_TEXT))
        said, revision, place = turn.text, turn.revision, (space, turn.session, turn.ref, turn.revision)
        if revision and (kind != "document" or (*place[:3], revision - 1) not in self._texts):
            raise BadLine(f"is revision {revision} of {turn.ref[:80]!r}, and no line before it has the one before")
        if place in self._texts:
            raise BadLine(f"has the id of line {self._texts[place].line}", "Give one of them another id.")
        text = self._masking.mask(said)
        turn = masked_turn(turn, self._masking)
        if self._masking.refuses and turn.original is not None:
            kinds = ", ".join(self._masking.kinds(said)) or "in its title"
            raise BadLine(f"holds a secret ({kinds}), and privacy.secrets is 'refuse'", "Take the secret out.")
        turn = self._renaming.turn(turn, space)
        self._texts[place] = _Known(turn.id, len(text), line, self._masking.keeps(turn))
        return turn

    def _text_of(self, fields: Fields, space: str) -> _Known:
        """Return the text that a record refers to by its session, id and revision."""
        named = fields.take_all(_PLACE)
        known = self._texts.get((space, named["session"], named["ref"], named["revision"]))
        if known is None:
            text = f"{named['ref'][:80]!r} of session {named['session'][:80]!r}"
            raise BadLine(f"names {text}, which no line before it holds")
        return known

    def _fact(self, fields: Fields, space: str) -> Assertion:
        text = self._text_of(fields, space)
        fact = Assertion(space=self._renaming.space(space), turn_id=text.id, **fields.take_all(_FACT))
        if not 0 <= fact.start <= fact.end <= text.length:
            raise BadLine("is stated by words outside of its text")
        if fact.since >= fact.until:
            raise BadLine("ends before it begins", "Mend 'since' or 'until'.")
        if not (fact.head.strip() and fact.relation.strip() and fact.tail.strip()):
            raise BadLine("has an empty head, relation or tail")
        fact = fact if text.kept else masked_assertion(fact, self._masking)
        if self._masking.refuses and fact.original is not None:
            raise BadLine("holds a secret, and privacy.secrets is 'refuse'", "Take the secret out.")
        return self._renaming.fact(fact)

    def _point(self, fields: Fields, into: str) -> Point:
        point = Point(space=into, **fields.take_all(_POINT))
        if len({entity_key(name) for name in point.entities}) < MIN_ENTITIES:
            raise BadLine(f"joins fewer than {MIN_ENTITIES} entities")
        if (point.status == "merged") != (point.merged_into is not None):
            both = f"has the status {point.status!r}, but 'merged_into' is {point.merged_into!r}"
            raise BadLine(f"{both}: a point has the status 'merged' if and only if it names one")
        return self._renaming.point(point)


def _identity(value: Value) -> tuple[object, ...]:
    """Return what no two records share."""
    match value:
        case Turn() | Assertion():
            return type(value).__name__, value.space, value.id
        case Lesson():
            return "lesson", value.space, *value.key
        case Point():
            return "point", value.space, value.id, value.revision
        case Job():
            return "reading", value.space, value.turn_id
        case Alias():
            return "alias", value
        case (space, question):
            return "question", space, question
