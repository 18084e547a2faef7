"""Answer questions about a name that several people bear, and leave out what is said of their namesakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from mcp_memory.domain.answers import EvidenceSentence, KnownFacts, Proposal
from mcp_memory.domain.entities import entity_key
from mcp_memory.domain.query import Query
from mcp_memory.language.names import names
from mcp_memory.rules.answers.fact_answers import MOST_CITED, answer_from_facts
from mcp_memory.rules.answers.settings import FactAnswerSettings


def answer_each(query: Query, knowledge: KnownFacts, settings: FactAnswerSettings) -> Proposal | None:
    """Return the hedged answers of the facts about each person who may be meant, "Oslo (Ann Lee) or Lima (Ann Moor)".

    Args:
        query: with a name that means several people.
        knowledge: what is known of all of them.
        settings: confidences of the kinds of answers.
    """
    found: list[tuple[str, Proposal]] = []
    for key in knowledge.meanings:
        groups = tuple(group for group in knowledge.groups if group.key == key and not group.through)
        answer = answer_from_facts(query, replace(knowledge, groups=groups), settings)
        if answer is not None and answer.proposal is not None:
            found.append((groups[0].names[0], answer.proposal))
    if not found:
        return None
    text = " or ".join(f"{proposal.text} ({name})" for name, proposal in found)
    citations = [citation for _, proposal in found for citation in proposal.citations[:1]]
    confidence = min(proposal.confidence for _, proposal in found) * settings.kind
    return Proposal(text, confidence, True, tuple(citations[:MOST_CITED]))


def without_namesakes(
    query: Query, sentences: Sequence[EvidenceSentence], namesakes: frozenset[str]
) -> Sequence[EvidenceSentence]:
    """Return the sentences but those of talk that name, or are said by, only a namesake of whom the query names."""
    if not namesakes:
        return sentences
    asked = frozenset(map(entity_key, query.names))

    def is_meant(sentence: EvidenceSentence) -> bool:
        turn = sentence.source.turn
        if turn.kind == "document":
            return True
        named = {entity_key(name) for name in (*names(sentence.source.quote), turn.speaker or "")}
        return not named.isdisjoint(asked) or named.isdisjoint(namesakes)

    return [sentence for sentence in sentences if is_meant(sentence)]
