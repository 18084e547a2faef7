"""What held at a time, from documents that tell one after another what changed: "It moved to Basel in 1959".

A question "Where was its seat in 1964?" is answered by the last such change before that time. The sentences of the
article that the question names are read for changes of the tie that it asks for (``ties.py``): words that begin the
tie, a value beside them, and a time in the same clause. The value of the last change that began before the time asked
about holds, for some years, unless its interval ended, or a change whose value is not read, or a departure, came after
it. Two values at once are not answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, StatedTime
from mcp_memory.language.tokens import stems
from mcp_memory.rules.answers.held_at import asked_words, is_office
from mcp_memory.rules.answers.spans import name_runs, novelty
from mcp_memory.rules.answers.support import DAY, YEAR, WantedSpan, WeighedSentence
from mcp_memory.rules.answers.ties import Tie, ties

HOLDER = "holder"
"""The tie of somebody with what a question names, in the table; its words are compared with those of the question."""
STALE = 8 * YEAR
"""So long after a change its value may still be answered."""
LIFETIME = 50 * YEAR
"""An interval as long as this tells when somebody lived."""
MOST_ASKED = 3 * YEAR
"""Of what is over with its time there may be several in a longer one."""
LONGEST = 2_000
"""Most characters of a sentence that is read."""
NEW_SHARE = 0.3
"""Least share of a value's words that stand neither in the query nor in the title."""

_Place = tuple[int, int]


class ToldChange(NamedTuple):
    """A change that a sentence tells: the place of its value (empty where it is not read), its time and its tie."""

    sentence: WeighedSentence
    start: int
    end: int
    time: StatedTime
    tie: Tie

    @property
    def value(self) -> str:
        """The words of the value."""
        return self.sentence.text[self.start : self.end]

    def is_sure(self, time: tuple[Millis, Millis]) -> bool:
        """Return whether the value surely holds at a time: its interval holds that, or the change is fresh."""
        edge = YEAR // 2 if self.time.grain == "year" and self.time.until - self.time.since > YEAR + DAY else 0
        holds = self.time.since + edge <= time[0] and time[1] <= self.time.until - edge < FOREVER - edge
        return holds or time[0] - self.time.since < self.tie.fresh * YEAR


def current_change(
    wanted: WantedSpan, time: tuple[Millis, Millis], article: Sequence[WeighedSentence], *, holder: bool
) -> ToldChange | None:
    """Return the change whose value holds at a time; None where none or several may hold.

    Args:
        wanted: what is asked.
        time: the time that is asked about.
        article: the sentences of the article that the question names.
        holder: whether somebody is wanted.
    """
    question = wanted.query.text.lower()
    state = _BEGINS.search(question) is None
    for name, tie in ties().items():
        if not (holder if name == HOLDER else tie.asks.search(question)):
            continue
        last = _last(
            [change for one in article for change in _changes(wanted, one, tie)], time, lasts=tie.lasts and state
        )
        if last is not None:
            return last
    return None


_BEGINS = re.compile(
    r"\b(?:join(?:ed)?|receiv\w+|achiev\w+|acquir\w+|bec[ao]me|won|win|awarded|conferred|granted|given|promoted|graduat\w+"
    r"|appointed|elected|renamed|moved|bought)\b"
)
"""A question for what began at a time, which what began before does not answer."""


def _last(changes: Sequence[ToldChange], time: tuple[Millis, Millis], *, lasts: bool) -> ToldChange | None:
    since, until = time
    if not lasts and until - since > MOST_ASKED:
        return None
    edge = min(until, since + 31 * DAY)
    began = [
        one
        for one in changes
        if one.time.since > BEGINNING
        and (one.time.since < edge if lasts else one.time.since < until and since < one.time.until)
        and (one.time.until - one.time.since < LIFETIME or one.time.until >= FOREVER)
    ]
    latest = max((one.time.since for one in began), default=BEGINNING)
    last = [one for one in began if one.time.since == latest]
    if not last or since - latest > STALE or len({one.value for one in last}) > 1 or last[0].start == last[0].end:
        return None
    told = last[0].time
    ended = told.until - told.since > YEAR + DAY and told.until <= since
    return None if ended else last[0]


def _changes(wanted: WantedSpan, sentence: WeighedSentence, tie: Tie) -> Iterator[ToldChange]:
    """Yield the changes of a tie that a sentence tells, and departures."""
    text = sentence.text
    if not sentence.times or len(text) > LONGEST:
        return
    verbs, unread = [*tie.begins.finditer(text)], [departure.span() for departure in _LEFT.finditer(text)]
    if not verbs and not unread and not (tie.behind and tie.behind.search(text)):
        return
    runs = [(sentence.words[first].start, sentence.words[last].end) for first, last in name_runs(text, sentence.words)]
    known = sentence.title | frozenset(stems(wanted.query.text))
    asked = asked_words(wanted) if tie.name == HOLDER else None
    found = dict(_behind_names(text, runs, tie, known, asked))
    for verb in verbs:
        if not _begins(verb, text, runs, known, asked):
            continue
        value = _value(sentence, verb.end(), runs, tie, strict=tie.name == "name")
        if value is None:
            unread.append(verb.span())
            continue
        found.setdefault(value, (verb.start(), value[1]))
        found.update((more, more) for more in _chained(sentence, value[1], runs, tie) if more not in found)
    own = sentence.title if tie.phrase else sentence.title | wanted.stems
    for (left, right), told in found.items():
        words = [word for word in sentence.words if left <= word.start < right]
        new = tie.name == "name" or novelty(words, own) >= NEW_SHARE
        fits = (
            new
            and (tie.value is None or tie.value.search(text[left:right]))
            and _MONTHS.isdisjoint(stems(text[left:right]))
        )
        if fits and (time := _time(sentence, told, found.values())):
            yield ToldChange(sentence, left, right, time, tie)
    for place in unread if tie.lasts else ():
        if time := _time(sentence, place, found.values()):
            yield ToldChange(sentence, place[0], place[0], time, tie)


def _behind_names(
    text: str, runs: Sequence[_Place], tie: Tie, known: frozenset[str], asked: frozenset[str] | None
) -> Iterator[tuple[_Place, _Place]]:
    """Yield the names before the words of a tie, "*Ada Marsh* was appointed", each with the place of both together."""
    for left, right in runs if tie.behind else ():
        behind = tie.behind.match(text, right) if tie.behind else None
        if behind and (asked is None or is_office(_AS.sub("", behind["office"]), asked, known)):
            yield (left, right), (left, behind.end("verb"))


def _begins(
    verb: re.Match[str], text: str, runs: Sequence[_Place], known: frozenset[str], asked: frozenset[str] | None
) -> bool:
    """Return whether words before a value tell of what the article is about, or, of a holder, of what is asked."""
    if asked is None:
        return _is_subject(text[: verb.start()], runs, known)
    said = verb[0].split()[0]
    return said in _FOLLOWED or not asked.isdisjoint(stems(said))


_FOLLOWED = frozenset(("succeeded", "replaced", "followed"))
_AS = re.compile(r"^\W*(?:as|to|the|its|their|his|first|new|head of)\b")
_LEFT = re.compile(
    r"\b(?:left|resign\w*|sacked|dismissed|released|depart\w*|parted\s+ways|retired|fired|abdicat\w*|liberated|escaped"
    r"|dissolved|closed|abolished|merged|sold|divorced|died)\b"
)
"""Words of an end, after which nothing is known of a tie."""
_MONTHS = frozenset(
    stems(
        "january february march april may june july august september october november december"
        " monday tuesday wednesday thursday friday saturday sunday"
    )
)
_AUXILIARY = re.compile(
    r"(?:^|(?<=\W))(?:(?:was|were|is|are|has|had|been|being|be|then|later|also|first|finally|soon|subsequently|once"
    r"|officially|formally|again|eventually|out|back|successfully|already|initially|briefly|only|would|will)\s+)+$"
)
_HIS = re.compile(r"\b(?:[Hh]is|[Hh]er|[Tt]heir|whose)\s+(?:[\w'-]+\s+){1,4}$")
_OWN = re.compile(r"headquarters|name|seat|office|career|home|time|spell|debut|[,;]|\band\b")
_CUT = re.compile(r"[.;]\s|\b(?:and|while|when)\s")
_ASIDE = re.compile(r"\b(?:in|at|for|with|from|of|to|by|after|on|the|under)\s+(?:the\s+)?$")


def _is_subject(before: str, runs: Sequence[_Place], known: frozenset[str]) -> bool:
    """Return whether no other subject than that of the article stands before a verb: "his brothers", "Ada Marsh"."""
    before = _AUXILIARY.sub("", before)
    if (owned := _HIS.search(before)) and not _OWN.search(owned[0]):
        return False
    clause = max((cut.end() for cut in _CUT.finditer(before)), default=0)
    for left, right in runs:
        if clause <= left and right <= len(before):
            name = frozenset(stems(before[left:right]))
            if name and name.isdisjoint(known | _MONTHS) and not _ASIDE.search(before[:left]):
                return False
    return True


_SMALL = re.compile(r"\s+(?:[a-z][\w'’-]*\s+){0,4}")
_ARTICLE = re.compile(r"\s+(?:the\s+|simply\s+)?")
_KIND_BEHIND = re.compile(
    r"\s+(?:(?:One|Two|\d)\s+)?(?:club|side|team|outfit|champions|giants|rivals|imprint|label|company|group|giant|firm)\s+"
)
_PLAIN_WORDS = re.compile(r"\s+(?:[a-z-]+\s+){1,4}(?:,\s+)?")
_INITIAL = re.compile(r"(?:^|[\s.])[A-Z](?:\.[A-Z])*$")
_JOINED = re.compile(r"(?:\.[A-Z])*\s?\.\s?")
_OF = re.compile(r"\s+(?:prison|camp|jail)\s+of\s+")
_NO_NOUN = re.compile(
    r"\s+(?:in|on|at|from|during|by|when|where|who|which|while|after|before|until|and|but|for|with|since|between|under|as"
    r"|to|upon|following|via|or|of|that|near|despite|through|manager|coach|head|prison|camp|jail|concentration|hospital"
    r"|campus|is|was|were|had|has|citizen|team|against|label|title|because|instead|without|alongside)\b|\s+(?![a-z])|\S|$"
)
"""What may follow a name that is no adjective of a noun behind it, as in "New York Times author"."""
_DETERMINER = re.compile(
    r"\s+(?:an?\s+|the\s+|his\s+|her\s+)?(?:(?:title|rank|position|post)s?\s+of\s+)?(?:an?\s+|the\s+)?"
)
_PHRASE_ENDS = re.compile(
    r"\s*(?:[,;()]|\s-\s|\.(?:\s|$)|$|\d{4}|\b(?:in|on|at|from|during|by|when|where|who|which|while|after|before|until|and"
    r"|but|for|with|since|between|under|as|to|upon|following)\b)"
)
_NO_POST = re.compile(
    r"\w+(?:ed|ing)\b|(?:the|an?|also|title|took|successful|professional|active|involved|known|interested)\b"
)
LONGEST_POST = 60


def _value(sentence: WeighedSentence, start: int, runs: Sequence[_Place], tie: Tie, *, strict: bool) -> _Place | None:
    """Return the place of the value behind the words of a tie; ``strict``: right behind them."""
    return _phrase(sentence, start) if tie.phrase else _name(sentence.text, start, runs, strict=strict)


def _name(text: str, start: int, runs: Sequence[_Place], *, strict: bool) -> _Place | None:
    """Return the name behind a place: of "the Italian club F.C. Marsh" that of the club."""
    index = next((number for number, (left, _) in enumerate(runs) if left >= start), None)
    if index is None or not (_ARTICLE if strict else _SMALL).fullmatch(text, start, runs[index][0]):
        return None

    def between() -> str:
        return text[runs[index][1] : runs[index + 1][0]] if index + 1 < len(runs) else ""

    if _KIND_BEHIND.fullmatch(between()):
        index += 1
    left = runs[index][0]
    while (_INITIAL.search(text[left : runs[index][1]]) and _JOINED.fullmatch(between())) or _OF.fullmatch(between()):
        index += 1
    if _NO_NOUN.match(text, runs[index][1]):
        return left, runs[index][1]
    return runs[index + 1] if _PLAIN_WORDS.fullmatch(between()) else None


def _phrase(sentence: WeighedSentence, start: int) -> _Place | None:
    """Return the post or title that begins at ``start`` with an article, without it; None if there is none."""
    text = sentence.text
    opens = _DETERMINER.match(text, start)
    ends = _PHRASE_ENDS.search(text, opens.end()) if opens else None
    if opens is None or ends is None or not 3 <= ends.start() - opens.end() <= LONGEST_POST:
        return None
    first = stems(text[opens.end() : ends.start()])[:1]
    if _NO_POST.match(text, opens.end()) or not sentence.title.isdisjoint(first):
        return None
    return opens.end(), ends.start()


_CHAIN = re.compile(
    r"\s*\)?\s*(?:,\s*(?:and\s+)?|and\s+|then\s+)(?:(?:later|finally|then|again)\s+)?(?:(?:to|of|as|with)\s+)?(?:the\s+)?"
)
_IN = re.compile(r"\s*\(?(?:(?:in|on|from|since)\s+)?")


def _chained(sentence: WeighedSentence, end: int, runs: Sequence[_Place], tie: Tie) -> Iterator[_Place]:
    """Yield the values that follow one and its time, each with its time: "to Basel in 1959 *and to Bern in 1973*"."""
    text = sentence.text

    def time_behind(place: int) -> int | None:
        return next(
            (right for left, right, _ in sentence.times if left >= place and _IN.fullmatch(text, place, left)), None
        )

    while (timed := time_behind(end)) is not None and (joins := _CHAIN.match(text, timed)):
        value = _value(sentence, joins.end() - 1, runs, tie, strict=True)
        if value is None or time_behind(value[1]) is None:
            return
        yield value
        end = value[1]


_GAP = 45
"""Most characters between a value and a time behind it."""
_LEAD = 100
"""Most characters between a time and the verb behind it."""
_PARTS = re.compile(r"[.;]\s|\b(?:and|then|but|before|until|while|who|which|after)\b")
_PARTS_LEAD = re.compile(r"(?<!\s\.)[.;]\s|\b(?:after|before|until|while|when)\b")


def _time(sentence: WeighedSentence, place: _Place, others: Iterable[_Place]) -> StatedTime | None:
    """Return the time of a change: behind its value, else before its verb, where no other change stands between."""
    text, (start, end) = sentence.text, place
    starts = [other[0] for other in others if other != place]
    for left, _, time in sentence.times:
        if left >= end:
            gap = text[end:left]
            if len(gap) <= _GAP and not _PARTS.search(gap) and not any(end <= other < left for other in starts):
                return time
            break
    for _, right, time in reversed(sentence.times):
        if right <= start:
            gap = text[right:start].replace(" . ", " ")
            if len(gap) < _LEAD and not _PARTS_LEAD.search(gap) and not any(right <= other < start for other in starts):
                return time
            break
    return None
