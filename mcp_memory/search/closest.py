"""What was said that comes closest to a question, word for word, where nothing certain answers it.

Nobody judges here whether a sentence answers: it is for whoever asked to read. Of the best evidence the sentences come
first that fit the question most, by the score of their record and by their own words and vector; each is of another
message. What a caller corrected stands before all of them (``gain/caller_feedback.py``). A short message is quoted
whole: what stands beside a sentence may take it back ("I live in Rome. As if.").
"""

from __future__ import annotations

from mcp_memory.domain.answers import EvidenceSentence
from mcp_memory.domain.evidence import Source
from mcp_memory.language.segments import ends_with_question_mark
from mcp_memory.language.tokens import stems
from mcp_memory.ports import JudgeInput

MOST = 3
"""Sentences that are quoted."""
SHORT = 300
"""Characters up to which a message is quoted whole."""


def closest(asked: JudgeInput) -> tuple[Source, ...]:
    """Return up to `MOST` sentences of different messages or documents that come closest, best first."""
    correction = asked.recall.correction
    first = {one.turn.id: one for one in correction.sources[:1]} if correction else {}
    whole = sum(asked.rarity.values()) or 1.0

    def fit(sentence: EvidenceSentence) -> float:
        said = frozenset(stems(sentence.source.quote))
        told = sum(rare for stem, rare in asked.rarity.items() if stem in said) / whole
        return (sentence.score + told + (sentence.cosine or 0.0)) * min(sentence.gate, 1.0)

    statements = [one for one in asked.sentences if not ends_with_question_mark(one.source.quote)]
    for sentence in sorted(statements or asked.sentences, key=fit, reverse=True):
        first.setdefault(sentence.source.turn.id, sentence.source)
    return tuple(_whole_if_short(one) for one in first.values())[:MOST]


def _whole_if_short(said: Source) -> Source:
    text = said.turn.text
    return Source(said.turn, 0, len(text)) if said.turn.kind == "message" and len(text) <= SHORT else said
