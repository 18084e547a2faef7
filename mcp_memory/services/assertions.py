"""Make the assertions of the facts that a caller states, and find what new assertions changed.

A caller's fact with a source belongs to the sentence of that text which names its tail, preferably with its head; there
it replaces the facts that the embedded rules extract. A fact without a source becomes a statement of its own, so that
it is found, quoted and cited like every other text.

**Changes** (`changes`) in the versions of the facts (REAL §III-A): nothing is changed in place, so they are the
difference between the fold of the assertions that were recorded before and the fold of those that are recorded now.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from mcp_memory.domain.facts import WHOLE, Assertion, Precision, Version, kind_of, new_assertion, restated, verbalise
from mcp_memory.domain.relations import relations
from mcp_memory.domain.requests import NewFact, Op
from mcp_memory.domain.times import BEGINNING, FOREVER, Millis
from mcp_memory.domain.turns import Turn
from mcp_memory.language import iso
from mcp_memory.language.segments import split
from mcp_memory.language.stated import day_in_words, stated_times
from mcp_memory.view.facts import Facts


def statement(fact: NewFact) -> str:
    """Return a caller's fact as a sentence, with its times; a denial says from when on it no longer holds."""
    wording = verbalise(fact.head, relations().name(fact.relation), fact.tail, negated=fact.negated)
    since = f" from {day_in_words(fact.valid_from)}" if fact.valid_from is not None else ""
    until = f" until {day_in_words(fact.valid_to)}" if fact.valid_to is not None else ""
    if fact.negated and since:
        return f"{wording.replace(':', f'{since} on:', 1)}{until}."
    return f"{wording}{since}{until}."


def caller_assertion(fact: NewFact, turn: Turn, now: Millis) -> Assertion:
    """Return the assertion of a caller's fact.

    An event, by its relation, is planned if its start is still to come. A fact without a start holds from the time of
    its source; if it had ended before that time, or nobody knows that time, its start is unknown.
    """
    sentence, start, end = _sentence_of(fact, turn)
    relation = relations().name(fact.relation)
    kind = kind_of(relation)
    if kind == "event" and not fact.negated and fact.valid_from is not None and fact.valid_from > now:
        kind = "planned"
    until = FOREVER if fact.valid_to is None else fact.valid_to
    since = fact.valid_from
    if since is None:
        since = turn.time if turn.time < until else BEGINNING
    made = new_assertion(
        turn, sentence, (start, end), (fact.head, relation, fact.tail), since=since, until=until,
        stated=fact.valid_from is not None or fact.valid_to is not None, negated=fact.negated,
        change=fact.intent == "EVOLUTION", confidence=fact.confidence, intent=fact.intent, extractor="caller",
        recorded_at=now, kind=kind,
    )  # fmt: skip
    return at_no_time(made) if fact.undated and turn.said_at is None else made


def at_no_time(item: Assertion) -> Assertion:
    """Return an assertion of a text of unknown time: what states no time of its own has an unknown start.

    So it ends nothing whose start is known, and what has a known start ends it.
    """
    if item.stated:
        return item
    precision: Precision | None = "before" if item.kind == "event" else item.precision
    return restated(replace(item, since=BEGINNING, precision=precision), (item.head, item.relation, item.tail))


def _sentence_of(fact: NewFact, turn: Turn) -> tuple[int, int, int]:
    """Return the index and span of the sentence that states a fact; `WHOLE` and the whole text if none does."""
    if turn.kind == "statement":
        return 0, 0, len(turn.text)
    best = (WHOLE, 0, len(turn.text))
    day = _day_of(fact)
    for index, (start, end) in enumerate(split(turn.text)):
        if day is not None and any(
            day == time.since for time in stated_times(turn.text[start:end], turn.local_said_at)
        ):
            return index, start, end
        written = turn.text[start:end].casefold()
        if fact.tail.casefold() in written:
            if fact.head.casefold() in written:
                return index, start, end
            if best[0] == WHOLE:
                best = index, start, end
    return best


def _day_of(fact: NewFact) -> Millis | None:
    """Return the first instant of the date that is the tail of a fact, "2026-05-03"; a text says it in other words."""
    try:
        return iso.parse(fact.tail)[0] if relations().get(relations().name(fact.relation)).tail == "time" else None
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Change:
    """A version as it is now, and the operation that made it so."""

    version: Version
    op: Op


def changes(facts: Facts, new: Sequence[Assertion], known: Collection[str]) -> list[Change]:
    """Return the changes of the facts that a write asserts, in their order, then of the others that it ended.

    The new assertions are among the facts already; ``known`` are the ids of those that were recorded before. The
    negation of a fact that nobody asserted changes nothing and is not among the changes.
    """
    fresh = {assertion.id for assertion in new} - set(known)
    by_version: dict[str, Change] = {}
    for assertion in new:
        if assertion.negated:
            if assertion.id not in fresh:
                for ended in facts.all_versions(facts.key(assertion.head), assertion.relation):
                    if any(ending.id == assertion.id for ending in ended.ended_by):
                        by_version.setdefault(ended.id, Change(ended, "unchanged"))
        elif version := facts.version_of(assertion):
            by_version.setdefault(version.id, Change(version, _operation(version, assertion, fresh)))
    for key, relation in dict.fromkeys((facts.key(a.head), a.relation) for a in new if a.id in fresh):
        for before in facts.versions_without(key, relation, fresh):
            now = facts.version(before.id)
            if now is None or now.id in by_version:
                continue
            if now.until < before.until or now.status == "contested" != before.status:
                by_version[now.id] = Change(now, "contested" if now.lost else "closed")
    return list(by_version.values())


def _operation(version: Version, assertion: Assertion, fresh: Collection[str]) -> Op:
    if assertion.id not in fresh:
        return "unchanged"
    if version.status == "contested":
        return "contested" if version.lost else "closed"
    return "merged" if any(support.id not in fresh for support in version.assertions) else "added"
