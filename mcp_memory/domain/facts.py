"""Facts as assertions and versions, their confidence, and how many values a relation has.

REAL §III-A defines a fact as the sextuple (head, relation, tail, [from, to), confidence, intent). An *assertion* is one
statement of a fact, by one extractor, at one place of one turn; it never changes. A *version* is what the assertions of
one (head, relation) say together for one interval, a pure function of them (``domain/versions.py``), so nothing is ever
overwritten.

**Confidence** (REAL §III-A, with DESIGN D38, since the paper gives no formula: DESIGN 2.3). Each turn that states the
fact counts once, with its highest value. With c₁ the highest of all and λ = ½::

    c* = 1 − (1 − c₁) · Π over the others (1 − λ·cᵢ),   at most max(.99, c₁), and below `CERTAIN` if c₁ is

So another turn never lowers it, one hedged remark never reaches the threshold of stable facts, a plain statement
reaches it at once, and a fact is certain only if one telling was. What contradicts a fact closes or contests it.

**Cardinality**: how many values a relation has at a time, learnt from assertions alone, not from their order (REAL
§III-A; DESIGN D38, 2.4, I10): how often one value replaced another (s), and how often two values held at the same time
(m), see `learnt`. Unknown behaves as multi.
"""

from __future__ import annotations

import re
from calendar import month_name
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from math import prod
from typing import Annotated, Literal, NamedTuple

from mcp_memory.codec import NOT_STORED, Bounds, Count, Share
from mcp_memory.domain.relations import DID, Cardinality, relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis, day_at
from mcp_memory.domain.turns import Turn, assertion_id

ExtractorName = Literal["caller", "anthropic", "embedded"]
"""Who extracted an assertion. For one sentence only the assertions of the first of these extractors count."""
Engine = Literal["embedded", "anthropic", "caller"]
"""Whose judgement decided: the caller's where the call itself contains it (facts, feedback, points, the step to
explore). What callers stated earlier is part of the memory; there, the engine is the one that weighs it now."""
Intent = Literal["CAUSAL", "EVOLUTION", "TEMPORAL", "CONTRAST", "FACT"]
"""REAL §III-A: what a statement or a question is about; if several fit, the first in this order."""
Status = Literal["active", "closed", "contested"]
"""A contested version lost to another value of the same start and has an empty interval."""

FactKind = Literal["state", "event", "planned"]
"""A state goes on until something ends it, an event happened and is over, a plan was announced for a time to come. A
planned fact does not hold before something confirms it (DESIGN 1.2)."""
Precision = Literal["day", "month", "year", "yearless", "before"]
"""How exactly times are known: ``yearless`` of a day and month alone, ``before``: at the latest when it was told."""

WHOLE = -1
"""Sentence index of an assertion about its turn as a whole."""


@dataclass(frozen=True, slots=True)
class Assertion:
    """One statement of a fact.

    Attributes:
        id: ``x_…``, derived from its place, words, times and extractor.
        sentence: index of the sentence within the turn, or `WHOLE`.
        start: first character of the stating words within the turn's text; ``end``: first one after them.
        head: as written, with pronouns resolved.
        relation: a name of the registry, or any other in its form (``domain/relations.py``).
        negated: whether it states that the fact does not hold, from ``since`` on.
        since: start: as stated, otherwise the time of the utterance; `BEGINNING` for "used to".
        until: stated end (exclusive), otherwise `FOREVER`.
        stated: whether ``since`` or ``until`` is stated.
        confidence: in (0, 1].
        change: whether the words state a change ("now", "switched to").
        said_at: `Turn.told_order` of its turn; nearly its time.
        precision: how exactly its times are known; None for a state whose start nobody stated, and for what was stored
            before this was recorded.
        original: head and tail as the log keeps them, where the ones above are masked (``domain/batch.py``).
    """

    id: str
    space: str
    turn_id: str
    sentence: Annotated[int, Bounds("no whole number that can be right", least=WHOLE)]
    start: Count
    end: Count
    head: str
    relation: str
    tail: str
    negated: bool
    since: Millis
    until: Millis
    stated: bool
    confidence: Share
    intent: Intent
    change: bool
    extractor: ExtractorName
    said_at: Millis
    recorded_at: Millis
    kind: FactKind = "state"
    precision: Precision | None = None
    original: tuple[str, str] | None = field(default=None, repr=False, metadata=NOT_STORED)


def kind_of(relation: str) -> FactKind:
    """Return the kind of a fact by its relation alone: of what was stored without a kind, or stated by a caller."""
    return "event" if relations().get(relation).event else "state"


@dataclass(frozen=True, slots=True)
class Validity:
    """When a fact holds by one statement; see `Assertion`."""

    since: Millis
    until: Millis
    stated: bool
    negated: bool = False
    change: bool = False
    kind: FactKind = "state"
    precision: Precision | None = None


def new_assertion(
    turn: Turn, sentence: int, span: tuple[int, int], triple: tuple[str, str, str], holds: Validity, *,
    confidence: float, intent: Intent, extractor: ExtractorName, recorded_at: Millis | None = None,
) -> Assertion:  # fmt: skip
    """Return an assertion of a turn with its id: in the words of a span, of a sentence by its index or `WHOLE`.

    ``triple`` has head, relation and tail. Without ``recorded_at`` it was stored when its turn was.
    """
    written_at = turn.written_at if recorded_at is None else recorded_at
    return with_id(Assertion(
        "", turn.space, turn.id, sentence, *span, *triple, holds.negated, holds.since, holds.until, holds.stated,
        confidence, intent, holds.change, extractor, turn.told_order, written_at, holds.kind, holds.precision,
    ))  # fmt: skip


@dataclass(frozen=True, slots=True)
class Version:
    """A value of a (head, relation) and the interval for which it holds according to all assertions.

    Attributes:
        id: ``f_…``, derived from its earliest recorded assertion.
        head: as written there.
        until: first instant after it; equal to ``since`` if and only if contested (DESIGN I3).
        stated: whether an assertion states ``since``; otherwise it is the time of the first utterance.
        status: ``active`` without an end, ``closed`` with one, ``contested`` if it never held.
        confidence: combined from its assertions (DESIGN 2.3), in (0, 1].
        intent: the intent of its latest assertion by time of utterance.
        assertions: the assertions that support it, in the order of recording.
        ended_by: assertions that closed it: negations, or the first of the value that followed; empty if the end was
            stated or there is none.
        superseded_by: id of the version that replaced it, if any.
        kind: planned if all its assertions are; otherwise that of the others.
        precision: the most exact of its assertions' that state its start; None if none does.
        as_of: when it was told last, if it was certain then and something was said since that may take it back; of
            what still holds, the confidence is below `CERTAIN` then.
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
    kind: FactKind = "state"
    precision: Precision | None = None
    as_of: Millis | None = None

    @property
    def text(self) -> str:
        """The fact as a sentence, without times."""
        return verbalise(self.head, self.relation, self.tail)

    @property
    def told_certain(self) -> bool:
        """Whether it is certain, or was when it was told last."""
        return self.confidence >= CERTAIN or self.as_of is not None

    def holds(self, since: Millis, until: Millis) -> bool:
        """Return whether it holds at some instant of ``[since, until)``; an empty version and a plan never do."""
        return self.kind != "planned" and self.since < self.until and self.since < until and self.until > since

    @property
    def lost(self) -> bool:
        """Whether it lost to another value of its start, and may be right; what was replaced or taken back has not."""
        return self.status == "contested" and not self.ended_by

    @property
    def current(self) -> bool:
        """Whether it holds and has no end."""
        return self.status == "active" and self.until >= FOREVER and self.kind != "planned"


_MONTH = re.compile(rf"(?:{'|'.join(month_name[1:])})?(?:(?:^|\s)\d{{4}}(?:-\d\d)?)?")
_DAY = re.compile(r"\b\d{1,2}\b")


def verbalise(head: str, relation: str, tail: str, *, negated: bool = False) -> str:
    """Return a fact as a short English sentence, "Ann lives in Oslo".

    A relation outside the registry that is a bare verb, "meet", is put into the present tense, which fits single and
    repeated actions.
    """
    if relation == DID:  # the tail has the verb: "Ana took a course"
        return f"{'No longer: ' if negated else ''}{head} {tail}"
    known = relations().get(relation)
    words = known.third_person or known.label
    if known.tail == "time" and words.endswith((" on", " in")):  # "starts on 3 April", "starts in April"
        fitting = "in" if _MONTH.fullmatch(tail) else "on" if _DAY.search(tail) else words[-2:]
        words = f"{words[:-2]}{fitting}"
    return f"{'No longer: ' if negated else ''}{head} {words} {tail}"


Key = Callable[[str], str]
"""Returns the key of a tail, equal for all its spellings."""


class TimedAssertion(NamedTuple):
    """An assertion with the times at which the fold takes it (DESIGN 1.2).

    They stand in for what the assertion itself does not state. An event is over: without a stated end it has the day of
    its start, and without any time the day of its telling. What was told without a time (precision ``before``) is
    placed by what else was told of the same value.

    Attributes:
        until: first instant after it; None if it says nothing about the end.
        before: whether nobody said when.
    """

    assertion: Assertion
    since: Millis
    until: Millis | None
    before: bool


def timed(assertion: Assertion) -> TimedAssertion:
    """Return an assertion with the times that it has on its own; an event is over (`TimedAssertion`)."""
    since, until, before = assertion.since, assertion.until, assertion.precision == "before"
    unknown = before and since <= BEGINNING and until >= FOREVER  # an event in a document of unknown time
    if assertion.kind == "event" and not assertion.negated and (until >= FOREVER or since <= BEGINNING) and not unknown:
        before = before or not assertion.stated or since <= BEGINNING
        since, until = day_at(assertion.said_at if before else since)
    return TimedAssertion(assertion, since, until, before)


def placed(said: Sequence[TimedAssertion]) -> list[TimedAssertion]:
    """Return what was told of one value with the starts at which it counts.

    A value that was told without its start ("I live with Ann") counts from its telling, unless it is said later that it
    had ended before that ("she moved out on 1 November"): then it began at an unknown time before that end.
    """
    denials = [entry.assertion for entry in said if entry.assertion.negated and entry.assertion.stated]
    said = [entry._replace(since=BEGINNING) if _had_ended(entry, denials) else entry for entry in said]
    undated = [entry for entry in said if entry.before and not entry.assertion.negated]
    placed = [entry for entry in said if not entry.before or entry.assertion.negated]
    starts = [entry.since for entry in placed if not entry.assertion.negated]
    alone = []
    for entry in undated:
        earlier = [start for start in starts if start < (entry.until or entry.since)]
        if earlier:
            placed.append(entry._replace(since=max(earlier), until=None))
        else:
            alone.append(entry)
    if alone:
        first = min(alone, key=lambda entry: (entry.until or FOREVER, entry.since))
        placed += [entry._replace(since=first.since, until=first.until) for entry in alone]
    return placed


def _had_ended(entry: TimedAssertion, denials: Iterable[Assertion]) -> bool:
    """Return whether a state that was told without times had ended before its telling, as was said afterwards."""
    said = entry.assertion
    if said.negated or said.stated or said.kind != "state" or entry.before:
        return False
    return any(
        denial.since <= entry.since and (denial.said_at, denial.recorded_at) >= (said.said_at, said.recorded_at)
        for denial in denials
    )


def with_id(item: Assertion) -> Assertion:
    """Return an assertion with the id that follows from what it states."""
    rest = "no" if item.negated else "yes", str(item.since), str(item.until)
    caller = (str(item.confidence),) if item.extractor == "caller" else ()
    triple = item.head, item.relation, item.tail
    made = assertion_id(item.turn_id, item.start, item.end, *triple, *rest, *caller, item.extractor)
    return replace(item, id=made)


def at_no_time(item: Assertion) -> Assertion:
    """Return an assertion of a text of unknown time: what states no time of its own has an unknown start.

    So it ends nothing whose start is known, and what has a known start ends it.
    """
    if item.stated:
        return item
    precision: Precision | None = "before" if item.kind == "event" else item.precision
    return with_id(replace(item, since=BEGINNING, precision=precision))


FURTHER_TURN = 0.5
"""Weight of a further turn beside the one with the highest confidence."""
CEILING = 0.99
"""Highest confidence that several turns reach, unless one of them exceeds it; below `CERTAIN` if none is certain."""
STABLE = 0.8
"""θ_stable of REAL (§IV-C2, Table IV): a fact below it is only suspected until something confirms it."""
CERTAIN = 0.9
"""The confidence from which on a fact is certain: right 19 times in 20, so that an answer may state it plainly."""


def combined(assertions: Iterable[Assertion]) -> float:
    """Return the confidence in (0, 1] of one or more assertions of the same fact."""
    turns: dict[str, float] = {}
    for assertion in assertions:
        turns[assertion.turn_id] = max(assertion.confidence, turns.get(assertion.turn_id, 0.0))
    surest, *others = sorted(turns.values(), reverse=True)
    if not others:
        return surest
    together = 1 - (1 - surest) * prod(1 - FURTHER_TURN * other for other in others)
    highest = CEILING if surest >= CERTAIN else CERTAIN - 0.01
    return max(surest, min(together, highest))  # rounding could take very small values below the surest


def learnt(superseded: int, together: int) -> Cardinality:
    """Return the cardinality that the counters s and m of a relation indicate."""
    single = (superseded + 1) / (superseded + together + 2)  # P
    if superseded >= 3 and single >= 0.75:
        return "single"
    if together >= 3 and single <= 0.35:
        return "multi"
    return "unknown"


def count(assertions: Sequence[Assertion], key: Callable[[str], str]) -> tuple[int, int]:
    """Return the counters s and m of one (head, relation).

    A value supersedes another if it begins, or comes back, with a marker of change or with the negation of another
    value in the same turn, while another value was known before. Two values are together if, without such a marker, one
    turn states both for one time, or a later turn states the older one again after the newer one has begun.
    """
    by_turn: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in assertions:
        by_turn[assertion.turn_id].append(assertion)
    superseded = together = 0
    begun: dict[str, None] = {}  # values in the order in which they began, or came back
    for said in sorted(by_turn.values(), key=lambda said: (min(a.since for a in said), min(a.id for a in said))):
        starts: dict[str, Millis] = {}
        for assertion in sorted(said, key=lambda a: (a.since, a.id)):
            if not assertion.negated:
                starts.setdefault(key(assertion.tail), assertion.since)
        at_once = len(starts) > 1 and len(set(starts.values())) == 1
        denied = any(a.negated and key(a.tail) in begun and key(a.tail) not in starts for a in said)
        change = denied or any(a.change or a.intent == "EVOLUTION" for a in said)
        current = next(reversed(begun), None)
        if not change:
            together += at_once or any(tail in begun and tail != current for tail in starts)
        begun |= dict.fromkeys(tail for tail in starts if tail not in begun)
        if change and starts and not at_once:
            latest = next(reversed(starts))
            superseded += latest != current and len(begun) > 1
            begun.pop(latest)
            begun[latest] = None
    return superseded, together
