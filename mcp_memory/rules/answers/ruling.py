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
from mcp_memory.rules.answers.held import Held, When, chosen, held
from mcp_memory.rules.answers.matching import Match
from mcp_memory.rules.answers.relations import ends

_TIMED = ("when", "how_long")


@dataclass(frozen=True, slots=True)
class Ruling:
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

    over: tuple[str, ...] = ()
    live: tuple[str, ...] = ()
    spent: tuple[Assertion, ...] = ()
    named: tuple[str, ...] = ()
    instead: tuple[str, ...] | None = None
    doubtful: tuple[Assertion, ...] = ()
    since: Millis = BEGINNING
    about: tuple[str, ...] = ()

    def allows(self, sentence: Source, said: str) -> bool:
        """Return whether a span may be proposed.

        Args:
            sentence: where it stands.
            said: its words.
        """
        said_at = sentence.turn.said_at
        if _within(sentence, self.spent) or (said_at is not None and said_at < self.since):
            return False
        if self.about and not _names(f"{sentence.turn.speaker or ''}. {sentence.quote}", self.about):
            return False
        if self.named and not _names(sentence.quote, self.named):
            return self.instead is not None and not _names(sentence.quote, self.instead)
        return not _names(said, self.over) or _names(said, self.live)

    def doubts(self, sentence: Source) -> bool:
        """Return whether what a sentence states should be said with doubt."""
        return _within(sentence, self.doubtful)


def ruling(question: Query, knowledge: KnownFacts, matched: Match | None, at: When | None, *, past: bool) -> Ruling:
    """Return what the facts that a question asks for leave to texts.

    Args:
        question: taken apart.
        knowledge: of the entities that it names.
        matched: what it asks for; None where that is not clear.
        at: the time in question; None where the question names none.
        past: whether it is put in the past tense.
    """
    misfits = _misfits(question, knowledge)
    if matched is None or matched.group.inferred:
        return Ruling(misfits)
    suspected = tuple(said for version in matched.group.suspected for said in version.assertions)
    if question.answer_type in _TIMED:
        found = _of_times(question, matched)
    elif all(_in_a_document(said, knowledge) for said in _statements(matched.group)):
        found = Ruling()  # the words themselves are surer than what was read out of them
    else:
        found = _of_values(matched.group, knowledge, at, past=past)
    about = () if matched.certain else _kin(matched.group)
    return replace(found, over=(*misfits, *found.over), doubtful=(*suspected, *found.doubtful), about=about)


def _of_times(question: Query, matched: Match) -> Ruling:
    """Return what facts leave to texts where a time of theirs is asked for."""
    group = matched.group
    single = one_at_a_time(group)
    named = tuple(dict.fromkeys(one.value for one in matched.named))
    begun = tuple(said for one in matched.named if ends(question.text) for said in one.said)  # no end stands there
    several = single and not named and len({one.value for one in matched.values}) > 1
    unclear = tuple(_statements(group)) if several else ()  # which of them is meant?
    rest = tuple(value for version in group.versions if (value := group.value(version)) not in named)
    return Ruling(named=named, instead=None if single else rest, spent=begun, doubtful=unclear)


def _of_values(group: RelationFacts, knowledge: KnownFacts, at: When | None, *, past: bool) -> Ruling:
    """Return what facts leave to texts where values are asked for, or whether one holds."""
    single = one_at_a_time(group)
    values = [one for one in held(group, knowledge) if one.sure]
    event = relations().get(group.relation).event
    meant = chosen(values, at, event=event, past=past, moment=knowledge.moment)
    live = {entity_key(one.value) for one in meant}
    over = _over(group, values, live, knowledge, at, single=single)
    telling = tuple(one.value for one in meant)
    if not single:
        return Ruling(over, telling)
    since = BEGINNING
    if not meant and not past and (at is None or at.since <= knowledge.moment < at.until):
        since = max((one.until for one in values if one.until <= knowledge.moment), default=BEGINNING)
    kept = {(said.turn_id, said.sentence) for one in meant for said in one.said}
    spent = tuple(said for said in _statements(group) if (said.turn_id, said.sentence) not in kept)
    return Ruling(over, telling, spent, since=since)


def one_at_a_time(group: RelationFacts) -> bool:
    """Return whether an entity has one value of the relation at a time, seen from the side of the group.

    Ann lives in one town, and in the town live many.
    """
    relation = relations().get(group.relation)
    return relation.cardinality == "single" and (group.forward or relation.symmetric)


def _over(
    group: RelationFacts,
    values: Iterable[Held],
    live: set[str],
    knowledge: KnownFacts,
    at: When | None,
    *,
    single: bool,
) -> tuple[str, ...]:
    """Return the values that do not hold; of many-valued relations only those that ended or were denied."""
    since = at.since if at else knowledge.moment
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


def _kin(group: RelationFacts) -> tuple[str, ...]:
    """Return the names of an entity that a relation between people is asked of; none for other relations."""
    relation = relations().get(group.relation)
    if group.through or (relation.head, relation.tail) != ("person", "person") or group.key == "user":
        return ()
    return (*group.names, *(word for name in group.names for word in words(name)))


def _in_a_document(said: Assertion, knowledge: KnownFacts) -> bool:
    turn = knowledge.turns.get(said.turn_id)
    return turn is not None and turn.kind == "document" and said.extractor != "caller"


def _misfits(question: Query, knowledge: KnownFacts) -> tuple[str, ...]:
    """Return what facts know to be no person, where one is asked for."""
    if question.answer_type != "who":
        return ()
    return tuple(
        dict.fromkeys(
            group.value(version)
            for group in knowledge.groups
            if group.forward and relations().get(group.relation).tail in ("place", "time", "number")
            for version in group.versions
        )
    )


def _within(sentence: Source, statements: Iterable[Assertion]) -> bool:
    return any(
        one.turn_id == sentence.turn.id and one.start < sentence.end and sentence.start < one.end for one in statements
    )


def _names(text: str, values: Iterable[str]) -> bool:
    """Return whether some value stands in a text, whole and as words."""
    said = ""
    for value in values:
        said = said or f" {' '.join(words(text))} "
        wanted = " ".join(words(value))
        if wanted and f" {wanted} " in said:
            return True
    return False
