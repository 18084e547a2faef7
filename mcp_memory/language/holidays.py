"""Rules for days that a holiday names: "at Christmas", "over Easter 2024", "since New Year", "on Boxing Day".

Christmas is 24 to 26 December and Easter Good Friday to Easter Monday (Gregorian calendar); New Year is 31 December and
1 January, but "since New Year" begins on 1 January. Without a year it is one as "on 7 May" is. Only a holiday
behind a preposition or "last", "this" or "next", or a single day of its own ("Boxing Day"), is a time, and none before
a noun: "the Christmas party" and "an Easter egg" are none.
"""

from __future__ import annotations

import re
from functools import partial

from mcp_memory.domain.times import Millis
from mcp_memory.language.expressions import (
    YEAR,
    ResolvedTime,
    S,
    SentenceContext,
    TimeRule,
    compiled,
)
from mcp_memory.language.iso import DAY, Interval, civil, midnight, years
from mcp_memory.language.yearless import each_year, in_order, nearest, of_present

_FIXED = {
    "christmas": (12, 24, 3), "christmas eve": (12, 24, 1), "christmas day": (12, 25, 1), "boxing day": (12, 26, 1),
    "new year": (12, 31, 2), "new year eve": (12, 31, 1), "new year day": (1, 1, 1), "halloween": (10, 31, 1),
    "valentine day": (2, 14, 1),
}  # fmt: skip
"""Month and day of the first day of each, and how many days it has."""
_OF_EASTER = {"good friday": (-2, 1), "easter": (-2, 4), "easter sunday": (0, 1), "easter monday": (1, 1)}
"""The first day of each, counted from Easter Sunday, and how many days it has."""


def easter_sunday(year: int) -> Millis:
    """Return the first instant of Easter Sunday of a year (Gregorian; Meeus, Jones and Butcher's algorithm)."""
    golden, century = year % 19, year // 100
    epact = (century - century // 4 - (8 * century + 13) // 25 + 19 * golden + 15) % 30
    epact -= epact // 28 * (1 - 29 // (epact + 1) * ((21 - golden) // 11))
    moon = epact - (year + year // 4 + epact + 2 - century + century // 4) % 7
    number = 3 + (moon + 40) // 44
    return midnight(year, number, moon + 28 - 31 * (number // 4))


def _days(name: str, year: int) -> Interval:
    if name in _OF_EASTER:
        offset, count = _OF_EASTER[name]
        since = easter_sunday(year) + offset * DAY
    else:
        month, day, count = _FIXED[name]
        since = midnight(year, month, day)
    return Interval(since, since + count * DAY)


_ENDS_BEFORE = re.compile(r"\b(?:since|after|from|until|till|before|by)\s$", re.IGNORECASE)

_GIVEN = re.compile(r"(?<!['’]ve\s)(?<!\bhave\s)(?<!\bhas\s)\bgot\s(?:[\w’'-]+\s){1,6}for\s$", re.IGNORECASE)
"""What one got for Christmas came at the last one; "I've got a ham for Christmas" is no past tense."""


def _holiday(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    name = re.sub(r"(?<=year|tine)['’]?s?['’]?", "", " ".join(match["name"].lower().split()))
    name = name.replace("xmas", "christmas")
    before = context.sentence[max(0, match.start() - 8) : match.start()]
    if name == "new year" and _ENDS_BEFORE.search(before):
        name = "new year day"
    if match["year"]:
        return ResolvedTime(_days(name, int(match["year"])), "day")
    if context.said_at is None:
        return None
    how = " ".join((match["how"] or "").lower().split())
    spans = each_year(context.said_at, partial(_days, name))
    unit = years(civil(context.said_at)[0])
    if how == "this":
        found = of_present(spans, context.said_at, context.direction(match), unit)
    elif how:
        found = in_order(spans, context.said_at, how.split()[-1], unit)
    elif _GIVEN.search(context.sentence[: match.start()]):
        found = nearest(spans, context.said_at, -1)
    else:
        found = context.nearest(match, spans)
    return ResolvedTime(found, "day", relative=True) if found else None


_NAME = (
    r"(?P<name>(?:Christmas|Xmas)(?:\s(?:Eve|Day))?|Easter(?:\s(?:Sunday|Monday))?|Good\sFriday|Boxing\sDay"
    r"|New\sYear(?:['’]?s?['’]?(?:\s(?:Eve|Day))?)|Halloween|Valentine(?:['’]?s)?\sDay)"
)
_ALONE = (  # no noun follows
    r"(?=\s*(?:[.,;:!?)–—-]|$)|\s(?:and|or|but|so|because|if|when|where|while|with|without|in|at|to|from|for|on|by|until|till"
    r"|after|before|about|as|then|now|though|too|again|already|instead|this|last|we|i|he|she|they|it|you|there|here|my"
    r"|our|the|is|was|will|were|are|not)\b)"
)
HOLIDAYS = (
    TimeRule(
        frozenset(("christmas", "xmas", "easter", "friday", "boxing", "year", "halloween", "valentine", "valentines")),
        compiled(
            rf"(?:\b(?P<how>last|next|this{S}past|this{S}coming|this){S}"
            r"|(?<=\bat\s)|(?<=\bover\s)|(?<=\bon\s)|(?<=\bby\s)|(?<=\bfor\s)|(?<=\bsince\s)|(?<=\buntil\s)|(?<=\btill\s)"
            r"|(?<=\bbefore\s)|(?<=\bafter\s)|(?<=\bfrom\s)|(?<=\baround\s)|(?<=\bduring\s)|(?<=\bbetween\s)"
            rf"|(?<=mas\sand\s)|(?<=ter\sand\s)){_NAME}(?:,?{S}(?:of{S})?(?P<year>{YEAR}))?{_ALONE}"
        ),
        _holiday,
    ),
)  # fmt: skip
"""Tried before the other relative times; without the time of utterance only those with a year are resolved."""
