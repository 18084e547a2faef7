"""What is still to come, by the words: questions for it, plans without a date, standing days, and what was called off.

"What is coming up?" asks for the dates ahead, and for more: "I still have to renew my passport" and "we're going to
repaint the kitchen some time in spring" are plans, though no date says when. "Yoga on Mondays" stands on every week and
is no appointment. The rules are English, and read one sentence at a time.
"""

from __future__ import annotations

import re

from mcp_memory.language.iso import WEEKDAYS
from mcp_memory.language.questions import looks_back
from mcp_memory.language.tokens import STOP_WORDS, words

_DAY = "|".join(WEEKDAYS)
_ASKS_AHEAD = re.compile(
    r"\bcoming up\b(?! with\b)|\bupcoming\b|\bstill to come\b|\bahead\b|\bwhat(?:['’]s| is) next\b|\bin store\b"
    r"|\b(?:planned|scheduled|lined up)\b|\b(?:my|our|'s|’s|any|what|which) plans\b|\bto[- ]do(?:s| list)?\b"
    r"|\bon (?:my|our|his|her|the|their) (?:calendar|agenda|schedule|diary|plate)\b|\blook(?:ing)? forward to\b"
    r"|\bstill (?:have|need|has|needs|want) to do\b|\b(?:have|has) (?:\w+ )?still (?:got )?to do\b",
    re.IGNORECASE,
)
_OF_TIME = frozenset(
    """
    coming come upcoming ahead next planned scheduled lined plans plan calendar agenda schedule diary plate store look
    looking forward still things thing anything something everything appointments appointment dates date events event
    commitments days weeks months year days week month soon later near future list todo todos lie lies lying going
    tell show give know remember please like need want present currently today right moment life home work
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that a question for what is still to come may have, names apart: any other is a matter of its own."""
_LONGEST = 200
"""Characters of such a question."""

_SOON = (
    r"(?:some ?time|some ?day|one day|one of these days|at some point|sooner or later|before long|eventually|soon|later"
    r"|next|then|in (?:the )?(?:spring|summer|autumn|fall|winter|new year)"
    r"|this (?:spring|summer|autumn|fall|winter|year)"
    r"|when(?:ever)? (?:I|we)|once (?:I|we)|after (?:that|the))"
)
_WHO = r"(?:I|we|he|she|they|you and I|(?-i:[A-Z])\w+(?: and (?:I|(?-i:[A-Z])\w+))?)"
_ADVERB = r"(?: (?:still|also|really|just|finally|only|now|both|all|all still))?"
_SAYING = r"(?!(?:say|admit|laugh|smile|confess|ask|tell you|agree|think|wonder|wait and see)\b)"
_PLAN = re.compile(
    rf"\b{_WHO}(?:['’](?:m|re|s)| am| are| is){_ADVERB} (?:going to|planning (?:to|on)|hoping to|meaning to|about to"
    r"|supposed to|due to|thinking (?:of|about)|considering|looking forward to|saving (?:up )?for)\b"
    rf"|\b{_WHO}{_ADVERB} (?:plan|hope|intend|aim|mean|want|wish)s?{_ADVERB} to\b(?! (?:know|say|thank|ask|hear)\b)"
    rf"|\b{_WHO}(?:['’]d| would){_ADVERB} (?:like|love) to\b(?! (?:know|say|thank|ask|hear)\b)"
    rf"|\b{_WHO}{_ADVERB} (?:have|has|need|needs|['’]ve got|have got){_ADVERB} to {_SAYING}"
    rf"|\b(?:I|we){_ADVERB} must(?! (?:have|be|say|admit)\b)|\b(?:I|we)['’]ve{_ADVERB} got to {_SAYING}"
    rf"|\b(?:I|we){_ADVERB} should (?:really |finally |still )?[^.!?]*\b{_SOON}\b|\bshould (?:really|finally|still) \w+"
    rf"|\b{_WHO}(?:['’]ll| will| shall)\b[^.!?]*\b{_SOON}\b|\b{_SOON},? (?:{_WHO})(?:['’]ll| will| shall)\b"
    r"|\b(?:has|have|needs?|remains?) (?:still )?to be \w+(?:ed|t|n|ne)\b|(?:\bnot|n['’]t) [^.!?]{2,40}\byet\b"
    r"|\b(?:still|yet) (?:open|outstanding|pending|to (?:do|be done))\b|\bto[- ]do\b:?"
    r"|\b(?:don['’]t forget|remind me) to\b"
    rf"|^\W*(?:still )?(?:got|have|need|want|must) (?:to )?{_SAYING}"
    r"(?!(?:you|a|an|the|my|some|been|no)\b)\w+ (?:my|the|a|some|it)\b"
    rf"|\b{_WHO}{_ADVERB} (?:keeps? meaning|ought) to\b(?! have\b)|\b(?:I|we) (?:might|may) [^.!?]*\b{_SOON}\b"
    rf"|\b(?:needs?|wants?){_ADVERB} \w+ing\b"
    rf"|\b{_WHO}(?:['’](?:ve|s)| have| has) been (?:meaning|planning|hoping|wanting) to\b",
    re.IGNORECASE,
)
_NO_PLAN = re.compile(
    r"\?\W*$|^\W*(?:if|could you|can you|please|would you)\b"
    r"|(?:\bnot|n['’]t|\bnever) (?:going to|want to|need to|have to|plan)\b"
    r"|\b(?:was|were|had|wanted|hoped|planned|needed|used) (?:going )?to\b|\bno longer\b",
    re.IGNORECASE,
)
_STANDING = re.compile(
    rf"\b(?:every|each) (?:other |second |third |single )?(?:{_DAY}|day|night|morning|evening|afternoon|week|weekend"
    rf"|weekday|fortnight|month|year)s?\b|\b(?:{_DAY})s\b|\b(?:weekly|fortnightly|monthly|daily|biweekly)\b"
    r"|\b(?:once|twice|three times|\d times) an? (?:day|week|month|year|fortnight)\b",
    re.IGNORECASE,
)
_OFF = re.compile(
    r"\bcancel\w*|\bcall(?:ed|ing)? (?:it |that )?off\b"
    r"|\b(?:is|are|was|were|it['’]s) off\b(?! (?:on|to|until|work|sick)\b)"
    r"|\bfell through\b|\bgave up\b|\bgiv(?:en|ing) up\b|\bdecided against\b|\bdropped (?:the|that|it|my|our)\b"
    r"|\bscrapped\b"
    r"|(?:\bnot|n['’]t|\bno longer)(?: \w+)? (?:going|coming|happening|doing|taking place|need|needs|want)\b"
    r"|\b(?:won['’]?t|will not|can['’]?t|cannot) (?:come|go|happen|be there|make it|take place)\b|\bno longer\b"
    r"|\bany ?more\b|\bchanged (?:my|our|his|her|their) minds?\b|\b(?:stopped|quit)\b|\bcame to nothing\b|\binstead\b"
    r"|\bno(?:t|ne)? [^.!?]{1,40}\bafter all\b|\b(?:withdr[ae]w\w*|pulled out)\b|\bagainst it\b",
    re.IGNORECASE,
)
_THIS_TIME = re.compile(
    rf"\b(?:today|tonight|tomorrow|yesterday|(?:this|last|next) (?:week|time|month|{_DAY}))\b", re.IGNORECASE
)


def asks_ahead(question: str) -> bool:
    """Return whether a question asks for nothing but what is still to come, of anybody: "What's next for Ann?"."""
    if len(question) > _LONGEST or _ASKS_AHEAD.search(question) is None or looks_back(question.replace("planned", "")):
        return False
    own = question[:1].lower() + question[1:]
    names = {part for name in re.findall(r"\b[A-Z][\w'’-]+", own) for part in words(name)}
    return not [word for word in words(own) if word not in _OF_TIME and word not in STOP_WORDS and word not in names]


def open_plan(sentence: str) -> bool:
    """Return whether a sentence tells of something that somebody means or has to do, not yet done."""
    return _PLAN.search(sentence) is not None and _NO_PLAN.search(sentence) is None


def standing_day(sentence: str) -> bool:
    """Return whether a sentence tells of what stands on every day, week or month."""
    return _STANDING.search(sentence) is not None and not called_off(sentence) and "used to" not in sentence


def called_off(sentence: str, *, for_good: bool = False) -> bool:
    """Return whether a sentence says that something will not take place.

    Args:
        sentence: any.
        for_good: whether "no choir this week" does not count.
    """
    return _OFF.search(sentence) is not None and not (for_good and _THIS_TIME.search(sentence))
