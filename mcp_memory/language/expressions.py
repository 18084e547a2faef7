"""The words for times, as patterns: months, weekdays, seasons, numbers, and what a number counts.

Patterns are ASCII-only, so that look-alike letters of other scripts never match.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from mcp_memory.language.iso import MONTHS, SEASONS, WEEKDAYS

S = r"[\s\u00a0\u202f]{1,3}"
"""White space between the words of an expression."""
DASH = r"\s?[-–—]\s?"
MONTH = (
    r"(?:Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?\.?|July?\.?|Aug(?:ust|\.)?"
    r"|Sep(?:tember|t\.?|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)(?!\w)"
)
WEEKDAY = rf"(?:{'|'.join(WEEKDAYS)})"
SHORT_WEEKDAY = r"(?-i:[Mm]on|[Tt]ues?|Wed|[Ww]eds|[Tt]hu(?:rs?)?|[Ff]ri|Sat|Sun)"
SEASON = r"(?:spring|summer|autumn|fall|winter)"
ORDINAL = r"(?:st|nd|rd|th)"
DATE = r"(?:3[01]|[12]\d|0?[1-9])"
"""The number of a day in its month."""
COUNTED = (  # the unit that a number counts: such a number is not a year
    r"(?!\w|[.,:]\d|%|[-/]\d|\s?[%€£$°]|\s(?:people|persons?|men|women|children|kids|students|users|employees|workers"
    r"|members|participants|soldiers|troops|votes|voters|copies|pages|words|lines|items|units|pieces|points|steps"
    r"|calories|kcal|dollars|euros|pounds|bucks|yen|yuan|francs|usd|eur|gbp|miles?|kilomet(?:er|re)s?|kms?|met(?:er|re)s?"
    r"|m|feet|foot|ft|inches|yards|acres|hectares|square|kg|kilos?|kilograms|grams|g|tons?|tonnes|lbs?|lit(?:er|re)s?|ml"
    r"|watts|volts|kwh|hp|mb|gb|mhz|rpm|seconds?|secs?|minutes?|mins?|hours?|hrs?|days|weeks|months|years|times|percent"
    r"|degrees|followers|subscribers|views|likes|houses|homes|books|songs|cars|trees|schools|islands|species|vision"
    r"|b\.?c\.?(?:e\.?)?)(?!\w))"
)
YEAR = rf"(?:1\d{{3}}|20\d\d|2100){COUNTED}"
MONTH_WORDS = frozenset(form for name in MONTHS for form in (name.lower(), name[:3].lower())) | {"sept"}
WEEKDAY_WORDS = frozenset(name.lower() for name in WEEKDAYS)

_SMALL = "one two three four five six seven eight nine"
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_VALUES = {word: value for value, word in enumerate(f"{_SMALL} {_TEENS}".split(), 1)}
_VALUES |= {word: 10 * value for value, word in enumerate(f"{_TENS} hundred".split(), 2)}
_VALUES |= {"a": 1, "an": 1, "couple": 2}
NUMBER = (
    rf"(?:\d{{1,4}}|(?:an?{S})?couple(?:{S}of)?|(?:an?{S}|one{S})?hundred"
    rf"|(?:{_TENS.replace(' ', '|')})(?:[\s-](?:{_SMALL.replace(' ', '|')}))?"
    rf"|{_TEENS.replace(' ', '|')}|{_SMALL.replace(' ', '|')}|an?)"
)


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern as ASCII-only and case-insensitive."""
    return re.compile(pattern, re.ASCII | re.IGNORECASE)


def number(words: str) -> int:
    """Return the number that `NUMBER` matched."""
    if words.isdecimal():
        return int(words)
    values = [_VALUES[word] for word in re.findall(r"[a-z]+", words.lower()) if word in _VALUES]
    return 100 if 100 in values else sum(values) if values[0] >= 20 else values[-1]


def month_number(name: str) -> int:
    """Return 1 to 12 for a month as `MONTH` matches it, or in digits."""
    if name.isdecimal():
        return int(name)
    return next(n for n, month in enumerate(MONTHS, 1) if month[:3].lower() == name[:3].lower())


def weekday_number(name: str) -> int:
    """Return 0 to 6 for a weekday, from Monday, as `WEEKDAY` or `SHORT_WEEKDAY` matches it."""
    return next(n for n, day in enumerate(WEEKDAYS) if day[:3].lower() == name[:3].lower())


def season_name(name: str) -> str:
    """Return one of `SEASONS` for a season as `SEASON` matches it."""
    return name.lower() if name.lower() in SEASONS else "autumn"


_PART = re.compile(r"@(\w+)@")


def written_out(pattern: str, parts: Mapping[str, str]) -> str:
    """Return a pattern of a table on one line, with its parts put in for ``@name@``."""
    return _PART.sub(lambda name: written_out(parts[name[1]], parts), pattern.replace("\n", ""))
