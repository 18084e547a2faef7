"""Words that deny, and words that change: "I've never sailed", "now 12 boats", "moved from Oslo to Bergen".

What a person said once may not hold any more, or was never true of all they said. Three kinds of words show it:

- a *denial*: the person says that they never did something (`denials`), or have not done it yet. What else they said
  contradicts it if it tells of the same thing as done (`deeds`);
- a *value* (`values`): a number with what it counts, a share, a sum, a date. `changed_values` are those beside words
  that tell of a change ("has now reached 165", "the new deadline of 5 April");
- a *replacement* (`replacements`): "moved from A to B", "replaced A with B".

All of it is found by the words alone, in English. Whether two such places are about the same thing is decided where the
space is known (``search/contrasts.py``).

Source: REAL §3.2 closes the older of two contradicting facts. **Departures.** It needs both as facts of one relation;
most of what people say of their work is none, and a model that reads both sentences can judge for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from mcp_memory.domain.relations import irregular_verbs
from mcp_memory.language.expressions import MONTH_WORDS
from mcp_memory.language.iso import WEEKDAYS
from mcp_memory.language.tokens import STOP_WORDS, stems

_ADVERB = (
    r"(?: (?:also|still|actually|personally|really|ever|yet|even|once|just|already|recently|finally|successfully))*"
)
_END = r"(?=,? (?:so|but|because|though|although|since|considering)\b|, |[.;!?\n]|$)"
_DENIAL = re.compile(
    r"\b(?:I|we)(?:"
    rf"(?:['’]ve| have|['’]d| had)?{_ADVERB} never{_ADVERB} (?P<done>[a-z]+)(?P<what>[^.;!?\n]*?){_END}"
    rf"| ?(?:haven['’]t|have not|hadn['’]t){_ADVERB} (?P<undone>[a-z]+)(?P<what2>[^.;!?\n,]*? (?:yet|before)\b)"
    r")",
    re.IGNORECASE,
)
_WHICH = re.compile(r"([^,.;!?\n]{3,60}), which $", re.IGNORECASE)
_CLAUSE = re.compile(r"[^,.;!?\n]+(?:[.,](?=\d)[^,.;!?\n]*)*[,.;!?]*")
_PLANS = frozenset((
    "decided", "planned", "wanted", "heard", "considered", "wondered", "noticed", "read", "thought", "needed", "hoped",
    "liked", "loved", "started", "tried", "been", "seen", "felt", "meant", "intended", "struggled", "scheduled",
    "learned",
))  # fmt: skip
"""Past forms that tell of no deed."""
_NOT = re.compile(
    r"\b(?:want|hope|plan|like|wish|would|should|never|not|no|cannot|without|hardly)\b|n['’]t\b", re.IGNORECASE
)
_PERFECT = re.compile(rf"\b(?:I|we)(?:['’]ve| have){_ADVERB} (?P<verb>[a-z]+)", re.IGNORECASE)
_PAST = re.compile(rf"\b(?:I|we){_ADVERB} (?P<verb>[a-z]+)\b", re.IGNORECASE)
_RESULT = re.compile(
    r"\bmy (?:[\w-]+ ){0,3}?(?:scores?|accuracy|results?)\b|\bafter (?:completing|finishing|solving|doing)\b"
    r"|\b(?:my|our) [^,.;!?\n]{0,60}?\b[a-z]+ed (?:on|in|last|yesterday)\b",
    re.IGNORECASE,
)

MONTHS = "|".join(sorted((word for word in MONTH_WORDS if len(word) > 3), key=len, reverse=True))
_VALUE = re.compile(
    rf"(?<![\w.$€£#/:@-])(?:(?P<month>(?:{MONTHS})\.? \d{{1,2}}(?:st|nd|rd|th)?\b)|(?P<day>\d{{1,2}} (?:{MONTHS})\b)"
    r"|(?P<money>[$€£]\s?\d[\d,]*(?:\.\d+)?)"
    r"|(?P<number>\d[\d,]*(?:\.\d+)?)(?:\s?(?P<share>%|percent\b)|(?P<glued>[a-zA-Z]{1,3})\b)?(?![\w.:/-]\d|[-/:]\w))",
    re.IGNORECASE,
)
_VERSION = re.compile(
    r"(?:\b(?:v|version|port|python|api|step|part|chapter|question|no\.?|number)|#)\s*$", re.IGNORECASE
)
_CHANGE = re.compile(
    r"\b(?:now|new|newly|recently|currently|updated?|improv(?:ed|es?|ing)|increas(?:ed|es?|ing)|decreas(?:ed|es?)"
    r"|reduced|raised|lowered|changed?|extended|postponed|rescheduled|moved|grown|grew|rose|risen|dropped|upgraded"
    r"|reached|went (?:up|down)|up to|down to|total of|revised|instead)\b",
    re.IGNORECASE,
)
_REPLACED = re.compile(
    r"\b(?:switch|mov|migrat|chang|upgrad|transition)(?:ed|ing|e|es|s)?\b(?: (?!from\b)[\w-]+){0,3}?"
    r" from (?P<old>NAME) to (?P<new>NAME)"
    r"|\breplac(?:ed|ing|e)(?: (?:my|our|the))? (?P<old2>NAME) (?:with|by) (?P<new2>NAME)".replace(
        "NAME", r"(?:(?:my|our|the|a|an) )?[\w.+#-]+(?: (?-i:[A-Z0-9])[\w.+#-]*){0,2}"
    ),
    re.IGNORECASE,
)
_RESTATED = re.compile(
    r"\b(?:make|made)\s+(?:it|that)\s+(?=(?:the\s+|an?\s+)?(?:\d|(?-i:[A-Z]))|[a-z]+\s+(?:hours?|days?|weeks?|months?|years?)\b)"
    r"|\b(?:moved|changed|raised|lowered|cut|pushed|brought|extended|postponed|doubled|halved|bumped|upped|dropped"
    r"|shifted|delayed|rebooked|put)\s+(?:it|that|them)\b(?!\s+(?:in|on|into|onto|under|over|away)\b)"
    r"|\bit(?:['’]s|\s+is|\s+was)\s+(?:going\s+to\s+be\s+)?(?:(?:on|at|in)\s+)?(?:the\s+)?[\w:,.-]+(?:\s[\w:,.-]+){0,2}?\s+"
    r"(?:now|instead)\b|\bgive\s+(?:me|us)\s+(?:until|till)\b"
    r"|\b(?:the\s+)?new\s+(?:date|day|time|deadline|limit|place|address|price|number|value)\s+(?:is|will\s+be)\b",
    re.IGNORECASE,
)
_RESTATES = re.compile(
    r"[dekt] (?:it|them|that)\b|[Ii]t(?:['’]s| is| was) |give (?:me|us) (?:until|till)|ew \w+ (?:is|will)"
)
"""A quick look for what `_RESTATED` finds, before the slow one."""
_GIVEN = re.compile(rf"\b(?:\d+(?:[.,:]\d+)*|(?:{'|'.join((*WEEKDAYS, *MONTH_WORDS))})\b)(?![\w.]*\d)", re.IGNORECASE)
_OF_DAY = re.compile(rf"(?:st|nd|rd|th)\b|\s(?:of\s)?(?:{'|'.join(MONTH_WORDS)})\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")
TIMES = 10
"""How many times as great a number may be as another that it replaces."""
_LENGTH = r"(?:an?|one|two|three|four|five|six|half\s+an?|a\s+few|some|\d+)\s+{more}(?:hour|day|week|month)s?"
_SHIFT = re.compile(
    r"\b(?:slip\w*|push\w*|delay\w*|postpon\w*|mov(?:ed|es)|extend\w*|back|forward|late)\s+(?:(?:it|us|them|back|out|by)\s+){0,2}"
    rf"{_LENGTH.format(more='')}\b|\b{_LENGTH.format(more='')}\s+(?:later|earlier|longer|sooner|late)\b"
    rf"|\b{_LENGTH.format(more='more[ ]')}\b",
    re.IGNORECASE,
)
"""Words that move a time which was told before."""
_NAMED = re.compile(
    r"\b(?:[Tt]he|[Mm]y|[Oo]ur|[Yy]our|[Hh]is|[Hh]er|[Tt]heir|for|of|on|in)\s+\w"
    r"|\b(?!(?:Ok|Okay|Fine|They|It|Ugh|We|I|So|Well|Turns|No|Yes|Yeah|Sorry|Actually|Right|Oh|That|Now)\b)[A-Z]\w"
)
"""Words that name something, of which such words are then told."""
_SHORT = 80
"""Most characters of a message that is nothing but a value."""
_ALONE = re.compile(
    r"\s*(?:(?:ok(?:ay)?|fine|right|all\s?right|yes|yeah|no|nope|sorry|actually|hm+|well|ugh|oh|so|wait|good|sure|then|say"
    r"|rather|let['’]?s\s+say|call\s+it|(?:the\s+)?\w+\s+(?:rang|wrote|called|says?|said|wants?|needs?)"
    r"|(?:they(?:['’]ve)?\s+)?moved\s+(?:me|us)|(?:i|we)(?:['’]ve)?\s+(?:decided|agreed)(?:\s+on|\s+to\s+go\s+for)?"
    r"|(?:let['’]?s\s+|we['’]?ll\s+|i['’]?ll\s+)?go(?:ing)?\s+(?:with|for)|turns\s+out\s+it['’]s)\b[\s,.:;!–-]+)*"
    rf"(?:(?:on|at|to|by|for)\s+)?(?:the\s+)?(?:(?:{'|'.join(WEEKDAYS)})(?:\s+(?:the\s+)?\d\S*)?|[$€£]?\d\S*)(?:(?:\sof)?\s[a-z]+)??"
    r"(?:,?\s+(?:then|now|instead|it\s+is|is\s+(?:out|live)|today|this\s+\w+|from\s+\w+|since\s+\w+))*[\s.!]*",
    re.IGNORECASE,
)
"""A message that only gives a value: "ok, 45 then", "They rang. Thursday the 22nd instead."."""
_GOAL = re.compile(
    r"\b(?:at least|at most|goals?|targets?|targeting|achieve|aim(?:ing)?|reach|under|within|below|above|less than"
    r"|more than|estimat\w+|plan(?:ned|ning)?|from|each|every|per|by|than|first|last|next|extra|another|additional)"
    r"(?: \w+)?\s*$",
    re.IGNORECASE,
)
_FROM = re.compile(r"\bfrom (?:about |around )?([$€£]?\d[\d,.]*) ?[\w%]* to (?:about |around )?$", re.IGNORECASE)
_YEAR = re.compile(r"(?:19|20)\d\d")
_DIGIT = re.compile(r"\d")
_BREAK = re.compile(r"[.;!?\n]\s|\n|,? (?:and|but|so) (?=(?:I|we|my|can|the)\b)|, (?:can|considering|here)\b")
REACH = 60
"""Characters before a value in which a word of change may stand; half as many after it."""
CONTEXT = (140, 70)
"""Most characters before and after a value, within its clause, that say of what it is."""
WIDE = 260
"""Characters before and after a value that are around its clause."""
NOUNS = 4
"""Words after a number among which is what it counts."""
_FOLLOWING = re.compile(rf"(?: [a-zA-Z-]+){{1,{NOUNS}}}")
GENERIC = frozenset(
    stems(
        "project app application before actually really ever yet any use work thing do get make try trying want help"
        " need new now recently currently already updated update improved improve increased increase reduced changed"
        " reached total complete completed reflect like"
    )
)
"""Stems that say nothing of what was done or counted."""


class Denial(NamedTuple):
    """Words that deny; ``start`` and ``end`` are places of the text, ``about`` the stems of what was not done."""

    start: int
    end: int
    verb: str
    about: frozenset[str]


class Value(NamedTuple):
    """A value.

    Attributes:
        start: its first character in the text.
        end: the first after it.
        kind: values of the same kind may be compared: ``%``, ``money``, ``date``, ``count``, or a unit such as ``ms``.
        amount: as written, a date as its parts.
        before: the amount from which it is said to have changed, "from 65 % to"; else empty.
        nouns: stems of what a number counts.
        about: stems of the clause around it.
        wide: stems of what stands around the clause.
    """

    start: int
    end: int
    kind: str
    amount: str
    before: str
    nouns: frozenset[str]
    about: frozenset[str]
    wide: frozenset[str]


class Substitution(NamedTuple):
    """Words that say that something came in the place of ``old``; ``about`` are the stems around them."""

    start: int
    end: int
    old: str
    about: frozenset[str]


def denials(text: str) -> Iterator[Denial]:
    """Yield where a text says that its speaker never did something, or has not yet."""
    if not _has(text, "never", "haven", "hadn", "have not"):
        return
    for match in _DENIAL.finditer(text):
        verb, what = match["done"] or match["undone"], match["what"] or match["what2"] or ""
        perfect = "ve" in match[0][:7] or "have" in match[0].casefold() or "had" in match[0][:6]
        if not perfect and not _is_past(verb):
            continue
        before = _WHICH.search(text, max(0, match.start() - 80), match.start())
        about = frozenset(stems(f"{what} {before[1] if before else ''}")) - GENERIC - frozenset(stems(verb))
        if about:
            start = before.start(1) if before else match.start()
            yield Denial(start, match.end(), stems(verb)[0] if stems(verb) else "", about)


def deeds(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the clauses that tell of something as done: where the one before it begins, its own start and end."""
    last = 0
    for match in _CLAUSE.finditer(text):
        clause = match[0]
        verbs = [found["verb"] for found in (*_PERFECT.finditer(clause), *_PAST.finditer(clause))]
        done = any(_is_past(verb) and verb.casefold() not in _PLANS for verb in verbs)
        if (done or _RESULT.search(clause)) and not _NOT.search(clause):
            before = text[last : match.start()]
            joined = match.start() - last <= CONTEXT[0] and "\n" not in before and not _NOT.search(before)
            yield last if joined else match.start(), match.start(), match.end()
        last = match.start()


def values(text: str, kind: str = "") -> Iterator[Value]:
    """Yield the values in a text, of one kind if that is given; numbers of versions, ports and the like are none."""
    for match, of_kind, amount in _amounts(text):
        if kind in ("", of_kind):
            yield _value(text, match, of_kind, amount, _before(text, match))


def _amounts(text: str) -> Iterator[tuple[re.Match[str], str, str]]:
    """Yield where values stand, each with its kind and its amount."""
    for match in _VALUE.finditer(text) if _DIGIT.search(text) else ():
        if match["month"] or match["day"]:
            yield match, "date", " ".join(sorted(re.findall(r"\b[a-z]{3}|\d+", match[0].casefold())))
            continue
        before = text[max(0, match.start() - WIDE) : match.start()]
        if _VERSION.search(before) or _GOAL.search(before) or _YEAR.fullmatch(match[0]):
            continue
        if match["money"]:
            yield match, "money", match["money"].replace(" ", "")
        elif match["share"]:
            yield match, "%", match["number"]
        elif match["glued"]:
            yield match, match["glued"].casefold(), match["number"]
        else:
            yield match, "count", match["number"].replace(",", "")


def _before(text: str, match: re.Match[str]) -> str:
    """Return the amount from which a value is said to have changed; else an empty text."""
    changed = _FROM.search(text[max(0, match.start() - WIDE) : match.start()])
    return changed[1] if changed else ""


def _value(text: str, match: re.Match[str], kind: str, amount: str, changed: str) -> Value:
    """Return a value with what is said around it."""
    start, end = match.span()
    before, after = text[max(0, start - WIDE) : start], text[end : end + WIDE]
    nouns: frozenset[str] = frozenset()
    if kind == "count":
        following = _FOLLOWING.match(after)
        said = following[0].split() if following else []
        stop = next((at for at, word in enumerate(said) if word.casefold() in STOP_WORDS), len(said))
        nouns = frozenset(stems(" ".join(said[:stop]))) - GENERIC
    clause = f"{_BREAK.split(before[-CONTEXT[0] :])[-1]} {_BREAK.split(after[: CONTEXT[1]])[0]}"
    return Value(start, end, kind, amount, changed, nouns, _content(clause), _content(f"{before} {after}"))


def _content(text: str) -> frozenset[str]:
    """Return the telling stems of a piece of text, which may begin and end within a word."""
    whole = re.sub(r"^[\w'’]+|\w+$", "", text)
    return frozenset(stem for stem in stems(whole) if not stem[0].isdecimal()) - GENERIC


def changed_values(text: str) -> Iterator[Value]:
    """Yield the values of a text that stand beside words of change."""
    told = 0  # where the value before ends: its words of change are its own
    for match, kind, amount in _amounts(text) if _DIGIT.search(text) and _CHANGE.search(text) else ():
        before = _before(text, match)
        since = max(0, match.start() - REACH, 0 if before else told)
        if _CHANGE.search(text[since : match.end() + REACH // 2]):
            yield _value(text, match, kind, amount, before)
        told = match.end()


def replacements(text: str) -> Iterator[Substitution]:
    """Yield where a text says that one thing came in the place of another."""
    if not _has(text, " from ", "replac"):
        return
    for match in _REPLACED.finditer(text):
        start, end = match.span()
        about = _content(text[max(0, start - CONTEXT[1]) : end + CONTEXT[1]])
        yield Substitution(start, end, match["old"] or match["old2"], about)


def given_values(text: str) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Yield where numbers, weekdays and months stand, each with the telling stems around it."""
    for match in _GIVEN.finditer(text):
        around = f"{text[max(0, match.start() - WIDE) : match.start()]} {text[match.end() : match.end() + WIDE]}"
        yield match.start(), match.end(), _content(around)


def may_replace(old: str, new: str) -> bool:
    """Return whether the first value in ``new`` may be another value of what ``old`` gives: both days, or both numbers.

    "A week later" may move a day. Of two numbers the greater is at most `TIMES` the other: "make it 2,000" is no age.
    """
    one, other = _GIVEN.search(old), _GIVEN.search(new)
    if one is not None and _SHIFT.fullmatch(new):
        return _is_day(old, one)
    if one is None or other is None or _is_day(old, one) != _is_day(new, other):
        return False
    if _is_day(old, one):
        return True
    least, most = sorted(float(_NUMBER.findall(match[0].replace(",", ""))[0]) for match in (one, other))
    return most <= TIMES * least


def _is_day(text: str, value: re.Match[str]) -> bool:
    """Return whether a value is a weekday, a month, or a number of a day ("the 19th", "6 September")."""
    return not value[0][0].isdecimal() or _OF_DAY.match(text, value.end()) is not None


def restatements(text: str, *, replies: bool = True) -> Iterator[tuple[int, int]]:
    """Yield where a text gives something named before it another value: "Make it 14 days", "It's the 20th now".

    A message that is nothing but a value ("ok, 45 then") does so, too, unless it ``replies`` to a question and does not
    begin with "no"; and a short one that moves a time, "slipped by three days", "they gave us two more weeks".

    What is changed is not named, so only what was said shortly before tells what it is. Questions are none, nor is a
    text without a number, a weekday or a month.
    """
    for match in _RESTATED.finditer(text) if _GIVEN.search(text) and _RESTATES.search(text) else ():
        last = min(len(text), match.end() + CONTEXT[0])
        end = min((at for mark in ".!?\n" if (at := text.find(mark, match.end(), last)) >= 0), default=last)
        if text[end : end + 1] != "?":
            yield match.start(), end
    if len(text) > _SHORT:
        return
    shift = None if text.rstrip().endswith("?") else _SHIFT.search(text)
    if (not replies or text[:3].lower() in ("no,", "no ")) and _ALONE.fullmatch(text):
        yield 0, len(text.rstrip())
    elif shift and not _NAMED.search(f"{text[: shift.start()]} {text[shift.end() :]}"):
        yield shift.span()


def _has(text: str, *words: str) -> bool:
    """Return whether a text has one of some words, in any case: a quick look before a slow pattern."""
    low = text.casefold()
    return any(word in low for word in words)


def _is_past(verb: str) -> bool:
    word = verb.casefold()
    return (word.endswith("ed") and word != "need") or word in _irregular_pasts()


@cache
def _irregular_pasts() -> frozenset[str]:
    return frozenset(form for plain, *pasts in irregular_verbs() for form in pasts if form != plain)
