"""The times of a clause: by the tense of its verb, and of the text around it where it states none (DESIGN 1.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, StatedTime
from mcp_memory.domain.turns import Turn
from mcp_memory.heap import text_cache
from mcp_memory.language.stated import stated_times
from mcp_memory.language.yearless import Direction
from mcp_memory.rules.facts.clause import Clause
from mcp_memory.rules.facts.verb_groups import SAME_IN_PAST

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
