"""Fold the assertions of one (head, relation) into versions (DESIGN 1.3).

**Departures.** In REAL (§III-A) each statement changes the graph: of a relation with one value at a time, the same
value merges with the stored one to [earlier start, ∞), and another one ends it at its own start. Taken literally, a
person lives in two cities at once when a value returns (DESIGN D25), and a statement that arrives late makes an
interval end before it starts (DESIGN D26). Here versions are a pure function of all assertions, in any order of
arrival. If statements arrive in order and no value returns, the result is that of the paper's rule. An assertion below
the confidence threshold closes nothing (`fold_by_confidence`): the paper only excludes it from retrieval, and a value
that it closed would be gone without a replacement.

Intervals are half-open (DESIGN D27). Of values that start at the same instant the loser is ``contested``, with an empty
interval (DESIGN D28; `_winner`). A statement without an end reopens a version with a stated end only if it starts at
that end, or was uttered after that end and after the statement of the end: "I live in Oslo" (2012) does not know of
"until 2015", and "since 2010" and later "from 2010 to 2015" mean the latter.

Values with an unknown start ("I used to live in Paris", "I used to live in Rome") stand side by side, up to their end
or to the first value with a known start: "where did she use to live?" returns both. Only here can versions of a
relation with one value at a time overlap (DESIGN I2). Of two values of unknown start that go on, one is contested.

Events and plans (DESIGN 1.2): an event is over; what was told without a time (``before``) supports the latest dated
version of its value that began before the telling, else makes one version with all others told so, and ends nothing. A
plan has a version of its own, which neither closes another value nor is closed by one, until a later statement that is
no plan confirms it. Of a relation like ``scheduled_for`` (`Relation.last_told`) the latest telling counts.

What was taken back never held: a text that was read wrongly, or a caller's own mistake (`retracted`). REAL has denials
that end a value only, so a wrong reading would stay in the history for good.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mcp_memory.domain.entities import doses_together, is_dose_of
from mcp_memory.domain.facts import Assertion, Key, Precision, Status, TimedAssertion, Version, combined, placed, timed
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, DAY, FOREVER, Millis
from mcp_memory.domain.turns import version_id


@dataclass(eq=False)
class _DraftVersion:
    """A version while it is folded.

    Attributes:
        stated_end: the latest stated end, last stated at ``end_said_at``; `BEGINNING` for none.
        open_since: the latest start of a statement without an end, last made at ``open_said_at``.
    """

    tail: str
    since: Millis
    until: Millis
    support: list[Assertion] = field(default_factory=list)
    ended_by: list[Assertion] = field(default_factory=list)
    next: _DraftVersion | None = None
    stated_end: Millis = BEGINNING
    end_said_at: Millis = BEGINNING
    open_since: Millis = BEGINNING - 1
    open_said_at: Millis = BEGINNING - 1

    def join(self, positives: Iterable[TimedAssertion]) -> _DraftVersion:
        for said, since, until, _ in positives:
            self.support.append(said)
            if until is None:
                continue
            if until >= FOREVER:
                self.open_since = max(self.open_since, since)
                if since > BEGINNING or said.stated:  # what was told at no time knows of no end
                    self.open_said_at = max(self.open_said_at, said.said_at)
            else:
                self.stated_end, self.end_said_at = max((self.stated_end, self.end_said_at), (until, said.said_at))
        goes_on = self.open_since >= self.stated_end or (
            self.open_said_at >= self.stated_end and self.open_said_at > self.end_said_at
        )
        self.until = FOREVER if goes_on else self.stated_end
        return self


def fold(assertions: Sequence[Assertion], *, single: bool, key: Key) -> tuple[Version, ...]:
    """Return the versions of one (head, relation).

    Args:
        assertions: all of them, in the order of recording, which decides ids and spelling.
        single: whether the relation has one value at a time; otherwise each tail is folded separately.
        key: the key of a tail.

    Returns:
        Versions by start, then end, then id. Every positive assertion supports exactly one (DESIGN I4).
    """
    if len(assertions) == 1 and not assertions[0].negated and assertions[0].kind != "planned":
        return (
            _version(_DraftVersion("", timed(assertions[0]).since, FOREVER).join(map(timed, assertions))),
        )  # the same, sooner
    key = _with_denied(assertions, key)
    recorded = {assertion.id: place for place, assertion in enumerate(assertions)}
    if single and assertions and relations().get(assertions[0].relation).last_told:
        drafts = _fold_last_told(assertions, key)
    else:
        taken_back = retracted(assertions, key)
        said, drafts = _without_plans([one for one in assertions if one.id not in taken_back], key, single=single)
        drafts += [_DraftVersion(one.tail, one.since, one.since, [one], no) for one, no in taken_back.values()]
        apart = {} if single else doses_together([one.assertion for one in said], key)
        together: dict[str, list[TimedAssertion]] = defaultdict(list)
        for one in said:
            for thing in apart.get(one.assertion.id, ("",)):
                together[thing].append(one)
        drafts += [draft for of_thing in together.values() for draft in _fold(of_thing, key)]
    for draft in drafts:
        draft.support.sort(key=lambda assertion: recorded[assertion.id])
    return tuple(
        sorted((_version(draft) for draft in drafts), key=lambda version: (version.since, version.until, version.id))
    )


def fold_by_confidence(
    assertions: Sequence[Assertion], *, single: bool, key: Key, stable: float
) -> tuple[tuple[Version, ...], tuple[Version, ...]]:
    """Return the reliable versions, and the unconfirmed ones.

    Unconfirmed versions are removed and the rest is folded again, until every remaining version is reliable. So a
    hedged statement has no effect before it is confirmed. Hedged ends, and values whose assertions together stay below
    ``stable`` (θ_stable), are removed first; then values that are reliable overall, but not in any single interval.
    """
    suspected: list[Version] = []
    key = _with_denied(assertions, key)
    unsure = _unsure_ends(assertions, key, stable)
    left = [assertion for assertion in assertions if assertion.id not in unsure]
    while True:
        versions = fold(left, single=single, key=key)
        doubtful = [version for version in versions if version.confidence < stable]
        if not doubtful:
            return versions, tuple(sorted(suspected, key=lambda version: (version.since, version.until, version.id)))
        saying: dict[str, list[Assertion]] = defaultdict(list)
        for version in versions:
            saying[key(version.tail)] += version.assertions
        hopeless = [version for version in doubtful if combined(saying[key(version.tail)]) < stable]
        suspected += (out := hopeless or doubtful)
        gone = {assertion.id for version in out for assertion in version.assertions}
        left = [assertion for assertion in left if assertion.id not in gone]


def _with_denied(assertions: Collection[Assertion], key: Key) -> Key:
    """Return a key by which a denial means the one value that it describes in fewer or more words.

    "I no longer work at the library" denies "the public library", if nothing else that was said begins or ends alike.
    """
    no = [one for one in assertions if one.negated]
    said = {key(one.tail) for one in assertions if not one.negated} if no else set()
    meant: dict[str, str] = {}
    for denied in {key(one.tail) for one in no} - said:
        alike = [value for value in said if _is_part(denied, value) or _is_part(value, denied)]
        if len(alike) == 1:
            meant[denied] = alike[0]
    return (lambda tail: meant.get(key(tail), key(tail))) if meant else key


def _is_part(short: str, long: str) -> bool:
    return long.startswith(f"{short} ") or long.endswith(f" {short}")


def _unsure_ends(assertions: Collection[Assertion], key: Key, stable: float) -> set[str]:
    """Return the ids of negations whose combined confidence, within one stay of the value, is below ``stable``."""
    if not any(assertion.negated for assertion in assertions):
        return set()
    by_tail: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in assertions:
        by_tail[key(assertion.tail)].append(assertion)
    unsure: set[str] = set()
    for of_tail in by_tail.values():
        ends: dict[int, list[Assertion]] = defaultdict(list)
        starts = 0
        for assertion in sorted(of_tail, key=lambda a: (a.since, a.negated)):
            if assertion.negated:
                ends[starts].append(assertion)
            else:
                starts += 1
        for together in ends.values():
            if combined(together) < stable:
                unsure |= {negative.id for negative in together}
    return unsure


def _without_plans(
    assertions: Sequence[Assertion], key: Key, *, single: bool
) -> tuple[list[TimedAssertion], list[_DraftVersion]]:
    """Return what is no plan, or a plan that something confirmed, and the drafts of the other plans.

    A statement of the value that is no plan, made when its time had come, confirms it; a dated one also says its start.
    """
    said = [timed(assertion) for assertion in assertions if assertion.kind != "planned" or assertion.negated]
    plans: dict[tuple[str, Millis, Millis], list[Assertion]] = defaultdict(list)
    facts: dict[str, list[TimedAssertion]] = defaultdict(list)
    denials: dict[str, list[Assertion]] = defaultdict(list)
    for one in said:
        if one.assertion.negated:
            denials[key(one.assertion.tail)].append(one.assertion)
        else:
            facts[key(one.assertion.tail)].append(one)
    for plan in assertions:
        if plan.kind != "planned" or plan.negated:
            continue
        confirming = [one for one in facts[key(plan.tail)] if one.assertion.said_at >= plan.since]
        if not confirming:
            plans[key(plan.tail), plan.since, plan.until].append(plan)
        elif starts := [one.since for one in confirming if one.assertion.stated and not one.before]:
            said.append(TimedAssertion(plan, min(starts), None, before=False))
        else:
            said.append(TimedAssertion(plan, plan.since, plan.until, before=False))
    drafts = []
    for (tail, since, until), of_plan in plans.items():
        draft = _DraftVersion(tail, since, until, of_plan)
        latest = max(plan.said_at for plan in of_plan)
        if ends := [no for no in denials[tail] if no.said_at >= latest and no.since < until]:
            draft.until, draft.ended_by = since, ends
        drafts.append(draft)
    if single:
        _contest_plans(drafts)
    return said, drafts


def _contest_plans(drafts: Iterable[_DraftVersion]) -> None:
    """Let, of several plans for one start, the one that was told last hold (DESIGN D28)."""
    by_start: dict[Millis, list[_DraftVersion]] = defaultdict(list)
    for draft in drafts:
        if draft.until > draft.since:
            by_start[draft.since].append(draft)
    for together in by_start.values():
        winner = max(together, key=_last_told)
        for draft in together:
            if draft is not winner:
                draft.until, draft.ended_by, draft.next = draft.since, winner.support, winner


def _fold_last_told(assertions: Sequence[Assertion], key: Key) -> list[_DraftVersion]:
    """Return the drafts of a relation with dates, such as appointments: each date that was stated, also replaced ones.

    The latest statement about a date that is still to come replaces the earlier ones; a later denial cancels it.
    """
    drafts: dict[tuple[Millis, Millis, str], _DraftVersion] = {}
    denials = [one for one in assertions if one.negated]
    for one in assertions:
        if not one.negated:
            times = timed(one)
            place = times.since, times.until or FOREVER, "" if one.stated else key(one.tail)
            draft = drafts.setdefault(place, _DraftVersion(key(one.tail), *place[:2]))
            draft.support.append(one)
    by_telling = sorted(drafts.values(), key=_last_told)
    for number, draft in enumerate(by_telling):
        latest = max(one.said_at for one in draft.support)
        ends = [
            no for no in denials if no.said_at >= latest and key(no.tail) == draft.tail and no.said_at < draft.until
        ]
        for later in by_telling[number + 1 :]:
            if min(one.said_at for one in later.support if one.said_at >= latest) < draft.until:
                draft.until, draft.ended_by, draft.next = draft.since, list(later.support), later
                break
        else:
            if ends:
                draft.until, draft.ended_by = draft.since, ends
    return by_telling


def _telling(said: Assertion) -> tuple[Millis, bool, int, int, Millis, str]:
    """Return what orders assertions by their telling; a caller's own fact is told last in its message."""
    return said.said_at, said.extractor == "caller", said.sentence, said.start, said.recorded_at, said.id


def _last_told(draft: _DraftVersion) -> tuple[Millis, bool, int, int, Millis, str]:
    return max(map(_telling, draft.support))


def _fold(said: Sequence[TimedAssertion], key: Key) -> list[_DraftVersion]:
    """Return the drafts of values that exclude each other, including contested (empty) ones."""
    values: dict[str, list[TimedAssertion]] = defaultdict(list)
    for one in said:
        values[key(one.assertion.tail)].append(one)
    starting: dict[Millis, list[TimedAssertion]] = defaultdict(list)
    for of_value in values.values():
        for one in placed(of_value):
            starting[one.since].append(one)
    now, drafts = _undated_drafts(_positives(starting.pop(BEGINNING, ()), key))
    for start in sorted(starting):
        positives = _positives(starting[start], key)
        ended = [draft for draft in now if _end_if_denied(draft, start, starting[start], positives, key)]
        now = [draft for draft in now if draft not in ended]
        if not positives:
            continue
        winner = _winner(positives)
        for tail, of_tail in positives.items():
            if tail == winner:
                continue
            support = [one.assertion for one in of_tail]
            if lost := _of(now, tail):
                lost.support += support
            else:
                drafts.append(_DraftVersion(tail, start, start, support))
        going_on = _of(now, winner)
        following = going_on or _DraftVersion(winner, start, FOREVER)
        following.join(positives[winner])
        for draft in now:
            if draft is not following:
                draft.until, draft.ended_by = start, [one.assertion for one in positives[winner]]
                ended.append(draft)
        if going_on is None:
            drafts.append(following)
            for draft in ended:
                if draft.until == start:
                    draft.next = following
        now = [following]
    return drafts


def _undated_drafts(positives: Mapping[str, list[TimedAssertion]]) -> tuple[list[_DraftVersion], list[_DraftVersion]]:
    """Return the drafts with an unknown start: those that hold side by side (of those that go on, one), and all."""
    begun = {tail: _DraftVersion(tail, BEGINNING, FOREVER).join(said) for tail, said in positives.items()}
    going_on = {tail: positives[tail] for tail, draft in begun.items() if draft.until >= FOREVER}
    winner = _winner(going_on) if going_on else None
    for tail in going_on:
        if tail != winner:
            begun[tail].until = BEGINNING
    drafts = list(begun.values())
    return [draft for draft in drafts if draft.until > BEGINNING], drafts


def _end_if_denied(
    draft: _DraftVersion, start: Millis, said: Iterable[TimedAssertion], positives: Collection[str], key: Key
) -> bool:
    """End a draft that a negation denies at a start, and return whether it has ended by then."""
    if draft.until <= start:  # a stated end has passed, unless the value is asserted again exactly there
        return not (draft.until == start and draft.tail in positives)
    if draft.tail in positives:
        return False
    ends = [one.assertion for one in said if one.assertion.negated and _denies(one.assertion.tail, draft, key)]
    if ends:
        draft.until, draft.ended_by = start, ends
    return bool(ends)


def _denies(tail: str, draft: _DraftVersion, key: Key) -> bool:
    return key(tail) == draft.tail or is_dose_of(draft.support[0].tail, tail, key)


def _positives(said: Iterable[TimedAssertion], key: Key) -> dict[str, list[TimedAssertion]]:
    positives: dict[str, list[TimedAssertion]] = defaultdict(list)
    for one in said:
        if not one.assertion.negated:
            positives[key(one.assertion.tail)].append(one)
    return positives


def _winner(positives: Mapping[str, Iterable[TimedAssertion]]) -> str:
    """Return the tail that wins among several with the same start (DESIGN D28)."""
    said = [(one.assertion, tail) for tail, of_tail in positives.items() for one in of_tail]
    said.sort(key=lambda each: _telling(each[0]))
    last = {one.extractor: one for one, _ in said if not one.stated and one.since > BEGINNING}
    counted = [each for each in said if each[0] is last.get(each[0].extractor, each[0]) or each[0].stated]
    return max(counted or said, key=lambda each: (each[0].confidence, _telling(each[0])))[1]


def _of(drafts: Iterable[_DraftVersion], tail: str) -> _DraftVersion | None:
    return next((draft for draft in drafts if draft.tail == tail), None)


def _version(draft: _DraftVersion) -> Version:
    """Return a draft of support for one value as a version of the fact."""
    first = draft.support[0]
    status: Status = "contested" if draft.since == draft.until else "active" if draft.until >= FOREVER else "closed"
    return Version(
        id=version_id(first.id),
        head=first.head,
        relation=first.relation,
        tail=first.tail,
        since=draft.since,
        until=draft.until,
        stated=any(assertion.stated and assertion.since == draft.since for assertion in draft.support),
        status=status,
        confidence=combined(draft.support),
        intent=max(draft.support, key=lambda assertion: (assertion.said_at, assertion.id)).intent,
        assertions=tuple(draft.support),
        ended_by=tuple(draft.ended_by),
        superseded_by=version_id(draft.next.support[0].id) if draft.next else None,
        kind=max(draft.support, key=lambda one: (one.kind != "planned", one.said_at, one.id)).kind,
        precision=_precision(draft),
    )


_EXACTNESS: Mapping[Precision | None, int] = {"day": 0, "month": 1, "year": 2, "yearless": 3, None: 4, "before": 5}


def _precision(draft: _DraftVersion) -> Precision | None:
    """Return how exactly the times of a draft are known: by the most exact statement of its start."""
    said = [timed(assertion) for assertion in draft.support]
    starting = [one for one in said if one.since == draft.since] or said
    best = min(starting, key=lambda one: _EXACTNESS["before" if one.before else one.assertion.precision])
    return "before" if best.before else best.assertion.precision


def retracted(assertions: Sequence[Assertion], key: Key) -> dict[str, tuple[Assertion, list[Assertion]]]:
    """Return, by id, the assertions of one (head, relation) that were taken back, each with the denials that do so.

    A plan is none of them: any later denial cancels it.
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
