"""What the facts know about a query: collected while the view is held, judged afterwards.

An answer may take its time (a model may be asked), and no view is held meanwhile. So everything that a judge of answers
could want to know of the entities that a query names, and of those that paths lead to, is collected here.

**Events as anchors of time** (`date_event`): "before she moved to Oslo" is before the start of the fact that these
words state. Only facts know when something happened that a query merely names. The words have to lead to exactly one
version; else the time stays unknown, and nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from mcp_memory.domain.answers import KnownFacts, RelationFacts, conflicts
from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.domain.paths import Path, Root, Rule, Step
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Constraint
from mcp_memory.language.questions import understand
from mcp_memory.language.tokens import words
from mcp_memory.navigation.anchor import anchor
from mcp_memory.navigation.fact_query import FactQuery, fact_query
from mcp_memory.view.facts import Facts
from mcp_memory.view.space import Space

MOST_VERSIONS = 2_000
"""Facts that are collected for one query; the groups that come after are left out."""
MOST_COMPARED = 4
"""Values of one relation that a query that compares follows, and steps from a place to what it lies in."""
_COMPARES = re.compile(
    r"(?=.*\b(?:or|and|than|as|before|after)\b)(?=.*\b(?:same|shared?|differ(?:ent|s)?|first|last|latest|recently|elder"
    r"|eldest|before|after|(?:earl|old|young|new|lat|soon)(?:i?er|i?est))\b)",
    re.IGNORECASE | re.DOTALL,
)
"""Queries that may ask for the order of two things, or whether they share something."""
MOST_READ = 2_000
"""Characters of a query that are read for whether it compares."""
_ENDING = frozenset(("left", "leaving", "quit", "divorced", "divorce", "separated", "resigned", "retired", "sold"))
"""Words for the end of something rather than its beginning."""
_LIES = "located_in"
_ORIGINS = ("born_on", "died_on", "nationality", "comes_from", _LIES)
"""What things are mostly compared by, in words that need not name it ("older", "from the same country")."""


def known_facts(
    space: Space, query: Query, roots: Iterable[Root], paths: Iterable[Path], turns: Iterable[str]
) -> KnownFacts:
    """Return what the facts know about a query.

    Args:
        space: of a view that does not change meanwhile.
        query: understood; its moment and its wish for uncertain facts hold.
        roots: the entities that navigation started from; those that nothing in the query names are left out.
        paths: that it found, best first.
        turns: ids of the turns that recall found; what they deny is collected as well.
    """
    facts, asking = space.facts, fact_query(query)
    named = list(dict.fromkeys(root.key for root in roots if not root.soft))
    denials = [
        assertion for turn in dict.fromkeys(turns) for assertion in facts.assertions_in(turn) if assertion.negated
    ]
    groups: list[RelationFacts] = []
    count = 0
    compared = _compared(facts, asking, named, denials) if len(named) > 1 else iter(())
    for group in chain(_of_roots(facts, named, denials), compared, _of_paths(facts, paths, denials)):
        count += len(group.versions) + len(group.suspected)
        if count > MOST_VERSIONS:
            break
        groups.append(group)
    assertions = [one for group in groups for one in _assertions(group)]
    return KnownFacts(
        moment=query.now if query.as_of is None else query.as_of,
        chosen=query.as_of is not None,
        uncertain=query.include_uncertain or asking.accepts_guesses,
        groups=tuple(groups),
        turns={one.turn_id: space.turns[one.turn_id] for one in assertions if one.turn_id in space.turns},
        times={
            (one.turn_id, one.sentence): space.sentences[row].times
            for one in assertions
            if (row := space.sentence_row(one.turn_id, one.sentence)) >= 0
        },
    )


def find_conflicts(query: Query, known: KnownFacts) -> tuple[str, ...]:
    """Return where the facts that a query asks for contradict each other, at its time, in words."""
    asking = fact_query(query)
    asked = [group for group in known.groups if asking.asks(group.relation) == 1 and not group.inferred]
    time = query.time
    if time is not None and time.dated and time.order == "within":
        return conflicts(asked, time.since, time.until)
    return conflicts(asked, known.moment, known.moment + 1)


def _of_roots(facts: Facts, named: Iterable[str], denials: list[Assertion]) -> Iterator[RelationFacts]:
    for key in named:
        for relation in dict.fromkeys(
            (*facts.relations_of(key), *(one.relation for one in denials if facts.key(one.head) == key))
        ):
            yield _forward(facts, key, relation, denials)
        yield from _backward(facts, key, denials)


def _compared(
    facts: Facts, asking: FactQuery, named: Iterable[str], denials: list[Assertion]
) -> Iterator[RelationFacts]:
    """Yield what a query that compares may need of what lies one step from the things that it names.

    "Which film has the director who is older, …?" needs the births of both directors, while the paths that were kept
    may lead to one. Whether two towns are in one country may be said of the districts that they lie in.
    """
    if not _COMPARES.search(asking.query.text[:MOST_READ]):
        return
    for key in named:
        forward = [one for one in facts.relations_of(key) if asking.asks(one) == 1]
        for relation in forward:
            yield from _beyond(facts, facts.versions(key, relation), asking, denials, forward=True)
        inverses = {relations().get(one).inverse for one in forward}
        for relation in facts.relations_to(key):
            if asking.asks(relation) == 1 and relation not in inverses:
                found = (one for one in facts.to(key) if one.relation == relation)
                yield from _beyond(facts, tuple(islice(found, MOST_COMPARED + 1)), asking, denials, forward=False)
        yield from _around(facts, key, denials)


def _beyond(
    facts: Facts, versions: Sequence[Version], asking: FactQuery, denials: list[Assertion], *, forward: bool
) -> Iterator[RelationFacts]:
    """Yield what is asked for of those to whom facts lead; nothing if they are many."""
    for version in versions if len(versions) <= MOST_COMPARED else ():
        there, step = facts.target_key(version, forward=forward), Step(version, forward, confidence=version.confidence)
        for relation in facts.relations_of(there):
            if relation in _ORIGINS or (asking.asks(relation) == 1 and relation != version.relation):
                yield _forward(facts, there, relation, denials, (step,))


def _around(facts: Facts, key: str, denials: list[Assertion]) -> Iterator[RelationFacts]:
    """Yield where those places lie that a place lies in, and so on."""
    seen = {key}
    reached: list[tuple[str, tuple[Step, ...]]] = [(key, ())]
    for _ in range(MOST_COMPARED):
        wider: list[tuple[str, tuple[Step, ...]]] = []
        for here, through in reached:
            for version in facts.versions(here, _LIES)[:MOST_COMPARED]:
                there = facts.target_key(version, forward=True)
                if there not in seen and _LIES in facts.relations_of(there):
                    seen.add(there)
                    wider.append((there, (*through, Step(version, forward=True, confidence=version.confidence))))
        for there, through in wider:
            yield _forward(facts, there, _LIES, denials, through)
        reached = wider


def _of_paths(facts: Facts, paths: Iterable[Path], denials: list[Assertion]) -> Iterator[RelationFacts]:
    """Yield the facts at the ends of paths of several steps, and the hypotheses of those of one."""
    seen: set[tuple[str, ...]] = set()
    for path in paths:
        *through, last = path.steps
        if path.inferred is None and not through:
            continue  # of a root itself
        here = last.version.head if last.forward else last.version.tail
        key, relation = facts.key(here), last.version.relation
        mark = (key, relation, str(last.forward), path.inferred or "", *(step.version.id for step in path.steps[:-1]))
        if mark in seen:
            continue
        seen.add(mark)
        if last.inferred is None and last.forward:
            yield _forward(facts, key, relation, denials, tuple(through), path.inferred)
            continue
        # A hypothesis is no fact of the group: it stands alone, with the confidence that its rule leaves it.
        said = last.version.assertions or last.via
        alone = replace(last.version, assertions=said, confidence=last.confidence)
        yield RelationFacts(
            key, facts.names(key), relation, last.forward, (alone,), through=tuple(through), inferred=path.inferred
        )


def _forward(
    facts: Facts,
    key: str,
    relation: str,
    denials: Iterable[Assertion],
    through: tuple[Step, ...] = (),
    inferred: Rule | None = None,
) -> RelationFacts:
    denied = tuple(one for one in denials if one.relation == relation and facts.key(one.head) == key)
    return RelationFacts(
        key=key,
        names=facts.names(key),
        relation=relation,
        forward=True,
        versions=facts.versions(key, relation),
        suspected=facts.suspected(key, relation),
        denials=denied,
        through=through,
        inferred=inferred,
    )


def _backward(facts: Facts, key: str, denials: Iterable[Assertion]) -> Iterator[RelationFacts]:
    """Yield what an entity is the other end of, by relation."""
    every: dict[str, list[Version]] = {}
    for version in islice(facts.to(key, suspected=True), MOST_VERSIONS):
        every.setdefault(version.relation, []).append(version)
    for relation, versions in every.items():
        versions.sort(key=lambda version: (version.since, version.until, version.id))
        sure = tuple(version for version in versions if version.confidence >= facts.stable)
        unsure = tuple(version for version in versions if version.confidence < facts.stable)
        denied = tuple(one for one in denials if one.relation == relation and facts.key(one.tail) == key)
        yield RelationFacts(key, facts.names(key), relation, False, sure, unsure, denied)


def _assertions(group: RelationFacts) -> Iterator[Assertion]:
    for version in (*group.versions, *group.suspected):
        yield from version.assertions
        yield from version.ended_by
    yield from group.denials
    for step in group.through:
        yield from step.version.assertions
        yield from step.via


def date_event(facts: Facts, query: Query) -> Query:
    """Return a query whose event, if it names one, has the time that the facts give it; else as it was."""
    time = query.time
    if time is None or time.event is None or time.dated:
        return query
    event = understand(time.event, query.speakers)
    asking = fact_query(event)
    own = frozenset(words(time.event))
    ends = bool(own & _ENDING)
    stated: list[Version] = []
    named: list[Version] = []
    for version in _event_versions(facts, query, event):
        whole = own.issuperset(words(version.tail))
        if version.since > BEGINNING and (asking.asks(version.relation) >= 1 or (ends and whole)):
            (named if whole else stated).append(version)
    found = named or stated
    if len({version.id for version in found}) != 1:
        return query
    return replace(query, time=_at(time, found[0], ends=ends))


def _event_versions(facts: Facts, query: Query, event: Query) -> Iterator[Version]:
    """Yield the versions of those whom the words of an event name, then of those whom the query names."""
    roots = dict.fromkeys(root.key for asked in (event, query) for root in anchor(facts, asked) if not root.soft)
    for key in roots:
        for relation in facts.relations_of(key):
            yield from (version for version in facts.versions(key, relation) if version.since < version.until)


def _at(time: Constraint, version: Version, *, ends: bool) -> Constraint:
    if ends and version.until < FOREVER:
        return replace(time, since=version.until, until=version.until + 1, grain="day")
    if time.order == "within":
        return replace(time, since=version.since, until=version.until, grain="day")
    return replace(time, since=version.since, until=version.since + 1, grain="day")
