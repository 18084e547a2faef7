"""Which occurrence a time means that comes again and again: "5 May", "on Friday", "in June", "last summer", "the 17th".

Who names a day without its year nearly always means the one nearest to the telling: in long chats with assistants,
nearly all dates that the tense of the verb put more than half a year away were wrong. So the nearest occurrence holds.
Tense and words of order ("last", "next") choose only between two that are nearly as near. Where they point at another
one that could still be meant, both remain likely; then, and beyond nine months, nothing is claimed: a wrong date is
worse than none. Every rule for times without a year resolves them here.

A question is asked long after the telling, and claims nothing: "on 8 May" in it is the last or next one by its tense.

**Tense.** English marks it on the verb: the nearest cue before an expression decides ("I **went** on Friday and
**will** go again on Sunday"), otherwise the nearest after it, in the same clause. A plain present announces: "the train
leaves on Friday". (Cues of other clauses gave 65 dates of 6,000 in talk; by eye more than half of them were wrong.)
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.relations import verbs
from mcp_memory.domain.times import DAY, Interval, Millis, day_at
from mcp_memory.heap import text_cache
from mcp_memory.language.expressions import MONTH, ORDINAL, WEEKDAY, S, compiled
from mcp_memory.language.iso import weekday

Direction = Literal[-1, 0, 1]
"""-1 past, 0 unknown, 1 future."""
NEARLY_AS_NEAR = 60 * DAY
"""By how much farther away an occurrence may be that tense or order choose."""
JUST_OVER = 20 * DAY
"""How long ago a day may be that the tense puts ahead; of 24 before that 17 were the next, too far to be claimed."""
LONG_OVER = 60 * DAY
"""How long ago a day may be that no tense puts anywhere; of 86 before that, mostly of plans, 17 were right."""
FARTHEST = 274 * DAY
"""Nine months: nobody means an occurrence beyond that without saying the year."""


@dataclass(frozen=True, slots=True)
class Telling:
    """A sentence, and what is known of when it was said.

    Attributes:
        sentence: the sentence that states times.
        said_at: when it was said; None if unknown.
        asked: whether it is a question.
    """

    sentence: str
    said_at: Millis | None
    asked: bool = False

    def pointing(self, match: re.Match[str]) -> Direction:
        """Return where an expression points: ahead if something is put on that day, otherwise where the tense does."""
        before, holiday = self.sentence[: match.start()], "holiday" in match.groupdict()
        put_on = _PUT_ON.search(before)
        if put_on and not (self.asked or holiday or _LASTED.search(before)):
            return 1
        return self.tensed(match) or (1 if put_on or _FROM.search(before) else 0)

    def tensed(self, match: re.Match[str]) -> Direction:
        """Return where the tense of the verb points for an expression."""
        return tense(self.sentence, match.start(), match.end())

    def nearest(self, match: re.Match[str], spans: Iterable[Interval], *, ahead: bool = False) -> Interval | None:
        """Return which of the occurrences an expression means that names nothing but them.

        None of what comes back each year is, and nothing has been so since a time that is still to come. Without a
        tense, ``ahead`` says, it lies ahead: "on the 5th" announces.
        """
        assert self.said_at is not None
        pointing = self.pointing(match) or (1 if ahead and not self.asked else 0)
        if pointing == 0 and _YEARLY.search(self.sentence):
            return None
        found = nearest(spans, self.said_at, pointing, asked=self.asked)
        late = found and found.since > self.said_at and _SINCE.search(self.sentence, 0, match.start())
        return None if late else found


def nearest(
    spans: Iterable[Interval], said_at: Millis, pointing: Direction = 0, *, asked: bool = False
) -> Interval | None:
    """Return which of the occurrences is meant.

    Args:
        spans: the occurrences around the telling.
        said_at: the time of the telling.
        pointing: where tense or order point.
        asked: whether a question names it.

    Returns:
        The nearest one, or that to which ``pointing`` points if it is less than `NEARLY_AS_NEAR` farther. None if two
        remain likely, all are farther than `FARTHEST`, or what lies ahead is over for more than `JUST_OVER`, what may
        lie anywhere for more than `LONG_OVER`.
    """
    today = day_at(said_at)
    if asked and pointing:
        return min(_towards(spans, today, pointing), key=lambda span: _distance(span, today), default=None)
    likely = sorted((far, span) for span in spans if (far := _distance(span, today)) <= FARTHEST)
    if not likely:
        return None
    near, first = likely[0]
    if pointing == 0 or first == today:  # "Friday", said on a Friday, may be today or another
        if near > LONG_OVER and first.until <= today.since and not asked:
            return None
        return first if len(likely) == 1 or likely[1][0] - near >= NEARLY_AS_NEAR else None
    there = _towards((span for _, span in likely), today, pointing)
    if not there:
        return first if pointing < 0 or near < JUST_OVER else None
    return there[0] if _distance(there[0], today) - near < NEARLY_AS_NEAR else None


def in_order(
    spans: Iterable[Interval], said_at: Millis, order: str, unit: Interval, *, asked: bool = False
) -> Interval | None:
    """Return the occurrence that "last", "past", "next" or "coming" means; None where both the near and the far may be.

    "Next Friday", said on a Monday, may be this week's or the one after, and "last summer", said in October, this
    year's or that of the year before. "Last Wednesday", said on a Thursday, is hardly yesterday.

    Args:
        spans: the occurrences around the telling, in order.
        said_at: the time of the telling.
        order: the word of order.
        unit: the week or year of the telling.
        asked: whether a question names it, which means the near one.
    """
    today = day_at(said_at)
    if order in ("last", "past"):
        over = [span for span in spans if span.until <= today.since]
        if not over or (order == "last" and not asked and _may_mean_one_before(over[-1], today, unit)):
            return None
        return nearest(over[-1:], said_at, -1)
    ahead = [span for span in spans if span.since >= today.until]
    if not ahead or (order == "next" and not asked and ahead[0].since < unit.until):
        return None
    return nearest(ahead[:1], said_at)


def _towards(spans: Iterable[Interval], today: Interval, pointing: Direction) -> list[Interval]:
    """Return the spans that have begun, or those that are not over."""
    return [span for span in spans if (span.since <= today.since if pointing < 0 else span.until >= today.until)]


def _may_mean_one_before(span: Interval, today: Interval, unit: Interval) -> bool:
    """Return whether what "last" names lies so near that the one before may be meant.

    Of days that is yesterday, between days of work and between those of a weekend: on a Saturday, "last Friday" is
    yesterday. Of months and seasons it is one of the present year.
    """
    if unit.until - unit.since > 7 * DAY:
        return span.since >= unit.since
    alike = (weekday(today.since) >= 5) == (weekday(span.since) >= 5)
    return span.until == today.since and alike and span.until - span.since == DAY


def _distance(span: Interval, today: Interval) -> Millis:
    """Return how far a span lies from a day, 0 if it holds that day and a day for the day before."""
    if span.since < today.until and span.until > today.since:
        return 0
    return DAY + max(span.since - today.until, today.since - span.until)


_SINCE = compiled(rf"\b(?:since|as{S}of){S}(?:the{S})?$")
_PUT_ON = compiled(rf"\b(?:for|to|until|till){S}(?:the{S})?$")
"""What is put on a day lies ahead, whatever the tense: "a list for Tuesday", "it was moved to the 25th"."""
_LASTED = compiled(r"\b(?:was|were)\s(?!\w+ed\b)")
"""But not where it was so until then: "the pass was valid until 14 November"."""
_FROM = compiled(rf"\bfrom{S}(?:the{S})?$")
"""So does what is from a day on, if no verb says otherwise."""
_YEARLY = compiled(r"\b(?:birthday|anniversary|name day|every year|each year|annual|always)\b")
_DOES = (  # verbs whose present tense announces: "the train leaves on Friday", "we fly on 20 December"
    r"leave|start|begin|end|finish|open|close|arrive|depart|land|fly|flie|expire|launch|return|move|meet|go|come|ship|play"
    r"|perform|sail|travel|drive|visit|marry|marrie|renew|join|turn|collect|deliver|have|take|get|head|pick|sign|see"
)
_NOT_PAST = "shot bore lay rose wound bound wed sat set cut let cost split spread shut"
"""Pasts of irregular verbs that are mostly another word or tense."""
_PAST = "|".join(sorted({past for _, past, _ in verbs().irregular}.difference(_NOT_PAST.split())))
_VERBAL = r"(?:(?:\w+ly|not|all|now|still|only|being|getting)\s){0,2}\w+"
"""What stands behind a form of "be"; a participle there says nothing of the time: "is held", "has to be paid"."""
_TENSE_CUE = compiled(
    rf"\b(?:(?P<carried>(?:be|being|get|getting)\s{_VERBAL})"
    r"|(?P<future>will|won['’]t|going\sto|gonna|shall|plan(?:s|ning)?|intend|hop(?:e|ing)|want\sto|about\sto|tomorrow"
    r"|scheduled|due|upcoming|forward\sto|can['’]t\swait|see\syou|let['’]s|remind|need\sto|must|should|have\sto"
    r"|(?:agreed|arranged|decided|promised|offered|invited|asked)\s(?:\w+\s){0,2}to(?!\s(?:the|an?)\b)"
    r"|(?<!was\s)(?<!were\s)(?:moving|leaving|arriving|flying|returning)(?=\son\b)"
    rf"|by(?=\s(?:the\s)?(?:{WEEKDAY}|{MONTH}|\d|end|next|this|noon|mid|early|late)\b))"
    rf"|(?P<present>(?:(?<!there\s)(?:is|are)|am|gets)\s{_VERBAL}|(?:i|we|you|they|[a-z]{{3,}}s)\s(?:{_DOES})"
    rf"|(?<!the\s)(?:{_DOES})e?s(?!\sof)|(?:has|have)\s(?:(?:\w+\s)?got|an?|my|our))"
    rf"|(?P<past>was|wasn['’]t|were|weren['’]t|been|since|ago|born|{_PAST}"
    r"|(?!(?:ne|fe|inde|hundr|spe|bre|nak|sacr|wick|book|reserv|schedul|reschedul|plann|arrang|fix|confirm|postpon)ed)\w{2,}ed))\b"
    rf"|['’](?:ll|(?:ve|s)\sgot|ve\san?|(?:m|re)\s{_VERBAL}|(?<=\bit.)s\s{_VERBAL}"
    rf"|s\s(?:on|off|due|back|away|out|end|(?:the\s)?\d+{ORDINAL}?|\w+ing))\b"
)


_CLAUSE_BEGINS = re.compile(r"[;:!?–—]|\s-\s|\b(?:so|but)\b")
"""Between a verb and an expression behind it: "the letter came, so you can drive from Monday"."""
_CLAUSE_ENDS = re.compile(r"[,;:!?()–—]|\s-\s")
"""Between an expression and a verb behind it: "scan on Wednesday, it's a girl"."""


@text_cache(16)
def _cues(sentence: str) -> tuple[list[int], list[Direction]]:
    """Return where the cues of tense of a sentence stand, in order, and where each points; cached for all its times."""
    yearly = _YEARLY.search(sentence)  # a birthday "is on 7 May" in every year
    places: list[int] = []
    directions: list[Direction] = []
    for cue in _TENSE_CUE.finditer(sentence):
        begun = sentence[: cue.start()].rstrip()[-1:].isalnum()
        if (yearly and cue["present"]) or (cue["past"] and cue[0].istitle() and begun):  # a name: "Cardiff Met"
            continue
        carried = directions[-1] if cue["carried"] and directions else 1  # "had to be held": the verb before says when
        places.append(cue.start())
        directions.append(-1 if cue["past"] else carried)
    return places, directions


def tense(sentence: str, start: int, end: int) -> Direction:
    """Return where the tense of a sentence points for the words at ``start`` … ``end``; 0 where no verb decides."""
    places, directions = _cues(sentence)
    before = bisect_left(places, start)
    if before and not _CLAUSE_BEGINS.search(sentence, places[before - 1], start):
        return directions[before - 1]
    after = bisect_left(places, end)
    if after == len(places) or _CLAUSE_ENDS.search(sentence, end, places[after]):
        return 0
    return directions[after]
