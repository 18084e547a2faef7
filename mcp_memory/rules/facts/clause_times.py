"""The times of a clause: by the tense of its verb, and of its sentence where it states none (DESIGN 1.2)."""

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

_OTHER_CLAUSE = re.compile(
    r"\b(?:after|before|since|until|till|because|as|if|whether|who|which|that|whose|but|than)\b", re.IGNORECASE
)
"""Words behind which a time belongs to something else."""
_ARRANGING = frozenset(("book", "reserve", "schedule", "reschedule", "plan", "arrange", "postpone", "sign"))
"""Verbs whose dates are those of what is arranged: "we booked a farm from 12 to 19 August"."""


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
    return replace(clause, times=times)


@text_cache(4)
def _resolved(text: str, said_at: Millis, span: tuple[int, int], tense: Direction) -> tuple[StatedTime, ...]:
    """Return the times of a sentence by a tense; cached for all its clauses."""
    return stated_times(text, said_at, *span, tense=tense)


def yearly_times(turn: Turn, span: tuple[int, int]) -> Sequence[StatedTime]:
    """Return the times of a sentence about a birthday, which `stated_times` leaves out, since it is in every year."""
    if "birthday" not in turn.text[slice(*span)].lower():
        return ()
    return stated_times(turn.text, turn.local_said_at, *span, tense=1)


def event_times(turn: Turn, clause: Clause, stated: Sequence[StatedTime]) -> Sequence[StatedTime]:
    """Return the only time of a message's sentence for a past event that states none, unless it is another clause's.

    Args:
        turn: the text.
        clause: the clause of the sentence.
        stated: the times of the sentence.
    """
    if clause.verb.tense == "present" or clause.verb.lemma in _ARRANGING or turn.kind == "document" or len(stated) != 1:
        return ()
    first, last = sorted([(stated[0].start, stated[0].end), (clause.start, clause.end)])
    past = BEGINNING < stated[0].since <= turn.local_time and stated[0].until < FOREVER
    return stated if past and not _OTHER_CLAUSE.search(turn.text[first[1] : last[0]]) else ()
