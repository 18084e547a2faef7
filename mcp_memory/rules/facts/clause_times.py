"""The times of a clause: by the tense of its verb, and of the text around it where it states none (DESIGN 1.2).

Some times are told without a number: "a few weeks ago", "when I was younger", "since I was a kid", "always".

An event of "a few weeks ago" lies a week back at least, so that its "on or before" is that day and not the day of the
telling. A state of "since I was a kid" has a start that nobody knows, and it did not start with the telling.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, StatedTime, day_of_instant
from mcp_memory.domain.turns import Turn
from mcp_memory.heap import text_cache
from mcp_memory.language.iso import DAY
from mcp_memory.language.stated import stated_times
from mcp_memory.language.yearless import Direction
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.validity import Validity
from mcp_memory.rules.facts.verb_groups import SAME_IN_PAST

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
_BETWEEN_CLAUSES = re.compile(
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
        text: the text of the whole turn.
        clause: the clause that states the fact.
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
        return not _BETWEEN_CLAUSES.search(_SHARED_SUBJECT.sub("", text[time.end() : clause.start]))
    if time.start() < clause.end:
        return True
    return time.start() - clause.end < _FARTHEST and not _BETWEEN_CLAUSES.search(text, clause.end, time.start())


_OTHER_CLAUSE = re.compile(
    r"\b(?:after|before|since|until|till|because|as|if|whether|who|which|that|whose|but|than)\b", re.IGNORECASE
)
"""Words behind which a time belongs to something else."""
_ARRANGING = frozenset(("book", "reserve", "schedule", "reschedule", "plan", "arrange", "postpone", "sign"))
"""Verbs whose dates are those of what is arranged: "we booked a farm from 12 to 19 August"."""
_SHORT = 40
"""Sentences of a message in which a time may date more than its own sentence."""
_FRAME = 2
"""How many sentences back a time may be stated that also dates an event: "Last Saturday was great. We …"."""


def by_tense(turn: Turn, span: tuple[int, int], clause: Clause) -> Clause:
    """Return a clause with its times resolved by the tense of its verb.

    "8 January" and "Friday" mean the next one with a verb in the present or future, and the last one with a past tense.

    Args:
        turn: the text.
        span: the span of the sentence, in characters.
        clause: the clause of the sentence.
    """
    if turn.local_said_at is None or not any(word.time and word.time.relative for word in clause.times):
        return clause
    verb = clause.verb
    tense: Direction = -1 if verb.tense != "present" and not verb.unreal and verb.lemma not in _ARRANGING else 1
    resolved = {(time.start, time.end): time for time in _resolved(turn.text, turn.local_said_at, span, tense)}
    times = tuple(
        word._replace(time=resolved.get((word.time.start, word.time.end), word.time)) if word.time else word
        for word in clause.times
    )
    open_tense = verb.lemma in SAME_IN_PAST and verb.tense == "present" and not (verb.unreal or verb.progressive)
    if open_tense and any(word.time and BEGINNING < word.time.until <= turn.local_said_at for word in times):
        verb = replace(verb, tense="past")  # "I hurt my back yesterday"
    return replace(clause, times=times, verb=verb)


@text_cache(4)
def _resolved(text: str, said_at: Millis, span: tuple[int, int], tense: Direction) -> tuple[StatedTime, ...]:
    """Return the times of a sentence by a tense; cached for all its clauses."""
    return stated_times(text, said_at, *span, tense=tense)


def yearly_times(turn: Turn, span: tuple[int, int]) -> Sequence[StatedTime]:
    """Return the times of a sentence about a birthday, which `stated_times` leaves out, since it is in every year."""
    if "birthday" not in turn.text[slice(*span)].lower():
        return ()
    return stated_times(turn.text, turn.local_said_at, *span, tense=1)


def event_times(
    turn: Turn, clause: Clause, index: int, times: Sequence[Sequence[StatedTime]]
) -> list[StatedTime]:  # fmt: skip
    """Return the time around a clause about a past event that states none; empty unless only one can belong to it.

    It is the only time of the sentence, unless it stands in a subordinate clause; otherwise the only time of the whole
    message, if one of the two sentences before names that day or week relative to the telling ("last Saturday"), and
    the event is the speaker's. A month or a year covers too much.

    Args:
        turn: the text.
        clause: the clause of the sentence.
        index: the index of the sentence.
        times: the times of every sentence.
    """
    if clause.verb.tense == "present" or clause.verb.lemma in _ARRANGING or turn.kind == "document":
        return []
    here = [time for time in times[index] if _is_past(time, turn)]
    if times[index]:
        if len(times[index]) != 1 or not here:
            return []
        first, last = sorted([(here[0].start, here[0].end), (clause.start, clause.end)])
        between = turn.text[first[1] : last[0]]
        return [] if _OTHER_CLAUSE.search(between) or _opens_clause(turn.text, here[0]) else here
    if len(times) > _SHORT:
        return []
    told = [time for of_sentence in times for time in of_sentence]
    before = [time for of_sentence in times[max(0, index - _FRAME) : index] for time in of_sentence]
    own = any(subject.pronoun in ("i", "we") for subject in clause.subject)
    if own and len(told) == 1 and before and _is_past(before[0], turn) and before[0].relative:
        return before if before[0].grain in ("time", "day", "week") else []
    return []


def _is_past(time: StatedTime, turn: Turn) -> bool:
    return BEGINNING < time.since <= turn.local_time and time.until < FOREVER


def _opens_clause(text: str, time: StatedTime) -> bool:
    """Return whether a time is that of "when I lived there in 2019", or a deadline, rather than of the main clause."""
    return bool(
        _NOT_OF_IT.search(text, max(0, time.start - 24), time.start) or text.startswith(("by ", "By "), time.start)
    )


_NOT_OF_IT = re.compile(r"\bborn\b|\bsince\b|\bdeadline\b|\bby\s(?:the\s)?$", re.IGNORECASE)
