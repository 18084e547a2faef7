"""Who or what held at a time, from documents that state both side by side: lists of office holders, careers, owners.

"Ada Marsh ( 2003–2007 ) - Ben Holt ( 2007–2011 )", "1984–1989 : Carl Lind" and "taught at Dunmore College from 1985 to
1990" state an interval directly beside the one whose interval it is. Where the interval holds the whole time that a
question asks about, and no other interval of the same text does, the name beside it answers the question. A name that
merely stands in the same sentence as a time is right only one time in two, and is not proposed.

That a name is of what was asked is told by one of these: the question wants a person, and the text is a list; the
heading of the section names what is asked ("Publishers", "Artistic directors"); the name itself holds the kind that is
asked ("Which *stadium* …", "Lowick *Stadium*").
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, StatedTime
from mcp_memory.language.iso import month
from mcp_memory.language.tokens import stems
from mcp_memory.rules.answers.articles import initials_of
from mcp_memory.rules.answers.held_at import asked_words, said_holders
from mcp_memory.rules.answers.spans import Span, name_runs, novelty
from mcp_memory.rules.answers.support import DAY, YEAR, WantedSpan, WeighedSentence

_BEFORE = re.compile(
    r"[\s,:(–—-]{0,4}(?:[A-Za-z][a-z]+(?:\s[a-z]+){0,2}\s?,\s)?"
    r"(?:\(\s*(?:[a-z. ]{1,14}|[^()\x00-\x7f]{1,14})\s*\)[\s,:(–—-]{0,4})?"
    r"(?:(?:from|since|in|between|during|for)\s+)?\(?\s*$"
)
"""What may stand between a name and the time behind it: " (", ", from", "( acting ) ,", ", Founding director ,"."""
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
_HELD_BEHIND = re.compile(
    r"[\s,]{0,3}(?P<subject>[Hh]e|[Ss]he|[A-Z][\w.'’ -]{1,40}?)\s+(?:also\s+)?"
    r"(?:was|is|has\s+been|had\s+been|served|worked|acted)\s+(?:as\s+)?(?:an?\s+|the\s+)?"
    r"(?P<post>(?!\w+ed\b|\w+ing\b|(?:born|not|also|in|at|on|an?|the|as|of|to|by|with|held|made|given|sent)\b)"
    r"[^,;()]{3,80}?)(?=\s*(?:[,;()]|(?<=\w{4})\s?\.\s|\.?$"
    r"|\s(?:and(?=\s+(?:\w+ed|was|became|from|since|in|between)\b)|where|who|while|in\s+the\s+city)\b))"
)
"""The same behind it: "From 1863 to 1871 she was a warden of the mint"."""
_CLAUSE_START = re.compile(r"(?:^|[.;]\s)\W*$")
_OFFICE = re.compile(
    r"\b(?:minister|ministry|department|secretary|council|committee|commission|board|party|university|college|championship|league|cup)\b",
    re.I,
)
"""What makes a run of capitals an office or an institution, and no person."""
_POST = re.compile(r"\b(?:position|role|job|occupation|profession|post|office|rank|title|capacity|employed\s+as)\b")
_CLAUSE = re.compile(r"\b(?:is|are|were|he|she|who|which|that|born)\b", re.I)
_ENTRY = re.compile(r"^\s*[-*•–—]\s")
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
"""What it gains more where the heading or the name itself tells that it is of what was asked."""
MOST_JOINT = 2
"""Most people who hold an office together."""
TENURE_FIT = 3.0
"""What such a span gains over all others."""


class _Tenure(NamedTuple):
    """An interval in a sentence: first character, first one after it, the time ``[since, until)``, by years only."""

    start: int
    end: int
    since: Millis
    until: Millis
    coarse: bool = False

    def holds(self, since: Millis, until: Millis) -> bool:
        """Return whether it holds all of another, and is no lifetime, "( 1868–1931 )"."""
        return BEGINNING < self.since <= since and until <= self.until and self.lasts < LIFETIME

    @property
    def lasts(self) -> Millis:
        """How long it lasts; 0 where its start or its end is not known."""
        return self.until - self.since if self.since > BEGINNING and self.until < FOREVER else 0

    def surely_holds(self, since: Millis, until: Millis) -> bool:
        """Return whether it holds all of another, whenever in its first and its last year it began and ended."""
        edge = YEAR if self.coarse else 0
        return self.since + edge <= since and until <= (self.until - edge if self.until < FOREVER else FOREVER)


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
    since, until = meant_time(wanted, wanted.time)
    tenures = _tenures(sentence)
    lives = sum(one.lasts >= LIFETIME for one in tenures)
    if lives > 1 and 2 * lives >= len(tenures):
        return  # it lists when people lived
    holding = [one for one in tenures if one.holds(since, until)] or _mostly_holding(tenures, since, until)
    if not holding:
        yield from _kind_at(wanted, sentence, [one[:2] for one in sentence.times if _is_same(one[2], since, until)])
        return
    headed = is_headed(wanted, sentence)
    if headed or _PERSON.search(wanted.query.text):
        is_entry = _ENTRY.match(sentence.text) is not None and is_of(wanted, sentence)
        listed = (
            LEAST_LISTED if is_entry else max(len(tenures), len(_YEARS.findall(sentence.evidence.source.turn.text)))
        )
        share = HEADED_SHARE if headed else NEW_SHARE
        found = _names_beside(wanted, sentence, holding, share) if headed or listed >= LEAST_LISTED else []
        if not found and len(said := {*said_holders(wanted, sentence, [one[:2] for one in holding])}) == 1:
            yield Span(*said.pop(), TENURE_FIT + HEADED_FIT, typed=True)
        if 1 <= len(found) <= MOST_JOINT:
            joint = all(one.surely_holds(since, until) for one in holding)
            text = (" and " if joint else " or ").join(sentence.text[left:right] for left, right in found)
            fit = TENURE_FIT + HEADED_FIT * (headed or is_of(wanted, sentence))
            yield Span(found[0][0], found[-1][1], fit, text, typed=True, hedged=len(found) > 1 and not joint)
    elif found := [name for name in _names_beside(wanted, sentence, holding, 0.0) if _is_asked(wanted, sentence, name)]:
        if len(found) == 1 and is_of(wanted, sentence):
            yield Span(*found[0], TENURE_FIT + HEADED_FIT, typed=True)
    elif named := [*_kind_at(wanted, sentence, [one[:2] for one in holding])]:
        yield from named
    elif _POST.search(wanted.query.text):
        posts = {place: one for one in holding if (place := _post_beside(sentence, one))}
        if len(posts) == 1:
            (((left, right), one),) = posts.items()
            sure = one.surely_holds(since, until) and is_of(wanted, sentence)
            yield Span(left, right, TENURE_FIT, sentence.text[left:right], typed=True, hedged=not sure)


MOST = 0.8
"""Least share of the time asked about that an interval holds which does not hold it all."""


def _mostly_holding(tenures: Sequence[_Tenure], since: Millis, until: Millis) -> list[_Tenure]:
    """Return the one interval that holds most of another, where no other one of them has a part of it."""
    having = [one for one in tenures if one.since < until and since < one.until]
    if len(having) != 1 or having[0].since <= BEGINNING or having[0].until - having[0].since >= LIFETIME:
        return []
    held = min(having[0].until, until) - max(having[0].since, since)
    return having if held >= MOST * (until - since) else []


def is_headed(wanted: WantedSpan, sentence: WeighedSentence) -> bool:
    """Return whether the heading of a section, or the title of a list, names what a query asks for: "Publishers"."""
    article, _, section = (sentence.evidence.source.turn.title or "").partition(":")
    heading = {word for word in stems(section) if word not in _IN_HEADINGS and not word.isdecimal()}
    asked = frozenset(stems(wanted.query.text))
    if not is_of(wanted, sentence):
        return False
    if _OFFICES.search(section):
        if not _PERSON.search(wanted.query.text):
            return False
        asked |= asked_words(wanted)
    if heading and heading <= asked | frozenset(stems(article)) and not heading <= frozenset(stems(article)):
        return True
    return bool(_TITLED.search(article)) and frozenset(stems(article)) <= asked | _IN_HEADINGS


_IN_HEADINGS = frozenset(
    stems("list lists of the former current past notable previous chronological known in and his her")
)
_TITLED = re.compile(r"\b(?:professor|chair|bishop|mayor|minister|governor|ambassador|director|list)\b", re.I)
"""What makes the title of an article the name of an office."""
_ABOUT = 0.6
_STYLES = frozenset(
    stems("mr mrs ms dr prof sir dame father sister coach count baron duke captain general lord lady mister")
)
SAID_OTHERWISE = _STYLES.union(stems("position role job occupation profession post office rank title capacity name"))
"""Stems of a query that a text need not hold: what kind of thing is asked for, and how a person is addressed."""
_VAGUE = re.compile(r"\b(?:early|mid|late)\b", re.I)


def asks_person(wanted: WantedSpan) -> bool:
    """Return whether a query wants somebody, by "who" or by an office."""
    return wanted.form == "person" or _PERSON.search(wanted.query.text) is not None


def meant_time(wanted: WantedSpan, time: tuple[Millis, Millis]) -> tuple[Millis, Millis]:
    """Return the time that a query means: of "the late 1990s" the middle third, else all of it."""
    since, until = time
    third = (until - since) // 3 if _VAGUE.search(wanted.query.text) else 0
    return since + third, until - third


def is_of(wanted: WantedSpan, sentence: WeighedSentence) -> bool:
    """Return whether the article of a sentence is what a query names, by the words of its title.

    A surname with a style is enough: "Coach Marsh", "Mr Marsh"; so are the initials of the title, "DPA".
    """
    article = (sentence.evidence.source.turn.title or "").partition(":")[0].partition("(")[0]
    own, asked = stems(article), frozenset(stems(wanted.query.text))
    if sentence.leads or (own and len(asked.intersection(own)) >= _ABOUT * len(frozenset(own))):
        return True
    if (initials := initials_of(article)) and re.search(rf"\b{initials}\b", wanted.query.text):
        return True
    return any(
        bool(name) and bool(own) and name[-1] == own[-1] and frozenset(name) <= _STYLES.union(own)
        for name in map(stems, wanted.query.names)
    )


def _is_asked(wanted: WantedSpan, sentence: WeighedSentence, name: tuple[int, int]) -> bool:
    """Return whether a name holds the kind that is asked: "Lowick Stadium" of "which stadium"."""
    kinds = {one for one in (wanted.noun, wanted.kind_noun) if one}
    return not kinds.isdisjoint(stems(sentence.text[name[0] : name[1]]))


def _is_same(time: StatedTime, since: Millis, until: Millis) -> bool:
    """Return whether a stated time and the time asked about, both of a year or less, lie one in the other."""
    lies = (since <= time.since and time.until <= until) or (time.since <= since and until <= time.until)
    return lies and max(until - since, time.until - time.since) <= YEAR + DAY


_APART = re.compile(r"[.;:]\s|\s[-–—•]\s|\d{4}|\b(?:before|after|until|which|who|while|where|when|against|not)\b")
"""What parts a name from a time in its sentence."""
NEAR = 60
"""Most characters between a name and its time."""


def _kind_at(wanted: WantedSpan, sentence: WeighedSentence, times: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """Yield the one name of the kind asked for that a sentence of the article has near a time.

    "Which *academy* did she join in 1804?": "was elected a member of the Holm *Academy* in 1804".

    Args:
        wanted: asks for a thing or a place.
        sentence: the sentence of a document.
        times: the places of the times that are the one asked about.
    """
    if not times or not is_of(wanted, sentence):
        return
    text, found = sentence.text, set[tuple[int, int]]()
    for first, last in name_runs(text, sentence.words):
        left, right = sentence.words[first].start, sentence.words[last].end
        is_new = novelty(sentence.words[first : last + 1], wanted.stems | sentence.title) >= HEADED_SHARE
        gaps = [text[right:start] if right <= start else text[end:left] for start, end in times]
        near = any(len(gap) < NEAR and not _APART.search(gap) for gap in gaps)
        if first < last and is_new and near and _is_asked(wanted, sentence, (left, right)):
            found.add((left, right))
    if len(found) == 1:
        yield Span(*found.pop(), TENURE_FIT + HEADED_FIT, typed=True)


def _tenures(sentence: WeighedSentence) -> list[_Tenure]:
    """Return the intervals of a sentence with a start: "1984–1989", "since 2001", "May 2019– )"."""
    found: list[_Tenure] = []
    alone = False
    for start, end, time in sentence.times:
        if alone and found and _JOINS.fullmatch(sentence.text, found[-1].end, start):
            found[-1] = _Tenure(found[-1].start, end, found[-1].since, time.until, time.grain == "year")
            alone = False
            continue
        if alone:
            found.pop()
        until = time.until
        alone = _RANGE.search(sentence.text[start:end]) is None
        if alone and (lasts := _OPEN.match(sentence.text, end)):
            alone, end, until = False, lasts.end(), FOREVER
        if not (time.relative and until >= FOREVER):
            season = _season_of(sentence.text, start, end)
            since, until = season or (time.since, until)
            found.append(_Tenure(start, end, since, until, time.grain == "year" and season is None))
        else:
            alone = False
    if alone and found:
        found.pop()
    return found


_SEASON = re.compile(r"(?P<first>\d{4})\s?[–/-]\s?(?P<last>\d\d)")


def _season_of(text: str, start: int, end: int) -> tuple[Millis, Millis] | None:
    """Return the season that two consecutive years name, "2002–03": from summer to summer; None for other times."""
    found = _SEASON.fullmatch(text, start, end)
    if found is None or (int(found["first"]) + 1) % 100 != int(found["last"]):
        return None
    first = int(found["first"])
    return month(first, 7).since, month(first + 1, 6).until


def _names_beside(
    wanted: WantedSpan, sentence: WeighedSentence, holding: Sequence[_Tenure], share: float
) -> list[tuple[int, int]]:
    """Return the places of the names that stand beside the intervals, in order.

    Args:
        wanted: what is asked.
        sentence: the sentence of a document.
        holding: the intervals in the sentence for which somebody held something.
        share: the least share of a name's words that neither the question nor the title has, where the holder is
            wanted; 0 where something else is. With a share, the name of an office counts for no name, and neither does
            a name behind that of another office, "Executive Chairman : Ada Marsh".
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
                and not (share and (_OFFICE.search(text[left:right]) or _is_of_another(wanted, sentence, left)))
                and novelty(words, wanted.stems | sentence.title) >= (share or HEADED_SHARE)
            ):
                found[left, right] = None
    return sorted(found)


_LABEL = re.compile(r"(?:^|[-–—•*]\s|\.\s)(?P<label>[^:.•()–—-]{3,40}?)\s*:\s*(?:[^:•]{0,900},\s)?$")


def _is_of_another(wanted: WantedSpan, sentence: WeighedSentence, name: int) -> bool:
    """Return whether a label before a name, which begins at a character, is that of another office than the asked one.

    Words that mean the same count only where no label in the text has the very word.
    """
    found = _LABEL.search(sentence.text[:name])
    if found is None or not _OFFICES.search(found["label"]):
        return False
    asked = frozenset(stems(wanted.query.text))
    labels = [frozenset(stems(label)) - _IN_HEADINGS for label in _LABELS.findall(sentence.evidence.source.turn.text)]
    if all(asked.isdisjoint(label) for label in labels):
        asked |= asked_words(wanted)
    return asked.isdisjoint(frozenset(stems(found["label"])) - _IN_HEADINGS)


_LABELS = re.compile(r"(?:^|[-–—•*]\s|\.\s)([^:.•()–—-]{3,40}?)\s*:")
_OFFICES = re.compile(
    r"\b(?:chair\w*|president|director|leader|chief|officer|minister|secretary|editor|head|manager|coache?)s?\b", re.I
)


def _post_beside(sentence: WeighedSentence, time: _Tenure) -> tuple[int, int] | None:
    """Return the place of the post that was held at a time, before or behind it."""
    text = sentence.text
    found = _HELD.search(text[: time.start])
    if found is not None and not _CLAUSE.search(found["post"]):
        return found.span("post")
    if _CLAUSE_START.search(text[: time.start]) and (found := _HELD_BEHIND.match(text, time.end)):
        subject = frozenset(stems(found["subject"]))
        if not subject or not subject.isdisjoint(sentence.title):
            return found.span("post")
    return None
