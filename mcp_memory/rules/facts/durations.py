"""How long something has been going on, "for ten years": with a perfect it says since when."""

from __future__ import annotations

import re

from mcp_memory.domain.times import FOREVER, Grain, Millis, StatedTime
from mcp_memory.language.expressions import NUMBER, number
from mcp_memory.language.gregorian import DAY, civil, month, years

_FOR = re.compile(
    rf"\bfor\s(?:about\s|almost\s|nearly\s|over\s|more\sthan\s|the\s(?:last|past)\s)?(?P<number>{NUMBER})"
    r"\s(?P<unit>year|month|week)s?\b(?:\snow\b)?",
    re.ASCII | re.IGNORECASE,
)


def durations(text: str, start: int, end: int, said_at: Millis) -> list[StatedTime]:
    """Return the durations in a sentence as the open intervals that they mean with a perfect.

    Args:
        text: of the turn.
        start: first character of the sentence.
        end: first character after it.
        said_at: when it was said.
    """
    found = []
    for match in _FOR.finditer(text, start, end):
        count = number(match["number"])
        year, number_, _ = civil(said_at)
        grain: Grain
        match match["unit"].lower():
            case "year":
                if year - count < 1:
                    continue
                since, grain = years(year - count).since, "year"
            case "month":
                months = year * 12 + number_ - 1 - count
                if months < 12:
                    continue
                since, grain = month(months // 12, months % 12 + 1).since, "month"
            case _:
                since, grain = said_at - 7 * DAY * count, "week"
        found.append(StatedTime(match.start(), match.end(), since, FOREVER, grain, True))
    return found
