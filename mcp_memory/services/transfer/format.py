"""The export file: JSON lines in UTF-8, described in ``docs/MANUAL.md``.

The first line names format and version, the last one says how many records stand between them, so that a file that was
cut short is noticed. A value that an older program did not write gets its default; what this program does not know is
refused, since it would be lost silently.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, cast

from mcp_memory.bounds import OverBounds, parse_json
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.errors import InvalidInput
from mcp_memory.visible import with_masks

FORMAT = "mcp-memory export"
VERSION = 1
LINE_BYTES = 256 << 20
"""Most bytes of one line: more than any text that a store takes."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LARGEST = 2**63 - 1
_CALENDAR = range(-62_135_596_800_000, 253_402_300_800_000)
"""The years 1 to 9999, in milliseconds since 1970."""

ChoiceT = TypeVar("ChoiceT", bound=str)


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
    return with_masks(json.dumps(kept, ensure_ascii=False)).encode() + b"\n"


def stamp(moment: Millis) -> str | int | None:
    """Return a time as ISO-8601 in UTC to the millisecond; None for an open end, a number beyond the calendar."""
    if moment in (BEGINNING, FOREVER):
        return None
    try:
        when = _EPOCH + timedelta(milliseconds=moment)
    except OverflowError:
        return moment
    return when.isoformat(timespec="milliseconds" if moment % 1000 else "seconds").replace("+00:00", "Z")


class Fields:
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
        self._left: dict[str, Any] = record

    def __contains__(self, name: str) -> bool:
        return name in self._left

    def text(self, name: str, default: str | None = None) -> str:
        """Return a text; of a field that is missing the default, if there is one."""
        value = self._left.pop(name, default)
        if not isinstance(value, str):
            raise BadLine(f"has no text in {name!r}")
        return _storable(name, value)

    def optional_text(self, name: str) -> str | None:
        """Return a text, or None for a missing one."""
        return self.text(name) if name in self._left else None

    def choice(self, name: str, options: Collection[ChoiceT]) -> ChoiceT:
        """Return one of some texts."""
        value = self.text(name)
        if value not in options:
            raise BadLine(f"has {value[:40]!r} in {name!r}, which is none of {', '.join(options)}")
        return cast("ChoiceT", value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Return a list of texts, empty if it is missing."""
        value = self._left.pop(name, [])
        if not isinstance(value, list) or not all(isinstance(text, str) for text in value):
            raise BadLine(f"has no list of texts in {name!r}")
        return tuple(_storable(name, text) for text in value)

    def object(self, name: str) -> dict[str, Any]:
        """Return an object."""
        value = self._left.pop(name, None)
        if not isinstance(value, dict):
            raise BadLine(f"has no object in {name!r}")
        _storable(name, json.dumps(value, ensure_ascii=False))
        return value

    def integer(self, name: str, default: int | None = None, least: int = -_LARGEST) -> int:
        """Return a whole number."""
        value = self._left.pop(name, default)
        if type(value) is not int or not least <= value <= _LARGEST:
            raise BadLine(f"has no whole number that can be right in {name!r}")
        return value

    def share(self, name: str) -> float:
        """Return a number above 0 and at most 1."""
        value = self._left.pop(name, None)
        if type(value) not in (int, float) or not 0 < value <= 1:
            raise BadLine(f"has no number above 0 and at most 1 in {name!r}")
        return float(value)

    def flag(self, name: str) -> bool:
        """Return true or false; a missing one is false."""
        value = self._left.pop(name, False)
        if type(value) is not bool:
            raise BadLine(f"has neither true nor false in {name!r}")
        return value

    def moment(self, name: str, default: Millis | None = None) -> Millis:
        """Return a time of the calendar; of a field that is missing the default, if there is one."""
        moment = self.optional_moment(name)
        if moment is None:
            if default is None:
                raise BadLine(f"has no time in {name!r}")
            return default
        return moment

    def boundary(self, name: str, default: Millis) -> Millis:
        """Return a time, which may be beyond the calendar; of a field that is missing the default."""
        value = self._left.get(name)
        if type(value) is int and abs(value) <= FOREVER:
            del self._left[name]
            return value
        return self.moment(name, default)

    def optional_moment(self, name: str) -> Millis | None:
        """Return a time of the calendar, or None for a missing one."""
        value = self._left.pop(name, None)
        if value is None or (type(value) is int and value in _CALENDAR):
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

    def finish(self) -> None:
        """Refuse fields that nothing has taken."""
        if self._left:
            names = ", ".join(repr(name[:40]) for name in list(self._left)[:3])
            raise BadLine(f"has fields that this program does not know: {names}", "Import it with a newer mcp-memory.")


def _storable(name: str, text: str) -> str:
    if "\x00" in text:
        raise BadLine(f"holds a null byte (U+0000) in {name!r}", "Take it out.")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadLine(f"holds half of a surrogate pair in {name!r}", "Write the whole character.") from None
    return text
