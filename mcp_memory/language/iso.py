"""Parse and write the times of arguments and results: ISO-8601 only.

A client passes a date or a date-time; without a zone it is UTC. Words such as "yesterday" are resolved in stored texts
(``language.stated``); in an argument they are rejected, so that none is misread.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from mcp_memory.domain.times import Millis

DAY: Millis = 86_400_000
_EPOCH = datetime(1970, 1, 1)
_FORM = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)"
    r"(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s?([Zz]|[+-]\d\d:?\d\d)?)?",
    re.ASCII,
)


def parse(text: str) -> tuple[Millis, Millis]:
    """Return the instant that a text names and the first instant after what it names.

    Args:
        text: ``2023-05-08``, which names a day, or ``2023-05-08T14:30:00+02:00``, which names a millisecond.

    Raises:
        ValueError: the text is neither.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(text)
    year, month, day, hour, minute, second, fraction, zone = found.groups(default="")
    moment = datetime(int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0))
    start = (moment - _EPOCH) // timedelta(milliseconds=1) + int(fraction.ljust(3, "0")[:3]) - _offset(zone)
    return (start, start + 1) if hour else (start, start + DAY)


def show(moment: Millis) -> str | None:
    """Return a time as ISO-8601 in UTC, a date if it is midnight; None if out of the calendar's range (``FOREVER``)."""
    try:
        when = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=moment)
    except OverflowError:
        return None
    if moment % DAY == 0:
        return when.date().isoformat()
    return when.isoformat(timespec="milliseconds" if moment % 1000 else "seconds").replace("+00:00", "Z")


def _offset(zone: str) -> Millis:
    if zone in ("", "Z", "z"):
        return 0
    hours, minutes = int(zone[1:3]), int(zone[-2:])
    if hours > 23 or minutes > 59:
        raise ValueError(zone)
    return (-1 if zone[0] == "-" else 1) * (hours * 60 + minutes) * 60_000
