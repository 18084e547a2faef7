"""Which spans may still be proposed where facts know the answer: facts lead, spans serve what facts do not know.

A sentence stays in the evidence when its statement is over: "I live in Braga" is still the best match for a question
about Ann's home after she has left. So where the facts know the one relation that a query asks for, the filter rejects
a span that gives a value known not to hold at the time in question, that stands in a statement of such a value, or that
gives the time of something other than the value asked about. Spans about anything else pass: for relations with many
values the facts are seldom complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mcp_memory.domain.answers import KnownFacts, RelationFacts
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.evidence import Source
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, Constraint, Millis
from mcp_memory.language.tokens import words
from mcp_memory.rules.answers.matching import RelationMatch
from mcp_memory.rules.answers.relations import mentions_end
from mcp_memory.rules.answers.values import ValidValue, is_current, select_values, valid_values

_TIMED = ("when", "how_long")


@dataclass(frozen=True, slots=True)
class SpanFilter:
    """What facts leave to texts.

    Attributes:
        invalid: values that do not hold at the time in question, as written.
        valid: values that do.
        outdated: statements that do not apply to the time in question.
        named_values: in a query for a time, the values that it names.
        other_values: where sentences may leave those out, the values that a sentence must not name without them; None
            where a sentence has to name one of the values asked about.
        doubtful: statements that are unconfirmed, or may not be meant; spans in them are hedged.
        since: for a relation whose last value ended, when that was: earlier messages are outdated.
        person_names: in a query about somebody's kin, the names of that person: a sentence has to name the person or be
            the person's own.
    """

    invalid: tuple[str, ...] = ()
    valid: tuple[str, ...] = ()
    outdated: tuple[Assertion, ...] = ()
    named_values: tuple[str, ...] = ()
    other_values: tuple[str, ...] | None = None
    doubtful: tuple[Assertion, ...] = ()
    since: Millis = BEGINNING
    person_names: tuple[str, ...] = ()

    def allows(self, sentence: Source, text: str) -> bool:
        """Return whether a span may be proposed.

        Args:
            sentence: the sentence where it stands.
            text: its words.
        """
        said_at = sentence.turn.said_at
        if _overlaps_any(sentence, self.outdated) or (said_at is not None and said_at < self.since):
            return False
        spoken = f"{sentence.turn.speaker or ''}. {sentence.quote}"
        if self.person_names and not _contains_any(spoken, self.person_names):
            return False
        if self.named_values and not _contains_any(sentence.quote, self.named_values):
            return self.other_values is not None and not _contains_any(sentence.quote, self.other_values)
        return not _contains_any(text, self.invalid) or _contains_any(text, self.valid)

    def doubts(self, sentence: Source) -> bool:
        """Return whether what a sentence states should be hedged."""
        return _overlaps_any(sentence, self.doubtful)


def span_filter(
    query: Query, knowledge: KnownFacts, match: RelationMatch | None, time: Constraint | None, *, past: bool
) -> SpanFilter:
    """Return what the facts that a query asks for leave to texts.

    Args:
        query: the query.
        knowledge: facts about the entities that it names.
        match: what it asks for; None where that is not clear.
        time: the time in question; None where the query names none.
        past: whether the query is in the past tense.
    """
    non_persons = _non_persons(query, knowledge)
    current = is_current(time, knowledge.moment) and not past and query.answer_type not in _TIMED
    if match is None or match.group.inferred:
        outdated = _superseded_statements(knowledge.groups, knowledge.moment) if current else ()
        return SpanFilter(non_persons, outdated=(*outdated, *_replaced_dates(knowledge.groups)))
    suspected = tuple(assertion for version in match.group.suspected for assertion in version.assertions)
    if query.answer_type in _TIMED:
        texts = _time_filter(query, match)
    elif all(_in_a_document(assertion, knowledge) for assertion in _statements(match.group)):
        texts = SpanFilter()  # the words themselves are more certain than the facts extracted from them
    else:
        texts = _value_filter(match.group, knowledge, time, past=past)
    names = () if match.certain else _person_names(match.group)
    invalid, doubtful = (*non_persons, *texts.invalid), (*suspected, *texts.doubtful)
    return replace(texts, invalid=invalid, doubtful=doubtful, person_names=names)


def _time_filter(query: Query, match: RelationMatch) -> SpanFilter:
    """Return the filter of a question for a time: texts may answer what the facts about it leave open."""
    group = match.group
    single = single_valued(group)
    named = tuple(dict.fromkeys(one.value for one in match.named_values))
    ending = mentions_end(query.text)  # the statements of a start hold no end
    starts = tuple(assertion for one in match.named_values if ending for assertion in one.assertions)
    ambiguous = single and not named and len({one.value for one in match.values}) > 1
    unclear = tuple(_statements(group)) if ambiguous else ()
    others = tuple(value for version in group.versions if (value := group.value(version)) not in named)
    outdated = (*starts, *_replaced_dates([group]))
    return SpanFilter(named_values=named, other_values=None if single else others, outdated=outdated, doubtful=unclear)


def _replaced_dates(groups: Iterable[RelationFacts]) -> Iterator[Assertion]:
    """Yield the statements of dates that a later telling has replaced, while they were still to come."""
    for group in groups:
        if relations().get(group.relation).last_told:
            for version in group.versions:
                yield from version.assertions if version.since >= version.until else ()


def _value_filter(group: RelationFacts, knowledge: KnownFacts, time: Constraint | None, *, past: bool) -> SpanFilter:
    """Return what facts leave to texts where values are asked for, or whether one holds."""
    single = single_valued(group)
    values = [value for value in valid_values(group, knowledge) if value.reliable]
    event = relations().get(group.relation).event
    meant = select_values(values, time, event=event, past=past, moment=knowledge.moment)
    valid_keys = {entity_key(value.value) for value in meant}
    invalid = _invalid_values(group, values, valid_keys, knowledge, time, single=single)
    valid = tuple(value.value for value in meant)
    if not single:
        current = is_current(time, knowledge.moment) and not past
        return SpanFilter(invalid, valid, _superseded_statements([group], knowledge.moment) if current else ())
    since = BEGINNING
    if not meant and not past and (time is None or time.since <= knowledge.moment < time.until):
        since = max((value.until for value in values if value.until <= knowledge.moment), default=BEGINNING)
    valid_places = {(one.turn_id, one.sentence) for value in meant for one in value.assertions}
    outdated = tuple(one for one in _statements(group) if (one.turn_id, one.sentence) not in valid_places)
    return SpanFilter(invalid, valid, outdated, since=since)


def _superseded_statements(groups: Iterable[RelationFacts], moment: Millis) -> tuple[Assertion, ...]:
    """Return the statements of states that another statement has ended: they say nothing of today."""
    return tuple(
        one
        for group in groups
        for version in group.versions
        if version.kind == "state" and version.ended_by and version.until <= moment
        for one in version.assertions
    )


def single_valued(group: RelationFacts) -> bool:
    """Return whether an entity has one value of the relation at a time, from the side of these facts.

    Ann lives in one town, but many people live in the town.
    """
    relation = relations().get(group.relation)
    return relation.cardinality == "single" and (group.forward or relation.symmetric)


def _invalid_values(
    group: RelationFacts,
    values: Iterable[ValidValue],
    valid_keys: set[str],
    knowledge: KnownFacts,
    time: Constraint | None,
    *,
    single: bool,
) -> tuple[str, ...]:
    """Return the values that do not hold; for relations with many values only those that ended or were denied."""
    since = time.since if time else knowledge.moment
    ended = [one.value for one in values if single or one.until <= since]
    denied = [group.value(one) for one in group.denials if single or one.since <= since]
    lost = [group.value(version) for version in group.versions if version.status == "contested"]
    return tuple(value for value in dict.fromkeys((*ended, *denied, *lost)) if entity_key(value) not in valid_keys)


def _statements(group: RelationFacts) -> Iterator[Assertion]:
    """Yield the reliable statements about a relation, denials included."""
    for version in group.versions:
        yield from version.assertions
        yield from (assertion for assertion in version.ended_by if assertion.negated)
    yield from group.denials


def _person_names(group: RelationFacts) -> tuple[str, ...]:
    """Return the names of the person whose kin is asked for; empty for other relations."""
    relation = relations().get(group.relation)
    if group.through or (relation.head, relation.tail) != ("person", "person") or group.key == "user":
        return ()
    return (*group.names, *(word for name in group.names for word in words(name)))


def _in_a_document(assertion: Assertion, knowledge: KnownFacts) -> bool:
    turn = knowledge.turns.get(assertion.turn_id)
    return turn is not None and turn.kind == "document" and assertion.extractor != "caller"


def _non_persons(query: Query, knowledge: KnownFacts) -> tuple[str, ...]:
    """Return values that the facts know to be no persons, where a person is asked for."""
    if query.answer_type != "who":
        return ()
    return tuple(
        dict.fromkeys(
            group.value(version)
            for group in knowledge.groups
            if group.forward and relations().get(group.relation).tail in ("place", "time", "number")
            for version in group.versions
        )
    )


def _overlaps_any(sentence: Source, statements: Iterable[Assertion]) -> bool:
    return any(
        one.turn_id == sentence.turn.id and one.start < sentence.end and sentence.start < one.end for one in statements
    )


def _contains_any(text: str, values: Iterable[str]) -> bool:
    """Return whether a text holds one of the values whole and as words."""
    said = ""
    for value in values:
        said = said or f" {' '.join(words(text))} "
        wanted = " ".join(words(value))
        if wanted and f" {wanted} " in said:
            return True
    return False
