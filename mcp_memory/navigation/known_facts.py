"""Collect the facts that a judge of answers may need for a query, while the view is held.

An answer may take long (a model may be called), and no view is held meanwhile. So `known_facts` collects in advance
everything that the judge may need about the entities that the query names and those that paths lead to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice

from mcp_memory.domain.answers import KnownFacts, RelationFacts, conflicts
from mcp_memory.domain.entities import PROJECT, entity_key
from mcp_memory.domain.evidence import Path, Root, Rule, Step
from mcp_memory.domain.facts import Assertion, Version
from mcp_memory.domain.query import Query
from mcp_memory.language.tokens import words
from mcp_memory.navigation.fact_query import fact_query
from mcp_memory.view.facts import Facts
from mcp_memory.view.space import Space

MOST_VERSIONS = 2_000
"""Facts that are collected for one query; later groups are omitted."""
MOST_READ = 2_000
"""Characters of a query in which "our" is looked for."""
_OURS = re.compile(r"\b(?:we|our|us)\b", re.IGNORECASE)
"""Words of a question that may mean what is done at work, which is told of `PROJECT`."""


def known_facts(
    space: Space, query: Query, roots: Iterable[Root], paths: Iterable[Path], turns: Iterable[str]
) -> KnownFacts:
    """Return the facts that a judge of answers may need for a query, of its roots and of the ends of its paths.

    Facts that the turns deny are collected as well: those that recall found, by id.
    """
    facts = space.facts
    roots = tuple(roots)
    named = list(dict.fromkeys(root.key for root in roots))
    project = facts.key(PROJECT)
    if project not in named and _OURS.search(query.text[:MOST_READ]) and facts.relations_of(project):
        named.append(project)
    denials = [
        assertion for turn in dict.fromkeys(turns) for assertion in facts.assertions_in(turn) if assertion.negated
    ]
    own = (replace(one, doubtful=_may_be_of_others(facts, query, one)) for one in _of_roots(facts, named, denials))
    groups: list[RelationFacts] = []
    count = 0
    for group in chain(own, _of_paths(facts, paths, denials)):
        count += len(group.versions) + len(group.suspected)
        if count > MOST_VERSIONS:
            break
        groups.append(group)
    assertions = [one for group in groups for one in _assertions(group)]
    return KnownFacts(
        moment=query.moment,
        chosen=query.as_of is not None,
        groups=tuple(groups),
        meanings=_meanings(facts, query, roots),
        turns={one.turn_id: space.turns[one.turn_id] for one in assertions if one.turn_id in space.turns},
        times={
            (one.turn_id, one.sentence): space.sentences[row].times
            for one in assertions
            if (row := space.sentence_row(one.turn_id, one.sentence)) >= 0
        },
    )


def _meanings(facts: Facts, query: Query, roots: Sequence[Root]) -> tuple[str, ...]:
    """Return the keys of the people whom a first or last name in a query may mean, if there are several."""
    people = [root.key for root in roots if facts.kind(root.key) == "person"]
    for asked in map(entity_key, query.names):
        found = [key for key in people if key != asked and asked in (key.split()[0], key.split()[-1])]
        if len(found) > 1 and facts.key(asked) not in people:
            return tuple(found)
    return ()


def _may_be_of_others(facts: Facts, query: Query, group: RelationFacts) -> bool:
    """Return whether facts may be of somebody with a longer or shorter name than the one asked for.

    "Dalia" may or may not be Dalia Barlsen. Where the space takes the two for one person by their words alone
    (`Facts.assumed_names`), nothing certain is answered from what was told under the other name.
    """
    names = [entity_key(name) for name in query.names]
    one_word = facts.kind(group.key) == "person" and " " not in group.key and group.key not in names
    if one_word and any(group.key in (name.split()[0], name.split()[-1]) for name in names if " " in name):
        return True
    assumed = facts.assumed_names(group.key)
    if not assumed:
        return False
    asked = f" {' '.join(words(query.text))} "
    told = {
        entity_key(said.head if group.forward else said.tail)
        for version in (*group.versions, *group.suspected)
        for said in (*version.assertions, *version.ended_by)
    }
    if f" {' '.join(words(group.key))} " in asked:
        return not told.isdisjoint(assumed)
    others = {entity_key(name) for name in group.names} - set(assumed)
    return any(f" {part} " in asked for part in assumed) and not told.isdisjoint(others)


def find_conflicts(query: Query, known: KnownFacts) -> tuple[str, ...]:
    """Describe where the facts that a query asks for contradict each other at the time of the query."""
    wanted = fact_query(query)
    groups = [group for group in known.groups if wanted.demand(group.relation) == 1 and not group.inferred]
    time = query.time
    if time is not None and time.dated and time.order == "within":
        return conflicts(groups, time.since, time.until)
    return conflicts(groups, known.moment, known.moment + 1)


def _of_roots(facts: Facts, named: Iterable[str], denials: list[Assertion]) -> Iterator[RelationFacts]:
    for key in named:
        for relation in dict.fromkeys(
            (*facts.relations_of(key), *(one.relation for one in denials if facts.key(one.head) == key))
        ):
            yield _forward(facts, key, relation, denials)
        yield from _backward(facts, key, denials)


def _of_paths(facts: Facts, paths: Iterable[Path], denials: list[Assertion]) -> Iterator[RelationFacts]:
    """Yield the facts at the ends of paths of several steps, and the hypotheses of paths of one step."""
    seen: set[tuple[str, ...]] = set()
    for path in paths:
        *through, last = path.steps
        if path.inferred is None and not through:
            continue  # a fact of a root, collected already
        here = last.version.head if last.forward else last.version.tail
        key, relation = facts.key(here), last.version.relation
        mark = (key, relation, str(last.forward), path.inferred or "", *(step.version.id for step in path.steps[:-1]))
        if mark in seen:
            continue
        seen.add(mark)
        if last.inferred is None and last.forward:
            yield _forward(facts, key, relation, denials, tuple(through), path.inferred)
            continue
        # A hypothesis is no fact of the group: it forms a group of its own, with its discounted confidence.
        support = last.version.assertions or last.via
        alone = replace(last.version, assertions=support, confidence=last.confidence)
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
    """Return the facts of one relation of an entity that is their head."""
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
    """Yield the facts of which an entity is the tail, by relation."""
    every: dict[str, list[Version]] = {}
    for version in islice(facts.to(key, suspected=True), MOST_VERSIONS):
        if facts.key(version.head) == key:
            continue  # it only gives a name to the entity itself
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
