"""Weights and thresholds of the answer rules, with what they were fitted on. They are built once, not per question."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from mcp_memory.domain.answers import Proposal


@dataclass(frozen=True, slots=True)
class SupportWeights:
    """Weights of the measures of support.

    They were fitted as the logit of the right span among all spans of a question, then rounded.

    Attributes:
        score: score of the evidence item divided by the best score, in dialogues.
        document_score: the same in documents.
        coverage: share of the query's words in the sentence, in [0, 1].
        cosine: of the sentence and the query, in [-1, 1].
        neutral_cosine: replaces the cosine where no vectors are held.
        speaker_match: 1 where the person asked about speaks, 0.5 where the sentence names that person.
        context: coverage of the query by the whole evidence item.
        interrogative: the sentence is itself a question.
        time: similarity of the sentence's times to the query's, in [0, 1].
        context_time: the same for the whole evidence item.
        years: at this distance in years a time counts e times less; a time after the query's counts as twice as far.
        breadth: a stated interval that is this many years longer than the query's counts half.
        feedback: gate of the sentence minus 1, in [-1, 1]. Set, not fitted: one piece of feedback by a caller (a gate
            of about 1.6) adds as much as full context does.
    """

    score: float = 1.6
    document_score: float = 2.5
    coverage: float = 0.5
    cosine: float = 1.2
    neutral_cosine: float = 0.4
    speaker_match: float = 0.6
    context: float = 1.0
    interrogative: float = -0.8
    time: float = 1.0
    context_time: float = 1.4
    years: float = 2.0
    breadth: float = 30.0
    feedback: float = 1.6


class SpanFeatures(NamedTuple):
    """What is known about a proposal. Each feature is in [0, 1], except the cosine and the rivalry, in [-1, 1].

    Attributes:
        share: share of the weight (softmax) of all spans that belongs to spans with the same text.
        context: coverage of the query by the evidence item.
        cosine: of the sentence and the query.
        nested: in a document, how far the query nests relations.
        unknown: 1 where the query names something that the evidence never mentions.
        rivalry: how much better another person's sentence supports the answer to a query about one person.
        score: of the evidence item, divided by the best score.
        covered: coverage of the query by the sentence.
        told: coverage of the query by the sentence with its neighbours in the same text.
        rarest: 1 where these hold the rarest of the query's words.
        event: 1 where the sentence holds the last word of the query, mostly its verb or object.
    """

    share: float
    context: float
    cosine: float
    nested: float
    unknown: float
    rivalry: float
    score: float
    covered: float
    told: float
    rarest: float
    event: float


SPAN_WEIGHTS = SpanFeatures(
    share=0.4,
    context=1.2,
    cosine=0.4,
    nested=-1.9,
    unknown=-2.0,
    rivalry=0.0,
    score=0.9,
    covered=0.6,
    told=0.7,
    rarest=0.5,
    event=0.8,
)


TENURE = SpanFeatures(
    share=1.4,
    context=0.0,
    cosine=0.0,
    nested=0.0,
    unknown=-3.0,
    rivalry=0.0,
    score=0.0,
    covered=0.0,
    told=0.9,
    rarest=1.5,
    event=0.0,
)


FORMS: Mapping[str, float] = MappingProxyType(
    {"thing": -1.2, "person": -0.8, "place": -0.8, "reason": -0.8, "yes_no": -0.5}
)


@dataclass(frozen=True, slots=True)
class ConfidenceModel:
    """Confidence of a span: a logistic model over the features that separate right proposals from wrong ones.

    The weights, in units of a logit, are a ridge regression on whether a proposal was right (held the expected answer,
    or shared half its words with it), rounded. They were fitted on one half of the questions; half the weight of the
    examples have the evidence taken away that holds the answer, so that every proposal is a mistake of the kind that a
    question without an answer invites. On the other half, in talk, 94 of 100 proposals with a confidence of .7 or more
    are right, and 36 of 100 below .5; of those from lists of tenures 89 of 100 at .7 or more.
    ``unknown`` and the forms are set, not fitted: too few questions name something that is mentioned nowhere, and
    there are too few proposals of other forms than dates to tell them apart.

    Attributes:
        features: weight of each feature.
        forms: what the form of the answer adds: a date is hard to mistake, a thing easy.
        base: always added.
        tenure: weights for a name from a list of tenures (`tenures`).
        tenure_base: added there instead of base and form.
        headed: added where a heading, the name itself or the verb tells that such a name is of what was asked.
    """

    features: SpanFeatures = SPAN_WEIGHTS
    forms: Mapping[str, float] = field(default_factory=lambda: FORMS)
    base: float = -2.7
    tenure: SpanFeatures = TENURE
    tenure_base: float = -1.6
    headed: float = 1.2

    def of(self, form: str, features: SpanFeatures) -> float:
        """Return the confidence of a proposal, in [0, 1].

        Args:
            form: of the answer, see `support.AnswerForm`; "tenure" for a name from a list of tenures, "headed" for one
                that is surely of what was asked.
            features: what is known about it.
        """
        weights, logit = (
            (self.tenure, self.tenure_base + self.headed * (form == "headed"))
            if form in ("tenure", "headed")
            else (self.features, self.base + self.forms.get(form, 0.0))
        )
        logit += sum(weight * feature for weight, feature in zip(weights, features, strict=True))
        return 1 / (1 + math.exp(-logit))


@dataclass(frozen=True, slots=True)
class AnswerabilityModel:
    """Weights, in units of a logit, by which the confidence of an abstention is calculated; see `answerability`.

    Attributes:
        sufficiency: of recall's own judgement.
        told: of the share of the query's words in the best sentences of the person asked about.
        told_by_others: of the same in the best sentences of others.
        rivalry: of how much better a sentence of somebody else supports the answer.
        base: always added.
    """

    sufficiency: float = 1.0
    told: float = 1.1
    told_by_others: float = -1.0
    rivalry: float = -1.5
    base: float = -0.2


@dataclass(frozen=True, slots=True)
class FeedbackGate:
    """How a proposal follows the gate of the sentences that it rests on (GAM-RAG §3.2.2).

    What a caller marked as wrong for a similar question is proposed again only with a hedge, and its confidence is
    multiplied by its gate, which is below 1. Helpful feedback raises the confidence, never to certainty: the odds that
    the proposal is right grow with the gate. A gate of 1 changes nothing.

    **Departures.** In the paper gates steer only what is retrieved. An answer that a caller had marked as wrong was
    then given again, because its sentence was still the most similar to the question.

    Attributes:
        logit_per_gate: what a gate of 2 adds to the logit of the confidence. Set, not fitted: one piece of feedback by
            a caller (a gate of about 1.6) turns .4 into .55 and .75 into .84.
        helpful: from this gate on a sentence is known to help: one piece of feedback by a caller. It replaces what was
            marked as wrong, and supports the answer even without a word of the query.
    """

    logit_per_gate: float = 1.0
    helpful: float = 1.3

    def apply(self, proposal: Proposal, gate: float) -> Proposal:
        """Return the proposal with the confidence that a gate in [0, 2] leaves it, and a hedge for a gate below 1."""
        before = proposal.confidence
        if gate == 1:
            return proposal
        if gate < 1:
            return replace(proposal, confidence=before * gate, hedged=True, gate=gate)
        odds = math.exp(self.logit_per_gate * (gate - 1))
        return replace(proposal, confidence=before * odds / (1 - before + before * odds), gate=gate)

    def preferred(self, first: Proposal, second: Proposal) -> Proposal | None:
        """Return the proposal that feedback prefers (one is marked as wrong, the other as helpful), or None."""
        worse, better = sorted((first, second), key=lambda proposal: proposal.gate)
        return better if worse.gate < 1 and better.gate >= self.helpful else None


@dataclass(frozen=True, slots=True)
class SpanSettings:
    """Settings of answers that are read as spans.

    Attributes:
        support: weights of a sentence's support.
        confidence: of a proposal.
        feedback: how a proposal follows the gates of its sentences.
        answerability: of the confidence of an abstention.
        sentences: sentences with spans that are considered, best first; the others cannot catch up.
        rival_confidence: highest confidence, in talk, where the same clause holds another name or place of the wanted
            type. Set, not fitted: it stays below the confidence of an answer without a hedge.
        told_tenure: below this, by the words of the query that it holds, a name from a list of tenures is doubtful if
            the article gives another name for the time. Set, not fitted: an answer without a hedge needs as much.
        sure_change: confidence of the value of a change that an article tells, where its interval holds the time or it
            is fresh; about the share that was right.
        change: the same of an older one, of which a later one may not be told.
    """

    support: SupportWeights = field(default_factory=SupportWeights)
    confidence: ConfidenceModel = field(default_factory=ConfidenceModel)
    sentences: int = 24
    rival_confidence: float = 0.6
    told_tenure: float = 0.7
    sure_change: float = 0.8
    change: float = 0.6
    feedback: FeedbackGate = field(default_factory=FeedbackGate)
    answerability: AnswerabilityModel = field(default_factory=AnswerabilityModel)


@dataclass(frozen=True, slots=True)
class FactAnswerSettings:
    """Confidence of answers from facts: roughly the share of such answers that are right.

    Attributes:
        caller: the caller supplied the facts.
        talk: the facts were extracted from talk.
        document: the facts were extracted from a document, which covers many people and times.
        fixed: the same, of dates, birthplaces and nationalities, which documents give in fixed forms.
        many_valued: factor for extracted values of a relation that may have many: some values are missed, and some
            extracted ones are wrong.
        per_step: factor for each step to an entity that the query describes ("Ann's sister").
        untimed: factor where the query names no time and the value changed.
        first_said: factor where nobody stated a start, and the day of the first mention replaces it.
        kind: factor where nobody said that the only value is of the wanted kind.
        count: factor for a count of known values, of which there may be more.
        sure: an extracted fact below this confidence lowers the answer's in proportion. On 161 invented questions .8
            gives 84 plain answers, 82 of them right, .9 gives 63 and 62; of long dialogues the same are right.
        margin: lead in score that the best matching relation needs over the next.
    """

    caller: float = 0.9
    talk: float = 0.75
    document: float = 0.45
    fixed: float = 0.9
    many_valued: float = 0.6
    per_step: float = 0.85
    untimed: float = 0.75
    first_said: float = 0.6
    kind: float = 0.7
    count: float = 0.8
    sure: float = 0.8
    margin: float = 0.1


@dataclass(frozen=True, slots=True)
class ComparisonSettings:
    """Confidence of comparisons: roughly the share that is right where both facts are certain.

    Attributes:
        caller: the caller supplied the facts.
        talk: one of the facts was extracted from talk.
        document: one of them was extracted from a document, which gives dates and origins in fixed forms.
        step: factor for the step to the entities that the query describes.
    """

    caller: float = 0.9
    talk: float = 0.75
    document: float = 0.95
    step: float = 0.95
