"""Facts: what was asserted, and the versions that the assertions about one thing add up to.

REAL §3.1 writes a fact as the sextuple (head, relation, tail, [from, to), confidence, intent). Here an *assertion* is
one statement of it, by one extractor, in one place of one turn, and is never changed; a *version* is what the
assertions of one (head, relation) say together for one stretch of time, a pure function of them
(``domain/versions.py``), so that nothing is ever overwritten.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import FOREVER, Millis

Extractor = Literal["caller", "anthropic", "embedded"]
"""Who read an assertion out of a text; of one sentence only the best one's count, in this order."""
Engine = Literal["embedded", "anthropic", "caller"]
"""Whose judgement decided: the caller's where the call itself contains it (facts, feedback, points, the step to
explore). What callers stated earlier is part of the memory; there, the engine is the one that weighs it now."""
Intent = Literal["CAUSAL", "EVOLUTION", "TEMPORAL", "CONTRAST", "FACT"]
"""REAL §3.1: what a statement or a question is about; where several fit, the first of this order."""
Status = Literal["active", "closed", "contested"]
"""A contested version lost to another value of the same start and has an empty interval."""

WHOLE = -1
"""As the sentence of an assertion: it is about its turn as a whole."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """One statement of a fact.

    Attributes:
        id: ``x_…``, made of its place, its words, its times and its extractor.
        space: of its turn.
        turn_id: the turn that says it.
        sentence: index of the sentence within the turn, or `WHOLE`.
        start: first character, within the turn's text, of the words that say it.
        end: first character after them.
        head: as written, "I" and "she" replaced by whom they mean.
        relation: a name of the registry, or any other in its form (``domain/relations.py``).
        tail: as written.
        negated: whether it says that the fact does not hold, from ``since`` on.
        since: when it began to hold: as stated, else when it was said; `BEGINNING` for "used to".
        until: its stated end (exclusive), else `FOREVER`.
        stated: whether ``since`` or ``until`` is stated.
        confidence: in (0, 1].
        intent: of the statement.
        change: whether the words say that something changed ("now", "switched to").
        extractor: who read it.
        said_at: the time of its turn.
        recorded_at: when it was stored.
    """

    id: str
    space: str
    turn_id: str
    sentence: int
    start: int
    end: int
    head: str
    relation: str
    tail: str
    negated: bool
    since: Millis
    until: Millis
    stated: bool
    confidence: float
    intent: Intent
    change: bool
    extractor: Extractor
    said_at: Millis
    recorded_at: Millis


@dataclass(frozen=True, slots=True)
class Version:
    """A value, for as long as it holds by all that was asserted.

    Attributes:
        id: ``f_…``, made of the earliest recorded of its assertions.
        head: as written there.
        relation: its name.
        tail: as written there.
        since: first instant.
        until: first instant after it; equal to ``since`` exactly where contested (DESIGN I3).
        stated: whether some statement gives ``since``; else it is when it was first said.
        status: ``active`` has no end, ``closed`` has one, ``contested`` never held.
        confidence: of its assertions together (DESIGN 2.3), in (0, 1].
        intent: of the latest said of its assertions.
        assertions: those that support it, in the order in which they were recorded.
        ended_by: the negations or the first assertions of the value that came after, which closed it; empty where
            the end was stated or there is none.
        superseded_by: the id of the version that took its place, if one did.
    """

    id: str
    head: str
    relation: str
    tail: str
    since: Millis
    until: Millis
    stated: bool
    status: Status
    confidence: float
    intent: Intent
    assertions: tuple[Assertion, ...]
    ended_by: tuple[Assertion, ...] = ()
    superseded_by: str | None = None

    @property
    def text(self) -> str:
        """The fact as a sentence, without its times."""
        return verbalise(self.head, self.relation, self.tail)

    def holds(self, since: Millis, until: Millis) -> bool:
        """Return whether it holds at some instant of ``[since, until)``; an empty version never does."""
        return self.since < self.until and self.since < until and self.until > since

    @property
    def current(self) -> bool:
        """Whether it has no end."""
        return self.status == "active" and self.until >= FOREVER


def verbalise(head: str, relation: str, tail: str, *, negated: bool = False) -> str:
    """Return a fact as a short English sentence, "Ann lives in Oslo".

    A relation that nobody listed and that is a bare verb, "meet", is told in the present, which fits what is done once
    and what is done always.
    """
    known = relations().get(relation)
    return f"{'No longer: ' if negated else ''}{head} {known.told or known.label} {tail}"
