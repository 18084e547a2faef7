"""How sure a proposed answer is: a logistic model over what distinguishes right proposals from wrong ones.

None of its signs says much alone. The best cosine, above all, does not tell a question that the memory can answer from
one that it cannot (AUROC .49); how far the proposal leads every other one, how much of the question the evidence
covers, and whether somebody else's words fit a question about one person better do so together (.78).

The weights are a ridge regression on whether a proposal was right (held the expected answer, or shared half its words
with it), over talk, dated articles, and questions of one and of several facts, rounded; by five-fold validation .3 to
.4 means that about a third are right, .6 to .7 two thirds. ``unknown`` is set, not fitted: too few questions name
what is nowhere mentioned, and for those there is no answer. ``document_date`` may be too strict: the data ask documents
for dates mostly in questions of several facts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from mcp_memory.rules.answers.asking import Form


class Signs(NamedTuple):
    """What is known of a proposal, each in [0, 1] but the cosine, which is in [-1, 1].

    Attributes:
        share: of all spans' weight (their softmax), that of those which say the same.
        context: of the question by the item of evidence.
        cosine: of the sentence to the question.
        document: 1 where it stands in a document.
        document_date: 1 where it is a date in a document, which tells of many events, so that the date is
            often of another.
        nested: of a document's, how far the question hangs one relation on another.
        unknown: 1 where the question names something that the evidence nowhere mentions.
        rivalry: how far another person's sentence bears better on a question about one person, in [-1, 1].
        score: of the item of evidence, over the best item's.
        covered: of the question by the sentence.
        binding: whether the time asked about stands beside the span.
        alone: the share of its sentence's weight that the span has, by which it is said without its clause.
    """

    share: float
    context: float
    cosine: float
    document: float
    document_date: float
    nested: float
    unknown: float
    rivalry: float
    score: float
    covered: float
    binding: float
    alone: float


WEIGHTS = Signs(
    share=2.4,
    context=0.9,
    cosine=1.5,
    document=1.0,
    document_date=-2.7,
    nested=-1.9,
    unknown=-3.0,
    rivalry=-0.7,
    score=0.0,
    covered=0.0,
    binding=0.0,
    alone=0.0,
)
DATED = Signs(
    share=1.7,
    context=1.3,
    cosine=1.4,
    document=0.0,
    document_date=-2.9,
    nested=0.0,
    unknown=-3.0,
    rivalry=0.0,
    score=1.8,
    covered=-1.3,
    binding=0.5,
    alone=-0.5,
)
FORMS: Mapping[Form, float] = MappingProxyType({"date": 1.7, "frequency": 1.2, "person": 0.6, "place": 0.2})


@dataclass(frozen=True, slots=True)
class Confidence:
    """The model's numbers, in units of a logit.

    Attributes:
        signs: the weight of each.
        forms: what the form of the answer adds: a date is hard to mistake, a thing easy.
        base: added always.
        dated: the weight of each where the question is about a time and the answer stands in a document.
        dated_base: added always there, where the form tells nothing more.
    """

    signs: Signs = WEIGHTS
    forms: Mapping[Form, float] = field(default_factory=lambda: FORMS)
    base: float = -3.6
    dated: Signs = DATED
    dated_base: float = -3.63

    def of(self, form: Form, signs: Signs, *, dated: bool) -> float:
        """Return the confidence in a proposal, in [0, 1].

        Args:
            form: of the answer.
            signs: what is known of it.
            dated: whether the question is about a time.
        """
        if dated and signs.document:
            weights, logit = self.dated, self.dated_base
        else:
            weights, logit = self.signs, self.base + self.forms.get(form, 0.0)
        logit += sum(weight * sign for weight, sign in zip(weights, signs, strict=True))
        return 1 / (1 + math.exp(-logit))
