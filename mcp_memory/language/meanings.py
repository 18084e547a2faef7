"""The table of times, ``resources/times.toml``, and what its patterns mean: from their slots to an interval.

Times of one kind are read by one function, whatever their wording: those that are written in full (`date_time`,
`numeric_day`, `year_span`, `decade`), those that come again and again and are called by a name (`named`: "5
May", "last Friday", "the summer of 2019", "at Christmas", "the 17th"), and those that are counted from the telling
(`counted`, `weeks_on`, `lately`, `day_word`). "Last week" and "two weeks ago" are calendar weeks from Monday to Sunday;
months and years likewise. "Last night" is the day before.

A function returns None where the words mean no time, so that another pattern may read them, and `NO_TIME` where none
may.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from mcp_memory.domain.times import DAY, MINUTE, Grain, Interval, Millis, day_at
from mcp_memory.language import expressions
from mcp_memory.language.expressions import (
    MONTH,
    MONTH_WORDS,
    ORDINAL,
    SEASON,
    WEEKDAY_WORDS,
    S,
    compiled,
    month_number,
    number,
    season_name,
    weekday_number,
    written_out,
)
from mcp_memory.language.iso import (
    HOUR,
    WEEK,
    civil,
    is_day,
    midnight,
    month,
    parse,
    part_of,
    season,
    week_at,
    weekday,
    years,
)
from mcp_memory.language.yearless import Telling, in_order, nearest
from mcp_memory.texts import resource


class Meaning(NamedTuple):
    """The interval that an expression means: a ``StatedTime`` without its place in the text."""

    interval: Interval
    grain: Grain
    relative: bool = False


NO_TIME = Meaning(Interval(0, 0), "day")
"""What words mean that look like a time and are none: no other pattern may read them."""
Match = re.Match[str]
_STEPS = {"last": -1, "this": 0, "next": 1, "coming": 1, "past": -1}


def nothing(_: Match, __: Telling) -> Meaning:
    """Return that words which look like a time are none: "every Friday", "Black Friday"."""
    return NO_TIME


def date_time(match: Match, _: Telling) -> Meaning | None:
    """Return a day, or a minute of it, as ISO-8601 writes them; "2018/05/07" is read likewise."""
    day = f"{match['y']}-{match['m']:0>2}-{match['d']:0>2}"
    try:
        since, until = parse(day + (match["clock"] or ""))
    except ValueError:
        return None
    if not match["clock"]:
        return Meaning(Interval(since, until), "day")
    minute = since // MINUTE * MINUTE
    return Meaning(Interval(minute, minute + MINUTE), "time")


def numeric_day(match: Match, _: Telling) -> Meaning | None:
    """Return a day of which number and month cannot be confused: "25/12/2021", "07.05.2021"."""
    first, second, year = int(match["first"]), int(match["second"]), int(match["year"])
    if match["sign"] == "." or first > 12 or first == second:
        date = year, second, first
    elif second > 12:
        date = year, first, second
    else:
        return None
    return Meaning(day_at(midnight(*date)), "day") if is_day(*date) else None


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
_COUNTS = compiled(r"\s(?-i:[a-z]{3,}s)\b(?<!was)(?<!has)(?<!his)(?<!this)(?<!its)(?<!does)(?<!ss)(?<!us)(?<!plus)")
_STREET = compiled(
    r"\s(?-i:(?:[NSEW]\.?\s|(?:North|South|East|West)\s)?(?:[A-Z0-9][\w.'-]*\s){1,3}(?:Street|St\b|Avenue|Ave\b|Road|Rd\b"
    r"|Lane|Drive|Boulevard|Blvd|Way|Place|Court|Square|Terrace|Parkway|Highway|Pike|Row|Alley|Circle)\b)"
)
"""Behind the number of a house: "1207 Elm Street"."""


def year_span(match: Match, told: Telling) -> Meaning | None:
    """Return a year, a part of it, or years: "1916–20"; a bare number is none if it counts something."""
    before = told.sentence[max(0, match.start() - 16) : match.start()]
    slots = _slots(match)
    first = int(slots["year"])
    if "last" in slots:
        last = int(slots["last"]) + (first // 100 * 100 if len(slots["last"]) == 2 else 0)
        return Meaning(years(first, last - first + 1), "year") if first < last <= 2100 else None
    if _NUMBERED.search(before):
        return None
    after = told.sentence, match.end()
    if not ("part" in slots or _TIME_WORD.search(before)) and (_COUNTS.match(*after) or _STREET.match(*after)):
        return None
    return _part(Meaning(years(first), "year"), slots)


TIES = {"fifties": 1950, "sixties": 1960, "seventies": 1970, "eighties": 1980, "nineties": 1990}


def decade(match: Match, _: Telling) -> Meaning:
    """Return a decade: "the 90s", "the late eighties"; "the 1800s" are a hundred years, "the 2000s" still are ten."""
    slots = _slots(match)
    first = TIES[slots["name"].lower()] if "name" in slots else int(slots["digits"])
    if first < 100:
        first += 1900 if first >= 30 else 2000
    count = 100 if first % 100 == 0 and first < 2000 else 10
    return _part(Meaning(years(first, count), "decade"), slots)


_DATED = re.compile(r"\b(?:on|by|until|till|since|is|be)\s(?:the\s)?\d{1,2}\s(?:may|march|mar)$", re.IGNORECASE)
"""Before a day and "may" or "march" in lower case: "on 2 may", not "the group of 2 may"."""
_TIED = re.compile(r"\b(?:on|from|by|since|until|till|before|after|for|to)\s$", re.IGNORECASE)
_ENDS_BEFORE = re.compile(r"\b(?:since|after|from|until|till|before|by)\s$", re.IGNORECASE)


def named(match: Match, told: Telling) -> Meaning | None:
    """Return what is called by a name that comes again each year, week or month, with its year or without.

    Slots: *holiday*, *season*, *weekday*, *month* (with *day*, *last_day* and *first_month*), *day* alone or
    with *weekday*, or none for the weekend; then *year*, or *how*: "last", "this", "next", perhaps of a year (*of*);
    and *part*.
    """
    slots = _slots(match)
    how = slots.get("how", "").lower().split()[-1:]
    order = how[0] if how else ""
    of_year, grain = _in_year(slots, match)
    if "year" in slots:
        found = of_year(int(slots["year"])) if of_year else None
        return _part(Meaning(found, grain), slots) if found else None
    if told.said_at is None or _is_no_month(slots, order, match):
        return None
    said_at = told.said_at
    year = civil(said_at)[0]
    around = years(year) if of_year else week_at(said_at)
    if of_year:
        spans = [span for one in (year - 1, year, year + 1) if (span := of_year(one))]
    elif "day" in slots:
        spans = _in_months(int(slots["day"]), match, said_at)
        if "weekday" in slots:
            spans = [one for one in spans if abs(one.since - said_at) <= 31 * DAY]
    else:
        spans = _in_weeks(slots, said_at)
        if "weekday" in slots and not order and _TIED.search(told.sentence, 0, match.start()):
            spans = [span for span in spans if span != day_at(said_at)]  # "on Monday" is not today
    if {"weekday", "day"} <= slots.keys():  # "Saturday the 21st" is one day of the months around, if it is any
        spans = [span for span in spans if weekday(span.since) == weekday_number(slots["weekday"])]
    if of_year and "of" in slots:
        found = of_year(year + _STEPS[order])
    elif not order:
        found = told.nearest(match, spans, ahead="day" in slots and not of_year)
    elif order == "this":
        found = nearest(spans, said_at, told.pointing(match) or 1, asked=told.asked)
    else:
        found = in_order(spans, said_at, order, around, asked=told.asked)
    if found is None:
        return NO_TIME if order or {"weekday", "day"} <= slots.keys() else None
    return _part(Meaning(found, grain, relative=True), slots)


def _in_year(slots: dict[str, str], match: Match) -> tuple[Callable[[int], Interval | None] | None, Grain]:
    """Return what a name means in a year, None for what comes more often than each year; and its grain."""
    if "holiday" in slots:
        return partial(_holiday, slots["holiday"], match.string[: match.start()]), "day"
    if "season" in slots:
        return lambda year: season(year, season_name(slots["season"])), "season"
    if "month" not in slots:
        return None, "day"
    last = month_number(slots["month"])
    first = month_number(slots.get("first_month", slots["month"]))
    if "day" not in slots:
        return lambda year: Interval(month(year - (first > last), first).since, month(year, last).until), "month"

    def days(year: int) -> Interval | None:
        begin = year - (first > last), first, int(slots["day"])
        end = year, last, int(slots.get("last_day", slots["day"]))
        real = is_day(*begin) and is_day(*end) and begin <= end
        return Interval(midnight(*begin), midnight(*end) + DAY) if real else None

    return days, "day"


def _is_no_month(slots: dict[str, str], how: str, match: Match) -> bool:
    """Return whether a month without a year is probably another word: "may", "march", "mar" in lower case."""
    if slots.get("month") not in ("may", "march", "mar") or not {"ordinal", "of"}.isdisjoint(slots):
        return False
    return how not in ("last", "past") and not _DATED.search(match.string[max(0, match.start() - 12) : match.end()])


def _in_weeks(slots: dict[str, str], said_at: Millis) -> list[Interval]:
    """Return the weekends, or the days of that weekday, around the moment of speaking."""
    weeks = [week_at(said_at + step * WEEK) for step in range(-2, 3)]
    if "weekday" not in slots:
        return [Interval(week.until - 2 * DAY, week.until) for week in weeks]
    return [day_at(week.since + weekday_number(slots["weekday"]) * DAY) for week in weeks]


_DAY_OF_MONTH = compiled(
    rf"\b(?P<month>{MONTH}){S}(?:the{S})?(?P<day>\d{{1,2}})\b|\b(?P<first>\d{{1,2}}){ORDINAL}?{S}(?:of{S})?(?P<of>{MONTH})"
    rf"|\b(?:in|of){S}(?P<within>{MONTH})\b"
)


def _in_months(day: int, match: Match, said_at: Millis) -> list[Interval]:
    """Return the days of that number around the moment of speaking, or those of a month named before in the sentence.

    "The new date is 1 May, since there is a wedding on the 3rd" means 3 May. A lower number than the one before may be
    of that month or the next ("surgery on the 10th of May, admission on the 9th"): neither is claimed.
    """
    year, numbered, _ = civil(said_at)
    said = set[int]()
    for found in _DAY_OF_MONTH.finditer(match.string, 0, match.start()):
        if int(found["day"] or found["first"] or 0) > day:
            return []
        said.add(month_number(found["month"] or found["of"] or found["within"]))
    months = [civil(month(year, numbered + step).since)[:2] for step in (range(-6, 7) if said else range(-2, 3))]
    return [day_at(midnight(*one, day)) for one in months if is_day(*one, day) and (not said or one[1] in said)]


NTH = ("first", "second", "third", "fourth", "fifth", "1st", "2nd", "3rd", "4th", "5th")
_HOLIDAYS = {
    "christmas": (12, 24, 3), "christmas eve": (12, 24, 1), "christmas day": (12, 25, 1), "boxing day": (12, 26, 1),
    "new year": (12, 31, 2), "new year eve": (12, 31, 1), "new year day": (1, 1, 1), "halloween": (10, 31, 1),
    "valentine day": (2, 14, 1),
}  # fmt: skip
"""Month and day of the first day of each, and how many days it has. "Since New Year" begins on 1 January."""


def _holiday(name: str, before: str, year: int) -> Interval:
    """Return the days of a holiday in a year, as a pattern matched it behind some words."""
    name = re.sub(r"(?<=year|tine)['’]?s?['’]?", "", " ".join(name.lower().split())).replace("xmas", "christmas")
    if name == "new year" and _ENDS_BEFORE.search(before):
        name = "new year day"
    numbered, day, count = _HOLIDAYS[name]
    since = midnight(year, numbered, day)
    return Interval(since, since + count * DAY)


_PARTS = {"beg": "early", "sta": "early", "ear": "early", "mid": "mid", "end": "late", "lat": "late"}


def _part(whole: Meaning, slots: dict[str, str]) -> Meaning:
    """Return a time, or its early, mid or late part if a word before says so."""
    part = slots.get("part", "").lower()[:3]
    return whole._replace(interval=part_of(whole.interval, _PARTS[part], whole.grain)) if part else whole


_DAY_WORDS = (("before", -2), ("after tomorrow", 2), ("yesterday", -1), ("last", -1), ("tomorrow", 1))


def day_word(match: Match, told: Telling) -> Meaning | None:
    """Return the day of "yesterday", "tonight", "the day after tomorrow"."""
    if told.said_at is None:
        return None
    said = " ".join(match[0].lower().split())
    step = next((step for word, step in _DAY_WORDS if word in said), 0)
    return Meaning(day_at(told.said_at + step * DAY), "day", relative=True)


def weeks_on(match: Match, told: Telling) -> Meaning | None:
    """Return the day so many weeks after another: "a week on Saturday", "two weeks from tomorrow", "Monday week"."""
    if told.said_at is None:
        return None
    slots = _slots(match)
    days = (weekday_number(slots["weekday"]) - weekday(told.said_at)) % 7 if "weekday" in slots else "tomorrow" in slots
    if told.pointing(match) < 0 or ("weekday" in slots and days == 0):  # said on a Monday, "Monday" may be today
        return NO_TIME
    weeks = number(slots.get("n", "one")) * (2 if slots["unit"].lower() == "fortnight" else 1)
    return Meaning(day_at(told.said_at + days * DAY + weeks * WEEK), "day", relative=True)


def counted(match: Match, told: Telling) -> Meaning | None:
    """Return the day, week, month … so many of them from the telling: "two weeks ago", "next year", "in three days".

    Slots: *unit*; *n* with *sign* ("ago", "from now", "in"), or *how*, or *part* alone ("the end of the week").
    """
    if told.said_at is None:
        return None
    slots = _slots(match)
    unit, said_at = slots["unit"].lower(), told.said_at
    if "n" not in slots:
        step = _STEPS[slots.get("how", "this").lower().split()[-1]]
        if unit == "week" and step == 0 and weekday(said_at) == 6 and told.tensed(match) > 0:
            step = 1  # on a Sunday, what will be done this week is done in the week to come
        return _part(_unit_away(unit, step, said_at), slots)
    count = number(slots["n"])
    if slots["sign"].lower() == "in":
        pointing = told.pointing(match)
        if pointing < 0 or ((unit in ("minute", "hour") or count == 1) and pointing == 0):
            return None  # "finished in two days", "5 km in 30 minutes", "two in one day": how long, not when
    return _unit_away(unit, -count if slots["sign"].lower() == "ago" else count, said_at)


def _unit_away(unit: str, step: int, said_at: Millis) -> Meaning:
    """Return the day, week, month … that lies ``step`` of its kind away from the one of speaking, -1 for the last."""
    year, numbered, _ = civil(said_at)
    match unit:
        case "minute" | "hour":  # the day alone, as nobody would know in which zone the hour is
            return Meaning(day_at(said_at + step * (MINUTE if unit == "minute" else HOUR)), "day", relative=True)
        case "day" | "night":
            return Meaning(day_at(said_at + step * DAY), "day", relative=True)
        case "week" | "fortnight":
            return Meaning(week_at(said_at + step * (WEEK if unit == "week" else 2 * WEEK)), "week", relative=True)
        case "weekend":
            end = week_at(said_at + step * WEEK).until
            return Meaning(Interval(end - 2 * DAY, end), "day", relative=True)
        case "month":
            return Meaning(month(year, numbered + step), "month", relative=True)
        case "year":
            return Meaning(years(year + step), "year", relative=True)
        case _:
            return Meaning(years(year // 10 * 10 + 10 * step, 10), "decade", relative=True)


def lately(match: Match, told: Telling) -> Meaning | None:
    """Return "the past two weeks": up to and with the day of speaking."""
    if told.said_at is None:
        return None
    count, unit = number(match["n"] or "one"), match["unit"].lower()
    until = day_at(told.said_at).until
    if unit in ("day", "night", "week", "fortnight"):
        days = count * {"week": 7, "fortnight": 14}.get(unit, 1)
        return Meaning(Interval(until - days * DAY, until), "week" if days > count else "day", relative=True)
    year, numbered, day = civil(told.said_at)
    begun = month(year, numbered - count * {"month": 1, "year": 12, "decade": 120}[unit])
    since = min(begun.since + (day - 1) * DAY, begun.until)
    return Meaning(Interval(since, until), "month" if unit == "month" else "year", relative=True)


def _slots(match: Match) -> dict[str, str]:
    """Return the slots that a pattern filled, by name."""
    return {name: words for name, words in match.groupdict().items() if words}


class Pattern(NamedTuple):
    """One kind of time expression.

    Attributes:
        words: the pattern is tried only if the sentence holds one of these, in lower case; ``#`` is a digit.
        text: its regular expression, compiled when a sentence first needs it.
        meaning: returns what a match means, None to leave it to other patterns.
    """

    words: frozenset[str]
    text: str
    meaning: Callable[[Match, Telling], Meaning | None]

    @property
    def pattern(self) -> re.Pattern[str]:
        """Finds candidates, and fills slots."""
        return compiled(self.text)


_BEHIND = re.compile(r"@behind:([\w ]+)@")
_UNITS = "minute hour day night week fortnight month year decade weekend"
_WORDS = {
    "weekday_words": " ".join(WEEKDAY_WORDS),
    "month_words": " ".join(MONTH_WORDS),
    "unit_words": " ".join(f"{unit} {unit}s" for unit in _UNITS.split()),
    "tie_words": " ".join(TIES),
}


def _patterns() -> tuple[Pattern, ...]:
    """Return the patterns in the order of their precedence."""
    table = tomllib.loads(resource("times.toml"))
    fragments = {name.lower(): value for name, value in vars(expressions).items() if isinstance(value, str)}
    listed = {"ties": "|".join(TIES), "nths": "|".join(NTH)}
    parts = fragments | listed | table["parts"]
    return tuple(
        Pattern(
            frozenset(written_out(row["words"], _WORDS).split()),
            _BEHIND.sub(_lookbehinds, written_out(row["pattern"], parts)),
            globals()[row["meaning"]],
        )
        for row in table["rows"]
    )


def _lookbehinds(found: re.Match[str]) -> str:
    """Return what matches behind one of some words and a space."""
    return "(?:" + "|".join(rf"(?<=\b{word}\s)" for word in found[1].split()) + ")"


PATTERNS = _patterns()
