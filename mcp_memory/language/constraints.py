"""Find the time constraint of a question: "in May 2019", "before she moved", "since 2004", "currently", "first".

``stated.py`` finds the times; this module decides which of them constrain the answer, and how. A year is often part of
a name ("the 2010 Cup", "a film (1952)") and then constrains nothing. A time counts only if a preposition ties it to the
question, if it is relative to now, or if it starts or ends the question.

A constraint with a date takes precedence: "her first job after 2005" means after 2005. Without one, a time that depends
on other facts is ``unknown``: an event stands for it ("before she moved"), or a word of order ("first", "previous").
English only; in other languages only dates that are written as in English. "By 1990" means any time up to the end of
1990, "as of 1990" within 1990; "today" is that day if the moment of asking is known, otherwise now.
"""

from __future__ import annotations

import re

from mcp_memory.domain.query import Constraint, Order
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, Millis, StatedTime
from mcp_memory.language.expressions import S, compiled
from mcp_memory.language.stated import stated_times

QUESTION_CHARS = 1_000
"""Characters of a question that are searched for times; a pasted page is not a question."""
NOW_WORDS = r"now|currently|presently|nowadays|today|these days|at the moment|at present|right now|current|present-day"

_QUOTED_OR_BRACKETED = re.compile(r"\([^()]*\)|\[[^\[\]]*\]|\"[^\"]*\"|“[^”]*”|«[^»]*»")
"""Text in brackets or quotation marks is part of a name."""
_TIE = compiled(
    rf"(?:^|[,;:–—]\s?|\b(?:in|on|at|during|by|of|from|between|since|until|till|through|throughout|within|around|about"
    rf"|circa|as{S}of|near|over|for|year|before|after){S}(?:the{S})?(?:year{S})?)$"
)
_ARTICLE = compiled(rf"\b(?:the|an?|this|that|his|her|its|their|my|our|your){S}$")
_BY = compiled(rf"\bby{S}(?:the{S})?(?:end{S}of{S})?(?:year{S})?$")
_YEARS = re.compile(r"\d+(?:/\d{2,4})?", re.ASCII)
"""A year, or two of a season, "2018/19"."""
_ENDS = re.compile(r"[\s?.!]*$")
_OPENS_APART = re.compile(r"\s?[,:]")
_NEAR_CHARS = 32
"""Characters before a time in which a word that belongs to it may stand."""

_NOW = compiled(rf"\b(?:{NOW_WORDS.replace(' ', S)})\b")
_OPEN = compiled(
    rf"\b(?:before|(?<!look\s)(?<!looks\s)(?<!looking\s)after|while|during|until|till|by{S}the{S}time|prior{S}to"
    rf"|(?<!know\s)(?<!me\s)when{S}(?!did|do|does|is|are|was|were|will|would|has|have|had|can|could|should|might|may)"
    rf"|(?:since|following|once){S}(?:I|we|he|she|they|it|the|my|our|his|her|their)\b"
    rf"|latest|most{S}recent(?:ly)?|newest|recently|lately|final(?:ly)?|earliest|initial(?:ly)?|original(?:ly)?"
    rf"|last(?!{S}(?:names?|night|week|month|year|weekend))|first(?!{S}names?)|previous(?:ly)?|former(?:ly)?"
    rf"|used{S}to|(?:where|who){S}did{S}[^?]{{1,60}}?\buse{S}to)\b"
)
"""Words by which an event, or a place in an order of times, stands for the time."""
AHEAD = compiled(
    rf"\b(?:coming{S}up(?!{S}with\b)|upcoming{S}\w+s|still{S}to{S}come"
    rf"|(?:next|coming){S}(?:few{S}|couple{S}of{S})?(?:days|weeks|months|years)"
    rf"|on{S}(?:my|our|his|her|the|their){S}(?:calendar|agenda|schedule|diary))\b"
)
"""How a question asks for what is still to come."""


def constraint(question: str, now: Millis | None) -> Constraint | None:
    """Return the time constraint of a question, or None.

    Args:
        question: any text in any language.
        now: when it is asked. None ignores times relative to it ("last year"), and "currently" then has no dates.

    Returns:
        The first of: a constraint by date (two open ends are intersected), ``unknown`` for what depends on other facts,
        "now", what is to come. Never raises.
    """
    text = _QUOTED_OR_BRACKETED.sub(lambda found: " " * len(found[0]), question[:QUESTION_CHARS])
    if found := _dated_constraint(text, now):
        return found
    if _occurs(_OPEN, text):
        return Constraint("unknown")
    if _occurs(_NOW, text):
        return Constraint("now") if now is None else Constraint("now", now, now + DAY, "day")
    return Constraint("after", now, FOREVER, "day") if now is not None and AHEAD.search(text) else None


def _dated_constraint(text: str, now: Millis | None) -> Constraint | None:
    best: tuple[int, Constraint] | None = None
    for time in stated_times(text, now, asked=True):
        if not _constrains(text, time):
            continue
        here = _constraint_of(text, time)
        if best is None:
            best = _rank(text, time), here
            continue
        since, until = max(best[1].since, here.since), min(best[1].until, here.until)
        if {best[1].order, here.order} == {"before", "after"} and since < until:
            return Constraint("within", since, until, here.grain)  # "after 1990 and before 1995"
        best = max(best, (_rank(text, time), here), key=lambda found: found[0])
    return best[1] if best else None


def _rank(text: str, time: StatedTime) -> int:
    """Rank how clearly a time belongs to the whole question, not to a clause in it ("the house built in 1794")."""
    if not text[: time.start].strip() or _TIE.fullmatch(text[: time.start].lstrip()):
        return 3 if _OPENS_APART.match(text, time.end) else 1
    return 2 if _ENDS.match(text, time.end) else 0


def _constrains(text: str, time: StatedTime) -> bool:
    """Whether a time constrains the question and is not part of a name."""
    if time.since == BEGINNING or time.until == FOREVER or time.relative:
        return True
    said = text[time.start : time.end]
    if not _YEARS.fullmatch(said):
        return True
    before = text[max(0, time.start - _NEAR_CHARS) : time.start]
    if _ARTICLE.search(before) and not _ENDS.match(text, time.end):
        return False  # "the 2010 cup"
    return bool(_TIE.search(before) or _ENDS.match(text, time.end))


def _constraint_of(text: str, time: StatedTime) -> Constraint:
    before, said = text[max(0, time.start - _NEAR_CHARS) : time.start], text[time.start : time.end].lower()
    if said.startswith(("before", "prior", "after")):
        order: Order = "after" if said.startswith("after") else "before"
        return Constraint(order, time.since, time.until, time.grain)
    since = BEGINNING if _BY.search(before) else time.since
    return Constraint("within", since, time.until, time.grain)


def _occurs(pattern: re.Pattern[str], text: str) -> bool:
    """Whether a pattern matches ordinary words, not a name ("Last Train Home")."""
    return any(not text[: found.start()].strip() or found[0][0].islower() for found in pattern.finditer(text))
