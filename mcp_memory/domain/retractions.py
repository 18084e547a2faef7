"""Take back what was never so: a text that was read wrongly, or a caller's own mistake.

A denial says that a fact holds no more from a time on. A caller's denial takes the fact back instead if it starts where
the denied value does, or if the value had not begun when it was denied ("we cancelled the trip"): then the value never
holds, and a value that it had ended goes on.

**Departures.** REAL §3.2 has denials that end a value only, so a wrong reading would stay in the history for good.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.domain.facts import Assertion, Key
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, Millis


def retracted(assertions: Sequence[Assertion], key: Key) -> dict[str, tuple[Assertion, list[Assertion]]]:
    """Return, by id, the assertions of one (head, relation) that were taken back, each with the denials that do so.

    A plan is none of them: any later denial cancels it (``versions.py``).

    Args:
        assertions: all of them.
        key: the key of a tail.
    """
    denials = [one for one in assertions if one.negated]
    found: dict[str, tuple[Assertion, list[Assertion]]] = {}
    for denial in denials:
        if denial.extractor != "caller":
            continue
        value = key(denial.tail)
        known = [one for one in assertions if key(one.tail) == value and _precedes(one, denial)]
        end = min((no.since for no in denials if key(no.tail) == value and no.since > denial.since), default=FOREVER)
        whole = any(denial.since in _starts(one) for one in known)
        for one in known:
            repeated = whole and denial.since <= one.since < end
            if repeated or denial.since in _starts(one) or denial.since <= denial.said_at < one.since:
                found.setdefault(one.id, (one, []))[1].append(denial)
    return found


def _precedes(said: Assertion, denial: Assertion) -> bool:
    """Return whether a statement was made before a denial, or read by others in the message that it is about."""
    if said.negated or said.kind == "planned":
        return False
    misread = denial.turn_id == said.turn_id and said.extractor != "caller"
    return misread or (said.said_at, said.recorded_at) < (denial.said_at, denial.recorded_at)


def _starts(said: Assertion) -> set[Millis]:
    """Return the start of a statement, and what a reply shows of it: the second or, of an event, the day.

    One of unknown start has the time of its telling.
    """
    since = said.since if said.since > BEGINNING else said.said_at
    if said.stated and said.kind == "state":
        return {since}
    return {since, since - since % 1000, *([since // DAY * DAY] if said.kind == "event" else [])}
