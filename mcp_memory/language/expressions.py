"""What the rules for absolute and for relative times share: their shape, and the pieces of their patterns.

A rule is a pattern and a function that makes an interval of what the pattern found, or nothing where the words do not
mean a time after all. Patterns are ASCII-only, so that a match is always made of the letters that it looks like.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from mcp_memory.domain.times import Grain, Millis
from mcp_memory.language.gregorian import DAY, MONTHS, SEASONS, WEEKDAYS, Interval, civil, day_at
from mcp_memory.language.tense import Direction

S = r"[\s\u00a0\u202f]{1,3}"
"""White space between two words of one expression."""
DASH = r"\s?[-–—]\s?"
MONTH = (
    r"(?:Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?\.?|July?\.?|Aug(?:ust|\.)?"
    r"|Sep(?:tember|t\.?|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)(?!\w)"
)
MONTH_NAME = rf"(?:{'|'.join(MONTHS)})"
WEEKDAY = rf"(?:{'|'.join(WEEKDAYS)})"
SEASON = r"(?:spring|summer|autumn|fall|winter)"
DAY_NUMBER = r"(?<![\w.,:/$-])(?:3[01]|[12]\d|0?[1-9])"
ORDINAL = r"(?:st|nd|rd|th)"
COUNTED = (  # what a number before it counts, so that the number is no year
    r"(?!\w|[.,:]\d|%|[-/]\d|\s?[%€£$°]|\s(?:people|persons?|men|women|children|kids|students|users|employees|workers"
    r"|members|participants|soldiers|troops|votes|voters|copies|pages|words|lines|items|units|pieces|points|steps"
    r"|calories|kcal|dollars|euros|pounds|bucks|yen|yuan|francs|usd|eur|gbp|miles?|kilomet(?:er|re)s?|kms?|met(?:er|re)s?"
    r"|m|feet|foot|ft|inches|yards|acres|hectares|square|kg|kilos?|kilograms|grams|g|tons?|tonnes|lbs?|lit(?:er|re)s?|ml"
    r"|watts|volts|kwh|hp|mb|gb|mhz|rpm|seconds?|secs?|minutes?|mins?|hours?|hrs?|days|weeks|months|years|times|percent"
    r"|degrees|followers|subscribers|views|likes|houses|homes|books|songs|cars|trees|schools|islands|species|vision"
    r"|b\.?c\.?(?:e\.?)?)(?!\w))"
)
YEAR = rf"(?:1\d{{3}}|20\d\d|2100){COUNTED}"
_NUMBERS = {
    **dict.fromkeys(("a", "an", "one"), 1),
    **dict.fromkeys(("two", "couple"), 2),
    **{
        word: n
        for n, word in enumerate(
            ["three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"], 3
        )
    },
    **{
        word: n
        for n, word in enumerate(
            ["thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"], 13
        )
    },
    **{
        word: 10 * n
        for n, word in enumerate(
            ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety", "hundred"], 2
        )
    },
}
_SMALL = r"one|two|three|four|five|six|seven|eight|nine"
NUMBER = (
    rf"(?:\d{{1,4}}|(?:an?{S})?couple(?:{S}of)?|(?:an?{S}|one{S})?hundred"
    rf"|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[\s-](?:{_SMALL}))?|thirteen|fourteen|fifteen|sixteen"
    rf"|seventeen|eighteen|nineteen|ten|eleven|twelve|{_SMALL}|an?)"
)
DIGIT = frozenset("0123456789")
MONTH_WORDS = frozenset(form for name in MONTHS for form in (name.lower(), name[:3].lower())) | {"sept"}
WEEKDAY_WORDS = frozenset(name.lower() for name in WEEKDAYS)


class Found(NamedTuple):
    """An interval that an expression means; of ``StatedTime`` all but the place."""

    interval: Interval
    grain: Grain
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Context:
    """What a rule may look at besides its own match.

    Attributes:
        sentence: the words around it.
        said_at: when they were said; None if nobody knows.
    """

    sentence: str
    said_at: Millis | None


@dataclass(frozen=True, slots=True)
class Rule:
    """A kind of expression.

    Attributes:
        words: it is not worth looking unless the sentence holds one of these, in lower case.
        pattern: finds candidates.
        resolve: says what one means, or None.
    """

    words: frozenset[str]
    pattern: re.Pattern[str]
    resolve: Callable[[re.Match[str], Context], Found | None]


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern of this grammar: ASCII, no matter which case."""
    return re.compile(pattern, re.ASCII | re.IGNORECASE)


def month_number(name: str) -> int:
    """Return 1 to 12 for a month as `MONTH` matches it."""
    return next(n for n, month in enumerate(MONTHS, 1) if month[:3].lower() == name[:3].lower())


def season_name(name: str) -> str:
    """Return one of `SEASONS` for a season as `SEASON` matches it."""
    lowered = name.lower()
    return lowered if lowered in SEASONS else "autumn"


def number(words: str) -> int:
    """Return the number that `NUMBER` matched."""
    if words.isdecimal():
        return int(words)
    parts = [_NUMBERS[word] for word in re.split(r"[^a-z]+", words.lower()) if word in _NUMBERS]
    if 100 in parts:
        return 100
    return sum(parts) if parts[0] >= 20 else parts[-1]


def is_plain_word(name: str) -> bool:
    """Whether a month without a number beside it is rather a verb: "may", "march", "mar" in lower case."""
    return name.lower() in ("may", "march", "mar") and name[0].islower()


def occurrence(candidates: Iterable[Interval], said_at: Millis, pointing: Direction) -> Interval | None:
    """Return the last of the intervals that has begun, or the first that has not ended, as the verb points."""
    today = day_at(said_at)
    if pointing < 0:
        return max((span for span in candidates if span.since <= today.since), default=None)
    if pointing > 0:
        return min((span for span in candidates if span.until >= today.since + DAY), default=None)
    return None


def year_of(instant: Millis) -> int:
    """Return the year that an instant lies in."""
    return civil(instant)[0]
