"""The canonical fold: from the assertions of one (head, relation) to the versions that they add up to (DESIGN 1.3).

REAL §3.2 changes the graph with each new statement. Its rules, taken to the letter, let a person live in two cities at
once as soon as a value returns (DESIGN D25), and make intervals that end before they begin when news arrives late
(DESIGN D26). Here nothing is changed: versions are a pure function of all that was asserted, whatever the order of
arrival, and the past is the fold of an earlier prefix. Where statements arrive in order and no value returns, this is
the paper's rule.

Intervals are half-open (DESIGN D27). Of two values that begin at the same instant one is a correction of the other: the
surer wins, then the later said, then the higher id; the loser is kept as ``contested``, with an empty interval (DESIGN
D28).

**Departures.** DESIGN 1.3 lets any statement without an end keep a version open that has one. Here it does so only if
it begins at that end, or was said after it and after the statement of it: "I live in Oslo" (2012) knows nothing of
"until 2015", and who tells today "since 2010" and later "from 2010 to 2015" means the latter. A remark below the
threshold of confidence closes nothing (`layers`): the paper only says that it is left out of retrieval, and a value
that it had closed would then be gone without anything in its place.

DESIGN D28 takes values with one start for corrections of each other. Those that began nobody knows when ("I used to
live in Paris", "I used to live in Rome") don't have one start, they have none that is known. So what is over stands
beside what else began then, up to its end or to the first value with a start of its own: asked where she used to live,
both are told, and where she lives now, neither. This is the one place where versions of a relation with one value at a
time may overlap (DESIGN I2). Intervals that don't would need an order that nobody told; of two such values that go on,
one is still contested, since both are claimed for now.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from mcp_memory.domain.confidence import combined
from mcp_memory.domain.facts import Assertion, Status, Version
from mcp_memory.domain.ids import version_id
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis

Key = Callable[[str], str]
"""Brings a tail to what all spellings of it share."""


@dataclass(eq=False)
class _Run:
    """A version in the making.

    Attributes:
        stated_end: the last end that a statement gives; `BEGINNING` for none.
        end_said_at: when it was last said.
        open_since: the last start of a statement without an end.
        open_said_at: when one was last said.
    """

    tail: str
    since: Millis
    until: Millis
    support: list[Assertion] = field(default_factory=list)
    ended_by: list[Assertion] = field(default_factory=list)
    next: _Run | None = None
    stated_end: Millis = BEGINNING
    end_said_at: Millis = BEGINNING
    open_since: Millis = BEGINNING - 1
    open_said_at: Millis = BEGINNING - 1

    def join(self, positives: Iterable[Assertion]) -> None:
        for said in positives:
            self.support.append(said)
            if said.until >= FOREVER:
                self.open_since = max(self.open_since, said.since)
                self.open_said_at = max(self.open_said_at, said.said_at)
            else:
                self.stated_end, self.end_said_at = max((self.stated_end, self.end_said_at), (said.until, said.said_at))
        goes_on = self.open_since >= self.stated_end or (
            self.open_said_at >= self.stated_end and self.open_said_at > self.end_said_at
        )
        self.until = FOREVER if goes_on else self.stated_end


def fold(assertions: Sequence[Assertion], *, single: bool, key: Key) -> tuple[Version, ...]:
    """Return the versions of one (head, relation).

    Args:
        assertions: all of them, in the order in which they were recorded; it decides ids, and whose spelling is kept.
        single: whether the relation has one value at a time; else each tail is folded by itself.
        key: of a tail.

    Returns:
        By start, then end, then id. Every positive assertion supports exactly one of them (DESIGN I4).
    """
    recorded = {assertion.id: place for place, assertion in enumerate(assertions)}
    if single:
        runs = _fold(assertions, key)
    else:
        tails: dict[str, list[Assertion]] = defaultdict(list)
        for assertion in assertions:
            tails[key(assertion.tail)].append(assertion)
        runs = [run for of_tail in tails.values() for run in _fold(of_tail, key)]
    for run in runs:
        run.support.sort(key=lambda assertion: recorded[assertion.id])
    return tuple(
        sorted((_version(run) for run in runs), key=lambda version: (version.since, version.until, version.id))
    )


def layers(
    assertions: Sequence[Assertion], *, single: bool, key: Key, stable: float
) -> tuple[tuple[Version, ...], tuple[Version, ...]]:
    """Return the versions that can be relied on, and those that are only suspected.

    What is suspected is taken out and the rest folded again, until every version that is left is sure enough: so a
    hedged remark has no effect before it is confirmed, and its full effect, from its own start, afterwards. Hedged
    ends and values that all their turns together don't make sure go first: what they had cut in two may be sure as
    one. Values that are sure altogether, but not in any one stretch of time, go after them.

    Args:
        assertions: as for `fold`.
        single: as for `fold`.
        key: as for `fold`.
        stable: θ_stable, the confidence from which on a version is relied on; 0 relies on all.
    """
    suspected: list[Version] = []
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
        out = hopeless or doubtful
        suspected += out
        gone = {assertion.id for version in out for assertion in version.assertions}
        left = [assertion for assertion in left if assertion.id not in gone]


def _unsure_ends(assertions: Iterable[Assertion], key: Key, stable: float) -> set[str]:
    """Return the ids of the negations that aren't sure, alone or with others between the same starts of their value."""
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


def _fold(assertions: Sequence[Assertion], key: Key) -> list[_Run]:
    """Return the runs of values that exclude each other, contested ones (empty) included."""
    starting: dict[Millis, list[Assertion]] = defaultdict(list)
    for assertion in assertions:
        starting[assertion.since].append(assertion)
    now, runs = _undated(_positives(starting.pop(BEGINNING, ()), key))
    for start in sorted(starting):
        positives = _positives(starting[start], key)
        ended = [run for run in now if _is_over(run, start, starting[start], positives, key)]
        now = [run for run in now if run not in ended]
        if not positives:
            continue
        winner = _winner(positives)
        for tail, said in positives.items():
            if tail == winner:
                continue
            if lost := _of(now, tail):
                lost.support += said
            else:
                runs.append(_Run(tail, start, start, said))
        going_on = _of(now, winner)
        following = going_on or _Run(winner, start, FOREVER)
        following.join(positives[winner])
        for run in now:
            if run is not following:
                run.until, run.ended_by = start, positives[winner]
                ended.append(run)
        if going_on is None:
            runs.append(following)
            for run in ended:
                if run.until == start:
                    run.next = following
        now = [following]
    return runs


def _undated(positives: Mapping[str, list[Assertion]]) -> tuple[list[_Run], list[_Run]]:
    """Return the runs that began nobody knows when: those that stand side by side, and all of them.

    What is over stands, since it names no moment at which another value could not have been; of what goes on, one does.
    """
    begun = {tail: _Run(tail, BEGINNING, FOREVER) for tail in positives}
    for tail, run in begun.items():
        run.join(positives[tail])
    going_on = {tail: positives[tail] for tail, run in begun.items() if run.until >= FOREVER}
    winner = _winner(going_on) if going_on else None
    for tail in going_on:
        if tail != winner:
            begun[tail].until = BEGINNING
    runs = list(begun.values())
    return [run for run in runs if run.until > BEGINNING], runs


def _is_over(
    run: _Run, start: Millis, said: Iterable[Assertion], positives: Collection[str], key: Key
) -> bool:  # fmt: skip
    """Return whether a run has ended when the assertions of a start come; a negation among them ends it there."""
    if run.until <= start:  # a stated end has passed; said again exactly there, the two are one version
        return not (run.until == start and run.tail in positives)
    if run.tail in positives:
        return False
    ends = [assertion for assertion in said if assertion.negated and key(assertion.tail) == run.tail]
    if ends:
        run.until, run.ended_by = start, ends
    return bool(ends)


def _positives(said: Iterable[Assertion], key: Key) -> dict[str, list[Assertion]]:
    positives: dict[str, list[Assertion]] = defaultdict(list)
    for assertion in said:
        if not assertion.negated:
            positives[key(assertion.tail)].append(assertion)
    return positives


def _winner(positives: Mapping[str, Iterable[Assertion]]) -> str:
    """Return the tail that of several with one start is kept (DESIGN D28)."""
    said = ((tail, assertion) for tail, of_tail in positives.items() for assertion in of_tail)
    return max(said, key=lambda each: (each[1].confidence, each[1].said_at, each[1].id))[0]


def _of(runs: Iterable[_Run], tail: str) -> _Run | None:
    return next((run for run in runs if run.tail == tail), None)


def _version(run: _Run) -> Version:
    first = run.support[0]
    status: Status = "contested" if run.since == run.until else "active" if run.until >= FOREVER else "closed"
    return Version(
        id=version_id(first.id),
        head=first.head,
        relation=first.relation,
        tail=first.tail,
        since=run.since,
        until=run.until,
        stated=any(assertion.stated and assertion.since == run.since for assertion in run.support),
        status=status,
        confidence=combined(run.support),
        intent=max(run.support, key=lambda assertion: (assertion.said_at, assertion.id)).intent,
        assertions=tuple(run.support),
        ended_by=tuple(run.ended_by),
        superseded_by=version_id(run.next.support[0].id) if run.next else None,
    )
