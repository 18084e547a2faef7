"""Rules for times relative to the utterance: "yesterday", "two weeks ago", "last Friday".

"Last week" and "two weeks ago" are calendar weeks from Monday to Sunday; months and years likewise. "Last night" is the
day before. Which "on Friday", "in May", "last summer" or "the 17th" mean, ``yearless.py`` decides. Vague times ("a few
years ago") and times relative to another event ("the next day", "two days later") are ignored.
"""

from __future__ import annotations

import re

from mcp_memory.domain.times import Grain, Millis
from mcp_memory.language.absolute import SOME_PART, part_or_whole
from mcp_memory.language.expressions import (
    MONTH,
    MONTH_WORDS,
    NO_TIME,
    NUMBER,
    SEASON,
    WEEKDAY,
    WEEKDAY_WORDS,
    ResolvedTime,
    S,
    SentenceContext,
    TimeRule,
    compiled,
    is_probably_not_a_month,
    month_number,
    number,
    season_name,
)
from mcp_memory.language.iso import (
    DAY,
    HOUR,
    MINUTE,
    WEEK,
    WEEKDAYS,
    Interval,
    civil,
    day_at,
    is_day,
    midnight,
    month,
    part_of,
    season,
    week_at,
    weekday,
    years,
)
from mcp_memory.language.vocabulary import word_set
from mcp_memory.language.yearless import each_week, each_year, in_order, of_present

_UNIT = r"(?P<unit>minute|hour|day|night|week|weekend|fortnight|month|year|decade|centur(?:y|ie))s?"
_UNITS = word_set("minute hour day night week weekend fortnight month year decade century centuries")
_UNITS |= {f"{unit}s" for unit in _UNITS}
_SHORT_WEEKDAY = r"(?-i:[Mm]on|[Tt]ues?|Wed|[Ww]eds|[Tt]hu(?:rs?)?|[Ff]ri|Sat|Sun)"
_SPAN = rf"(?:weekend|week|month|year|decade|century|{SEASON}|{MONTH}|{WEEKDAY}|{_SHORT_WEEKDAY})"
_STEPS = {"last": -1, "this": 0, "next": 1, "coming": 1, "past": -1}
_DAYS = {"yesterday": -1, "tomorrow": 1, "today": 0, "tonight": 0}


def _span(name: str, step: int, said_at: Millis) -> ResolvedTime | None:
    """Return the week, month, … that lies ``step`` away from the one of speaking, -1 for the last."""
    year, numbered, _ = civil(said_at)
    match name.lower():
        case "week":
            return ResolvedTime(week_at(said_at + step * WEEK), "week", relative=True)
        case "weekend":
            return ResolvedTime(_weekend(said_at + step * WEEK), "day", relative=True)
        case "month":
            return ResolvedTime(month(year, numbered + step), "month", relative=True)
        case "year":
            return ResolvedTime(years(year + step), "year", relative=True)
        case "decade":
            return ResolvedTime(years(year // 10 * 10 + 10 * step, 10), "decade", relative=True)
        case "century" | "centurie":
            return ResolvedTime(years(year // 100 * 100 + 100 * step, 100), "century", relative=True)
    return None


def _occurrences(name: str, said_at: Millis) -> tuple[list[Interval], Grain]:
    """Return the weekends, weekdays, months or seasons of a name around the moment of speaking, and their grain."""
    lowered = name.lower()
    if lowered == "weekend":
        return [_weekend(said_at + step * WEEK) for step in range(-2, 3)], "day"
    if lowered[:3] in _MONTH_STARTS:
        return each_year(said_at, lambda year: month(year, month_number(lowered))), "month"
    if lowered[:3] in _WEEKDAY_STARTS:
        return each_week(said_at, _WEEKDAY_STARTS.index(lowered[:3])), "day"
    return each_year(said_at, lambda year: season(year, season_name(lowered))), "season"


def _found(interval: Interval | None, grain: Grain) -> ResolvedTime | None:
    return ResolvedTime(interval, grain, relative=True) if interval else None


_MONTH_STARTS = frozenset(word[:3] for word in MONTH_WORDS)
_WEEKDAY_STARTS = tuple(name[:3].lower() for name in WEEKDAYS)


def _weekend(instant: Millis) -> Interval:
    monday = week_at(instant).until
    return Interval(monday - 2 * DAY, monday)


def _moment_away(unit: str, count: int, said_at: Millis) -> ResolvedTime | None:
    """Return the day, week, … that lies ``count`` of its kind away from the moment of speaking."""
    match unit.lower():
        case "minute" | "hour" as name:  # the day alone, as nobody would know in which zone the hour is
            return ResolvedTime(day_at(said_at + count * (MINUTE if name == "minute" else HOUR)), "day", relative=True)
        case "day" | "night":
            return ResolvedTime(day_at(said_at + count * DAY), "day", relative=True)
        case "fortnight":
            return _span("week", 2 * count, said_at)
        case lowered:
            return _span(lowered, count, said_at)


def _day(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    assert context.said_at is not None
    words = match[0].lower()
    if "before yesterday" in words or "night before last" in words:
        days = -2
    elif "after tomorrow" in words:
        days = 2
    elif words.endswith(("last night", "last evening")):
        days = -1
    else:
        days = next((step for word, step in _DAYS.items() if word in words), 0)
    return ResolvedTime(day_at(context.said_at + days * DAY), "day", relative=True)


def _ago(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    assert context.said_at is not None
    sign = -1 if match[0].lower().endswith("ago") else 1  # "from now", "hence"
    return _moment_away(match["unit"], sign * number(match["n"]), context.said_at)


def _ahead(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    assert context.said_at is not None
    pointing = context.direction(match)
    short = match["unit"].lower() in ("minute", "hour") or match["n"].lower() in ("one", "a", "1")
    if pointing < 0 or (short and pointing == 0):
        return None  # "finished in two days", "5 km in 30 minutes", "two in one day": how long, not when
    return _moment_away(match["unit"], number(match["n"]), context.said_at)


def _lately(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    """Resolve "the past two weeks": up to and with the day of speaking."""
    assert context.said_at is not None
    count, unit = number(match["n"] or "one"), match["unit"].lower()
    until = day_at(context.said_at).until
    year, numbered, day = civil(context.said_at)
    grain: Grain
    match unit:
        case "day" | "night":
            since, grain = until - count * DAY, "day"
        case "week" | "fortnight":
            since, grain = until - count * (WEEK if unit == "week" else 2 * WEEK), "week"
        case "month":
            begun = month(year, numbered - count)
            since, grain = min(begun.since + (day - 1) * DAY, begun.until), "month"
        case "year":
            since, grain = min(month(year - count, numbered).since + (day - 1) * DAY, until), "year"
        case "decade":
            since, grain = month(year - 10 * count, numbered).since, "year"
        case _:
            return None
    return ResolvedTime(Interval(since, until), grain, relative=True)


def _this(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    """Resolve "last week", "earlier this year", "next May", "this coming Friday"."""
    assert context.said_at is not None
    how, name, said_at = (match["how"] or "this").lower().split()[-1], match["what"], context.said_at
    if how in ("this", "next") and is_probably_not_a_month(name):
        return None  # "this may be"
    step = _STEPS[how]
    if name.lower() == "week" and how == "this" and weekday(said_at) == 6 and context.direction(match) > 0:
        step = 1  # on a Sunday, what will be done this week is done in the week to come
    found = _span(name, step, said_at) if name.lower() != "weekend" else None
    if found is None:
        spans, grain = _occurrences(name, said_at)
        unit = week_at(said_at) if grain == "day" else years(civil(said_at)[0])
        meant = (
            of_present(spans, said_at, context.direction(match), unit)
            if how == "this"
            else in_order(spans, said_at, how, unit, asked=context.asked)
        )
        found = _found(meant, grain) or NO_TIME
    part = match["part"]
    if found is NO_TIME or not (found and part):
        return found
    today = day_at(said_at)
    interval = found.interval
    if part.lower() in ("earlier", "later") and how == "this":
        earlier = part.lower() == "earlier"
        interval = Interval(interval.since, today.until) if earlier else Interval(today.since, interval.until)
    elif part.lower() not in ("earlier", "later"):
        which = {"e": "late", "l": "late", "m": "mid"}.get(part[0].lower(), "early")
        interval = part_of(interval, "early" if part.lower().startswith("ear") else which, found.grain)
    return ResolvedTime(interval, found.grain, relative=True)


def _beyond(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    assert context.said_at is not None
    return _span(match["what"], -2 if match["how"].lower().endswith("last") else 2, context.said_at)


def _weekday_of_week(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    assert context.said_at is not None
    name, how = match["day1"] or match["day2"], match["how1"] or match["how2"]
    monday = week_at(context.said_at + _STEPS[how.lower()] * WEEK).since
    return ResolvedTime(day_at(monday + _WEEKDAY_STARTS.index(name[:3].lower()) * DAY), "day", relative=True)


def _month_of_year(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    assert context.said_at is not None
    year = civil(context.said_at)[0] + _STEPS[match["how"].lower()]
    if match["season"]:
        return ResolvedTime(season(year, season_name(match["season"])), "season", relative=True)
    return ResolvedTime(month(year, month_number(match["month"])), "month", relative=True)


def _bare_weekday(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    assert context.said_at is not None
    spans, grain = _occurrences(match["day"], context.said_at)
    if _TIED.search(context.sentence, 0, match.start()):  # "on Monday" is not today, but "it's Monday" may be
        spans = [span for span in spans if span != day_at(context.said_at)]
    return _found(context.nearest(match, spans), grain)


_TIED = re.compile(r"\b(?:on|from|by|since|until|till|before|after|for|to)\s$", re.IGNORECASE)


def _bare_weekend(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    assert context.said_at is not None
    spans, grain = _occurrences("weekend", context.said_at)
    return _found(context.nearest(match, spans), grain)


def _bare_month(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    assert context.said_at is not None
    if is_probably_not_a_month(match["month"]):
        return None
    spans, grain = _occurrences(match["month"], context.said_at)
    found = context.nearest(match, spans)
    return part_or_whole(found, grain, match)._replace(relative=True) if found else None


_DAY_OF_MONTH = compiled(
    rf"\b(?P<month>{MONTH}){S}(?:the{S})?\d{{1,2}}\b|\b\d{{1,2}}(?:st|nd|rd|th)?{S}(?:of{S})?(?P<of>{MONTH})"
)


def _bare_day_of_month(match: re.Match[str], context: SentenceContext) -> ResolvedTime | None:
    """Resolve "on the 17th" to the last or the next such day, or to that of the month named before it in the sentence.

    "The new date is 1 May, since there is a wedding on the 3rd" means 3 May.
    """
    assert context.said_at is not None
    said_at = context.said_at
    year, numbered, _ = civil(said_at)
    named = {
        month_number(day["month"] or day["of"]) for day in _DAY_OF_MONTH.finditer(context.sentence, 0, match.start())
    }
    days = []
    for step in range(-6, 7) if named else range(-2, 3):
        month_year, number_ = civil(month(year, numbered + step).since)[:2]
        if is_day(month_year, number_, int(match["number"])) and (not named or number_ in named):
            days.append(day_at(midnight(month_year, number_, int(match["number"]))))
    return _found(context.nearest(match, days), "day")


_NOT_ALONE = (  # not before a number that ends a longer or vaguer expression
    r"(?<![\w.,-])(?<!\bor\s)(?<!\bto\s)(?<!\band\s)(?<!than\s)(?<!over\s)(?<!under\s)(?<!hundred\s)(?<!\bhalf\s)(?<!thousand\s)"
)
_OF_DAY = rf"{S}(?:morning|afternoon|evening|night)"
RELATIVE = (
    TimeRule(
        frozenset(("yesterday", "today", "tomorrow", "tonight", "morning", "afternoon", "evening", "night")),
        compiled(
            rf"\b(?:(?:the{S})?day{S}(?:before{S}yesterday|after{S}tomorrow)|(?:the{S})?night{S}before{S}last"
            rf"|(?<!no\s)(?:(?:earlier|later){S})?(?:yesterday|today|tomorrow)(?:{_OF_DAY})?|tonight|last{S}(?:night|evening)"
            rf"|(?:(?:earlier|later){S})?this{S}(?:very{S})?(?:morning|afternoon|evening))\b(?!['’]s\s(?:world|society|youth))"
        ),
        _day,
    ),
    TimeRule(frozenset(("ago",)), compiled(rf"{_NOT_ALONE}(?P<n>{NUMBER}){S}{_UNIT}{S}ago\b(?!{S}from\b)"), _ago),
    TimeRule(
        frozenset(("now", "hence")),
        compiled(rf"{_NOT_ALONE}(?P<n>{NUMBER}){S}{_UNIT}{S}(?:from{S}now|hence)\b"),
        _ago,
    ),
    TimeRule(
        frozenset(("last", "past")),
        compiled(
            rf"\b(?:(?:the|these|this){S})?(?:(?:last|past){S}(?P<n>(?!an?\b|one\b){NUMBER}){S}|(?<=the\s)past{S}|(?<=this\s)past{S})"
            rf"(?P<unit>day|night|week|fortnight|month|year|decade)s?\b(?!{S}of\b)"
        ),
        _lately,
    ),
    TimeRule(
        _UNITS,
        compiled(
            rf"\bin{S}(?P<n>{NUMBER}){S}{_UNIT}(?:['’]?s?['’]?{S}time)?\b(?!{S}(?:of|or|and|ago|before|after|later|from)\b)"
        ),
        _ahead,
    ),
    TimeRule(
        frozenset(("last", "next")),
        compiled(rf"\bthe{S}(?P<what>{_SPAN}){S}(?P<how>before{S}last|after{S}next)\b"),
        _beyond,
    ),
    TimeRule(
        frozenset(("week", "week's")),
        compiled(
            rf"\b(?:(?P<day1>{WEEKDAY}){S}(?:of{S})?(?P<how1>last|this|next){S}week"
            rf"|(?P<how2>last|this|next){S}week,?{S}(?:on{S})?(?P<day2>{WEEKDAY}))\b"
        ),
        _weekday_of_week,
    ),
    TimeRule(
        frozenset(("year",)),
        compiled(
            rf"\b(?:(?P<month>{MONTH})|(?P<season>{SEASON})),?{S}(?:(?:of|in){S})?(?P<how>last|this|next){S}year\b"
        ),
        _month_of_year,
    ),
    TimeRule(
        frozenset(("last", "this", "next", "coming", "past", "end")),
        compiled(
            rf"\b(?:(?P<part>earlier|later|early|late|mid|(?:beginning|start|middle|end){S}of)[\s-])?"
            rf"(?:(?P<how>this{S}past|this{S}coming|this|(?<!the\s)(?:last|next)|coming|(?<=the\s)past){S}"
            rf"|(?<=end\sof\s)the{S}(?=(?:week|month|year)\b))"
            rf"(?P<what>{_SPAN})\b(?!{S}(?:of|before|after)\b)"
        ),
        _this,
    ),
    TimeRule(
        WEEKDAY_WORDS | word_set("mon tue tues wed weds thu thur thurs fri sat sun"),
        compiled(
            rf"\b(?:(?<!from\s)|(?!{WEEKDAY}\s?(?:to|until|till|through|thru|-|–)))"
            rf"(?P<day>{WEEKDAY}|(?:(?<=\bon\s)|(?<=\bby\s)|(?<=\buntil\s)){_SHORT_WEEKDAY})\b(?:{_OF_DAY}\b)?(?!{S}(?:before|after|the|(?:last|next)\b))(?!['’]s)"
            rf"(?!(?:(?:,|/|{S}(?:and|or))?{S}?{WEEKDAY}){{0,5}}{S}(?:mornings|afternoons|evenings|nights)\b)"
        ),
        _bare_weekday,
    ),
    TimeRule(
        frozenset(("st", "nd", "rd", "th")),
        compiled(
            r"(?:(?<=\bon\s)|(?<=\bto\s)|(?<=\bfor\s)|(?<=\bby\s)|(?<=\buntil\s)|(?<=\bsince\s)|(?<=\bis\s)"
            r"|(?<=\bfrom\s)(?<![vgtd]ed\sfrom\s)(?<!d\sforward\sfrom\s)"  # not "moved from the 18th to the 25th"
            r"|(?<=\bbetween\s)|(?<=\d(?:st|nd|rd|th)\sand\s)|(?<!from\s)(?=the\s\d\d?(?:st|nd|rd|th)\s(?:to|until|till)\sthe\s\d)"
            r"|(?<=[a-z]{4}['’]s\s)(?<!that['’]s\s)(?<!what['’]s\s)(?<!here['’]s\s))"  # "the interview's the 6th"
            rf"the{S}"
            r"(?P<number>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)\b(?=\s*(?:[.,;:!?)]|$"
            r"|(?:at|and|or|but|instead|not|for|because|if|when|so|we|i|she|he|they|with|after|before|about|in|to|from|until|till|as|though|too|then|now)\b))"
        ),
        _bare_day_of_month,
    ),
    TimeRule(frozenset(("weekend",)), compiled(rf"\b(?:over|at|on|during|for|until){S}the{S}weekend\b"), _bare_weekend),
    TimeRule(
        MONTH_WORDS,
        compiled(
            rf"(?:{SOME_PART}|(?<=\bin\s)|(?<=\bduring\s)|(?<=\bsince\s)|(?<=\buntil\s)|(?<=\bby\s)"
            rf"|(?<=\bfrom\s)(?=\w+{S}(?:on|onwards?|it|we|i|he|she|they|my|our|the|his|her)\b))"
            rf"(?P<month>{MONTH})(?!{S}\d)"
        ),
        _bare_month,
    ),
)
"""In order of precedence, as in ``absolute.py``; each rule needs ``SentenceContext.said_at``."""
