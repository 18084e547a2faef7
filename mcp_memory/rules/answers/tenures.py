"""Who or what held at a time, from documents that state both side by side: lists of office holders, careers, owners.

"Ada Marsh ( 2003–2007 ) - Ben Holt ( 2007–2011 )", "1984–1989 : Carl Lind" and "taught at Dunmore College from 1985 to
1990" state an interval directly beside the one whose interval it is. Where the interval holds the whole time that a
question asks about, and no other interval of the same text does, the name beside it answers the question. A name that
merely stands in the same sentence as a time is right only one time in two, and is not proposed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.domain.times import BEGINNING, FOREVER, StatedTime
from mcp_memory.rules.answers.spans import Span, name_runs, novelty
from mcp_memory.rules.answers.support import WantedSpan, WeighedSentence

_BEFORE = re.compile(
    r"[\s,:(–—-]{0,4}(?:\(\s*[a-z. ]{1,14}\s*\)[\s,:(–—-]{0,4})?(?:(?:from|since|in|between|during|for)\s+)?\(?\s*$"
)
"""What may stand between a name and the time behind it: " (", ", from", "( acting ) ,"."""
_AFTER = re.compile(r"\s*(?:\)\s*)?(?::|[-–—])\s+(?:(?:Sir|Dr|Prof|Mr|Mrs|Ms|Captain|Colonel|General|Major)\b\.?\s+)?")
"""What may stand between a time and the name behind it, in a list that begins with a time."""
_COLON = re.compile(r"\s*:")
_RANGE = re.compile(r"\d\s*\)?\s*[–—-]|\b(?:to|until|till|through|and|since|present)\b", re.I)
"""What tells an interval with two ends from a day or a year."""
_LIST_START = re.compile(r"^[\s*•–—-]*(?:from\s+)?$", re.I)
_PERSON = re.compile(
    r"\b(?:who|whom|person)\b|\b(?:name\s+of\s+the|which|what)\s+(?:\w+\s+){0,2}?(?:ceo|president|chair\w*|coach|manager|head"
    r"|director|leader|chief|king|queen|officer|editor|mayor|minister|governor|commander|owner|captain|rector|dean)\b",
    re.I,
)
LEAST_LISTED = 3
"""Least intervals of a list. Fewer are prose, in which another name may be meant."""
NEW_SHARE = 0.6
"""Least share of a name's words that stand neither in the query nor in the title."""
TENURE_FIT = 3.0
"""What such a span gains over all others."""


def tenure_spans(wanted: WantedSpan, sentence: WeighedSentence) -> Iterator[Span]:
    """Yield the name beside the one interval of a text that holds the whole time asked about.

    Args:
        wanted: asks for a person, a place or a thing at a time.
        sentence: a sentence of a document.
    """
    listed = sum(_RANGE.search(sentence.text[start:end]) is not None for start, end, _ in sentence.times)
    if wanted.time is None or listed < LEAST_LISTED or not _PERSON.search(wanted.query.text):
        return
    since, until = wanted.time
    names = [(sentence.words[first].start, sentence.words[last].end, sentence.words[first : last + 1])
             for first, last in name_runs(sentence.text, sentence.words)]  # fmt: skip
    opens_with_time = _LIST_START.match(sentence.text[: sentence.times[0][0]]) is not None
    found: dict[tuple[int, int], None] = {}
    for start, end, time in sentence.times:
        if not (_RANGE.search(sentence.text[start:end]) and _holds(time, since, until)):
            continue
        time_first = opens_with_time or _COLON.match(sentence.text, end) is not None
        for left, right, words in names:
            if time_first:
                beside = left >= end and _AFTER.fullmatch(sentence.text, end, left) is not None
            else:
                beside = right <= start and _BEFORE.fullmatch(sentence.text, right, start) is not None
            if beside and len(words) > 1 and novelty(words, wanted.stems | sentence.title) >= NEW_SHARE:
                found[left, right] = None
    if len(found) == 1:
        ((left, right),) = found
        yield Span(left, right, TENURE_FIT, sentence.text[left:right], typed=True)


def _holds(time: StatedTime, since: int, until: int) -> bool:
    """Return whether an interval with a start holds all of another, and is more than a single day."""
    return BEGINNING < time.since <= since and until <= time.until and (time.until < FOREVER or not time.relative)
