"""Times that are told without a number: "a few weeks ago", "when I was younger", "since I was a kid", "always".

An event of "a few weeks ago" lies a week back at least, so that its "on or before" is that day and not the day of the
telling. A state of "since I was a kid" has a start that nobody knows, and it did not start with the telling.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, day_of_instant
from mcp_memory.language.iso import DAY
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.validity import Validity

_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365, "decade": 3650}
_YOUNG = (
    r"(?:(?:much|still|very|just|only|so|really|a|an|in|at)\s){0,3}(?:younger|young|little|small|kid|child|baby|toddler|boy"
    r"|girl|teen|teenager|student|primary\sschool|high\sschool|school|college|university)\b"
)
_AGO = re.compile(
    r"\b(?:(?:(?:a|quite\sa)\s)?(?:few|couple\sof|couple|some|several|many|number\sof)\s)?"
    r"(?P<unit>day|week|month|year|decade)s\s(?:ago|back|before)\b"
    rf"|\bwhen\s(?:I|we|he|she|they)\s(?:was|were)\s{_YOUNG}|\bas\sa\s(?:\w{{1,10}}\s)?(?:kid|child|teenager|teen|boy|girl)\b"
    r"|\bin\s(?:my|our|his|her)\s(?:childhood|youth|teens|school\sdays)\b|\b(?:ages|long|a\slong\stime)\sago\b"
    r"|\bback\sin\sthe\sday\b|(?P<while>\ba\swhile\s(?:ago|back)\b)",
    re.IGNORECASE,
)
_SINCE_LONG = re.compile(
    rf"\b(?:ever\s)?since\s(?:(?:I|we|he|she|they)\s(?:was|were)\s{_YOUNG}|childhood|(?:my|his|her)\s(?:childhood|youth|teens)"
    r"|forever)|\bfor\s(?:(?:many|several|some|a\sfew|so\smany|quite\sa\sfew)\s)?(?:years|decades|ages|months)\b"
    r"|\bfor\s(?:a\s(?:very\s)?long\stime|(?:as\slong\sas\sI\scan\sremember)|quite\ssome\stime)\b"
    r"|\b(?:all|my|his|her)\s(?:(?:my|his|her|whole|entire)\s){1,2}?life\b|\bmy\slife\slong\b",
    re.IGNORECASE,
)
_OTHER_CLAUSE = re.compile(
    r"[;:()]|\b(?:and|but|so|or|because|as|if|while|when|whether|who|which|that|since|after|before|until|than|where)\b",
    re.IGNORECASE,
)
_SHARED_SUBJECT = re.compile(r"(?:(?:my|our|his|her)\s)?\w+\sand\s$")
"""The other subject of a clause, "my dad and" I."""
_SENTENCE_END = re.compile(r"[.!?]\s|\n")
_FARTHEST = 60
"""Characters between a clause and a time that belongs to it."""


def with_vague_times(text: str, clause: Clause, intervals: Sequence[Validity], said_at: Millis) -> list[Validity]:
    """Return the intervals of a clause that states no time, moved to where its vague words put them.

    Args:
        text: of the whole turn.
        clause: that states the fact.
        intervals: when it holds without these words.
        said_at: the moment of the utterance.
    """
    return [one if one.stated else _moved(text, clause, one, said_at) for one in intervals]


def is_vaguely_dated(text: str, clause: Clause) -> bool:
    """Return whether a clause says how long ago something happened, without a number."""
    return _days_back(text, clause) > 0


def _moved(text: str, clause: Clause, validity: Validity, said_at: Millis) -> Validity:
    if validity.kind == "planned":
        return validity
    if validity.negated and not validity.change:
        return validity
    if back := _days_back(text, clause):
        moment = said_at - back * DAY
        if moment > BEGINNING and validity.kind == "event" and validity.precision == "before":
            first, after = day_of_instant(moment)
            return replace(validity, since=first, until=after)
        if moment > BEGINNING and validity.since == said_at and validity.until >= FOREVER:
            return replace(validity, since=moment)  # "moved here a few years ago"
    goes_on = (
        not validity.negated and validity.kind == "state" and validity.since == said_at and validity.until >= FOREVER
    )
    if goes_on and not validity.change and _is_long(text, clause):
        return replace(validity, since=BEGINNING)
    return validity


def _days_back(text: str, clause: Clause) -> int:
    """Return how many days before the telling the event lies at least; 0 if nothing says so."""
    if clause.verb.tense == "present":
        return 0
    start, end = _around(text, clause)
    for match in _AGO.finditer(text, start, end):
        if _belongs(text, clause, match):
            return 7 if match["while"] else _DAYS[match["unit"].lower()] if match["unit"] else 365
    return 0


def _is_long(text: str, clause: Clause) -> bool:
    """Return whether a state goes on since a time that nobody knows."""
    if clause.verb.tense == "perfect" and "always" in clause.adverbs | clause.verb.adverbs:
        return True
    _, end = _around(text, clause)
    return any(_belongs(text, clause, match) for match in _SINCE_LONG.finditer(text, clause.start, end))


def _around(text: str, clause: Clause) -> tuple[int, int]:
    """Return the part of the sentence in which a time may belong to a clause, in characters."""
    first = _first(clause)
    start = max(0, first - _FARTHEST)
    for mark in _SENTENCE_END.finditer(text, start, first):
        start = mark.end()
    stop = _SENTENCE_END.search(text, clause.end)
    return start, min(stop.start() if stop else len(text), clause.end + 2 * _FARTHEST)


def _first(clause: Clause) -> int:
    return min(
        [clause.start, *(subject.start for subject in clause.subject if subject.start >= clause.start - _FARTHEST)]
    )


def _belongs(text: str, clause: Clause, time: re.Match[str]) -> bool:
    """Return whether no other clause stands between a time and the clause."""
    if time.end() <= _first(clause):
        return not _OTHER_CLAUSE.search(_SHARED_SUBJECT.sub("", text[time.end() : clause.start]))
    if time.start() < clause.end:
        return True
    return time.start() - clause.end < _FARTHEST and not _OTHER_CLAUSE.search(text, clause.end, time.start())
