"""The export file: JSON lines in UTF-8, described in ``docs/MANUAL.md``.

The first line names format and version, the last one says how many records stand between them, so that a file that was
cut short is noticed. A value that an older program did not write gets its default; what this program does not know is
refused, since it would be lost silently.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from mcp_memory.bounds import OverBounds, parse_json
from mcp_memory.codec import Misread, fields_of, read
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.errors import InvalidInput
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
