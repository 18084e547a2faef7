"""Building blocks of the rules for absolute and relative times: rule type, pattern fragments, tense.

A rule is a pattern and a function that resolves a match to an interval, or to None if the words do not mean a time.
Patterns are ASCII-only, so that look-alike letters of other scripts never match.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple

from mcp_memory.domain.times import Grain, Millis
from mcp_memory.heap import text_cache
from mcp_memory.language.iso import MONTHS, SEASONS, WEEKDAYS, Interval
from mcp_memory.language.yearless import Direction, nearest

S = r"[\s\u00a0\u202f]{1,3}"
"""White space between the words of an expression."""
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


class ResolvedTime(NamedTuple):
    """The interval that an expression means: a ``StatedTime`` without its place in the text."""

    interval: Interval
    grain: Grain
    relative: bool = False


NO_TIME = ResolvedTime(Interval(0, 0), "day")
"""What words mean that look like a time and are none: no other rule may read them."""


@dataclass(frozen=True, slots=True)
class SentenceContext:
    """What a rule can use besides its own match.

    Attributes:
        sentence: the sentence that contains the match.
        said_at: when it was said; None if unknown.
        tense: where the verb of the clause points; None where only the words of the sentence can tell.
        asked: whether it is a question.
    """

    sentence: str
    said_at: Millis | None
    tense: Direction | None = None
    asked: bool = False

    def direction(self, match: re.Match[str]) -> Direction:
        """Return whether an expression without a year means the last or the next such time.

        "Since" points back; "booked for", "moved to" and what is booked from a day to another point ahead; otherwise
        the tense decides.
        """
        before = self.sentence[max(0, match.start() - _REACH) : match.start()]
        if _SINCE.search(before):
            return -1
        if _COUNTED_FROM.search(before):
            return 1
        if _APPOINTED.search(before):
            return 1
        if _ARRANGED.search(before):
            return 1
        if _BOOKED.search(before) and _SPAN.search(before[-8:] + match[0]):
            return 1
        if self.tense is not None:
            return self.tense
        told = direction(self.sentence, match.start(), match.end())
        return told or (1 if _FROM.search(before) else 0)  # "from June on I work for …"

    def nearest(self, match: re.Match[str], spans: Iterable[Interval]) -> Interval | None:
        """Return which of the occurrences an expression without a year means.

        None of what comes back each year is, and nothing has been so since a time that is still to come.
        """
        assert self.said_at is not None
        pointing = self.direction(match)
        if pointing == 0 and _YEARLY.search(self.sentence):
            return None
        found = nearest(spans, self.said_at, pointing, asked=self.asked)
        late = found and found.since > self.said_at and _SINCE.search(self.sentence, 0, match.start())
        return None if late else found


@dataclass(frozen=True, slots=True)
class TimeRule:
    """One kind of time expression.

    Attributes:
        words: the rule is tried only if the sentence holds one of these, in lower case.
        pattern: finds candidates.
        resolve: returns what a match means, `NO_TIME` if it must mean nothing, or None to leave it to other rules.
    """

    words: frozenset[str]
    pattern: re.Pattern[str]
    resolve: Callable[[re.Match[str], SentenceContext], ResolvedTime | None]


def compiled(pattern: str) -> re.Pattern[str]:
    """Compile a pattern as ASCII-only and case-insensitive."""
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


def is_probably_not_a_month(name: str) -> bool:
    """Whether a month name without a number is probably another word: "may", "march", "mar" in lower case."""
    return name.lower() in ("may", "march", "mar") and name[0].islower()


_REACH = 64
"""Characters before an expression that are searched for what it is arranged for."""
_SINCE = compiled(rf"\bsince{S}(?:the{S})?$")
_FROM = compiled(  # "from June on", and the end of "from 20 April to the 4th of May"
    rf"\bfrom{S}(?:the{S})?(?:\d{{1,2}}{ORDINAL}?{S}(?:(?:of{S})?{MONTH}{S})?(?:to|until|till){S}(?:the{S})?)?$"
)
_COUNTED_FROM = compiled(rf"{S}(?:day|week|fortnight|month)s?{S}from{S}$")
_ARRANGED = compiled(
    r"(?<!was\s)(?<!were\s)\b(?:booked|scheduled|rescheduled|planned|arranged|set|fixed|reserved|confirmed"
    r"|(?<!\S)(?:is|are|was|were|been|be|got|gets|has|have|we|i|they|he|she|[’']s)?\s?(?:moved|postponed|pushed|delayed"
    r"|shifted|changed|brought|slipped|moves|changes|shifts|slips))"
    rf"{S}(?:[\w’'-]+{S}){{0,6}}?(?:for|to|until|till){S}(?:the{S})?$"
    r"|\bbooked\s?[!:.][^.!?:]*$"  # "Booked! Ferry on the 7th"
    rf"|\b(?:got|bought|have){S}(?:[\w’'-]+{S}){{0,2}}tickets?{S}(?:(?:for|to){S}(?:[\w’'-]+{S}){{1,4}}on|for){S}"
    rf"(?:the{S})?$"
)
_BOOKED = compiled(
    r"\b(?:booked|reserved|rented|hired)\b(?!\sout)(?:(?!\b(?:and|but|was|were|went|stayed|had)\b)[^.;?])*$"
)
_SPAN = compiled(rf"\bfrom{S}(?:the{S})?\d|\d(?:st|nd|rd|th)?(?:{DASH}|{S}(?:to|until|till){S}(?:the{S})?)\d")
"""Days from one to another: what somebody booked lasts so long, "booked a cabin for the summer, 18 to 25 July"."""
_APPOINTED = compiled(
    rf"\b(?:made|make|got|gave{S}(?:me|us|him|her|them)|have|has|had){S}(?:[\w’'-]+{S}){{0,3}}?"
    rf"(?:appointment|interview|reservation|booking|slot|table){S}for{S}(?:the{S})?$"
)
_SCHEDULED = (  # verbs whose present tense announces: "the train leaves on Friday", "we fly on 20 December"
    r"leave|start|begin|end|finish|open|close|arrive|depart|land|fl(?:y|ie)|expire|launch|return|move|meet|retire|graduate"
    r"|reopen|resume|go|come|ship|play|perform|sail|travel|drive|visit|marr(?:y|ie)|renew|join|run|turn|collect|deliver"
)
_LEAVING = (  # "we found a flat, moving on the 29th"
    r"(?<!was\s)(?<!were\s)(?<!been\s)(?:moving|leaving|starting|opening|closing|arriving|flying|returning|launching)"
    rf"(?=\s(?:on\s)?(?:the\s)?(?:{WEEKDAY}|{MONTH}|\d))"
)
_PARTICIPLE = (
    r"(?:\w+ly\s|all\s|not\s|now\s)?(?:(?!need|feed|indeed|hundred|speed|breed)\w{2,}ed|held|sold|told|met|made|paid|kept|sent"
    r"|taught|caught|brought|bought|built|found|put|set|cut|hit|won|lost|left|done|given|taken|written|driven|chosen|broken"
    r"|shown|drawn|thrown|torn|begun|sung|run|read|led|laid|heard)"
)
_PRESENT = (
    rf"(?:gets|(?:is|are|am))\s(?!(?:dated|named|called|based|located)\b){_PARTICIPLE}\b"  # "the rent is paid on 3 May"
    r"|"
    rf"(?:is|are)\s(?:(?:now|again|still|only|not|currently|already)\s)?(?:on|off|at|in|due|until|till|for|from|between|back|away|out|free|the\s\d+(?:st|nd|rd|th)|end\sof|{WEEKDAY}|{MONTH}|\d+)"
    r"|(?:is|are)\s(?:[a-z]+\s){1,3}(?:until|till)\b"  # "they are valid until 3 May"
    rf"|(?<!\bthe\s)(?:{_SCHEDULED})e?s\b(?!\sof)|takes?\splace|kicks?\soff|(?:has|have|got)\s(?:an?|another|my|our|her|his)\b"
    rf"|(?:i|we|you|they|[a-z]{{3,}}s)\s(?:leave|start|begin|end|finish|open|close|arrive|depart|land|fly|expire|launch"
    r"|return|move|meet|go|come|ship|play|perform|sail|travel|drive|visit|marry|join|have|take|get|head|turn|collect"
    r"|deliver|pick|drop|sign|see|do)\b"
)
_CUE = re.compile(
    r"\b(?:(?P<future>will|won['’]t|going\sto|gonna|shall|plan(?:s|ning)?|intend|hop(?:e|ing)|want\sto|about\sto|tomorrow"
    rf"|{_LEAVING}"
    r"|(?:agreed|arranged|decided|promised|offered|invited|asked|booked|hired)\s(?:\w+\s){0,2}to\s(?!the\b|a\b|an\b)\w+"
    rf"|(?:am|are|is)\s(?:\w+ly\s)?(?:being|getting)\s{_PARTICIPLE}"  # "we are getting married"
    r"|scheduled|due|upcoming|forward\sto|can['’]t\swait|see\syou|let['’]s|remind|need\sto|must|should|have\sto"
    rf"|by(?=\s(?:the\s)?(?:{WEEKDAY}|{MONTH}|\d|end|next|this|noon|mid|early|late)\b)"
    r"|(?:am|are|is|be)\s(?:\w+ly\s)?\w{2,}ing)"
    rf"|(?P<present>{_PRESENT})"
    rf"|(?P<passive>(?:be|being|get|getting)\s{_PARTICIPLE})"
    r"|(?P<past>was|wasn['’]t|were|weren['’]t|had|did|didn['’]t|been|went|got|saw|came|took|made|said|told|met|bought|ate"
    r"|had|left|gave|found|thought|felt|knew|ran|won|lost|began|started|wrote|read|heard|spent|slept|drove|flew|spoke|sang"
    r"|swam|rode|fell|broke|built|sent|taught|caught|brought|paid|kept|held|chose|grew|drew|wore|woke|became|sold|stood"
    r"|understood|forgot|hit|put|quit|since|ago|born|(?!need|feed|indeed|hundred|speed|breed|naked|sacred|wicked)\w{2,}ed))\b"
    r"|['’](?:(?P<will>ll)|(?P<copula>ve\san?\b|(?:m|re|s)\s(?:(?:(?:now|again|still|only|not)\s)?(?:on|off|due|back|away|out|free|the\s\d+(?:st|nd|rd|th)|end\sof|\d+)|(?:[a-z]+\s){0,3}(?:until|till)\b))|(?P<continuous>(?:m|re|s)\s(?:\w+ly\s)?(?:(?:being|getting)\s"
    rf"{_PARTICIPLE}|\w{{2,}}ing)))\b",
    re.ASCII | re.IGNORECASE,
)


_YEARLY = compiled(r"\b(?:birthday|anniversary|name day|every year|each year|annual|always)\b")


@text_cache(16)
def _cues(sentence: str) -> tuple[list[int], list[Direction]]:
    """Return where the cues of tense of a sentence stand, in order, and where each points; cached for all its times."""
    yearly = _YEARLY.search(sentence)  # a birthday "is on 7 May" in every year
    found = [cue for cue in _CUE.finditer(sentence) if not ((yearly and cue["present"]) or _in_name(cue))]
    directions: list[Direction] = []
    for cue in found:  # "will be held", "had to be held": the verb before says when
        carried = directions[-1] if cue["passive"] and directions else 1
        directions.append(-1 if cue["past"] else carried)
    return [cue.start() for cue in found], directions


def _in_name(cue: re.Match[str]) -> bool:
    """Return whether what looks like a past verb is part of a name: "Cardiff Met"."""
    inside = cue.string[: cue.start()].rstrip()[-1:].isalnum()  # it begins no sentence
    return inside and bool(cue["past"]) and cue[0][:1].isupper() and cue[0][1:].islower()


_GERUND_FIRST = re.compile(  # "picking it up on Saturday": "I'm" is left out
    r"\W*(?:(?:also|then|now|just|so|and|anyway|ok|yes|yeah|no|nope|probably|finally)\b[, ]+){0,3}"
    r"(?!(?:morning|evening|nothing|something|anything|everything|during|meeting|wedding|training|opening|hearing"
    r"|viewing|reading|building|painting|spring|string|king|ring|wing|thing|sibling|pudding|being|having)\b)"
    r"[a-z]{2,}ing\b(?![’'])",
    re.IGNORECASE,
)


def direction(sentence: str, start: int, end: int) -> Direction:
    """Return the direction of the tense cue that decides for the expression at ``start`` … ``end`` of a sentence.

    It decides what "on Friday" or "in May" mean. English marks tense on the verb: the nearest cue before the expression
    decides ("I **went** on Friday and **will** go again on Sunday"), otherwise the nearest after it. Without a cue the
    direction is unknown, and no time is inferred.
    """
    starts, directions = _cues(sentence)
    before, after = bisect_left(starts, start), bisect_left(starts, end)
    if before:
        return directions[before - 1]
    if after < len(starts):
        return directions[after]
    return 1 if _GERUND_FIRST.match(sentence, 0, start) else 0
