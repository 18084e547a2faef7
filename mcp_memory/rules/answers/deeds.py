"""Whether a message tells of the deed and of the thing whose time a question asks for.

A date is easily that of something else: "I had an interview yesterday" holds most words of "When did Ann get accepted
for the interview course?", "I sold the blue canoe in April" those of "When did Ann sell the red canoe?". These are
lists of words, English only, that err on the side of a hedge.
"""

from __future__ import annotations

import re
from itertools import pairwise

from mcp_memory.language.stated import stated_times
from mcp_memory.language.tokens import STOP_WORDS, stem, words
from mcp_memory.language.vocabulary import word_set
from mcp_memory.rules.answers.spans import all_stems
from mcp_memory.rules.answers.support import WantedSpan, WeighedSentence

LEADS = 15
"""A time that begins this near the start of a sentence is that of all its clauses."""
NEAR_TOLD = 160
"""Characters before and after a sentence that tell of the same."""


def tells_of_other(wanted: WantedSpan, sentence: WeighedSentence, time: tuple[int, int]) -> bool:
    """Return whether a sentence of a message perhaps tells of another deed, thing or person than the one asked about.

    Args:
        wanted: asks for a date.
        sentence: the sentence of a message.
        time: the place of the time in the sentence that may be the answer.
    """
    source = sentence.evidence.source
    around = source.turn.text[max(source.start - NEAR_TOLD, 0) : source.end + NEAR_TOLD]
    return (
        _is_not_mentioned(wanted, sentence, around)
        or _tells_other_deed(wanted, sentence, around, time)
        or _tells_other_thing(wanted, sentence, around)
        or _names_another(wanted, sentence, around)
    )


_DOES = re.compile(
    r"\b(?:when|what\s+(?:day|date|month|year)|which\s+(?:day|date|month|year))\b.{0,20}?\b(?:did|does|do|will)\s+"
    r"(?:i|we|you|he|she|they|(?-i:[A-Z])[\w-]+(?:\s+and\s+(?:I|(?-i:[A-Z])[\w-]+))?(?:\s+(?-i:[A-Z])[\w-]+)?)\s+"
    r"(?:(?:actually|finally|first|last|next|get(?=\s+\w+ed\b)|(?:start|begin|have|need)\s+to)\s+)?(?P<verb>[a-z]+)",
    re.I,
)
"""A question for the time of a deed of somebody who is named."""


def _forms(text: str) -> frozenset[str]:
    """Return the words of a text and their stems."""
    return frozenset(words(text)).union(map(stem, words(text)), all_stems(text))


_SAME_DEED = tuple(
    _forms(line)
    for line in (
        "get got buy bought adopt adopted collect collected pick picked receive received gave given new order ordered"
        " arrive arrived bring brought award awarded win won came",
        "make made draw drew paint painted create created design designed build built write wrote finish finished",
        "start started begin began join joined open opened launch launched new first since",
        "see saw seen meet met visit visited watch watched meeting appointment",
        "leave left move moved quit resign resigned go went drive drove fly flew set off",
        "end ended finish finished stop stopped quit done last over complete completed",
        "pay paid cost buy bought spend spent",
    )
)
"""Verbs that may tell of the same deed."""
_ANY_DEED = _forms("go do be have take hold come put use happen try attend")
_THEN = re.compile(r"\b(?:and|but|then|so)\s+(?:\w+ly\s+|then\s+|also\s+)?(?:[a-z]+ed|(?:we|i|he|she|they|it)\b)", re.I)
"""What begins another deed behind the first."""


def _tells_other_deed(wanted: WantedSpan, sentence: WeighedSentence, around: str, time: tuple[int, int]) -> bool:
    """Return whether a message has no word of the deed asked about, or none in the part that has the time."""
    asked = _DOES.search(wanted.query.text)
    if asked is None:
        return False
    deed = _forms(asked["verb"].lower())
    if not deed.isdisjoint(_ANY_DEED):
        return False
    same = deed.union(*(one for one in _SAME_DEED if not one.isdisjoint(deed)))
    if same.isdisjoint(_forms(around.lower())):
        return True
    told = [word for word in sentence.words if not same.isdisjoint(_forms(word.lower_case))]
    if time[0] <= LEADS:
        return False  # "Last week was wild, I volunteered and they gave me a medal"
    parts = [_THEN.search(sentence.text[min(word.end, time[1]) : max(word.end, time[0])]) for word in told]
    return bool(told) and all(parts)


_SUBJECT = re.compile(
    r"^\W*when\s+(?:was|were|is|are|did|does|will|has|have)\s+(?:the|my|our)\s+(?:[a-z]+\s+)?(?P<thing>[a-z]{3,})\s+"
    r"(?:\w+ed|\w+en|\w+|go\s+live|come\s+out)\W*$",
    re.I,
)
_IT = frozenset(("it", "they", "them", "that", "this", "both", "one"))


def _is_not_mentioned(wanted: WantedSpan, sentence: WeighedSentence, around: str) -> bool:
    """Return whether a message names something else than the subject of a question, and says no "it" for that."""
    asked = _SUBJECT.search(wanted.query.text)
    if asked is None or not _forms(asked["thing"].lower()).isdisjoint(_forms(around.lower())):
        return False
    return _IT.isdisjoint(word.lower_case for word in sentence.words)


_OF_KIND = re.compile(r"\b(?:the|my|our|her|his|their|a|an)\s+(?P<kind>[a-z]+)\s+(?P<thing>[a-z]{3,})\b")


def _tells_other_thing(wanted: WantedSpan, sentence: WeighedSentence, around: str) -> bool:
    """Return whether a sentence tells of a thing of another kind: "the blue canoe", for "the red canoe"."""
    told = _forms(around.lower())
    for asked in _OF_KIND.finditer(wanted.query.text):
        if stem(asked["kind"]) in told or asked["thing"] in STOP_WORDS or asked["kind"] in _NO_KIND:
            continue
        for first, last in pairwise(sentence.words):
            beside = sentence.text[first.end : last.start].isspace() and stem(last.lower_case) == stem(asked["thing"])
            if beside and not first.capital and first.lower_case not in STOP_WORDS | _NO_KIND:
                return True
    return False


_NO_KIND = word_set(
    "new old first last second next big small little own whole lovely nice great good best annual usual long short"
    " actual final original current latest online local"
)
"""Words before a thing that make no other thing of it."""


def _names_another(wanted: WantedSpan, sentence: WeighedSentence, around: str) -> bool:
    """Return whether a sentence names somebody or something else in place of what a question names."""
    spoken = frozenset(map(str.casefold, (*wanted.query.speakers, sentence.evidence.source.turn.speaker or "")))
    near = around.casefold()
    missing = [
        name
        for name in wanted.query.names
        if name.casefold() not in spoken and not stated_times(name, None) and not _shares_word(name, near)
    ]
    if not missing:
        return False
    asked = frozenset(words(wanted.query.text))
    return any(
        word.capital and word.stems and word.lower_case not in asked | spoken
        for before, word in pairwise(sentence.words)
        if sentence.text[before.end : word.start].isspace()
        and not any(start <= word.start < end for start, end, _ in sentence.times)
    )


def _shares_word(name: str, text: str) -> bool:
    return any(re.search(rf"\b{re.escape(word)}", text) for word in words(name) if word not in STOP_WORDS)
