"""Answers from versions of facts: a value at a time, when it began or ended, how long, how many, yes or no.

DESIGN 4 step 5: the tail of the relation that the question asks for, a time worked out of validity, the
count of distinct live tails, yes or no only from a matching fact with polarity. What the facts do not clearly hold is
not
said: a question has to ask for one relation of one entity (``matching``) and mean a time that is known (``held``).
Facts tell what was said and no more, so "no" is answered only from the end of a fact, a denial, or another value of a
relation that has one at a time.

What nothing has confirmed, and what rests on a hypothesis, is said with a hedge (DESIGN I11).
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
from mcp_memory.rules.answers.held import Held, When, chosen, when
from mcp_memory.rules.answers.lasting import Said, how_long, when_said
from mcp_memory.rules.answers.matching import Match, clearest
from mcp_memory.rules.answers.relations import names_in, tokens
from mcp_memory.rules.answers.ruling import Ruling, one_at_a_time, ruling
from mcp_memory.rules.answers.telling import ended, listed

MOST_CITED = 3
_OPEN = re.compile(
    r"\b(?:would|could|should|or|if|not|never|why|no longer|than|both|same)\b|n['’]t\b|^\W*(?:Would|Could|Should|Why)\b"
)
"""Questions that suppose, compare or deny: a fact alone answers none of them."""
_QUANTITY = re.compile(r"^(?:\d|(?:two|three|four|five|six|seven|eight|nine|ten|several|some|many|few)\b)", re.I)


@dataclass(frozen=True, slots=True)
class Sureness:
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
        apart: how much more clearly a question has to ask for one relation than for the next.
    """

    caller: float = 0.9
    talk: float = 0.75
    document: float = 0.45
    several: float = 0.6
    through: float = 0.85
    ambiguous: float = 0.75
    first_said: float = 0.6
    kind: float = 0.6
    count: float = 0.8
    apart: float = 0.1


@dataclass(frozen=True, slots=True)
class Told:
    """What the facts say to a question, beside what texts may say.

    Attributes:
        proposal: the answer, or None where they do not clearly give one.
        leads: whether it goes before what any text says.
        ruled: what they leave to texts.
    """

    proposal: Proposal | None
    leads: bool
    ruled: Ruling


def propose(question: Query, knowledge: KnownFacts, numbers: Sureness) -> Proposal | None:
    """Return what the facts say to a question, or None where they do not clearly say anything.

    Args:
        question: taken apart, with what it says about time.
        knowledge: of the entities that it names.
        numbers: how sure which answers are.
    """
    told = tell(question, knowledge, numbers)
    return told.proposal if told else None


def tell(question: Query, knowledge: KnownFacts, numbers: Sureness) -> Told | None:
    """Return what the facts say to a question and what they leave to texts; arguments as for `propose`.

    None where facts alone answer no such question, or nobody knows which time it means.
    """
    if _OPEN.search(question.text) or question.answer_type in ("why", "how", "other"):
        return None
    try:
        at = when(question.time, knowledge)
    except LookupError:
        return None
    past = not knowledge.chosen and looks_back(question.text)
    matched = clearest(question, knowledge, numbers.apart)
    said = _say(question, knowledge, matched, at, numbers) if matched else None
    proposal = _proposal(said, knowledge, matched, numbers) if said and said.text and matched else None
    known = replace(knowledge, uncertain=True, groups=tuple(one for one in knowledge.groups if not one.inferred))
    ruled = ruling(question, known, clearest(question, known, numbers.apart), at, past=past)
    return Told(proposal, bool(proposal and matched and _leads(question, matched, proposal, ruled)), ruled)


def _leads(question: Query, matched: Match, proposal: Proposal, ruled: Ruling) -> bool:
    """Return whether what facts say goes before every span, however sure.

    Of a relation with many values, facts may have missed the one that is meant, and of what documents say they are
    less sure than the words themselves. Of what is no more, a later text may know what came after it.
    """
    if ruled.since > BEGINNING:
        return False
    if not matched.certain or matched.group.inferred or proposal.citations[0].source.turn.kind == "document":
        return False
    if question.answer_type == "yes_no" and matched.named:
        return True
    return one_at_a_time(matched.group)


def silent(question: Query, knowledge: KnownFacts, numbers: Sureness) -> bool:
    """Return whether the facts know what is asked for of other times, but nothing of the moment that the caller chose.

    Whatever a text says then, it says of another time.
    """
    if not knowledge.chosen or question.time is not None:
        return False
    said = replace(knowledge, groups=tuple(group for group in knowledge.groups if not group.inferred))
    matched = clearest(question, said, numbers.apart)
    if matched is None or not matched.values:
        return False
    event = relations().get(matched.group.relation).event
    return not chosen(matched.values, None, event=event, past=False, moment=knowledge.moment)


def _say(question: Query, knowledge: KnownFacts, matched: Match, at: When | None, numbers: Sureness) -> Said | None:
    relation = relations().get(matched.group.relation)
    past = not knowledge.chosen and looks_back(question.text)
    values = matched.values
    match question.answer_type:
        case "yes_no":
            return _polar(question, knowledge, matched, at, past=past)
        case "when" if relation.tail != "time" or not matched.group.forward:
            return when_said(question, knowledge, matched, at, numbers.first_said)
        case "how_long" if relation.name not in ("age", "born_on"):
            return how_long(knowledge, matched, at, past=past)
    meant = chosen(values, at, event=relation.event, past=past, moment=knowledge.moment)
    if not meant:
        return _no_more(question, knowledge, matched, at, numbers, past=past)
    different = list(dict.fromkeys(" ".join(one.value.split()) for one in meant))
    if question.answer_type == "how_many":
        if len(different) > 1 and any(_QUANTITY.match(value) for value in different):
            return None
        if _QUANTITY.match(different[0]):
            return Said(different[0], tuple(meant), open=True)
        return Said(f"{len(different)}: {listed(different)}", tuple(meant), numbers.count, open=True)
    single = not relation.event and _exclusive(values)
    one_at_a_time = single and len(different) > 1
    one_only = relation.cardinality == "single" or (single and len(values) > 1)
    open_past = at is None and one_at_a_time
    worth = numbers.ambiguous if open_past else 1.0
    if at is not None and at.order in ("first", "last") and len(different) > 1:
        return None
    if question.answer_type == "how_long":  # "how old"
        return Said(different[0], tuple(meant), numbers.ambiguous, hedged=True)
    if one_only and (text := _or_perhaps(meant)):
        return Said(text, tuple(meant), hedged=True)
    text = ", then ".join(different) if one_at_a_time and len(different) <= 4 else listed(different)
    return Said(text, tuple(meant), worth, hedged=open_past, open=not one_only)


def _or_perhaps(meant: Sequence[Held]) -> str | None:
    """Return what is relied on and what is only suspected, "Porto, or perhaps Braga"; None where both are not there."""
    sure = list(dict.fromkeys(one.value for one in meant if one.sure))
    unsure = list(dict.fromkeys(one.value for one in meant if not one.sure and one.value not in sure))
    return f"{listed(sure)}, or perhaps {listed(unsure, 'or')}" if sure and unsure else None


def _no_more(
    question: Query, knowledge: KnownFacts, matched: Match, at: When | None, numbers: Sureness, *, past: bool
) -> Said | None:
    """Say of a relation with one value that it has none any more, and what the last one was."""
    group = matched.group
    if past or question.answer_type == "how_many" or not matched.certain or group.inferred or not group.forward:
        return None
    if not one_at_a_time(group) or relations().get(group.relation).event:
        return None
    if at is not None and not at.since <= knowledge.moment < at.until:
        return None
    over = [one for one in matched.values if one.until <= knowledge.moment]
    last = max(over, key=lambda one: one.until, default=None)
    if last is None:
        return None
    text = f"not any more: {' '.join(last.value.split())} until {ended(last, knowledge)}"
    return Said(text, (last,), numbers.ambiguous, hedged=True, by=last.version.ended_by)


def _exclusive(values: Sequence[Held]) -> bool:
    """Return whether no two values hold at once."""
    ordered = sorted(values, key=lambda one: one.since)
    return all(first.until <= second.since for first, second in pairwise(ordered))


def _polar(question: Query, knowledge: KnownFacts, matched: Match, at: When | None, *, past: bool) -> Said | None:
    """Say yes or no."""
    group, relation = matched.group, relations().get(matched.group.relation)
    if at is not None and at.order != "within":
        return None
    values = matched.named
    if not values:
        asked = tokens(question.text, question.time)
        denied = [one for one in group.denials if names_in(asked, (group.value(one),))]
        if denied:
            latest = max(denied, key=lambda one: one.said_at)
            return Said("No", (), by=(latest,)) if at is None and not past else None
        if not matched.values:
            return None
        values = matched.values
    since, until = (at.since, at.until) if at else (knowledge.moment, knowledge.moment + 1)
    if relation.event or (past and at is None):
        happened = [
            one for one in values if one.since <= knowledge.moment and (at is None or one.overlaps(since, until))
        ]
        return Said("Yes", tuple(happened)) if happened else None
    holding = [one for one in values if one.overlaps(since, until)]
    if holding:
        return Said("Yes", tuple(holding))
    over = [one for one in values if one.until <= since]
    if over and matched.named:
        last = max(over, key=lambda one: one.until)
        return Said(f"No, until {ended(last, knowledge)}", (last,), by=last.version.ended_by)
    return None


def _proposal(said: Said, knowledge: KnownFacts, matched: Match, numbers: Sureness) -> Proposal | None:
    group = matched.group
    citations = _citations(said, knowledge, group)
    if not citations:
        return None
    read = any(assertion.extractor != "caller" for one in said.values for assertion in one.said)
    confidence = numbers.caller * said.worth
    if read:
        kind = citations[0].source.turn.kind
        confidence = (numbers.document if kind == "document" else numbers.talk) * said.worth
        confidence *= numbers.several if said.open else 1.0
    unsure = not all(one.sure for one in said.values)
    doubt = group.inferred is not None or not matched.certain or _contested(said, group)
    confidence *= numbers.through ** len(group.through)
    confidence *= min((step.confidence for step in group.through), default=1.0)
    if group.inferred or (unsure and not any(one.sure for one in said.values)):
        confidence *= min((one.version.confidence for one in said.values), default=1.0)
    if not matched.certain:
        confidence *= numbers.kind
    return Proposal(said.text, confidence, said.hedged or unsure or doubt, citations)


def _contested(said: Said, group: RelationFacts) -> bool:
    """Return whether another value claims the time of one that is said."""
    lost = [version.since for version in group.versions if version.status == "contested"]
    return any(one.since <= since < one.until for one in said.values for since in lost)


def _citations(said: Said, knowledge: KnownFacts, group: RelationFacts) -> tuple[Citation, ...]:
    """Return the statements that an answer rests on: one of each value, what ended it, and the steps to it."""
    wanted = [(one.version.id, max(one.said, key=_telling)) for one in said.values]
    wanted += [(said.values[0].version.id if said.values else one.id, one) for one in said.by]
    wanted += [(step.version.id, one) for step in group.through for one in (*step.version.assertions, *step.via)[:1]]
    found: dict[str, Citation] = {}
    for fact, assertion in wanted:
        if place := knowledge.source(assertion):
            found.setdefault(assertion.id, Citation(fact, place))
    return tuple(found.values())[:MOST_CITED]


def _telling(assertion: Assertion) -> tuple[bool, float, int, str]:
    return assertion.stated, assertion.confidence, -assertion.said_at, assertion.id
