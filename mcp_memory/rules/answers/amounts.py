"""How many, how long, how often: numbers with what they count. English, with digits in any text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcp_memory.language.expressions import MONTH_NAME, WEEKDAY
from mcp_memory.rules.answers.asking import Asking
from mcp_memory.rules.answers.dates import near_to_hits
from mcp_memory.rules.answers.spans import Span
from mcp_memory.rules.answers.support import Reading
from mcp_memory.rules.answers.words import adjoin, at

_NUMBER = (
    r"(?:\d+(?:[.,]\d+)*|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|twenty|thirty|forty|fifty"
    r"|sixty|seventy|eighty|ninety|(?:a |one )?hundred|(?:a |one )?thousand|half a dozen|a dozen|dozens of"
    r"|(?:a )?couple(?: of)?|several|a few|few|many)"
)
_UNIT = r"(?:seconds?|minutes?|hours?|days?|nights?|weeks?|weekends?|months?|years?|decades?)"
_COUNT = re.compile(rf"(?<![\w.,])({_NUMBER})(?![\w])", re.I)
_DURATION = re.compile(
    rf"\b((?:{_NUMBER}|an?)(?:[ -]|\s+and\s+a\s+half\s+|\s+more\s+|\s+whole\s+){_UNIT})\b"
    r"(?!\s+(?:ago|old|later|before)\b)"
    rf"|\b(since\s+(?:i\s+was\s+[\w-]{{1,12}}|\d{{4}}|(?:high\s+)?school|childhood|{MONTH_NAME}(?:\s+\d{{4}})?))\b",
    re.I,
)
_AGE = re.compile(
    rf"\b((?:{_NUMBER})(?:[ -](?:years?|months?|weeks?))?)[ -]old\b|\b(?:aged?|turned|turning)\s+({_NUMBER})\b", re.I
)
_FREQUENCY = re.compile(
    rf"\b((?:once|twice|{_NUMBER}\s+times)(?:\s+or\s+(?:twice|{_NUMBER}(?:\s+times)?))?\s+(?:a|an|per|each|every)\s+\w+"
    rf"|every\s+(?:other\s+|single\s+|{_NUMBER}\s+)?\w+|daily|weekly|monthly|yearly"
    rf"|on\s+{WEEKDAY}s|once|twice)\b",
    re.I,
)
EXACT = 0.6
"""Fit of a number that stands before the very thing that is counted."""


def amounts(question: Asking, reading: Reading) -> Iterator[Span]:
    """Return the amounts in the sentence that have the form asked for."""
    if question.form == "count":
        yield from _counts(question, reading)
        return
    pattern = _FREQUENCY if question.form == "frequency" else _AGE if question.noun == "old" else _DURATION
    for found in pattern.finditer(reading.text):
        start, end = next(found.span(group) for group in range(1, (found.lastindex or 1) + 1) if found[group])
        yield Span(start, end, 0.9 * near_to_hits(reading, start, end))


def _counts(question: Asking, reading: Reading) -> Iterator[Span]:
    """Return the numbers of what is counted: "two dogs" for dogs, also "two brown dogs"; no number of other things."""
    if question.noun is None:
        return
    words = reading.words
    for found in _COUNT.finditer(reading.text):
        last = at(words, found.end() - 1)
        for index in range(last + 1, min(last + 4, len(words))):
            if not adjoin(reading.text, words, index - 1):
                break
            if question.noun in words[index].stems:
                start, end = found.start(), words[index].end
                yield Span(start, end, EXACT + 0.9 * near_to_hits(reading, start, end))
                break
