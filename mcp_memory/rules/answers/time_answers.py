"""Answers that are a time: when a value began or ended, from when to when, and for how long.

A start or an end that nobody stated is derived and hedged, see `fact_answers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from mcp_memory.domain.answers import KnownFacts, Proposal
from mcp_memory.domain.query import Query
from mcp_memory.domain.relations import relations
from mcp_memory.domain.times import Constraint
from mcp_memory.rules.answers.fact_proposals import propose
from mcp_memory.rules.answers.matching import RelationMatch
from mcp_memory.rules.answers.modality import asks_deed
from mcp_memory.rules.answers.relations import change_positions, mentions_end, query_tokens
from mcp_memory.rules.answers.settings import FactAnswerSettings
from mcp_memory.rules.answers.values import (
    ValidValue,
    duration_text,
    end_text,
    join_values,
    select_values,
    start_text,
    validity_text,
)

_ALLOWED_ORDERS = frozenset(("first", "last", "within"))  # with "before" a query would ask for two times at once


def time_answer(
    query: Query, knowledge: KnownFacts, match: RelationMatch, time: Constraint | None, settings: FactAnswerSettings
) -> Proposal | None:
    """Answer when a value began or ended, or from when to when it held.

    Args:
        query: asks when.
        knowledge: facts about the entities that it names.
        match: what it asks for.
        time: the time that it names, or None.
        settings: the confidences, and the weight of a start that nobody stated.
    """
    answer = partial(propose, match, knowledge, settings)
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
        ended_by = tuple(assertion for value in values for assertion in value.version.ended_by)
        implied = any(_end_is_implied(value) for value in values)
        return answer(_join_all(texts), values, hedged=implied, assertions=ended_by)
    asked_for_start = bool(change_positions(query_tokens(query.text, query.time)))
    begin = relation.event or relation.cardinality == "unknown" or asked_for_start  # unknown ones may be events
    announced = asks_deed(query.text) and any(value.version.kind == "planned" for value in values)
    unstated = announced or any(not value.stated for value in values)
    changes = any(assertion.change for value in values for assertion in value.assertions)
    weight = settings.first_said if unstated and not changes else 1.0
    if begin:
        texts = [_by_time(start_text(value, knowledge), exact=value.stated) for value in values]
        return answer(_join_all(texts), values, weight, hedged=unstated)
    hedged = unstated or any(_end_is_implied(value) for value in values)
    texts = [validity_text(value, knowledge) for value in values]
    return answer(_join_all(texts), values, weight, hedged=hedged)


def duration_answer(
    knowledge: KnownFacts, match: RelationMatch, time: Constraint | None, settings: FactAnswerSettings, *, past: bool
) -> Proposal | None:
    """Answer for how long a value held, or has held until now. ``past``: the query is in the past tense."""
    answer = partial(propose, match, knowledge, settings)
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
    text = f"{'' if value.stated else 'at least '}{length} ({text})"
    return answer(text, (value,), hedged=not value.stated or _end_is_implied(value), assertions=value.version.ended_by)


def _join_all(texts: Sequence[str | None]) -> str:
    return join_values([text for text in texts if text]) if all(texts) else ""


def _by_time(time: str | None, *, exact: bool) -> str | None:
    return time if exact or time is None else f"by {time}"


def _end_is_stated(value: ValidValue) -> bool:
    """Return whether the instant of an end was stated: for the value itself, its denial or its successor."""
    return not value.version.ended_by or any(one.stated for one in value.version.ended_by)


def _end_is_implied(value: ValidValue) -> bool:
    """Return whether the end of a value was derived from its successor or from the time of its denial."""
    ended_by = value.version.ended_by
    return bool(ended_by) and not any(one.stated and one.negated for one in ended_by)
