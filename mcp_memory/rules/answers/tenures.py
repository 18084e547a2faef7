"""Who or what held at a time, from documents that state both side by side: lists of office holders, careers, owners.

"Ada Marsh ( 2003–2007 ) - Ben Holt ( 2007–2011 )", "1984–1989 : Carl Lind" and "taught at Dunmore College from 1985 to
1990" state an interval directly beside the one whose interval it is. Where the interval holds the whole time that a
question asks about, and no other interval of the same text does, the name beside it answers the question. A name that
merely stands in the same sentence as a time is right only one time in two, and is not proposed.

That a name is of what was asked is told by one of these: the question wants a person, and the text is a list; the
heading of the section names what is asked ("Publishers", "Artistic directors"); the name itself holds the kind that is
asked ("Which *stadium* …", "Lowick *Stadium*").

**In a sentence** a document may say it with a verb: "from 1990 to 1995 the rector was …". The interval holds the whole
time asked about, the name stands in a fixed place beside it, and the verb or the office between them is that of the
question. What merely stands in the same sentence is not proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.language.tokens import stems
from mcp_memory.rules.answers.spans import Span, name_runs, novelty
from mcp_memory.rules.answers.support import YEAR, WantedSpan, WeighedSentence

_SAME = tuple(
    frozenset(stems(line))
    for line in (
        "coach coached manager managed manage head trainer",
        "own owned owner ownership bought",
        "lead led leader leading chair chaired chairman chairwoman president head headed heading",
        "run governed governor ruled",
        "married wife husband spouse",
        "host hosted presenter presented",
        "director directed directors",
        "editor edited",
        "publisher published",
        "commander commanded commanding",
        "voice voiced",
        "sponsor sponsored",
        "ceo executive",
        *["mayor", "minister", "bishop", "captain", "rector", "principal", "dean", "chancellor", "secretary"],
    )
)
"""Words that ask for and state the same tie."""
_IS = r"(?:was|is|were|has\s+been|had\s+been|served(?:\s+as)?|has\s+served(?:\s+as)?|became|acted\s+as|worked\s+as)"
_ASIDE = r"(?:\s*\([^()]{0,40}\))?"
_TIME_IN = re.compile(r"(?:\s*,)?\s*(?:(?:from|between|since|in|during|for)\s+)?\(?\s*$", re.I)
_CLAUSE_START = re.compile(r"(?:^|[.;:]\s|,\s(?:and\s|while\s)?|\band\s|[-–—•]\s)(?:(?:[Tt]he|[Ii]n\s\w+\s,)\s)?\s*$")
_IS_AFTER = re.compile(rf"{_ASIDE}\s*,?\s+{_IS}\b(?P<office>[^.;]{{0,70}}?)$", re.S)
_TIME_FIRST = re.compile(r"(?:^|[.;,]\s*)(?:from|since|between|in|during)?\s*$", re.I)
_OFFICE_WAS = re.compile(rf"\s*,?\s*(?:the\s+)?(?P<office>[A-Za-z][\w\s-]{{2,40}}?)\s+{_IS}\s+$")
_IN_ASIDE = re.compile(r"\s*\(\s*(?P<office>[a-z][a-z -]{2,30}?)(?:\s+(?:from|since|in))?\s*")
_DID = re.compile(rf"{_ASIDE}\s+(?P<verb>[a-z]+(?:ed|led|ran|won|held))\s+(?P<rest>[^.;]{{0,60}})$")
_OFFICE_SINCE = re.compile(r"(?:^|[.,;]\s)(?:The\s|the\s)?(?P<office>[\w -]{3,40}?)(?:\s+since)?\s*$")
_BY = re.compile(r"\b(?P<verb>\w+(?:ed|led|run|won|held|owned))\s+by\s+(?:(?:the\s+)?[a-z]+\s+){0,3}$")
_WED = re.compile(r"\bmarried\s+(?:to\s+)?(?:(?:the\s+)?[A-Za-z]+\s+){0,3}?$")


def _asked_words(wanted: WantedSpan) -> frozenset[str]:
    """Return the stems of the ties that a query asks for, and those that mean the same."""
    asked = frozenset(stems(wanted.query.text))
    return frozenset[str]().union(*(same for same in _SAME if not same.isdisjoint(asked)))


def _is_office(phrase: str, asked: frozenset[str], known: frozenset[str]) -> bool:
    """Return whether a phrase says a tie that is asked for, and no narrower one: "editor", not "art editor"."""
    words = re.split(r"\b(?:of|for|at|in|with|on|by)\b", phrase)[0].split()
    place = next((n for n, word in enumerate(words) if not asked.isdisjoint(stems(word))), None)
    if place is None:
        return False
    return all(word.lower() in _PLAIN or not (known | asked).isdisjoint(stems(word)) for word in words[:place])


_PLAIN = frozenset(("the", "a", "an", "its", "their", "first", "second", "third", "new", "as", "also", "current", ","))


def said_holders(
    wanted: WantedSpan, sentence: WeighedSentence, holding: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    """Yield the places of the people whom a sentence gives an office at a time.

    Args:
        wanted: asks for a person.
        sentence: of a document.
        holding: the places of the intervals that hold the time asked about.
    """
    text, asked = sentence.text, _asked_words(wanted)
    known = frozenset(stems(wanted.query.text)) | sentence.title
    for first, last in name_runs(text, sentence.words):
        titled = last - first > 1 and not asked.isdisjoint(
            stems(sentence.words[first].lower_case)
        )  # "Director Ada Marsh"
        left, right = sentence.words[first + titled].start, sentence.words[last].end
        if last == first or not known.isdisjoint(stems(text[left:right])):
            continue
        if titled and any(_TIME_IN.fullmatch(text, right, start) for start, _ in holding):
            yield left, right
            continue
        for start, end in holding:
            if _is_said(text, (left, right), (start, end), asked, known):
                yield left, right
                break


def _is_said(
    text: str, name: tuple[int, int], time: tuple[int, int], asked: frozenset[str], known: frozenset[str]
) -> bool:
    (left, right), (start, end) = name, time
    if right <= start and start - right < 120:
        between = text[right:start]
        office = _IS_AFTER.match(_TIME_IN.sub("", between))
        if office and _CLAUSE_START.search(text[:left]) and _is_office(office["office"], asked, known):
            return True
        direct = _TIME_IN.fullmatch(between) is not None
        aside = _IN_ASIDE.fullmatch(between)
        if aside and _is_office(aside["office"], asked, known):
            return True
        deed = _DID.match(_TIME_IN.sub("", between))
        if deed and _CLAUSE_START.search(text[:left]) and not asked.isdisjoint(stems(deed["verb"])):
            return all(not known.isdisjoint(stems(word)) for word in re.findall(r"\b[A-Z]\w+", deed["rest"]))
        by = _BY.search(text[:left])
        if direct and by and not asked.isdisjoint(stems(by["verb"])):
            return True
        return direct and bool(_WED.search(text[:left])) and not asked.isdisjoint(stems("married"))
    if left >= end and left - end < 70 and (_TIME_FIRST.search(text[:start]) or _OFFICE_SINCE.search(text[:start])):
        between = text[end:left]
        office = _OFFICE_WAS.fullmatch(between)
        if office and _is_office(office["office"], asked, known):
            return True
        since = _OFFICE_SINCE.search(text[:start]) if re.fullmatch(r"\s+(?:is|was)\s+", between) else None
        if since and _is_office(since["office"], asked, known):
            return True
        if re.fullmatch(r"\s*,?\s*(?:the\s+)?", between):
            behind = re.match(rf"{_ASIDE}\s*,?\s+{_IS}\b(?P<office>[^.;,]{{0,60}})", text[right:])
            return behind is not None and _is_office(behind["office"], asked, known)
        return bool(_WED.search(between)) and not asked.isdisjoint(stems("married"))
    return False


_BEFORE = re.compile(
    r"[\s,:(–—-]{0,4}(?:\(\s*(?:[a-z. ]{1,14}|[^()\x00-\x7f]{1,14})\s*\)[\s,:(–—-]{0,4})?"
    r"(?:(?:from|since|in|between|during|for)\s+)?\(?\s*$"
)
"""What may stand between a name and the time behind it: " (", ", from", "( acting ) ,"."""
_AFTER = re.compile(
    r"\s*(?:\)\s*)?(?::|[-–—])\s+(?:(?:Sir|Dr|Prof|Mr|Mrs|Ms|Captain|Colonel|General|Major)\b\.?\s+"
    r"|[A-Z]\w{0,5}\.(?:[\w.]{0,8}\s?\.)?\s+){0,2}"
)
"""What may stand between a time and the name behind it, in a list that begins with a time."""
_COLON = re.compile(r"\s*:")
_RANGE = re.compile(r"\d\s*\)?\s*[–—-]|\b(?:to|until|till|through|and|since|present)\b", re.I)
"""What tells an interval with two ends from a day or a year."""
_JOINS = re.compile(r"\s*(?:[–—-]|to|until|till|through)\s*")
"""What joins the two ends of an interval: "June 2, 1920 – May 4, 1931"."""
_OPEN = re.compile(r"\s*(?:[–—-]|to|until)\s*(?:(?:the\s+)?(?:present|today|now|date)\b|(?=\)|$))", re.I)
"""The end of an interval that lasts: "2014– )", "2019 to present"."""
_YEARS = re.compile(r"\b\d{4}\s*(?:[–—-]|to|until)\s*(?:[\w ,]{0,20}\d{2}\b|present|\))|\bsince\s+\d{4}\b", re.I)
_HELD = re.compile(
    r"\b(?:as|was|became|been)\s+(?:an?\s+|the\s+)?(?P<post>(?!(?:on|in|at|with|by|of)\b)(?:(?!\b(?:as|was|became|been)\b)[^,;()]){3,80}?)"
    r"[\s,(–—-]{0,4}(?:(?:from|between|in|during|for)\s+)?\(?\s*$"
)
"""A post beside the time in which it was held: "served as head of the mint from 1863 to"."""
_OFFICE = re.compile(
    r"\b(?:minister|ministry|department|secretary|council|committee|commission|board|party|university|college|championship|league|cup)\b",
    re.I,
)
"""What makes a run of capitals an office or an institution, and no person."""
_POST = re.compile(r"\b(?:position|role|job|occupation|post|office|rank|title|capacity)\b", re.I)
_CLAUSE = re.compile(r"\b(?:is|are|were|he|she|who|which|that|born)\b", re.I)
_LIST_START = re.compile(r"^[\s*•–—-]*(?:from\s+)?$", re.I)
_PERSON = re.compile(
    r"\b(?:who|whom|person|first\s+and\s+last\s+name)\b|\b(?:name\s+of\s+the|which|what)\s+(?:\w+\s+){0,2}?(?:ceo|president|chair\w*|coach|manager|head"
    r"|director|leader|chief|king|queen|officer|editor|mayor|minister|governor|commander|owner|captain|rector|dean|chair|man|woman|politician|bishop|judge|host|principal|commandant)\b",
    re.I,
)
LEAST_LISTED = 3
"""Least intervals of a list, in the sentence or around it. Fewer are prose, in which another name may be meant."""
NEW_SHARE = 0.6
"""Least share of a name's words that stand neither in the query nor in the title."""
HEADED_SHARE = 0.4
"""The same under a heading that names what is asked: "Dell Comics" of a comic."""
LIFETIME = 50 * YEAR
"""An interval as long as this tells when somebody lived."""
HEADED_FIT = 1.0
"""What it gains more where the heading, the name itself or the verb tells that it is of what was asked."""
MOST_JOINT = 2
"""Most people who hold an office together."""
TENURE_FIT = 3.0
"""What such a span gains over all others."""


class _Tenure(NamedTuple):
    """An interval in a sentence: first character, first one after it, and the time, ``[since, until)``."""

    start: int
    end: int
    since: Millis
    until: Millis

    def holds(self, since: Millis, until: Millis) -> bool:
        """Return whether it holds all of another, and is no lifetime, "( 1868–1931 )"."""
        lasts = self.until - self.since if self.until < FOREVER else 0
        return BEGINNING < self.since <= since and until <= self.until and lasts < LIFETIME


def tenure_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the name or the post beside the one interval of a text that holds the whole time asked about.

    Where one follows another within that time, or two hold an office at once, both are given: "Ada Marsh or Ben Holt".
    These, and posts, are hedged: of posts only three in four are the one that is meant.

    Args:
        wanted: asks for a person, a place or a thing at a time.
        sentence: a sentence of a document.
    """
    if wanted.time is None:
        return
    since, until = wanted.time
    tenures = _tenures(sentence)
    holding = [one for one in tenures if one.holds(since, until)]
    if not holding:
        return
    headed = is_headed(wanted, sentence)
    if headed or _PERSON.search(wanted.query.text):
        listed = max(len(tenures), len(_YEARS.findall(sentence.evidence.source.turn.text)))
        share = HEADED_SHARE if headed else NEW_SHARE
        found = _names_beside(wanted, sentence, holding, share) if headed or listed >= LEAST_LISTED else []
        if not found and len(said := {*said_holders(wanted, sentence, [one[:2] for one in holding])}) == 1:
            yield Span(*said.pop(), TENURE_FIT + HEADED_FIT, typed=True)
        if 1 <= len(found) <= MOST_JOINT:
            text = " or ".join(sentence.text[left:right] for left, right in found)
            fit = TENURE_FIT + HEADED_FIT * headed
            yield Span(found[0][0], found[-1][1], fit, text, typed=True, hedged=len(found) > 1)
    elif found := [name for name in _names_beside(wanted, sentence, holding, 0.0) if _is_asked(wanted, sentence, name)]:
        if len(found) == 1 and _is_of(wanted, sentence):
            yield Span(*found[0], TENURE_FIT + HEADED_FIT, typed=True)
    elif _POST.search(wanted.query.text):
        posts = {place: None for one in holding if (place := _post_beside(sentence.text, one.start))}
        if len(posts) == 1:
            ((left, right),) = posts
            yield Span(left, right, TENURE_FIT, sentence.text[left:right], typed=True, hedged=True)


def is_headed(wanted: WantedSpan, sentence: WeighedSentence) -> bool:
    """Return whether the heading of a section, or the title of a list, names what a query asks for: "Publishers"."""
    article, _, section = (sentence.evidence.source.turn.title or "").partition(":")
    heading = {word for word in stems(section) if word not in _IN_HEADINGS and not word.isdecimal()}
    asked = frozenset(stems(wanted.query.text))
    if not _is_of(wanted, sentence):
        return False
    if heading and heading <= asked | frozenset(stems(article)) and not heading <= frozenset(stems(article)):
        return True
    return bool(_TITLED.search(article)) and frozenset(stems(article)) <= asked | _IN_HEADINGS


_IN_HEADINGS = frozenset(
    stems("list lists of the former current past notable previous chronological known in and his her")
)
_TITLED = re.compile(r"\b(?:professor|chair|bishop|mayor|minister|governor|ambassador|director|list)\b", re.I)
"""What makes the title of an article the name of an office."""
_ABOUT = 0.6


def _is_of(wanted: WantedSpan, sentence: WeighedSentence) -> bool:
    """Return whether the article of a sentence is what a query names, by the words of its title."""
    article = (sentence.evidence.source.turn.title or "").partition(":")[0].partition("(")[0]
    own, asked = frozenset(stems(article)), frozenset(stems(wanted.query.text))
    return bool(own) and len(own & asked) >= _ABOUT * len(own)


def _is_asked(wanted: WantedSpan, sentence: WeighedSentence, name: tuple[int, int]) -> bool:
    """Return whether a name holds the kind that is asked: "Lowick Stadium" of "which stadium"."""
    kinds = {one for one in (wanted.noun, wanted.kind_noun) if one}
    return not kinds.isdisjoint(stems(sentence.text[name[0] : name[1]]))


def _tenures(sentence: WeighedSentence) -> list[_Tenure]:
    """Return the intervals of a sentence with a start: "1984–1989", "since 2001", "May 2019– )"."""
    found: list[_Tenure] = []
    alone = False
    for start, end, time in sentence.times:
        if alone and found and _JOINS.fullmatch(sentence.text, found[-1].end, start):
            found[-1] = _Tenure(found[-1].start, end, found[-1].since, time.until)
            alone = False
            continue
        if alone:
            found.pop()
        until = time.until
        alone = _RANGE.search(sentence.text[start:end]) is None
        if alone and (lasts := _OPEN.match(sentence.text, end)):
            alone, end, until = False, lasts.end(), FOREVER
        if not (time.relative and until >= FOREVER):
            found.append(_Tenure(start, end, time.since, until))
        else:
            alone = False
    if alone and found:
        found.pop()
    return found


def _names_beside(
    wanted: WantedSpan, sentence: WeighedSentence, holding: Sequence[_Tenure], share: float
) -> list[tuple[int, int]]:
    """Return the places of the names that stand beside these intervals, in order.

    Args:
        wanted: what is asked.
        sentence: of a document.
        holding: the intervals.
        share: least share of a name's words that are new, if somebody is wanted who holds something; then the name of
            an office is none, nor a name behind that of another office, "Executive Chairman : Ada Marsh".
    """
    text = sentence.text
    names = [(sentence.words[first].start, sentence.words[last].end, sentence.words[first : last + 1])
             for first, last in name_runs(text, sentence.words)]  # fmt: skip
    opens_with_time = _LIST_START.match(text[: sentence.times[0][0]]) is not None
    found: dict[tuple[int, int], None] = {}
    for one in holding:
        time_first = opens_with_time or _COLON.match(text, one.end) is not None
        for left, right, words in names:
            if time_first:
                beside = left >= one.end and _AFTER.fullmatch(text, one.end, left) is not None
            else:
                beside = right <= one.start and _BEFORE.fullmatch(text, right, one.start) is not None
            if (
                beside
                and (len(words) > 1 or not share)
                and not (share and (_OFFICE.search(text[left:right]) or _is_of_another(wanted, text[:left])))
                and novelty(words, wanted.stems | sentence.title) >= (share or HEADED_SHARE)
            ):
                found[left, right] = None
    return sorted(found)


_LABEL = re.compile(r"(?:^|[-–—•*]\s|\.\s)(?P<label>[^:.•()–—-]{3,40}?)\s*:\s*(?:[^:•]{0,200},\s)?$")


def _is_of_another(wanted: WantedSpan, before: str) -> bool:
    """Return whether a label before a name is that of another office than the one asked for."""
    found = _LABEL.search(before)
    if found is None or not _OFFICES.search(found["label"]):
        return False
    label = {word for word in stems(found["label"]) if word not in _IN_HEADINGS}
    return label.isdisjoint(stems(wanted.query.text))


_OFFICES = re.compile(
    r"\b(?:chair\w*|president|director|leader|chief|officer|minister|secretary|editor|head|manager)\b", re.I
)


def _post_beside(text: str, time: int) -> tuple[int, int] | None:
    """Return the place of the post that was held at a time, which begins at a character."""
    found = _HELD.search(text[:time])
    if found is None or _CLAUSE.search(found["post"]):
        return None
    return found.span("post")
