"""Answers from facts: a value at a time, when it began or ended, for how long, how many, yes or no.

DESIGN 4 step 5: the tail of the relation that the query asks for, a time calculated from validity, the count of
distinct valid tails, yes or no only from a matching fact with polarity. What the facts do not clearly hold is not
answered: a query has to ask for one relation of one entity (`matching`) and mean a known time (`values`). Facts hold
only what was stated, so "no" is answered only from the end of a fact, a denial, or another value of a relation that has
one value at a time.

Unconfirmed facts and hypotheses are hedged (DESIGN I11). A start or an end that nobody stated is derived and hedged
too: a value held by the day of its first mention, and had ended by the day on which it was denied or the next one held.

**Choices** (`offered_values`) are questions that offer two things, of which the facts hold one: "Do I prefer tea or
coffee?".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

from mcp_memory.domain.answers import KnownFacts, Proposal
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import BEGINNING, FOREVER, Constraint
from mcp_memory.language.questions import asks_for_several, looks_back
from mcp_memory.language.tokens import words
from mcp_memory.rules.answers.fact_proposals import propose
from mcp_memory.rules.answers.matching import RelationMatch, match_relation
from mcp_memory.rules.answers.relations import name_positions, query_tokens
from mcp_memory.rules.answers.settings import FactAnswerSettings
from mcp_memory.rules.answers.span_filter import SpanFilter, single_valued, span_filter
from mcp_memory.rules.answers.time_answers import duration_answer, time_answer
from mcp_memory.rules.answers.values import (
    ValidValue,
    doses,
    end_text,
    is_current,
    join_values,
    planned_values,
    resolve_time,
    select_values,
)

_NOT_FACTUAL = re.compile(
    r"\b(?:would|could|should|or|if|not|never|why|no longer|than|both|same)\b|n['’]t\b|^\W*(?:Would|Could|Should|Why)\b"
)
"""Questions that suppose, compare or deny: a fact alone answers none of them."""
_YEAR = re.compile(r"\b\d{4}\b")
_QUANTITY = re.compile(r"^(?:\d|(?:two|three|four|five|six|seven|eight|nine|ten|several|some|many|few)\b)", re.I)


class FactAnswer(NamedTuple):
    """What the facts answer, and what they leave to texts.

    Attributes:
        proposal: the answer, or None where the facts do not clearly give one.
        takes_precedence: whether it precedes every answer from a text.
        span_filter: what the facts leave to texts.
        relation: the relation that the query asks for, "" if the answer is not that of a value which may have changed
            since.
        heads: the names of whom the facts are about.
        taken_back: ids of the texts of which a value was taken back, and of those that do so; they change nothing.
    """

    proposal: Proposal | None
    takes_precedence: bool
    span_filter: SpanFilter
    relation: str = ""
    heads: tuple[str, ...] = ()
    taken_back: frozenset[str] = frozenset()


def answer_from_facts(query: Query, knowledge: KnownFacts, settings: FactAnswerSettings) -> FactAnswer | None:
    """Return the answer of the facts; None where the query is not factual or its time is unknown."""
    if choice := offered_values(query, knowledge, settings.margin):
        chosen = propose(choice, knowledge, settings, choice.values[0].value, choice.values)
        return FactAnswer(replace(chosen, route=CHOICE_ROUTE) if chosen else None, True, SpanFilter())
    if _NOT_FACTUAL.search(query.text) or query.answer_type in ("why", "other"):
        return None
    if query.answer_type == "how" and not any(one.relation == "has_command" for one in knowledge.groups):
        return None
    try:
        time = resolve_time(query.time, knowledge)
    except LookupError:
        return None
    past = not knowledge.chosen and looks_back(query.text)
    match = match_relation(query, knowledge, settings.margin)
    proposal = _answer(query, knowledge, match, time, settings) if match else None
    if proposal:
        proposal = replace(proposal, route=f"fact {query.answer_type}")
    known = replace(knowledge, uncertain=True, groups=tuple(group for group in knowledge.groups if not group.inferred))
    texts = span_filter(query, known, match_relation(query, known, settings.margin), time, past=past)
    first = bool(proposal and match and _takes_precedence(query, match, proposal, texts))
    if match is None:
        return FactAnswer(proposal, first, texts)
    of_today = not past and query.answer_type not in ("when", "how_long")
    current = is_current(time, knowledge.moment) and (of_today or relations().get(match.group.relation).last_told)
    never = [
        one for one in match.group.versions if one.status == "contested" and any(no.negated for no in one.ended_by)
    ]
    taken_back = frozenset(said.turn_id for one in never for said in (*one.assertions, *one.ended_by))
    return FactAnswer(proposal, first, texts, match.group.relation if current else "", match.group.names, taken_back)


def _takes_precedence(query: Query, match: RelationMatch, proposal: Proposal, texts: SpanFilter) -> bool:
    """Return whether the answer of the facts precedes every span, whatever the span's confidence.

    It does not for relations with many values, of which the facts may have missed the one meant; for facts from
    documents, which are less certain than the documents' words; and for values that ended, because a later text may
    hold the next one.
    """
    if texts.since > BEGINNING:
        return False
    if not match.certain or match.group.inferred or proposal.citations[0].source.turn.kind == "document":
        return False
    if query.answer_type == "yes_no" and match.named_values:
        return True
    return single_valued(match.group)


def unknown_at_moment(query: Query, knowledge: KnownFacts, settings: FactAnswerSettings) -> bool:
    """Return whether the facts know the answer for other times, but not for the moment that the caller chose.

    Whatever a text says is then about another time.
    """
    if not knowledge.chosen or query.time is not None:
        return False
    stated = replace(knowledge, groups=tuple(group for group in knowledge.groups if not group.inferred))
    match = match_relation(query, stated, settings.margin)
    if match is None or not match.values:
        return False
    event = relations().get(match.group.relation).event
    return not select_values(match.values, None, event=event, past=False, moment=knowledge.moment)


def _answer(
    query: Query, knowledge: KnownFacts, match: RelationMatch, time: Constraint | None, settings: FactAnswerSettings
) -> Proposal | None:
    answer = partial(propose, match, knowledge, settings)
    relation = relations().get(match.group.relation)
    past = not knowledge.chosen and looks_back(query.text)
    values = match.values
    match query.answer_type:
        case "yes_no":
            return _polarity_answer(query, knowledge, match, time, settings, past=past)
        case "when" if relation.tail != "time" or not match.group.forward:
            return time_answer(query, knowledge, match, time, settings)
        case "how_long" if relation.name not in ("age", "born_on", "set_to"):
            return duration_answer(knowledge, match, time, settings, past=past)
    moment = FOREVER - 1 if all(one.version.kind == "planned" for one in values) else knowledge.moment
    meant = select_values(values, time, event=relation.event, past=past, moment=moment)
    if not meant and (past or (time is not None and time.order == "before")) and (former := _former(match)):
        return answer(match.group.value(former), (), settings.untimed, assertions=(former,))
    if not meant:
        return _ended_answer(query, knowledge, match, time, settings, past=past)
    different = list(dict.fromkeys(" ".join(one.value.split()) for one in meant))
    if query.answer_type == "how_many":
        if len(different) > 1 and any(_QUANTITY.match(value) for value in different):
            return None
        if _QUANTITY.match(different[0]):
            return answer(different[0], meant, incomplete=not (doses(meant) or relation.cardinality == "single"))
        return answer(f"{len(different)}: {join_values(different)}", meant, settings.count, incomplete=True)
    alone = time is not None and time.order == "first" and len(values) == 1  # "first" supposes that there are more
    single = not relation.event and _never_overlap(values)
    in_turn = single and len(different) > 1
    single_value = relation.cardinality == "single" or (single and len(values) > 1)
    ambiguous = time is None and in_turn
    weight = settings.untimed if ambiguous else 1.0
    if time is not None and time.order in ("first", "last") and len(different) > 1:
        return None
    if query.answer_type == "how_long":  # "how old"
        if relation.name == "born_on" and not _YEAR.search(different[0]):
            return None  # a birthday says no age
        return answer(different[0], meant, settings.untimed, hedged=True)
    if single_value and (text := _reliable_or_suspected(meant)):
        return answer(text, meant, hedged=True)
    text = ", then ".join(different) if in_turn and len(different) <= 4 else join_values(different)
    incomplete = not single_value and (len(different) > 1 or asks_for_several(query.text))
    overdue = single_value and _is_overdue(match, different, knowledge)
    return answer(text, meant, weight, hedged=ambiguous or alone or overdue, incomplete=incomplete)


def _is_overdue(match: RelationMatch, told: Sequence[str], knowledge: KnownFacts) -> bool:
    """Return whether another value was announced for a time that has come: it may hold though nobody said so."""
    plans = planned_values(match.group)
    return any(one.since <= knowledge.moment and " ".join(one.value.split()) not in told for one in plans)


def _reliable_or_suspected(meant: Sequence[ValidValue]) -> str | None:
    """Return reliable and suspected values, "Porto, or perhaps Braga"; None unless there are both."""
    reliable = list(dict.fromkeys(value.value for value in meant if value.reliable))
    suspected = list(dict.fromkeys(one.value for one in meant if not one.reliable and one.value not in reliable))
    both = reliable and suspected
    return f"{join_values(reliable)}, or perhaps {join_values(suspected, 'or')}" if both else None


def _ended_answer(
    query: Query,
    knowledge: KnownFacts,
    match: RelationMatch,
    time: Constraint | None,
    settings: FactAnswerSettings,
    *,
    past: bool,
) -> Proposal | None:
    """Answer that a relation with one value has none any more, and name the last one."""
    answer = partial(propose, match, knowledge, settings)
    group = match.group
    if past or query.answer_type == "how_many" or not match.certain or group.inferred or not group.forward:
        return None
    if not single_valued(group) or relations().get(group.relation).event:
        return None
    if time is not None and not time.since <= knowledge.moment < time.until:
        return None
    past_values = [value for value in match.values if value.until <= knowledge.moment and _has_end(value)]
    last = max(past_values, key=lambda value: value.until, default=None)
    if last is None:
        return None
    text = f"not any more: {' '.join(last.value.split())} until {end_text(last, knowledge)}"
    return answer(text, (last,), settings.untimed, hedged=True, assertions=last.version.ended_by)


def _former(match: RelationMatch) -> Assertion | None:
    """Return the end of the only value that is known to have held: "I moved out of Turku"; None if others are known."""
    ends = [denial for denial in match.group.denials if denial.change and denial.kind != "planned"]
    known = {match.group.value(denial) for denial in ends}
    single = single_valued(match.group) and not match.values and not relations().get(match.group.relation).event
    return max(ends, key=lambda denial: denial.said_at) if single and len(known) == 1 else None


def _has_end(value: ValidValue) -> bool:
    """Return whether it is known that a value ended; what held "before" may still hold (DESIGN 1.2)."""
    return value.version.precision != "before" or bool(value.version.ended_by)


def _never_overlap(values: Sequence[ValidValue]) -> bool:
    """Return whether no two values hold at once."""
    ordered = sorted(values, key=lambda value: value.since)
    return all(first.until <= second.since for first, second in pairwise(ordered))


def _polarity_answer(
    query: Query,
    knowledge: KnownFacts,
    match: RelationMatch,
    time: Constraint | None,
    settings: FactAnswerSettings,
    *,
    past: bool,
) -> Proposal | None:
    """Answer yes or no."""
    answer = partial(propose, match, knowledge, settings)
    group, relation = match.group, relations().get(match.group.relation)
    if time is not None and time.order != "within":
        return None
    values = match.named_values
    if not values:
        asked = query_tokens(query.text, query.time)
        denied = [denial for denial in group.denials if name_positions(asked, (group.value(denial),))]
        if denied:
            latest = max(denied, key=lambda denial: denial.said_at)
            return answer("No", (), assertions=(latest,)) if time is None and not past else None
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
        return answer("Yes", happened) if happened else None
    holding = [value for value in values if value.overlaps(since, until)]
    if holding:
        return answer("Yes", holding)
    past_values = [value for value in values if value.until <= since and _has_end(value)]
    if past_values and match.named_values:
        last = max(past_values, key=lambda value: value.until)
        return answer(f"No, until {end_text(last, knowledge)}", (last,), assertions=last.version.ended_by)
    return None


CHOICE_ROUTE = "fact choice"
"""The route of such an answer, which repeats a word of its question."""
_OR = re.compile(r"(?P<before>.+\s)(?P<first>[\w'’-]+)\s+or\s+(?:an?\s|the\s)?(?P<second>[\w'’-]+)", re.I)
_NOT_OFFERED = re.compile(r"\b(?:would|could|should|if|not|never|than|both|same|ever|any)\b|n['’]t\b", re.I)


def offered_values(query: Query, knowledge: KnownFacts, margin: float) -> RelationMatch | None:
    """Return the match of a question that offers two things, with the only value that is one of them; else None."""
    found = _OR.match(query.text)
    if query.answer_type != "yes_no" or query.time is not None or found is None or _NOT_OFFERED.search(query.text):
        return None
    asked = replace(query, text=found["before"].strip(), answer_type="what")
    match = match_relation(asked, knowledge, margin)
    if match is None or not match.certain or relations().get(match.group.relation).event:
        return None
    offered = {found["first"].casefold(), found["second"].casefold()}
    now = select_values(match.values, None, event=False, past=False, moment=knowledge.moment)
    meant = tuple(one for one in now if not offered.isdisjoint(words(one.value)))
    return replace(match, values=meant) if len(meant) == 1 else None
