"""Rules for absolute times: "7 May 2023", "the early 1990s", "1916–20", "2018/19", "476 AD", "19th century".

A day without a year ("on 7 May") is matched here too, because it is written alike; ``yearless.py`` resolves it if the
time of utterance is known. Numeric dates count only if day and month cannot be confused, and a bare number only if
nothing suggests that it counts something. A bare number below 1000 is never a year; with "AD" or "CE" it is. Years BC
are ignored, because the calendar starts with the year 1 (``iso.py``).
"""

from __future__ import annotations

import re

from mcp_memory.domain.times import Grain
from mcp_memory.language.expressions import (
    COUNTED,
    DASH,
    DAY_NUMBER,
    DIGIT,
    MONTH,
    MONTH_WORDS,
    ORDINAL,
    SEASON,
    WEEKDAY,
    YEAR,
    ResolvedTime,
    S,
    SentenceContext,
    TimeRule,
    compiled,
    is_probably_not_a_month,
    month_number,
    season_name,
)
from mcp_memory.language.iso import (
    DAY,
    HOUR,
    MINUTE,
    Interval,
    civil,
    day_at,
    is_day,
    midnight,
    month,
    part_of,
    season,
    years,
)
from mcp_memory.language.yearless import each_year

SOME_PART = (
    rf"\b(?:the{S})?(?P<part>early|mid|late|(?:beginning|start|middle|end){S}of)[\s-]{{1,2}}(?:in{S})?(?:the{S})?"
)
PART = rf"(?:{SOME_PART})?"
_PARTS = {"beg": "early", "sta": "early", "ear": "early", "mid": "mid", "end": "late", "lat": "late"}
_TIES = {"fifties": 1950, "sixties": 1960, "seventies": 1970, "eighties": 1980, "nineties": 1990}
_CENTURIES = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
    "twenty-first",
]
_BETWEEN = rf"\bbetween{S}(?:the{S})?(?=\d{{1,2}}{ORDINAL}?{S}and{S}the{S})"
_PREFIX = rf"(?:(?P<between>{_BETWEEN})|(?:{WEEKDAY}|Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\.?,?{S}(?:the{S})?)?"
_COMMA = rf"(?:(?:{S})?,)?"
"""Before a year: "May 7, 2023", and "May 7 , 2023" in text whose tokens were set apart."""
_OF_YEAR = rf"(?:(?:{_COMMA}{S}(?:of{S})?|-)(?P<year>{YEAR})|{S}(?:of{S})?(?P<which>last|this|next){S}year\b)"


def part_or_whole(interval: Interval, grain: Grain, match: re.Match[str]) -> ResolvedTime:
    """Return an interval, or its early, mid or late part if a word before it says so."""
    part = match["part"]
    return ResolvedTime(part_of(interval, _PARTS[part[:3].lower()], grain) if part else interval, grain)


def _iso(match: re.Match[str], _: SentenceContext) -> ResolvedTime | None:
    date = int(match["y"]), int(match["m"]), int(match["d"])
    if not is_day(*date):
        return None
    since = midnight(*date)
    hour, minute, second = (int(match[group] or 0) for group in ("hour", "minute", "second"))
    if match["hour"] is None or hour > 23 or minute > 59 or second > 59:
        return ResolvedTime(Interval(since, since + DAY), "day")
    if match["sign"]:
        offset = int(match["zh"]) * HOUR + int(match["zm"] or 0) * MINUTE
        since += offset if match["sign"] == "-" else -offset
    since += hour * HOUR + minute * MINUTE
    return ResolvedTime(Interval(since, since + MINUTE), "time")


def _numeric(match: re.Match[str], _: SentenceContext) -> ResolvedTime | None:
    first, second, year = int(match[1]), int(match[3]), int(match[4])
    if match[2] == "." or first > 12 or first == second:
        date = year, second, first
    elif second > 12:
        date = year, first, second
    else:
        return None
    return ResolvedTime(day_at(midnight(*date)), "day") if is_day(*date) else None


_DATED = re.compile(r"\b(?:on|by|until|till|since|is|be)\s(?:the\s)?\d{1,2}\s(?:may|march|mar)$", re.IGNORECASE)
"""Before a day and "may" or "march" in lower case: "on 2 may", not "the group of 2 may"."""


def _days(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    """Resolve one day or consecutive days of a month, with or without a year."""
    name, first, last = match["month"], int(match["first"]), int(match["last"] or match["first"])
    if first > last:
        return None
    numbered = month_number(name)

    def days_of(year: int) -> Interval | None:
        if not (is_day(year, numbered, first) and is_day(year, numbered, last)):
            return None
        return Interval(midnight(year, numbered, first), midnight(year, numbered, last) + DAY)

    if match["year"]:
        days = days_of(int(match["year"]))
        return ResolvedTime(days, "day") if days else None
    if context.said_at is None:
        return None
    before = context.sentence[max(0, match.start() - 12) : match.end()]
    if is_probably_not_a_month(name) and not (match["ordinal"] or _DATED.search(before)):
        return None
    if match["which"]:
        days = days_of(civil(context.said_at)[0] + {"last": -1, "this": 0, "next": 1}[match["which"].lower()])
    else:
        days = context.nearest(match, each_year(context.said_at, days_of))
    return ResolvedTime(days, "day", relative=True) if days else None


def _days_of_two_months(match: re.Match[str], _: SentenceContext) -> ResolvedTime | None:
    year, from_month, to_month = int(match["year"]), month_number(match["m1"]), month_number(match["m2"])
    start = year - (from_month > to_month), from_month, int(match["d1"] or match["e1"])
    end = year, to_month, int(match["d2"] or match["e2"])
    if not (is_day(*start) and is_day(*end)):
        return None
    since, until = midnight(*start), midnight(*end) + DAY
    return ResolvedTime(Interval(since, until), "day") if since < until else None


def _month(match: re.Match[str], _: SentenceContext) -> ResolvedTime | None:
    year, last = int(match["year"]), month_number(match["m2"])
    if not match["m1"]:
        return part_or_whole(month(year, last), "month", match)
    first = month_number(match["m1"])
    return ResolvedTime(Interval(month(year - (first > last), first).since, month(year, last).until), "month")


def _season(match: re.Match[str], _: SentenceContext) -> ResolvedTime | None:
    return part_or_whole(season(int(match["year"]), season_name(match["season"])), "season", match)


def _decade(match: re.Match[str], _: SentenceContext) -> ResolvedTime | None:
    """Resolve a decade ("the 90s"), or a century written as one ("the 1800s")."""
    if match["name"]:
        return part_or_whole(years(_TIES[match["name"].lower()], 10), "decade", match)
    digits = match["digits"]
    if len(digits) == 2:
        return part_or_whole(years((1900 if int(digits) >= 30 else 2000) + int(digits), 10), "decade", match)
    first = int(digits)
    if first % 100 == 0 and first < 2000:  # "the 1800s" are a century; "the 2000s" still are ten years
        return part_or_whole(years(first, 100), "century", match)
    return part_or_whole(years(first, 10), "decade", match)


def _century(match: re.Match[str], _: SentenceContext) -> ResolvedTime | None:
    name = match["name"]
    nth = int(match["nth"]) if match["nth"] else _CENTURIES.index(re.sub(r"\s", "-", name.lower())) + 1
    return (
        part_or_whole(years(100 * (nth - 1) or 1, 100 if nth > 1 else 99), "century", match) if 1 <= nth <= 30 else None
    )


def _year_range(match: re.Match[str], _: SentenceContext) -> ResolvedTime | None:
    first, last = int(match[1]), int(match[2])
    if len(match[2]) == 2:
        last += first // 100 * 100
    return ResolvedTime(years(first, last - first + 1), "year") if first < last <= 2100 else None


_NUMBERED = compiled(
    r"(?:[$€£¥#&=+~]\s?|\b(?:room|rooms|no\.?|nos\.?|number|numbers|nr\.?|pages?|pp?\.?|route|flight|bus|model|version|apt"
    r"|chapter|apartment|suite|building|code|id|pin|ext|extension|gate|unit|line|highway|section|article|iso|rfc|en|din|box"
    r"|windows|office|score|price|costs?|paid|worth|order|invoice|ticket|exactly|approximately|nearly|almost|over|than"
    r"|least|most|roughly|some|these|those|all|street|usd|eur|gbp|rs\.?)\s)$"
)
_TIME_WORD = compiled(
    r"\b(?:in|since|from|until|till|by|during|of|to|between|and|before|after|circa|c\.|the|year|through|for|late|early|mid"
    rf"|{SEASON}|a\.?d\.?)\s$"
)
_BEFORE_CHRIST = compiled(rf"\bB\.?C\.?(?:E\.?)?(?:{DASH}|{S}(?:to|until|till|through|and){S})$")
"""A range that starts BC: its end alone would mean something else."""
_ERA = r"(?-i:A\.D\.|AD|C\.E\.|CE)(?!\w)"
_COUNTS = compiled(r"\s(?-i:[a-z]{3,}s)\b(?<!was)(?<!has)(?<!his)(?<!this)(?<!its)(?<!does)(?<!ss)(?<!us)(?<!plus)")

_STREET = compiled(
    r"\s(?-i:(?:[NSEW]\.?\s|(?:North|South|East|West)\s)?(?:[A-Z0-9][\w.'-]*\s){1,3}(?:Street|St\b|Avenue|Ave\b|Road|Rd\b"
    r"|Lane|Drive|Boulevard|Blvd|Way|Place|Court|Square|Terrace|Parkway|Highway|Pike|Row|Alley|Circle)\b)"
)
"""Behind the number of a house: "1207 Elm Street"."""


def _year(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    before = context.sentence[max(0, match.start() - 16) : match.start()]
    if _NUMBERED.search(before):
        return None
    timed = match["part"] or _TIME_WORD.search(before)
    if not timed and (_COUNTS.match(context.sentence, match.end()) or _STREET.match(context.sentence, match.end())):
        return None
    return part_or_whole(years(int(match["year"])), "year", match)


def _year_pair(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    """Resolve "2018/19" and "2018/2019"; only consecutive years are a span, "2016/2018" may be a choice."""
    first, second = int(match[1]), int(match[2])
    if second != (first + 1 if len(match[2]) == 4 else (first + 1) % 100):
        return None
    if _NUMBERED.search(context.sentence[max(0, match.start() - 16) : match.start()]):
        return None
    return ResolvedTime(years(first, 2), "year")


def _year_of_era(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    """Resolve a year or range of years AD, with any number of digits."""
    first, last = int(match["first"] or match["low"] or match["year"]), int(match["year"])
    before = context.sentence[max(0, match.start() - 24) : match.start()]
    if first > last or last > 2100 or _BEFORE_CHRIST.search(before):
        return None
    small = last < 100 and match["after"].startswith("C")
    counts = match["after"] and _COUNTS.match(context.sentence, match.end())
    if (small or counts) and not _TIME_WORD.search(before):
        return None  # "2 CE a year", "300 AD accounts"
    return ResolvedTime(years(first, last - first + 1), "year")


def _short_year(match: re.Match[str], _: SentenceContext) -> ResolvedTime | None:
    two = int(match[1])
    return ResolvedTime(years(two + (2000 if two <= 30 else 1900)), "year")


_LAST = (
    rf"(?P<ordinal>{ORDINAL})?(?:(?:{DASH}|{S}and{S}|(?(between){S}and{S}the{S}|(?!))|{S}(?:to|until|till){S}(?:the{S})?)"
    rf"(?P<last>3[01]|[12]\d|0?[1-9]){ORDINAL}?)?(?!\w|[.,:]\d)"
)
ABSOLUTE = (
    TimeRule(
        DIGIT,
        compiled(
            r"(?<![\w.,/-])(?P<y>\d{4})(?P<dash>[-/])(?P<m>\d\d?)(?P=dash)(?P<d>\d\d?)(?:(?:T|\s)(?P<hour>\d\d):(?P<minute>\d\d)"
            r"(?::(?P<second>\d\d)(?:[.,]\d{1,9})?)?(?:Z|(?P<sign>[+-])(?P<zh>[01]\d|2[0-3]):?(?P<zm>[0-5]\d)?)?)?(?![\w/-])"
        ),
        _iso,
    ),
    TimeRule(DIGIT, compiled(r"(?<![\w.,/-])(\d{1,2})([./-])(\d{1,2})\2([12]\d{3})(?![\w/-]|\.\d)"), _numeric),
    TimeRule(
        MONTH_WORDS,
        compiled(
            rf"(?:(?P<d1>\d{{1,2}}){ORDINAL}?{S}(?:of{S})?)?(?P<m1>{MONTH})(?(d1)|{S}(?P<e1>\d{{1,2}}){ORDINAL}?)"
            rf"(?:{DASH}|{S}(?:to|until|till|through|and){S})"
            rf"(?:(?P<d2>\d{{1,2}}){ORDINAL}?{S}(?:of{S})?)?(?P<m2>{MONTH})(?(d2)|{S}(?P<e2>\d{{1,2}}){ORDINAL}?)"
            rf"{_COMMA}{S}(?P<year>{YEAR})"
        ),
        _days_of_two_months,
    ),
    TimeRule(
        MONTH_WORDS,
        compiled(rf"{_PREFIX}(?P<first>{DAY_NUMBER}){_LAST}(?:{S}(?:of{S})?|-)(?P<month>{MONTH}){_OF_YEAR}?"),
        _days,
    ),
    TimeRule(
        MONTH_WORDS,
        compiled(rf"{_PREFIX}(?<!\w)(?P<month>{MONTH}){S}(?:the{S})?(?P<first>3[01]|[12]\d|0?[1-9]){_LAST}{_OF_YEAR}?"),
        _days,
    ),
    TimeRule(
        MONTH_WORDS,
        compiled(
            rf"{PART}(?<!\w)(?:(?P<m1>{MONTH})(?:{DASH}|/|{S}(?:to|and|or){S}))?(?P<m2>{MONTH}){_COMMA}{S}(?:of{S})?(?P<year>{YEAR})"
        ),
        _month,
    ),
    TimeRule(
        frozenset(("spring", "summer", "autumn", "fall", "winter")),
        compiled(rf"{PART}\b(?P<season>{SEASON}),?{S}(?:of{S})?(?P<year>{YEAR})"),
        _season,
    ),
    TimeRule(
        DIGIT,
        compiled(
            rf"(?<![\w$€£¥#@.,:/+*=_-])(?:(?:from{S})?(?P<first>[1-9]\d{{0,3}})(?:{DASH}|{S}(?:to|until|till|through){S})"
            rf"|between{S}(?P<low>[1-9]\d{{0,3}}){S}and{S})?(?P<year>[1-9]\d{{0,3}}){S}(?P<after>{_ERA})"
        ),
        _year_of_era,
    ),
    TimeRule(
        DIGIT,
        compiled(
            rf"(?<!\w)(?-i:A\.D\.|AD)(?P<after>)(?P<low>){S}(?:(?P<first>[1-9]\d{{0,3}}){DASH})?(?P<year>[1-9]\d{{0,3}}){COUNTED}"
        ),
        _year_of_era,
    ),
    TimeRule(
        DIGIT | _TIES.keys(),
        compiled(
            rf"{PART}(?:(?<![\w.,$€£-])(?P<digits>1\d\d0|20\d0|(?<=['’])[3-9]0|(?<=the\s)[3-9]0)['’]?s"
            rf"|(?:(?<=the\s)|(?<=late\s)|(?<=early\s)|(?<=mid\s)|(?<=mid-))(?P<name>{'|'.join(_TIES)}))(?!\w)"
        ),
        _decade,
    ),
    TimeRule(
        frozenset(("century",)),
        compiled(
            rf"{PART}\b(?:(?P<nth>\d{{1,2}}){ORDINAL}|(?P<name>twenty[\s-]first|{'|'.join(_CENTURIES[:-1])}))[\s-]century\b"
            r"(?!\sb\.?c)"
        ),
        _century,
    ),
    TimeRule(DIGIT, compiled(rf"(?<![\w$€£¥#@.,:/+*=-])(1\d{{3}}|20\d\d){DASH}(\d{{4}}|\d\d){COUNTED}"), _year_range),
    TimeRule(DIGIT, compiled(rf"(?<![\w$€£¥#@.,:/+*=_-])(1\d{{3}}|20\d\d)/(\d{{4}}|\d\d)(?!/){COUNTED}"), _year_pair),
    TimeRule(DIGIT, compiled(rf"{PART}(?<![\w$€£¥#@.,:/+*=_])(?:(?<!-)|(?<=mid-))(?P<year>{YEAR})"), _year),
    TimeRule(
        DIGIT,
        compiled(r"(?:(?<=in\s)|(?<=of\s)|(?<=since\s)|(?<=back\sin\s)|(?<=summer\s))['’](\d\d)(?!\w)"),
        _short_year,
    ),
)
"""In order of precedence: later rules skip text that an earlier rule has matched."""
