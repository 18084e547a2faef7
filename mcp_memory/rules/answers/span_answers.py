"""How sure a proposed answer is: a logistic model over what distinguishes right proposals from wrong ones.

None of its signs says much alone. The best cosine, above all, does not tell a question that the memory can answer from
one that it cannot (AUROC .49); how far the proposal leads every other one, how much of the question the evidence
covers, and whether somebody else's words fit a question about one person better do so together (.78).

The weights are a ridge regression on whether a proposal was right (held the expected answer, or shared half its words
with it), over talk, dated articles, and questions of one and of several facts, rounded; by five-fold validation .3 to
.4 means that about a third are right, .6 to .7 two thirds. ``unknown`` is set, not fitted: too few questions name
what is nowhere mentioned, and for those there is no answer. ``document_date`` may be too strict: the data ask documents
for dates mostly in questions of several facts.

What was learnt, held against a proposal: the gate of the sentences that it stands on (GAM-RAG §3.2.2).

What a caller called wrong for such a question is proposed again with a hedge at most, and as much less surely as its
gate is below 1. What was said to help makes a proposal surer, never certain: the odds that it is right grow with the
gate. Where nothing was learnt, nothing changes.

**Departures.** In the paper gates steer only what is found. An answer that a caller called wrong then stood as it was:
its sentence still was the one most like the question.

The best supported span of the evidence: an answer without a language model.

Every sentence is weighed (``support``), the better ones are searched for spans of the form that the question asks for
(``typed_spans``, ``phrase_spans``), and the span with the highest sum of its sentence's support and its own fit
is proposed, with a confidence. It never joins words of different places: what it says is a stretch of one
sentence, a date worked out, "Yes" or "No" (DESIGN L10, DESIGN 4 step 5).

A name in a document that does not clearly lead the other names of its sentence is given with the clauses around it.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import NamedTuple

from mcp_memory.domain.answers import EvidenceSentence, Proposal
from mcp_memory.domain.evidence import Citation
from mcp_memory.domain.query import Query
from mcp_memory.rules.answers.phrase_spans import phrase_spans, polarity_spans, reason_spans
from mcp_memory.rules.answers.span_filter import SpanFilter
from mcp_memory.rules.answers.spans import Span, shorten, split_clauses, widen_to_clauses
from mcp_memory.rules.answers.support import (
    AnswerForm,
    SupportWeights,
    WantedSpan,
    WeighedSentence,
    names_unknown,
    rivalry,
    time_similarity,
    wanted_span,
    weigh_sentences,
)
from mcp_memory.rules.answers.typed_spans import amount_spans, date_spans, name_spans, person_phrases, place_phrases


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
    time_beside: float
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
    time_beside=0.0,
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
    time_beside=0.5,
    alone=-0.5,
)
FORMS: Mapping[AnswerForm, float] = MappingProxyType({"date": 1.7, "frequency": 1.2, "person": 0.6, "place": 0.2})


@dataclass(frozen=True, slots=True)
class ConfidenceModel:
    """The model's numbers, in units of a logit.

    Attributes:
        signs: the weight of each.
        forms: what the form of the answer adds: a date is hard to mistake, a thing easy.
        base: added always.
        dated: the weight of each where the question is about a time and the answer stands in a document.
        dated_base: added always there, where the form tells nothing more.
    """

    signs: Signs = WEIGHTS
    forms: Mapping[AnswerForm, float] = field(default_factory=lambda: FORMS)
    base: float = -3.6
    dated: Signs = DATED
    dated_base: float = -3.63

    def of(self, form: AnswerForm, signs: Signs, *, dated: bool) -> float:
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


@dataclass(frozen=True, slots=True)
class FeedbackGate:
    """How proposals follow gates.

    Attributes:
        surer: what a gate of 2 adds to the logit of the confidence; set, not fitted: one word of a caller (a gate of
            about 1.6) makes .4 into .55 and .75 into .84.
        helps: from this gate on a sentence is known to help: one word of a caller. What was called wrong gives way to
            it, and it bears on the question though it has no word of it.
    """

    logit_per_gate: float = 1.0
    helpful: float = 1.3

    def apply(self, proposal: Proposal, gate: float) -> Proposal:
        """Return a proposal with the confidence that a gate in [0, 2] leaves it, and a hedge where that is below 1."""
        before = proposal.confidence
        if gate == 1:
            return proposal
        if gate < 1:
            return replace(proposal, confidence=before * gate, hedged=True, gate=gate)
        odds = math.exp(self.logit_per_gate * (gate - 1))
        return replace(proposal, confidence=before * odds / (1 - before + before * odds), gate=gate)

    def preferred(self, first: Proposal, second: Proposal) -> Proposal | None:
        """Return which of two a caller has decided for, calling one wrong and saying that the other helps, or None."""
        worse, better = sorted((first, second), key=lambda proposal: proposal.gate)
        return better if worse.gate < 1 and better.gate >= self.helpful else None


_POSSESSIVE = re.compile(r"^(?:my|your)\s+|^(?:My|Your)\s+(?=[a-z])")
"""Whose something is, as the speaker says it: for whoever asks, "my" is somebody else's. A title keeps it."""


@dataclass(frozen=True, slots=True)
class SpanSettings:
    """The numbers of extractive answering.

    Attributes:
        support: of a sentence.
        confidence: of a proposal.
        considered: sentences that hold spans, best supported first, that are looked at; the rest cannot catch up.
        alone: share of its sentence's weight from which a name in a document is given without its clause.
        binding: what a span gains where the time asked about is stated right beside it.
        binding_characters: at that distance from the time it gains half.
        rivalled: confidence at most, in talk, where another name or place of the type asked for stands in the same
            clause; set, not fitted: it stays below what is said without a hedge.
        taught: how a proposal follows what was learnt.
    """

    support: SupportWeights = field(default_factory=SupportWeights)
    confidence: ConfidenceModel = field(default_factory=ConfidenceModel)
    sentences: int = 24
    alone: float = 0.95
    time_beside: float = 1.5
    time_beside_characters: float = 40.0
    rival_confidence: float = 0.45
    feedback: FeedbackGate = field(default_factory=FeedbackGate)


@dataclass(frozen=True, slots=True)
class ScoredSpan:
    """A span with the sentence it stands in, and their sum."""

    reading: WeighedSentence
    span: Span
    score: float

    @property
    def text(self) -> str:
        """What it says."""
        return self.span.text or self.reading.text[self.span.start : self.span.end]


def answer_from_spans(
    query: Query,
    sentences: Sequence[EvidenceSentence],
    rarity: Mapping[str, float],
    settings: SpanSettings,
    span_filter: SpanFilter | None = None,
) -> Proposal | None:
    """Return the best supported span, or None where nothing has the form that the question asks for.

    Args:
        query: taken apart.
        sentences: the sentences of the evidence, those of one item in order.
        rarity: how much a stem of the question tells, at least 0 (its idf in the space); 1 for one that is not there.
        settings: weights and bounds.
        span_filter: what facts leave to texts; None where they know nothing.
    """
    wanted = wanted_span(query)
    weighed = weigh_sentences(wanted, sentences, rarity, settings.support)
    spans = _scored_spans(wanted, weighed, settings, span_filter or SpanFilter())
    if not spans:
        return None
    wrong = _wrong_answers(spans)
    best = _best_span(spans, wrong, settings.feedback)
    signs = _signs(wanted, weighed, spans, best, settings)
    dated = wanted.time is not None
    gate = _span_gate(best, wrong)
    bears = signs.context or gate >= settings.feedback.helpful
    confidence = settings.confidence.of(wanted.form, signs, dated=dated) if bears else 0.0
    has_rival = _has_rival(best, spans)
    sources = [best.reading.evidence] + ([best.span.second] if best.span.second else [])
    proposal = Proposal(
        text=_answer_text(best, signs.alone, settings),
        confidence=min(confidence, settings.rival_confidence) if has_rival else confidence,
        hedged=best.span.hedged
        or has_rival
        or (span_filter is not None and span_filter.doubts(best.reading.evidence.source)),
        citations=tuple(Citation(sentence.evidence_id, sentence.source) for sentence in sources),
    )
    return settings.feedback.apply(proposal, gate)


def _scored_spans(
    wanted: WantedSpan, weighed: Sequence[WeighedSentence], settings: SpanSettings, span_filter: SpanFilter
) -> list[ScoredSpan]:
    turns = (sentence.evidence.source.turn for sentence in weighed)
    speakers = frozenset(name.lower() for turn in turns for name in (turn.speaker or "").split())
    spans: list[ScoredSpan] = []
    fruitful = 0
    for sentence in weighed:
        before = len(spans)
        for span in _propose_spans(wanted, sentence, weighed, speakers):
            bound = settings.time_beside * _time_beside(wanted, sentence, span, settings)
            choice = ScoredSpan(sentence, span, sentence.support + span.fit + bound)
            if span_filter.allows(sentence.evidence.source, choice.text):
                spans.append(choice)
        fruitful += len(spans) > before
        if fruitful == settings.sentences:
            break
    return spans


def _wrong_answers(spans: Sequence[ScoredSpan]) -> dict[str, float]:
    """Return what each sentence that was called wrong would answer, with its gate: elsewhere it is as wrong."""
    first: dict[tuple[str, int], ScoredSpan] = {}
    for span in sorted(spans, key=lambda span: -span.score):
        source, gate = span.reading.evidence.source, span.reading.evidence.gate
        if gate < 1:
            first.setdefault((source.turn.id, source.start), span)
    return {span.text.casefold(): span.reading.evidence.gate for span in first.values()}


def _span_gate(span: ScoredSpan, wrong: Mapping[str, float]) -> float:
    return min(span.reading.evidence.gate, wrong.get(span.text.casefold(), 2.0))


def _best_span(spans: Sequence[ScoredSpan], wrong: Mapping[str, float], taught: FeedbackGate) -> ScoredSpan:
    """Return the choice with the highest sum; what was called wrong gives way to what is known to help."""
    best = max(spans, key=lambda span: span.score)
    if _span_gate(best, wrong) >= 1:
        return best
    helping = [span for span in spans if _span_gate(span, wrong) >= taught.helpful]
    return max(helping, key=lambda span: span.score, default=best)


def _has_rival(best: ScoredSpan, spans: Sequence[ScoredSpan]) -> bool:
    """Return whether the clause of a choice, in talk, holds another of the type asked for."""
    if best.reading.is_document:
        return False
    text = best.reading.text
    start, end = next((one for one in split_clauses(text) if one[0] <= best.span.start < one[1]), (0, len(text)))
    return any(
        other.reading is best.reading and other.span.typed and start <= other.span.start < end
        for other in spans
        if other.span.is_disjoint(best.span)
    )


def _propose_spans(
    wanted: WantedSpan, sentence: WeighedSentence, weighed: Sequence[WeighedSentence], speakers: frozenset[str]
) -> Iterable[Span]:
    """Return the spans of a sentence that have the form asked for."""
    match wanted.form:
        case _ if wanted.compares or not sentence.speaker_match:
            return  # "A or B" takes two facts, and another person's event is no answer
        case "date":
            yield from date_spans(wanted, sentence, weighed)
        case "duration" | "frequency" | "count":
            yield from amount_spans(wanted, sentence)
        case "yes_no":
            yield from polarity_spans(wanted, sentence)
        case "reason":
            yield from reason_spans(wanted, sentence)
        case "person" | "place" | "thing" if sentence.is_document:
            yield from name_spans(wanted, sentence, speakers)
        case "person":
            yield from name_spans(wanted, sentence, speakers)
            yield from person_phrases(wanted, sentence)
        case "place":
            yield from name_spans(wanted, sentence, speakers)
            yield from place_phrases(wanted, sentence)
        case _:
            yield from phrase_spans(wanted, sentence, speakers)


def _time_beside(wanted: WantedSpan, sentence: WeighedSentence, span: Span, settings: SpanSettings) -> float:
    """Return whether the time asked about is stated beside the span, in [0, 1]."""
    if wanted.time is None or not sentence.is_document or wanted.form == "date" or not sentence.times:
        return 0.0
    start, end, stated = min(sentence.times, key=lambda time: max(time[0] - span.end, span.start - time[1], 0))
    apart = max(start - span.end, span.start - end, 0)
    return time_similarity(wanted, stated, settings.support) / (1 + apart / settings.time_beside_characters)


def _signs(
    wanted: WantedSpan,
    weighed: Sequence[WeighedSentence],
    spans: Sequence[ScoredSpan],
    best: ScoredSpan,
    settings: SpanSettings,
) -> Signs:
    """Return the signs of the best choice."""
    weights: dict[str, float] = defaultdict(float)
    here = 0.0
    for span in spans:
        weight = math.exp(span.score - best.score)
        weights[span.text.casefold()] += weight
        here += weight if span.reading is best.reading else 0.0
    total = sum(weights.values())
    sentence = best.reading
    cosine = sentence.evidence.cosine
    first = max((one.evidence.score for one in weighed), default=0.0) or 1.0
    return Signs(
        share=weights[best.text.casefold()] / total,
        context=sentence.context,
        cosine=settings.support.neutral_cosine if cosine is None else cosine,
        document=float(sentence.is_document),
        document_date=float(sentence.is_document and wanted.form == "date"),
        nested=wanted.nested * sentence.is_document,
        unknown=names_unknown(wanted, weighed),
        rivalry=rivalry(sentence, weighed, settings.support) if len(wanted.query.speakers) == 1 else 0.0,
        score=sentence.evidence.score / first,
        covered=sentence.coverage,
        time_beside=_time_beside(wanted, sentence, best.span, settings),
        alone=min(weights[best.text.casefold()] / here, 1.0),
    )


def _answer_text(best: ScoredSpan, alone: float, settings: SpanSettings) -> str:
    if best.span.text is not None:
        return best.span.text
    text = best.reading.evidence.source.quote
    cut = widen_to_clauses if best.reading.is_document and alone < settings.alone else shorten
    start, end = cut(text, best.span.start, best.span.end)
    return " ".join(_POSSESSIVE.sub("", text[start:end]).split())
