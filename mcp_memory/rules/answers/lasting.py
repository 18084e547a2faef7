"""When a fact began or ended, and for how long it held, said out of its validity.

What nobody stated is worked out and said with a hedge: a value held by the day on which it was first said, and was over
by the day on which somebody denied it or the next one held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcp_memory.domain.answers import KnownFacts
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.rules.answers.held import Held, When, chosen
from mcp_memory.rules.answers.matching import Match
from mcp_memory.rules.answers.relations import ends, tokens, turning
from mcp_memory.rules.answers.telling import began, ended, lasted, listed, stretch

_PLACES = frozenset(("first", "last", "within"))
"""Orders of time that a question for a time can have; "before" and "after" it would ask for two times at once."""


@dataclass(frozen=True, slots=True)
class Said:
    """An answer in the making: what it rests on, its words, and how far it is weakened.

    Attributes:
        text: its words.
        values: that it tells.
        worth: how far it is weakened, in (0, 1].
        hedged: whether it should be said with doubt.
        by: further assertions that it rests on.
        open: whether there may be more values than it tells.
    """

    text: str
    values: tuple[Held, ...]
    worth: float = 1.0
    hedged: bool = False
    by: tuple[Assertion, ...] = ()
    open: bool = False


def when_said(
    question: Query, knowledge: KnownFacts, matched: Match, at: When | None, first_said: float
) -> Said | None:
    """Say when something began or ended, or from when to when it held.

    Args:
        question: asks when.
        knowledge: of the entities that it names.
        matched: what it asks for.
        at: the time that it names, or None.
        first_said: what a start is worth that nobody stated.
    """
    relation = relations().get(matched.group.relation)
    values = list(matched.named or matched.values)
    if at is not None:
        if at.order not in _PLACES:
            return None
        values = chosen(values, at, event=relation.event, past=True, moment=knowledge.moment)
    ending = ends(question.text)
    if ending:
        values = [one for one in values if not one.open]
    if len({one.value for one in values}) != 1:
        return None
    if ending:
        texts = [_by(ended(one, knowledge), exact=_end_told(one)) for one in values]
        by = tuple(assertion for one in values for assertion in one.version.ended_by)
        return Said(_row(texts), tuple(values), hedged=any(_end_implied(one) for one in values), by=by)
    asked_for_start = bool(turning(tokens(question.text, question.time)))
    begin = relation.event or relation.cardinality == "unknown" or asked_for_start  # unknown ones may be events
    unsure = any(not one.stated for one in values)
    fresh = any(assertion.change for one in values for assertion in one.said)
    worth = first_said if unsure and not fresh else 1.0
    if begin:
        texts = [_by(began(one, knowledge), exact=one.stated) for one in values]
        return Said(_row(texts), tuple(values), worth, hedged=unsure)
    hedged = unsure or any(_end_implied(one) for one in values)
    return Said(_row([stretch(one, knowledge) for one in values]), tuple(values), worth, hedged=hedged)


def how_long(knowledge: KnownFacts, matched: Match, at: When | None, *, past: bool) -> Said | None:
    """Say for how long a value held, or has held until now; arguments as for `when_said`.

    ``past`` tells whether the question is put in the past tense.
    """
    if relations().get(matched.group.relation).event or (at is not None and at.order not in _PLACES):
        return None
    values = list(matched.named or matched.values)
    if at is not None or len(values) > 1:
        values = chosen(values, at, event=False, past=past, moment=knowledge.moment)
    if len(values) != 1:
        return None
    one = values[0]
    text = stretch(one, knowledge)
    if text is None or began(one, knowledge) is None:
        return None
    length = lasted(one.since, knowledge.moment if one.open else one.until)
    said = f"{'' if one.stated else 'at least '}{length} ({text})"
    return Said(said, (one,), hedged=not one.stated or _end_implied(one), by=one.version.ended_by)


def _row(texts: Sequence[str | None]) -> str:
    return listed([text for text in texts if text]) if all(texts) else ""


def _by(time: str | None, *, exact: bool) -> str | None:
    return time if exact or time is None else f"by {time}"


def _end_told(one: Held) -> bool:
    """Return whether the instant of an end was stated: of the value itself, of its denial or of what came after it."""
    return not one.version.ended_by or any(said.stated for said in one.version.ended_by)


def _end_implied(one: Held) -> bool:
    """Return whether nobody stated the end of a value: it is taken from the next one, or from when it was denied."""
    by = one.version.ended_by
    return bool(by) and not any(said.stated and said.negated for said in by)
