"""Answers from versions of facts: a value at a time, when it began or ended, how long, how many, yes or no.

DESIGN 4 step 5: the tail of the relation that the question asks for, a time worked out of validity, the
count of distinct live tails, yes or no only from a matching fact with polarity. What the facts do not clearly hold is
not
said: a question has to ask for one relation of one entity (``matching``) and mean a time that is known (``held``).
Facts tell what was said and no more, so "no" is answered only from the end of a fact, a denial, or another value of a
relation that has one at a time.

What nothing has confirmed, and what rests on a hypothesis, is said with a hedge (DESIGN I11).

When a fact began or ended, and for how long it held, said out of its validity.

What nobody stated is worked out and said with a hedge: a value held by the day on which it was first said, and was over
by the day on which somebody denied it or the next one held.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from mcp_memory.domain.answers import KnownFacts, Proposal, RelationFacts
from mcp_memory.domain.evidence import Citation
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING
from mcp_memory.language.question_form import looks_back
from mcp_memory.rules.answers.matching import RelationMatch, match_relation
from mcp_memory.rules.answers.relations import change_positions, mentions_end, name_positions, query_tokens
from mcp_memory.rules.answers.span_filter import SpanFilter, single_valued, span_filter
from mcp_memory.rules.answers.values import (
    ValidValue,
    When,
    duration_text,
    end_text,
    join_values,
    resolve_time,
    select_values,
    start_text,
    validity_text,
)

MOST_CITED = 3
_NOT_FACTUAL = re.compile(
    r"\b(?:would|could|should|or|if|not|never|why|no longer|than|both|same)\b|n['’]t\b|^\W*(?:Would|Could|Should|Why)\b"
)
"""Questions that suppose, compare or deny: a fact alone answers none of them."""
_QUANTITY = re.compile(r"^(?:\d|(?:two|three|four|five|six|seven|eight|nine|ten|several|some|many|few)\b)", re.I)


@dataclass(frozen=True, slots=True)
class FactAnswerSettings:
    """How sure an answer from facts is, roughly the share that is right.

    Attributes:
        caller: where the caller read the facts.
        talk: where they were read out of talk.
        document: where they were read out of a document, which tells of many people and times.
        several: of a relation that may have many values, where they were read out of texts: some of those that were
            said are missed, and some that were read do not belong there.
        through: for each step to an entity that the question describes ("Ann's sister").
        ambiguous: where the question names no time and the value changed.
        first_said: where nobody said when something began, and the day on which it was first said stands in.
        kind: where nobody said that the only value is of the kind asked for.
        count: of values that are known, of which there may be more.
        margin: how much more clearly a question has to ask for one relation than for the next.
    """

    caller: float = 0.9
    talk: float = 0.75
    document: float = 0.45
    many_valued: float = 0.6
    per_step: float = 0.85
    untimed: float = 0.75
    first_said: float = 0.6
    kind: float = 0.6
    count: float = 0.8
    margin: float = 0.1


@dataclass(frozen=True, slots=True)
class FactAnswer:
    """What the facts say to a question, beside what texts may say.

    Attributes:
        proposal: the answer, or None where they do not clearly give one.
        leads: whether it goes before what any text says.
        span_filter: what they leave to texts.
    """

    proposal: Proposal | None
    takes_precedence: bool
    span_filter: SpanFilter


def propose(query: Query, knowledge: KnownFacts, settings: FactAnswerSettings) -> Proposal | None:
    """Return what the facts say to a question, or None where they do not clearly say anything.

    Args:
        query: taken apart, with what it says about time.
        knowledge: of the entities that it names.
        settings: how sure which answers are.
    """
    answer = answer_from_facts(query, knowledge, settings)
    return answer.proposal if answer else None


def answer_from_facts(query: Query, knowledge: KnownFacts, settings: FactAnswerSettings) -> FactAnswer | None:
    """Return what the facts say to a question and what they leave to texts; arguments as for `propose`.

    None where facts alone answer no such question, or nobody knows which time it means.
    """
    if _NOT_FACTUAL.search(query.text) or query.answer_type in ("why", "how", "other"):
        return None
    try:
        time = resolve_time(query.time, knowledge)
    except LookupError:
        return None
    past = not knowledge.chosen and looks_back(query.text)
    match = match_relation(query, knowledge, settings.margin)
    claim = _claim(query, knowledge, match, time, settings) if match else None
    proposal = _proposal(claim, knowledge, match, settings) if claim and claim.text and match else None
    known = replace(knowledge, uncertain=True, groups=tuple(value for value in knowledge.groups if not value.inferred))
    ruled = span_filter(query, known, match_relation(query, known, settings.margin), time, past=past)
    return FactAnswer(proposal, bool(proposal and match and _takes_precedence(query, match, proposal, ruled)), ruled)


def _takes_precedence(query: Query, match: RelationMatch, proposal: Proposal, ruled: SpanFilter) -> bool:
    """Return whether what facts say goes before every span, however sure.

    Of a relation with many values, facts may have missed the one that is meant, and of what documents say they are
    less sure than the words themselves. Of what is no more, a later text may know what came after it.
    """
    if ruled.since > BEGINNING:
        return False
    if not match.certain or match.group.inferred or proposal.citations[0].source.turn.kind == "document":
        return False
    if query.answer_type == "yes_no" and match.named_values:
        return True
    return single_valued(match.group)


def unknown_at_moment(query: Query, knowledge: KnownFacts, settings: FactAnswerSettings) -> bool:
    """Return whether the facts know what is asked for of other times, but nothing of the moment that the caller chose.

    Whatever a text says then, it says of another time.
    """
    if not knowledge.chosen or query.time is not None:
        return False
    claim = replace(knowledge, groups=tuple(group for group in knowledge.groups if not group.inferred))
    match = match_relation(query, claim, settings.margin)
    if match is None or not match.values:
        return False
    event = relations().get(match.group.relation).event
    return not select_values(match.values, None, event=event, past=False, moment=knowledge.moment)


def _claim(
    query: Query, knowledge: KnownFacts, match: RelationMatch, time: When | None, settings: FactAnswerSettings
) -> Claim | None:
    relation = relations().get(match.group.relation)
    past = not knowledge.chosen and looks_back(query.text)
    values = match.values
    match query.answer_type:
        case "yes_no":
            return _polarity_claim(query, knowledge, match, time, past=past)
        case "when" if relation.tail != "time" or not match.group.forward:
            return time_claim(query, knowledge, match, time, settings.first_said)
        case "how_long" if relation.name not in ("age", "born_on"):
            return duration_claim(knowledge, match, time, past=past)
    meant = select_values(values, time, event=relation.event, past=past, moment=knowledge.moment)
    if not meant:
        return _ended_claim(query, knowledge, match, time, settings, past=past)
    different = list(dict.fromkeys(" ".join(one.value.split()) for one in meant))
    if query.answer_type == "how_many":
        if len(different) > 1 and any(_QUANTITY.match(value) for value in different):
            return None
        if _QUANTITY.match(different[0]):
            return Claim(different[0], tuple(meant), incomplete=True)
        return Claim(f"{len(different)}: {join_values(different)}", tuple(meant), settings.count, incomplete=True)
    single = not relation.event and _never_overlap(values)
    one_at_a_time = single and len(different) > 1
    one_only = relation.cardinality == "single" or (single and len(values) > 1)
    open_past = time is None and one_at_a_time
    worth = settings.untimed if open_past else 1.0
    if time is not None and time.order in ("first", "last") and len(different) > 1:
        return None
    if query.answer_type == "how_long":  # "how old"
        return Claim(different[0], tuple(meant), settings.untimed, hedged=True)
    if one_only and (text := _reliable_or_suspected(meant)):
        return Claim(text, tuple(meant), hedged=True)
    text = ", then ".join(different) if one_at_a_time and len(different) <= 4 else join_values(different)
    return Claim(text, tuple(meant), worth, hedged=open_past, incomplete=not one_only)


def _reliable_or_suspected(meant: Sequence[ValidValue]) -> str | None:
    """Return what is relied on and what is only suspected, "Porto, or perhaps Braga"; None where both are not there."""
    sure = list(dict.fromkeys(value.value for value in meant if value.reliable))
    unsure = list(dict.fromkeys(value.value for value in meant if not value.reliable and value.value not in sure))
    return f"{join_values(sure)}, or perhaps {join_values(unsure, 'or')}" if sure and unsure else None


def _ended_claim(
    query: Query,
    knowledge: KnownFacts,
    match: RelationMatch,
    time: When | None,
    settings: FactAnswerSettings,
    *,
    past: bool,
) -> Claim | None:
    """Say of a relation with one value that it has none any more, and what the last one was."""
    group = match.group
    if past or query.answer_type == "how_many" or not match.certain or group.inferred or not group.forward:
        return None
    if not single_valued(group) or relations().get(group.relation).event:
        return None
    if time is not None and not time.since <= knowledge.moment < time.until:
        return None
    over = [value for value in match.values if value.until <= knowledge.moment]
    last = max(over, key=lambda value: value.until, default=None)
    if last is None:
        return None
    text = f"not any more: {' '.join(last.value.split())} until {end_text(last, knowledge)}"
    return Claim(text, (last,), settings.untimed, hedged=True, assertions=last.version.ended_by)


def _never_overlap(values: Sequence[ValidValue]) -> bool:
    """Return whether no two values hold at once."""
    ordered = sorted(values, key=lambda value: value.since)
    return all(first.until <= second.since for first, second in pairwise(ordered))


def _polarity_claim(
    query: Query, knowledge: KnownFacts, match: RelationMatch, time: When | None, *, past: bool
) -> Claim | None:
    """Say yes or no."""
    group, relation = match.group, relations().get(match.group.relation)
    if time is not None and time.order != "within":
        return None
    values = match.named_values
    if not values:
        asked = query_tokens(query.text, query.time)
        denied = [value for value in group.denials if name_positions(asked, (group.value(value),))]
        if denied:
            latest = max(denied, key=lambda value: value.said_at)
            return Claim("No", (), assertions=(latest,)) if time is None and not past else None
        if not match.values:
            return None
        values = match.values
    since, until = (time.since, time.until) if time else (knowledge.moment, knowledge.moment + 1)
    if relation.event or (past and time is None):
        happened = [
            value
            for value in values
            if value.since <= knowledge.moment and (time is None or value.overlaps(since, until))
        ]
        return Claim("Yes", tuple(happened)) if happened else None
    holding = [value for value in values if value.overlaps(since, until)]
    if holding:
        return Claim("Yes", tuple(holding))
    over = [value for value in values if value.until <= since]
    if over and match.named_values:
        last = max(over, key=lambda value: value.until)
        return Claim(f"No, until {end_text(last, knowledge)}", (last,), assertions=last.version.ended_by)
    return None


def _proposal(
    claim: Claim, knowledge: KnownFacts, match: RelationMatch, settings: FactAnswerSettings
) -> Proposal | None:
    group = match.group
    citations = _citations(claim, knowledge, group)
    if not citations:
        return None
    read = any(assertion.extractor != "caller" for value in claim.values for assertion in value.assertions)
    confidence = settings.caller * claim.weight
    if read:
        kind = citations[0].source.turn.kind
        confidence = (settings.document if kind == "document" else settings.talk) * claim.weight
        confidence *= settings.many_valued if claim.incomplete else 1.0
    unsure = not all(value.reliable for value in claim.values)
    doubt = group.inferred is not None or not match.certain or _is_contested(claim, group)
    confidence *= settings.per_step ** len(group.through)
    confidence *= min((step.confidence for step in group.through), default=1.0)
    if group.inferred or (unsure and not any(value.reliable for value in claim.values)):
        confidence *= min((value.version.confidence for value in claim.values), default=1.0)
    if not match.certain:
        confidence *= settings.kind
    return Proposal(claim.text, confidence, claim.hedged or unsure or doubt, citations)


def _is_contested(claim: Claim, group: RelationFacts) -> bool:
    """Return whether another value claims the time of one that is said."""
    lost = [version.since for version in group.versions if version.status == "contested"]
    return any(value.since <= since < value.until for value in claim.values for since in lost)


def _citations(claim: Claim, knowledge: KnownFacts, group: RelationFacts) -> tuple[Citation, ...]:
    """Return the statements that an answer rests on: one of each value, what ended it, and the steps to it."""
    wanted = [(value.version.id, max(value.assertions, key=_assertion_rank)) for value in claim.values]
    wanted += [(claim.values[0].version.id if claim.values else value.id, value) for value in claim.assertions]
    wanted += [
        (step.version.id, value) for step in group.through for value in (*step.version.assertions, *step.via)[:1]
    ]
    found: dict[str, Citation] = {}
    for fact, assertion in wanted:
        if place := knowledge.source(assertion):
            found.setdefault(assertion.id, Citation(fact, place))
    return tuple(found.values())[:MOST_CITED]


def _assertion_rank(assertion: Assertion) -> tuple[bool, float, int, str]:
    return assertion.stated, assertion.confidence, -assertion.said_at, assertion.id


_ALLOWED_ORDERS = frozenset(("first", "last", "within"))
"""Orders of time that a question for a time can have; "before" and "after" it would ask for two times at once."""


@dataclass(frozen=True, slots=True)
class Claim:
    """An answer in the making: what it rests on, its words, and how far it is weakened.

    Attributes:
        text: its words.
        values: that it tells.
        worth: how far it is weakened, in (0, 1].
        hedged: whether it should be said with doubt.
        by: further assertions that it rests on.
        open: whether there may be more values than it tells.
    """

    text: str
    values: tuple[ValidValue, ...]
    weight: float = 1.0
    hedged: bool = False
    assertions: tuple[Assertion, ...] = ()
    incomplete: bool = False


def time_claim(
    query: Query, knowledge: KnownFacts, match: RelationMatch, time: When | None, first_said: float
) -> Claim | None:
    """Say when something began or ended, or from when to when it held.

    Args:
        query: asks when.
        knowledge: of the entities that it names.
        match: what it asks for.
        time: the time that it names, or None.
        first_said: what a start is worth that nobody stated.
    """
    relation = relations().get(match.group.relation)
    values = list(match.named_values or match.values)
    if time is not None:
        if time.order not in _ALLOWED_ORDERS:
            return None
        values = select_values(values, time, event=relation.event, past=True, moment=knowledge.moment)
    ending = mentions_end(query.text)
    if ending:
        values = [value for value in values if not value.open_ended]
    if len({value.value for value in values}) != 1:
        return None
    if ending:
        texts = [_by_time(end_text(value, knowledge), exact=_end_is_stated(value)) for value in values]
        by = tuple(assertion for value in values for assertion in value.version.ended_by)
        return Claim(
            _join_all(texts), tuple(values), hedged=any(_end_is_implied(value) for value in values), assertions=by
        )
    asked_for_start = bool(change_positions(query_tokens(query.text, query.time)))
    begin = relation.event or relation.cardinality == "unknown" or asked_for_start  # unknown ones may be events
    unsure = any(not value.stated for value in values)
    fresh = any(assertion.change for value in values for assertion in value.assertions)
    worth = first_said if unsure and not fresh else 1.0
    if begin:
        texts = [_by_time(start_text(value, knowledge), exact=value.stated) for value in values]
        return Claim(_join_all(texts), tuple(values), worth, hedged=unsure)
    hedged = unsure or any(_end_is_implied(value) for value in values)
    return Claim(_join_all([validity_text(value, knowledge) for value in values]), tuple(values), worth, hedged=hedged)


def duration_claim(knowledge: KnownFacts, match: RelationMatch, time: When | None, *, past: bool) -> Claim | None:
    """Say for how long a value held, or has held until now; arguments as for `time_claim`.

    ``past`` tells whether the question is put in the past tense.
    """
    if relations().get(match.group.relation).event or (time is not None and time.order not in _ALLOWED_ORDERS):
        return None
    values = list(match.named_values or match.values)
    if time is not None or len(values) > 1:
        values = select_values(values, time, event=False, past=past, moment=knowledge.moment)
    if len(values) != 1:
        return None
    value = values[0]
    text = validity_text(value, knowledge)
    if text is None or start_text(value, knowledge) is None:
        return None
    length = duration_text(value.since, knowledge.moment if value.open_ended else value.until)
    said = f"{'' if value.stated else 'at least '}{length} ({text})"
    return Claim(said, (value,), hedged=not value.stated or _end_is_implied(value), assertions=value.version.ended_by)


def _join_all(texts: Sequence[str | None]) -> str:
    return join_values([text for text in texts if text]) if all(texts) else ""


def _by_time(time: str | None, *, exact: bool) -> str | None:
    return time if exact or time is None else f"by {time}"


def _end_is_stated(value: ValidValue) -> bool:
    """Return whether the instant of an end was stated: of the value itself, of its denial or of what came after it."""
    return not value.version.ended_by or any(said.stated for said in value.version.ended_by)


def _end_is_implied(value: ValidValue) -> bool:
    """Return whether nobody stated the end of a value: it is taken from the next one, or from when it was denied."""
    by = value.version.ended_by
    return bool(by) and not any(said.stated and said.negated for said in by)
