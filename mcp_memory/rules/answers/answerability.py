"""How likely it is that the evidence answers a question at all: the confidence of an abstention.

The best sentences of the person asked about and of everybody else are compared: a question that gives one person's
deed to the other finds all of its words in what the other one says. On dialogues, where the weights were fitted on one
half of the questions, the area under the ROC curve for answerable against unanswerable questions is .80 to .86 on the
other half. On questions for a time in long articles it is .52: their unanswerable ones differ by the time alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from mcp_memory.domain.answers import EvidenceSentence
from mcp_memory.domain.query import Query
from mcp_memory.rules.answers.settings import AnswerabilityModel, SupportWeights
from mcp_memory.rules.answers.support import WantedSpan, WeighedSentence, rivalry, wanted_span, weigh_sentences

READ = 4
"""Sentences of either side that are compared, best first."""


def answerability(
    query: Query,
    sentences: Sequence[EvidenceSentence],
    rarity: Mapping[str, float],
    sufficiency: float,
    weights: SupportWeights,
    model: AnswerabilityModel,
) -> float:
    """Return how likely it is that the evidence answers a query, in [0, 1]; 0 without evidence.

    Args:
        query: the query.
        sentences: the sentences of the evidence.
        rarity: idf of each stem of the query in the space, at least 0; 1 for a stem that is not listed.
        sufficiency: of the evidence as recall judges it, in [0, 1].
        weights: of the support of a sentence.
        model: weights of the signs.
    """
    wanted = wanted_span(query)
    weighed = weigh_sentences(wanted, sentences, rarity, weights)
    if not weighed or not wanted.stems:
        return 0.0
    own = [one for one in weighed if one.speaker_match > 0] or weighed
    others = [one for one in weighed if one.speaker_match == 0]
    rival = rivalry(own[0], weighed, weights) if len(query.speakers) == 1 else 0.0
    logit = (
        model.base
        + model.sufficiency * sufficiency
        + model.told * max(_told(wanted, one, rarity) for one in own[:READ])
        + model.told_by_others * max((_told(wanted, one, rarity) for one in others[:READ]), default=0.0)
        + model.rivalry * rival
    )
    return 1 / (1 + math.exp(-logit))


def _told(wanted: WantedSpan, sentence: WeighedSentence, rarity: Mapping[str, float]) -> float:
    """Return the share of the query's words, by rarity, that a sentence with its neighbours and title holds."""
    held = wanted.stems & (sentence.told | sentence.title)
    total = sum(rarity.get(stem, 1.0) for stem in wanted.stems)
    return sum(rarity.get(stem, 1.0) for stem in held) / total if total else 0.0
