"""The proposal that states some values of a fact: its confidence, whether it is hedged, and what it cites.

Unconfirmed facts and hypotheses are hedged (DESIGN I11), and so is what may be about somebody else or of another kind.
"""

from __future__ import annotations

from collections.abc import Sequence

from mcp_memory.domain.answers import KnownFacts, Proposal, RelationFacts
from mcp_memory.domain.evidence import Citation
from mcp_memory.domain.facts import Assertion
from mcp_memory.domain.relations import relations
from mcp_memory.rules.answers.matching import RelationMatch
from mcp_memory.rules.answers.settings import FactAnswerSettings
from mcp_memory.rules.answers.values import ValidValue, assertion_rank

MOST_CITED = 3


def propose(
    match: RelationMatch,
    knowledge: KnownFacts,
    settings: FactAnswerSettings,
    text: str,
    values: Sequence[ValidValue],
    weight: float = 1.0,
    *,
    hedged: bool = False,
    assertions: Sequence[Assertion] = (),
    incomplete: bool = False,
) -> Proposal | None:
    """Return an answer from facts as a proposal; None for one without words, or without a text to cite.

    Args:
        match: what the query asks for.
        knowledge: has the texts of the assertions.
        settings: the confidences.
        text: the words of the answer.
        values: the values that it states.
        weight: factor on the confidence, in (0, 1].
        hedged: whether it is to be expressed with doubt.
        assertions: further ones that it rests on.
        incomplete: whether there may be more values than it states.
    """
    group = match.group
    citations = _citations(values, assertions, knowledge, group)
    if not text or not citations:
        return None
    extracted = any(assertion.extractor != "caller" for value in values for assertion in value.assertions)
    confidence = settings.caller * weight
    if extracted:
        kind = citations[0].source.turn.kind
        of_documents = settings.fixed if _has_fixed_form(group, values) else settings.document
        confidence = (of_documents if kind == "document" else settings.talk) * weight
        confidence *= settings.many_valued if incomplete else 1.0
        if not group.inferred:
            own = min((value.version.confidence for value in values if value.reliable), default=1.0)
            confidence *= min(own / settings.sure, 1.0)
    unsure = not all(value.reliable for value in values)
    doubt = group.inferred is not None or not match.certain or _is_contested(values, group) or bool(group.doubt)
    confidence *= settings.per_step ** len(group.through)
    confidence *= min((step.confidence for step in group.through), default=1.0)
    if group.inferred or (unsure and not any(value.reliable for value in values)):
        confidence *= min((value.version.confidence for value in values), default=1.0)
    if not match.certain or group.doubt:
        confidence *= settings.kind
    return Proposal(text + group.doubt, confidence, hedged or unsure or doubt, citations)


def _has_fixed_form(group: RelationFacts, values: Sequence[ValidValue]) -> bool:
    """Return whether documents state such facts in fixed forms: "(12 May 1901 –", "is an Irish painter"."""
    relation = relations().get(group.relation)
    dated = relation.tail == "time" and relation.cardinality == "single"
    return group.forward and len(values) == 1 and (dated or relation.name in ("nationality", "born_in"))


def _is_contested(values: Sequence[ValidValue], group: RelationFacts) -> bool:
    """Return whether another value claims the time of an answered one."""
    lost = [version.since for version in group.versions if version.lost]
    return any(value.since <= since < value.until for value in values for since in lost)


def _citations(
    values: Sequence[ValidValue], assertions: Sequence[Assertion], knowledge: KnownFacts, group: RelationFacts
) -> tuple[Citation, ...]:
    """Return the citations of an answer: one assertion of each value, what ended it, and the steps to the entity."""
    wanted = [(value.version.id, max(value.assertions, key=assertion_rank)) for value in values]
    wanted += [(values[0].version.id if values else one.id, one) for one in assertions]
    wanted += [(step.version.id, one) for step in group.through for one in (*step.version.assertions, *step.via)[:1]]
    found: dict[str, Citation] = {}
    for fact, assertion in wanted:
        if source := knowledge.source(assertion):
            found.setdefault(assertion.id, Citation(fact, source))
    return tuple(found.values())[:MOST_CITED]
