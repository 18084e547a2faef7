"""What a text may still say where facts know what is asked: facts lead, spans are for what facts do not know.

A sentence stays in the evidence when what it says is over: "I live in Braga" is still the best support that a question
for Ann's home can find after she has left. So where the facts know the one relation that a question asks for, a span is
passed over that says a value which they know not to hold at the time in question, that stands in a statement of such a
value, or that gives the time of something else than the value asked about. What a text says beyond the facts, it may
say: of relations with many values they are seldom complete.
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
from mcp_memory.domain.times import BEGINNING, Millis
from mcp_memory.language.tokens import words
from mcp_memory.rules.answers.matching import RelationMatch
from mcp_memory.rules.answers.relations import mentions_end
from mcp_memory.rules.answers.values import ValidValue, When, select_values, valid_values

_TIMED = ("when", "how_long")


@dataclass(frozen=True, slots=True)
class SpanFilter:
    """What facts leave to texts.

    Attributes:
        over: values that do not hold at the time in question, as written.
        live: values that do.
        spent: statements that say nothing of the time in question.
        named: of a question for a time, the values that it asks about.
        instead: where sentences may leave them out, those that a sentence must not name without them; None where a
            sentence has to name one of those asked about.
        doubtful: statements that nothing has confirmed, or that may not be meant; what they say is said with doubt.
        since: of a relation that has no value any more, when the last one ended: what was said before is over.
        about: of a question for somebody's kin, the names of that person: a sentence has to name them, or be theirs.
    """

    invalid: tuple[str, ...] = ()
    valid: tuple[str, ...] = ()
    outdated: tuple[Assertion, ...] = ()
    named_values: tuple[str, ...] = ()
    other_values: tuple[str, ...] | None = None
    doubtful: tuple[Assertion, ...] = ()
    since: Millis = BEGINNING
    person_names: tuple[str, ...] = ()

    def allows(self, sentence: Source, said: str) -> bool:
        """Return whether a span may be proposed.

        Args:
            sentence: where it stands.
            said: its words.
        """
        said_at = sentence.turn.said_at
        if _overlaps_any(sentence, self.outdated) or (said_at is not None and said_at < self.since):
            return False
        if self.person_names and not _contains_any(
            f"{sentence.turn.speaker or ''}. {sentence.quote}", self.person_names
        ):
            return False
        if self.named_values and not _contains_any(sentence.quote, self.named_values):
            return self.other_values is not None and not _contains_any(sentence.quote, self.other_values)
        return not _contains_any(said, self.invalid) or _contains_any(said, self.valid)

    def doubts(self, sentence: Source) -> bool:
        """Return whether what a sentence states should be said with doubt."""
        return _overlaps_any(sentence, self.doubtful)


def span_filter(
    query: Query, knowledge: KnownFacts, match: RelationMatch | None, time: When | None, *, past: bool
) -> SpanFilter:
    """Return what the facts that a question asks for leave to texts.

    Args:
        query: taken apart.
        knowledge: of the entities that it names.
        match: what it asks for; None where that is not clear.
        time: the time in question; None where the question names none.
        past: whether it is put in the past tense.
    """
    misfits = _non_persons(query, knowledge)
    if match is None or match.group.inferred:
        return SpanFilter(misfits)
    suspected = tuple(said for version in match.group.suspected for said in version.assertions)
    if query.answer_type in _TIMED:
        found = _time_filter(query, match)
    elif all(_in_a_document(said, knowledge) for said in _statements(match.group)):
        found = SpanFilter()  # the words themselves are surer than what was read out of them
    else:
        found = _value_filter(match.group, knowledge, time, past=past)
    about = () if match.certain else _person_names(match.group)
    return replace(
        found, invalid=(*misfits, *found.invalid), doubtful=(*suspected, *found.doubtful), person_names=about
    )


def _time_filter(query: Query, match: RelationMatch) -> SpanFilter:
    """Return what facts leave to texts where a time of theirs is asked for."""
    group = match.group
    single = single_valued(group)
    named = tuple(dict.fromkeys(one.value for one in match.named_values))
    begun = tuple(
        said for one in match.named_values if mentions_end(query.text) for said in one.assertions
    )  # no end stands there
    several = single and not named and len({one.value for one in match.values}) > 1
    unclear = tuple(_statements(group)) if several else ()  # which of them is meant?
    rest = tuple(value for version in group.versions if (value := group.value(version)) not in named)
    return SpanFilter(named_values=named, other_values=None if single else rest, outdated=begun, doubtful=unclear)


def _value_filter(group: RelationFacts, knowledge: KnownFacts, time: When | None, *, past: bool) -> SpanFilter:
    """Return what facts leave to texts where values are asked for, or whether one holds."""
    single = single_valued(group)
    values = [value for value in valid_values(group, knowledge) if value.reliable]
    event = relations().get(group.relation).event
    meant = select_values(values, time, event=event, past=past, moment=knowledge.moment)
    live = {entity_key(value.value) for value in meant}
    over = _invalid_values(group, values, live, knowledge, time, single=single)
    telling = tuple(value.value for value in meant)
    if not single:
        return SpanFilter(over, telling)
    since = BEGINNING
    if not meant and not past and (time is None or time.since <= knowledge.moment < time.until):
        since = max((value.until for value in values if value.until <= knowledge.moment), default=BEGINNING)
    kept = {(said.turn_id, said.sentence) for value in meant for said in value.assertions}
    spent = tuple(said for said in _statements(group) if (said.turn_id, said.sentence) not in kept)
    return SpanFilter(over, telling, spent, since=since)


def single_valued(group: RelationFacts) -> bool:
    """Return whether an entity has one value of the relation at a time, seen from the side of the group.

    Ann lives in one town, and in the town live many.
    """
    relation = relations().get(group.relation)
    return relation.cardinality == "single" and (group.forward or relation.symmetric)


def _invalid_values(
    group: RelationFacts,
    values: Iterable[ValidValue],
    live: set[str],
    knowledge: KnownFacts,
    time: When | None,
    *,
    single: bool,
) -> tuple[str, ...]:
    """Return the values that do not hold; of many-valued relations only those that ended or were denied."""
    since = time.since if time else knowledge.moment
    ended = [one.value for one in values if single or one.until <= since]
    denied = [group.value(one) for one in group.denials if single or one.since <= since]
    lost = [group.value(version) for version in group.versions if version.status == "contested"]
    return tuple(value for value in dict.fromkeys((*ended, *denied, *lost)) if entity_key(value) not in live)


def _statements(group: RelationFacts) -> Iterator[Assertion]:
    """Return what was said of a relation and can be relied on, denials included."""
    for version in group.versions:
        yield from version.assertions
        yield from (said for said in version.ended_by if said.negated)
    yield from group.denials


def _person_names(group: RelationFacts) -> tuple[str, ...]:
    """Return the names of an entity that a relation between people is asked of; none for other relations."""
    relation = relations().get(group.relation)
    if group.through or (relation.head, relation.tail) != ("person", "person") or group.key == "user":
        return ()
    return (*group.names, *(word for name in group.names for word in words(name)))


def _in_a_document(said: Assertion, knowledge: KnownFacts) -> bool:
    turn = knowledge.turns.get(said.turn_id)
    return turn is not None and turn.kind == "document" and said.extractor != "caller"


def _non_persons(query: Query, knowledge: KnownFacts) -> tuple[str, ...]:
    """Return what facts know to be no person, where one is asked for."""
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
        value.turn_id == sentence.turn.id and value.start < sentence.end and sentence.start < value.end
        for value in statements
    )


def _contains_any(text: str, values: Iterable[str]) -> bool:
    """Return whether some value stands in a text, whole and as words."""
    said = ""
    for value in values:
        said = said or f" {' '.join(words(text))} "
        wanted = " ".join(words(value))
        if wanted and f" {wanted} " in said:
            return True
    return False
