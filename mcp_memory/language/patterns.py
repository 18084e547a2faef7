"""The table of times: each pattern with the function of ``meanings.py`` that says what its words mean.

The order is that of precedence: a later pattern skips text that an earlier one has matched. Vague times ("a few years
ago") and times relative to another event ("the next day", "two days later") have no pattern. Numeric dates count only
if day and month cannot be confused, and a bare number only if nothing suggests that it counts something. Years BC are
left out, because the calendar starts with the year 1 (``iso.py``). What only looks like one day, because it comes again
and again ("every Friday", "Saturdays except in August"), is matched so that no other pattern reads a date out of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from mcp_memory.language import meanings
from mcp_memory.language.expressions import (
    COUNTED,
    DASH,
    DATE,
    MONTH,
    MONTH_WORDS,
    NUMBER,
    ORDINAL,
    SEASON,
    SHORT_WEEKDAY,
    WEEKDAY,
    WEEKDAY_WORDS,
    YEAR,
    S,
    compiled,
)
from mcp_memory.language.meanings import Meaning
from mcp_memory.language.yearless import Telling


class Pattern(NamedTuple):
    """One kind of time expression.

    Attributes:
        words: the pattern is tried only if the sentence holds one of these, in lower case; ``#`` is a digit.
        text: of the regular expression, which is compiled when a sentence first holds one of the words.
        meaning: returns what a match means, None to leave it to other patterns.
    """

    words: frozenset[str]
    text: str
    meaning: Callable[[re.Match[str], Telling], Meaning | None]

    @property
    def pattern(self) -> re.Pattern[str]:
        """Finds candidates, and fills slots."""
        return compiled(self.text)


def _row(words: str, pattern: str, meaning: Callable[[re.Match[str], Telling], Meaning | None]) -> Pattern:
    return Pattern(frozenset(words.split()), pattern, meaning)


_SOME_PART = (
    rf"\b(?:the{S})?(?P<part>early|mid|late|(?:beginning|start|middle|end){S}of)[\s-]{{1,2}}(?:in{S})?(?:the{S})?"
)
_PART = rf"(?:{_SOME_PART})?"
_ITS_PART = rf"\b(?:(?P<part>earlier|later|early|late|mid|(?:beginning|start|middle|end){S}of)[\s-])?"
_ORDER = rf"(?P<how>this{S}past|this{S}coming|this|(?<!the\s)(?:last|next)|coming|(?<=the\s)past)"
_NO_OTHER = rf"\b(?!{S}(?:of|before|after)\b)"
_TO = rf"(?:{DASH}|{S}(?:to|until|till|through|and){S})"
_DAY = r"(?<![\w.,:/$-])" + DATE
_LAST_DAY = (
    rf"(?P<ordinal>{ORDINAL})?(?:(?:{DASH}|{S}and{S}(?:the{S})?|{S}(?:to|until|till){S}(?:the{S})?)"
    rf"(?P<last_day>{DATE}){ORDINAL}?)?(?!\w|[.,:]\d)"
)
_WEEKDAY_BEFORE = rf"(?:(?:{WEEKDAY}|Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun)\.?,?{S}(?:the{S})?)?"
_COMMA = rf"(?:(?:{S})?,)?"
"""Before a year: "May 7, 2023", and "May 7 , 2023" in text whose tokens were set apart."""
_OF_YEAR = rf"(?:(?:{_COMMA}{S}(?:of{S})?|-)(?P<year>{YEAR})|{S}(?:of{S})?(?P<how>last|this|next){S}(?P<of>year)\b)?"
_NOT_ALONE = (  # not before a number that ends a longer or vaguer expression
    r"(?<![\w.,-])(?<!\bor\s)(?<!\bto\s)(?<!\band\s)(?<!than\s)(?<!over\s)(?<!under\s)(?<!hundred\s)(?<!\bhalf\s)(?<!thousand\s)"
)
_UNIT = r"(?P<unit>minute|hour|day|night|weekend|week|fortnight|month|year|decade|century|centurie)s?"
_NTH = rf"(?:{'|'.join(meanings.NTH)})"
_AND = rf"(?:,|/|,?{S}(?:and|or)){S}?"
_OF_DAY = rf"{S}(?:morning|afternoon|evening|night)"
_UNITS = "minute hour day night week weekend fortnight month year decade century minutes hours days nights weeks" + (
    " weekends fortnights months years decades centuries"
)
_MONTHS, _WEEKDAYS = " ".join(MONTH_WORDS), " ".join(WEEKDAY_WORDS)
_NOT_WITHIN = r"(?<![\w$€£¥#@.,:/+*=_-])"
"""Not behind what makes a number something else than a year."""


def _behind(words: str) -> str:
    """Return what matches behind one of some words and a space."""
    return "(?:" + "|".join(rf"(?<=\b{word}\s)" for word in words.split()) + ")"


_HOLIDAY = (
    r"(?P<holiday>(?:Christmas|Xmas)(?:\s(?:Eve|Day))?|Easter(?:\s(?:Sunday|Monday))?|Good\sFriday|Boxing\sDay"
    r"|New\sYear(?:['’]?s?['’]?(?:\s(?:Eve|Day))?)|Halloween|Valentine(?:['’]?s)?\sDay)"
)
_NO_NOUN = (  # "the Christmas party" and "an Easter egg" are no time
    r"(?=\s*(?:[.,;:!?)–—-]|$)|\s(?:and|or|but|so|because|if|when|where|while|with|without|in|at|to|from|for|on|by|until|till"
    r"|after|before|about|as|then|now|though|too|again|already|instead|this|last|we|i|he|she|they|it|you|there|here|my"
    r"|our|the|is|was|will|were|are|not)\b)"
)

PATTERNS = (
    # Holidays
    _row(
        "christmas xmas easter friday boxing year halloween valentine valentines",
        rf"(?:\b(?P<how>last|next|this{S}past|this{S}coming|this){S}"
        rf"|{_behind('at over on by for since until till before after from around during between')}"
        rf"|(?<=mas\sand\s)|(?<=ter\sand\s)){_HOLIDAY}(?:,?{S}(?:of{S})?(?P<year>{YEAR}))?{_NO_NOUN}",
        meanings.named,
    ),
    # Weekdays that are counted, and those that come again and again
    _row(
        _WEEKDAYS,
        rf"(?<![\w-])(?:the{S})?(?P<nth>{_NTH}|last){S}(?P<weekday>{WEEKDAY}){S}(?:of|in){S}"
        rf"(?:(?P<month>{MONTH})(?:,?{S}(?:of{S})?(?P<year>{YEAR}))?|(?P<how>this|last|next){S}(?P<of>month)\b)",
        meanings.named,
    ),
    _row(  # "a week from Tuesday", "a year ago today"
        "today yesterday tomorrow " + _WEEKDAYS,
        rf"(?<!\bfor\s)(?<![\w.,-]){NUMBER}{S}(?:day|week|fortnight|month|year)s?{S}(?:ago|from|on)(?:,?{S}on)?{S}"
        rf"(?:today|yesterday|tomorrow|{WEEKDAY})\b",
        meanings.nothing,
    ),
    _row(
        _WEEKDAYS,
        # "Black Friday", "a Friday", "every Monday and Friday", "the second Tuesday", "Monday to Friday"
        rf"\b(?:(?:every|each|any|most|(?:every{S})?other|black|good|ash|cyber|an?|one|some|easter|palm|super|man|girl|the"
        rf"|{_NTH}){S}{WEEKDAY}(?:{_AND}{WEEKDAY})*|{WEEKDAY}(?:{_AND}{WEEKDAY}){{2,}}"
        rf"|{WEEKDAY}(?:{DASH}|{S}(?:to|until|till|through|thru){S}){WEEKDAY}|last{S}{WEEKDAY}{S}(?:of|in)"
        rf"|{WEEKDAY}{S}(?:of|week|in{S}{NUMBER}{S}weeks?))\b",
        meanings.nothing,
    ),
    _row("except apart excluding", r"\b(?:except|apart\s{1,3}from|excluding)\b[^.,;:!?]{1,40}", meanings.nothing),
    # Days
    _row(
        "#",
        r"(?<![\w.,/-])(?P<y>\d{4})(?P<dash>[-/])(?P<m>\d\d?)(?P=dash)(?P<d>\d\d?)"
        r"(?P<clock>[T\s]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?(?![\w/-])",
        meanings.date_time,
    ),
    _row(
        "#",
        r"(?<![\w.,/-])(?P<first>\d{1,2})(?P<sign>[./-])(?P<second>\d{1,2})(?P=sign)(?P<year>[12]\d{3})(?![\w/-]|\.\d)",
        meanings.numeric_day,
    ),
    _row(
        _MONTHS,
        rf"{_DAY.replace(DATE, f'(?P<day>{DATE})')}{ORDINAL}?{S}(?:of{S})?(?P<first_month>{MONTH}){_TO}"
        rf"(?P<last_day>{DATE}){ORDINAL}?{S}(?:of{S})?(?P<month>{MONTH}){_COMMA}{S}(?P<year>{YEAR})",
        meanings.named,
    ),
    _row(
        _MONTHS,
        rf"(?<!\w)(?P<first_month>{MONTH}){S}(?P<day>{DATE}){ORDINAL}?{_TO}"
        rf"(?P<month>{MONTH}){S}(?P<last_day>{DATE}){ORDINAL}?{_COMMA}{S}(?P<year>{YEAR})",
        meanings.named,
    ),
    _row(
        _MONTHS,
        rf"{_WEEKDAY_BEFORE}(?<![\w.,:/$-])(?P<day>{DATE}){_LAST_DAY}(?:{S}(?:of{S})?|-)(?P<month>{MONTH}){_OF_YEAR}",
        meanings.named,
    ),
    _row(
        _MONTHS,
        rf"{_WEEKDAY_BEFORE}(?<!\w)(?P<month>{MONTH}){S}(?:the{S})?(?P<day>{DATE}){_LAST_DAY}{_OF_YEAR}",
        meanings.named,
    ),
    # Months, seasons, decades, centuries and years
    _row(
        _MONTHS,
        rf"(?<!\w)(?P<first_month>{MONTH})(?:{DASH}|/|{S}(?:to|and|or){S})(?P<month>{MONTH}){_COMMA}{S}(?:of{S})?(?P<year>{YEAR})",
        meanings.named,
    ),
    _row(_MONTHS, rf"{_PART}(?<!\w)(?P<month>{MONTH}){_COMMA}{S}(?:of{S})?(?P<year>{YEAR})", meanings.named),
    _row(
        "spring summer autumn fall winter",
        rf"{_PART}\b(?P<season>{SEASON}),?{S}(?:of{S})?(?P<year>{YEAR})",
        meanings.named,
    ),
    _row(
        "# " + " ".join(meanings.TIES),
        rf"{_PART}(?:(?<![\w.,$€£-])(?P<digits>1\d\d0|20\d0|(?<=['’])[3-9]0|(?<=the\s)[3-9]0)['’]?s"
        rf"|(?:(?<=the\s)|(?<=late\s)|(?<=early\s)|(?<=mid\s)|(?<=mid-))(?P<name>{'|'.join(meanings.TIES)}))(?!\w)",
        meanings.decade,
    ),
    _row(
        "century",
        rf"{_PART}\b(?:(?P<nth>\d{{1,2}}){ORDINAL}|(?P<name>twenty[\s-]first|{'|'.join(meanings.CENTURIES[:-1])}))[\s-]century\b"
        r"(?!\sb\.?c)",
        meanings.century,
    ),
    _row(
        "#",
        rf"{_NOT_WITHIN}(?P<year>1\d{{3}}|20\d\d)(?P<sign>\s?[-–—]\s?)(?P<last>\d{{4}}|\d\d){COUNTED}",
        meanings.year_span,
    ),
    _row(
        "#",
        rf"{_NOT_WITHIN}(?P<year>1\d{{3}}|20\d\d)(?P<sign>/)(?P<last>\d{{4}}|\d\d)(?!/){COUNTED}",
        meanings.year_span,
    ),
    _row("#", rf"{_PART}(?<![\w$€£¥#@.,:/+*=_])(?:(?<!-)|(?<=mid-))(?P<year>{YEAR})", meanings.year_span),
    _row("#", rf"{_behind('in of since summer')}['’](?P<year>\d\d)(?!\w)", meanings.year_span),
    # Days, weeks, months … counted from the telling
    _row(
        "yesterday today tomorrow tonight morning afternoon evening night",
        rf"\b(?:(?:the{S})?day{S}(?:before{S}yesterday|after{S}tomorrow)|(?:the{S})?night{S}before{S}last"
        rf"|(?<!no\s)(?:(?:earlier|later){S})?(?:yesterday|today|tomorrow)(?:{_OF_DAY})?|tonight|last{S}(?:night|evening)"
        rf"|(?:(?:earlier|later){S})?this{S}(?:very{S})?(?:morning|afternoon|evening))\b(?!['’]s\s(?:world|society|youth))",
        meanings.day_word,
    ),
    _row(
        "ago now hence",
        rf"{_NOT_ALONE}(?P<n>{NUMBER}){S}{_UNIT}{S}(?P<sign>ago\b(?!{S}from\b)|from{S}now\b|hence\b)"
        rf"(?:{S}this{S}(?:day|week|month)\b)?",
        meanings.counted,
    ),
    _row(
        "last past",
        rf"\b(?:(?:the|these|this){S})?(?:(?:last|past){S}(?P<n>(?!an?\b|one\b){NUMBER}){S}|(?<=the\s)past{S}|(?<=this\s)past{S})"
        rf"(?P<unit>day|night|week|fortnight|month|year|decade)s?\b(?!{S}of\b)",
        meanings.lately,
    ),
    _row(
        _UNITS,
        rf"\b(?P<sign>in){S}(?P<n>{NUMBER}){S}{_UNIT}(?:['’]?s?['’]?{S}time)?\b"
        rf"(?!{S}(?:of|or|and|ago|before|after|later|from)\b)",
        meanings.counted,
    ),
    _row(
        "last next",
        rf"\bthe{S}(?P<unit>weekend|week|month|year|decade|century){S}(?P<how>before{S}last|after{S}next)\b",
        meanings.counted,
    ),
    # Weekdays, months and seasons of a week or year that is named, and other names with an order
    _row(
        "week",
        rf"\b(?P<weekday>{WEEKDAY}){S}(?:of{S})?(?P<how>last|this|next){S}(?P<of>week)\b",
        meanings.named,
    ),
    _row(
        "week",
        rf"\b(?P<how>last|this|next){S}(?P<of>week),?{S}(?:on{S})?(?P<weekday>{WEEKDAY})\b",
        meanings.named,
    ),
    _row(
        "year",
        rf"\b(?:(?P<month>{MONTH})|(?P<season>{SEASON})),?{S}(?:(?:of|in){S})?(?P<how>last|this|next){S}(?P<of>year)\b",
        meanings.named,
    ),
    _row(
        "last this next coming past end",
        rf"{_ITS_PART}(?:{_ORDER}{S}|(?<=end\sof\s)the{S}(?=(?:week|month|year)\b))"
        rf"(?P<unit>week(?!end)|month|year|decade|century){_NO_OTHER}",
        meanings.counted,
    ),
    _row(
        "last this next coming past",
        rf"{_ITS_PART}{_ORDER}{S}"
        rf"(?:weekend|(?P<season>{SEASON})|(?P<month>{MONTH})|(?P<weekday>{WEEKDAY}|{SHORT_WEEKDAY})){_NO_OTHER}",
        meanings.named,
    ),
    # Names alone
    _row(
        _WEEKDAYS + " mon tue tues wed weds thu thur thurs fri sat sun",
        rf"\b(?P<weekday>{WEEKDAY}|{_behind('on by until')}{SHORT_WEEKDAY})\b(?:{_OF_DAY}\b)?"
        rf"(?!{S}(?:before|after|the|(?:last|next)\b))(?!['’]s)"
        rf"(?!(?:(?:,|/|{S}(?:and|or))?{S}?{WEEKDAY}){{0,5}}{S}(?:mornings|afternoons|evenings|nights)\b)",
        meanings.named,
    ),
    _row(
        "st nd rd th",
        rf"(?:{_behind('on to for by until since is between')}"
        r"|(?<=\bfrom\s)(?<![vgtd]ed\sfrom\s)(?<!d\sforward\sfrom\s)"  # not "moved from the 18th to the 25th"
        r"|(?<=\d(?:st|nd|rd|th)\sand\s)|(?<!from\s)(?=the\s\d\d?(?:st|nd|rd|th)\s(?:to|until|till)\sthe\s\d)"
        r"|(?<=[a-z]{4}['’]s\s)(?<!that['’]s\s)(?<!what['’]s\s)(?<!here['’]s\s))"  # "the interview's the 6th"
        rf"the{S}(?P<day>{DATE}){ORDINAL}\b(?=\s*(?:[.,;:!?)]|$"
        r"|(?:at|and|or|but|instead|not|for|because|if|when|so|we|i|she|he|they|with|after|before|about|in|to|from|until|till"
        r"|as|though|too|then|now)\b))",
        meanings.named,
    ),
    _row("weekend", rf"\b(?:over|at|on|during|for|until){S}the{S}weekend\b", meanings.named),
    _row(
        _MONTHS,
        rf"(?:{_SOME_PART}|{_behind('in during since until by')}"
        rf"|(?<=\bfrom\s)(?=\w+{S}(?:on|onwards?|it|we|i|he|she|they|my|our|the|his|her)\b))(?P<month>{MONTH})(?!{S}\d)",
        meanings.named,
    ),
)
