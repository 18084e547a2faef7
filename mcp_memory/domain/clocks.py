"""The clocks of a time zone, and how far they are ahead of UTC."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from mcp_memory.domain.times import DAY, Millis
from mcp_memory.errors import ConfigurationError


def zone_named(name: str) -> tzinfo | None:
    """Return a zone by its IANA name ("Europe/Lisbon"); None, for that of this machine, if it is empty.

    Raises:
        ConfigurationError: there is no such zone.
    """
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

    if not name:
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        remedy = 'Give a name of the IANA database, such as "Europe/Lisbon", or "" for the zone of this machine.'
        raise ConfigurationError(f"server.time_zone: there is no time zone {name[:80]!r}. {remedy}") from None


def offset_at(instant: Millis, zone: tzinfo | None) -> int:
    """Return how many minutes the clocks of a zone are ahead of UTC at an instant.

    Args:
        instant: the instant. Midnight in UTC stands for a day that was given without a time, which is the same day in
            every zone: 0.
        zone: the zone; None for that of this machine.
    """
    if instant % DAY == 0:
        return 0
    try:
        offset = datetime.fromtimestamp(instant / 1000, UTC).astimezone(zone).utcoffset()
    except (OverflowError, ValueError, OSError):  # out of the calendar's range
        return 0
    return 0 if offset is None else round(offset.total_seconds() / 60)
