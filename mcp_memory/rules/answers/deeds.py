"""Whether a message tells of the deed whose time a question asks for.

A date is easily that of another deed in the same sentence: "I applied in April and they accepted me". That a message
tells of another thing or person shows in the words of the question that it lacks (`span_answers.WHOLE`). These are
lists of words, English only, that err on the side of a hedge.
"""

from __future__ import annotations

import re

from mcp_memory.language.tokens import stem, words
from mcp_memory.rules.answers.spans import all_stems
from mcp_memory.rules.answers.support import WantedSpan, WeighedSentence

LEADS = 15
"""A time that begins this near the start of a sentence is that of all its clauses."""
NEAR_TOLD = 160
"""Characters before and after a sentence that tell of the same."""


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


def tells_of_other_deed(wanted: WantedSpan, sentence: WeighedSentence, time: tuple[int, int]) -> bool:
    """Return whether a message has no word of the deed asked about, or none in the part that has the time.

    Args:
        wanted: asks for a date.
        sentence: the sentence of a message.
        time: the place of the time in the sentence that may be the answer.
    """
    asked = _DOES.search(wanted.query.text)
    if asked is None:
        return False
    deed = _forms(asked["verb"].lower())
    if not deed.isdisjoint(_ANY_DEED):
        return False
    same = deed.union(*(one for one in _SAME_DEED if not one.isdisjoint(deed)))
    source = sentence.evidence.source
    around = source.turn.text[max(source.start - NEAR_TOLD, 0) : source.end + NEAR_TOLD]
    if same.isdisjoint(_forms(around.lower())):
        return True
    told = [word for word in sentence.words if not same.isdisjoint(_forms(word.lower_case))]
    if time[0] <= LEADS:
        return False  # "Last week was wild, I volunteered and they gave me a medal"
    parts = [_THEN.search(sentence.text[min(word.end, time[1]) : max(word.end, time[0])]) for word in told]
    return bool(told) and all(parts)
